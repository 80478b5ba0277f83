// libcudart.so.13: the library's own part; everything else is libheddle_runtime.a.
//
// The exit handler is registered when the library is loaded, before anything of the program runs,
// so that it comes last.
#include "runtime/called_as.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/version.h"

namespace {

// glibc gives a constructor what main gets.
__attribute__((constructor)) void loaded(int, char** argv, char**) {
  heddle::runtime::set_called_as(argv);
  heddle::runtime::install_exit_handler();
}

} // namespace

namespace heddle::runtime {

int cudart_version() {
  return 13000;
}

} // namespace heddle::runtime
