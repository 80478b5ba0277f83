// Error API: cudaGetLastError, cudaPeekAtLastError, names and texts, versions.
#include "runtime/diagnostics/unseen_error.h"
#include "runtime/error.h"
#include "runtime/runtime.h"
#include "runtime/version.h"

using namespace heddle::runtime;

extern "C" {

cudaError_t cudaGetLastError() {
  error_was_asked_for();
  ThreadState& thread = thread_state();
  const cudaError_t error = std::exchange(thread.last_error, cudaSuccess);
  call_is_over(thread, error);
  return error;
}

cudaError_t cudaPeekAtLastError() {
  error_was_asked_for();
  const ThreadState& thread = thread_state();
  call_is_over(thread, thread.last_error);
  return thread.last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  error_was_asked_for();
  return error_name(error);
}

const char* cudaGetErrorString(cudaError_t error) {
  error_was_asked_for();
  return error_text(error);
}

cudaError_t cudaDriverGetVersion(int* result) {
  constexpr int driver = 13000; // the newest interface that the library has
  return api_bare([&](Runtime&, ThreadState&) {
    if (result == nullptr) {
      return cudaErrorInvalidValue;
    }
    *result = driver;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* result) {
  return api_bare([&](Runtime&, ThreadState&) {
    if (result == nullptr) {
      return cudaErrorInvalidValue;
    }
    *result = cudart_version();
    return cudaSuccess;
  });
}

} // extern "C"
