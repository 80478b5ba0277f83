// Entry points of the real library that Heddle does not implement (unsupported.def): each says so
// once and returns cudaErrorNotSupported. They are defined without their parameters, which the
// x86-64 calling convention allows; this file must not see NVIDIA's declarations.
#include "runtime/unsupported.h"

#pragma GCC visibility push(default)
extern "C" {
#define HEDDLE_UNSUPPORTED(name)                                                                   \
  int name() {                                                                                     \
    return heddle::runtime::unsupported_call(#name);                                               \
  }
#include "runtime/unsupported.def"
#undef HEDDLE_UNSUPPORTED
}
#pragma GCC visibility pop
