// Entry points that only libcudart.so.12 has (unsupported.def), as in api_unsupported.cpp. The old
// cudaGetDeviceProperties is the one of CUDA 11: programs compiled with 12 call _v2.
#include "runtime/unsupported.h"

#pragma GCC visibility push(default)
extern "C" {
#define HEDDLE_UNSUPPORTED(name)                                                                   \
  int name() {                                                                                     \
    return heddle::runtime::unsupported_call(#name);                                               \
  }
#include "runtime/cudart12/unsupported.def"
#undef HEDDLE_UNSUPPORTED
}
#pragma GCC visibility pop
