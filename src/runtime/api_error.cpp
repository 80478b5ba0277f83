// Error API: cudaGetLastError, cudaPeekAtLastError, names and texts, versions.
#include "runtime/error.h"
#include "runtime/runtime.h"

using namespace heddle::runtime;

namespace {

/// CUDA 13.0, the version whose interface and texts the library has.
constexpr int version = 13000;

} // namespace

extern "C" {

cudaError_t cudaGetLastError() {
  return std::exchange(thread_state().last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  return thread_state().last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  return error_name(error);
}

const char* cudaGetErrorString(cudaError_t error) {
  return error_text(error);
}

cudaError_t cudaDriverGetVersion(int* result) {
  return api_plain([&](Runtime&, ThreadState&) {
    if (result == nullptr) {
      return cudaErrorInvalidValue;
    }
    *result = version;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* result) {
  return cudaDriverGetVersion(result);
}

} // extern "C"
