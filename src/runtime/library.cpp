// What happens when the shared library is loaded: the exit handler is registered before anything of
// the program runs, so that it comes last.
#include "runtime/outcome.h"

namespace {

__attribute__((constructor)) void loaded() {
  heddle::runtime::install_exit_handler();
}

} // namespace
