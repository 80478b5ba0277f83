// Profiler control: there is nothing to profile, so both calls succeed.
#include "runtime/runtime.h"

using namespace heddle::runtime;

#pragma GCC visibility push(default)
#include <cuda_profiler_api.h>

extern "C" {

cudaError_t cudaProfilerStart() {
  return api("cudaProfilerStart", [](Runtime&, ThreadState&) { return cudaSuccess; });
}

cudaError_t cudaProfilerStop() {
  return api("cudaProfilerStop", [](Runtime&, ThreadState&) { return cudaSuccess; });
}

} // extern "C"
#pragma GCC visibility pop
