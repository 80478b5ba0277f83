// The four entry points that most copies and sets have: at once or on a stream, each with the
// legacy or the per-thread default stream.
//
//   HEDDLE_CALLS(cudaMemcpy2DToArray, copy_2d_to, (Window{to, x, y}, …), cudaArray_t to, …)
//
// defines cudaMemcpy2DToArray, …_ptds, …Async and …Async_ptsz, each of which answers
// copy_2d_to(call, …).
#pragma once

#include "runtime/memory/copy.h"

namespace heddle::runtime {

/// How the entry points of one operation differ.
struct Call {
  const char* name;
  cudaStream_t stream;
  Completion completion;
};
inline Call at_once(const char* name) {
  return {name, cudaStreamLegacy, Completion::Synchronous};
}
inline Call at_once_per_thread(const char* name) {
  return {name, cudaStreamPerThread, Completion::Synchronous};
}
inline Call later(const char* name, cudaStream_t stream) {
  return {name, stream, Completion::Asynchronous};
}

/// Pitched memory at one end of a copy.
struct Plane {
  const void* at;
  std::size_t pitch;
};

/// Submits the Copy that `make(Runtime&, ThreadState&)` answers.
template <class Make> cudaError_t call_copy(const Call& call, cudaMemcpyKind kind, Make&& make) {
  return api(call.name, [&](Runtime& rt, ThreadState& thread) {
    const auto stream = rt.stream(call.stream);
    if (!stream) {
      return stream.error();
    }
    const tl::expected<Copy, cudaError_t> made = make(rt, thread);
    return made ? submit_copy(rt, **stream, *made, kind, call.completion, call.name) : made.error();
  });
}

/// Submits the Set that `make()` answers.
template <class Make> cudaError_t call_set(const Call& call, Make&& make) {
  return api(call.name, [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(call.stream);
    if (!stream) {
      return stream.error();
    }
    const tl::expected<Set, cudaError_t> made = make();
    return made ? submit_set(rt, **stream, *made, call.completion, call.name) : made.error();
  });
}

} // namespace heddle::runtime

#define HEDDLE_UNWRAP(...) __VA_ARGS__
#define HEDDLE_CALLS_AT_ONCE(name, make, arguments, ...)                                           \
  cudaError_t name(__VA_ARGS__) {                                                                  \
    return make(at_once(#name), HEDDLE_UNWRAP arguments);                                          \
  }                                                                                                \
  cudaError_t name##_ptds(__VA_ARGS__) {                                                           \
    return make(at_once_per_thread(#name), HEDDLE_UNWRAP arguments);                               \
  }
#define HEDDLE_CALLS(name, make, arguments, ...)                                                   \
  HEDDLE_CALLS_AT_ONCE(name, make, arguments, __VA_ARGS__)                                         \
  cudaError_t name##Async(__VA_ARGS__, cudaStream_t stream) {                                      \
    return make(later(#name "Async", stream), HEDDLE_UNWRAP arguments);                            \
  }                                                                                                \
  cudaError_t name##Async_ptsz(__VA_ARGS__, cudaStream_t stream) {                                 \
    return make(later(#name "Async", per_thread(stream)), HEDDLE_UNWRAP arguments);                \
  }
