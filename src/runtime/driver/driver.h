// The driver API (cuda.h) over the runtime's implementation: what its entry points share.
//
//   CUresult cuMemFree_v2(CUdeviceptr p) {
//     return in_context([&] { return cudaFree(pointer(p)); });
//   }
//
// An entry point of the driver API is the call of the runtime API that does the same, with the
// driver's conditions before it (cuInit was called, the thread has a context) and the driver's
// error codes behind it. It does not touch the error that cudaGetLastError answers. Handles of
// streams, events, graphs, arrays, pools and kernels are the runtime's own.
#pragma once

#include "runtime/diagnostics/unseen_error.h"
#include "runtime/driver/context.h"
#include "runtime/runtime.h"

#include <cuda.h>

namespace heddle::runtime {

/// The driver's code for an error of the runtime; most have the same number.
CUresult driver_error(cudaError_t error);
/// The driver's code as the runtime's, for bodies that find errors of their own.
inline cudaError_t runtime_error(CUresult code) {
  return static_cast<cudaError_t>(code);
}

/// "CUDA_ERROR_INVALID_VALUE"; nullptr for numbers that are no code.
const char* driver_error_name(CUresult code);

/// Finds an entry point as cuGetProcAddress does: for a program compiled with CUDA `version`.
struct EntryPoint {
  void* address = nullptr;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};
EntryPoint find_entry_point(const char* symbol, int version, bool per_thread_stream);

inline void* pointer(CUdeviceptr p) {
  return reinterpret_cast<void*>(p);
}
inline void** pointer(CUdeviceptr* p) {
  return reinterpret_cast<void**>(p);
}
inline CUcontext handle_of(const Context* context) {
  return reinterpret_cast<CUcontext>(const_cast<Context*>(context));
}

/// The body of an entry point that needs cuInit and no context; `body` answers a cudaError_t.
template <class Body> CUresult after_init(Body&& body) {
  ThreadState& thread = thread_state();
  if (!Runtime::get().driver_initialised()) {
    return CUDA_ERROR_NOT_INITIALIZED; // the runtime API initialises the driver, too
  }
  const cudaError_t before = thread.last_error;
  const std::uint64_t calls = thread.calls;
  const cudaError_t error = body();
  if (error != cudaSuccess) {
    note_failure(error); // the code that is returned is all there is
  }
  thread.last_error = before;
  if (thread.calls == calls) { // what it has done, no call of the runtime has
    Runtime::get().world().driver().api_changed();
  }
  call_is_over(thread, error);
  return driver_error(error);
}

/// The body of an entry point that works in the current context.
template <class Body> CUresult in_context(Body&& body) {
  return after_init([&] {
    return Runtime::get().contexts().current(thread_state()) == nullptr
               ? runtime_error(CUDA_ERROR_INVALID_CONTEXT)
               : body();
  });
}

/// The body of an entry point that works without one, and makes none current: a call of the runtime
/// would.
template <class Body> CUresult without_context(Body&& body) {
  const bool used = thread_state().uses_primary;
  const CUresult result = after_init(body);
  thread_state().uses_primary = used;
  return result;
}

/// The same for the device that belongs to a context or is named; the thread's own comes back.
template <class Body> cudaError_t on_device(int device, Body&& body) {
  ThreadState& thread = thread_state();
  if (!Runtime::get().valid_device(device)) {
    return cudaErrorInvalidDevice;
  }
  const int before = std::exchange(thread.device, device);
  const cudaError_t error = body();
  thread.device = before;
  return error;
}

} // namespace heddle::runtime

// HEDDLE_DRIVER(name, call, parameters…): an entry point that is one call of the runtime.
#define HEDDLE_DRIVER(name, call, ...)                                                             \
  CUresult name(__VA_ARGS__) {                                                                     \
    return heddle::runtime::in_context([&]() -> cudaError_t { return call; });                     \
  }
// The same without a current context, where the documentation asks for none: its arguments name
// their device.
#define HEDDLE_DRIVER_ANYWHERE(name, call, ...)                                                    \
  CUresult name(__VA_ARGS__) {                                                                     \
    return heddle::runtime::without_context([&]() -> cudaError_t { return call; });                \
  }
// HEDDLE_DRIVER with its form for programs whose default stream is the thread's own; one of the
// parameters is called `stream`.
#define HEDDLE_DRIVER_STREAM(name, call, ...)                                                      \
  HEDDLE_DRIVER(name, call, __VA_ARGS__)                                                           \
  CUresult name##_ptsz(__VA_ARGS__) {                                                              \
    stream = heddle::runtime::per_thread(stream);                                                  \
    return heddle::runtime::in_context([&]() -> cudaError_t { return call; });                     \
  }
