// The version of the interface that the library in use has: 13000 or 12090. Defined by each of the
// two libraries (and by tests that link the code directly).
#pragma once

namespace heddle::runtime {

int cudart_version();

} // namespace heddle::runtime
