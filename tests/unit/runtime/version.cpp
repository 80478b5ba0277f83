// The version of the interface that these tests see.
#include "runtime/version.h"

namespace heddle::runtime {

int cudart_version() {
  return 13000;
}

} // namespace heddle::runtime
