// Entry points of the driver API that Heddle does not implement (unsupported.def): each says so
// once and returns CUDA_ERROR_NOT_SUPPORTED. Defined without their parameters, as in
// api_unsupported.cpp.
#include "runtime/unsupported.h"

#pragma GCC visibility push(default)
extern "C" {
#define HEDDLE_UNSUPPORTED(name)                                                                   \
  int name() {                                                                                     \
    return heddle::runtime::unsupported_driver_call(#name);                                        \
  }
#include "runtime/driver/unsupported.def"
#undef HEDDLE_UNSUPPORTED
}
#pragma GCC visibility pop
