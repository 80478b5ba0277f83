// libcudart.so.13: the library's own part; everything else is libheddle_runtime.a.
//
// The exit handler is registered when the library is loaded, before anything of the program runs,
// so that it comes last.
#include "runtime/diagnostics/outcome.h"
#include "runtime/version.h"

namespace {

__attribute__((constructor)) void loaded() {
  heddle::runtime::install_exit_handler();
}

} // namespace

namespace heddle::runtime {

int cudart_version() {
  return 13000;
}

} // namespace heddle::runtime
