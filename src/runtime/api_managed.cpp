// Advice and prefetching of managed memory: hints without meaning on a virtual device, whose
// managed memory is host memory. They are judged as the real library judges them, and keep stream
// order.
#include "runtime/runtime.h"

using namespace heddle::runtime;

namespace {

bool is_managed(Runtime& rt, const void* p, std::size_t bytes) {
  const auto at = reinterpret_cast<heddle::memory::Address>(p);
  const auto allocation = rt.space().find(at);
  return allocation && allocation->kind == heddle::memory::AllocationKind::Managed &&
         allocation->contains(at, bytes);
}

cudaError_t check_location(const Runtime& rt, const cudaMemLocation& location) {
  switch (location.type) {
  case cudaMemLocationTypeDevice:
    return rt.valid_device(location.id) ? cudaSuccess : cudaErrorInvalidDevice;
  case cudaMemLocationTypeHost:
  case cudaMemLocationTypeHostNuma:
  case cudaMemLocationTypeHostNumaCurrent:
    return cudaSuccess;
  default:
    return cudaErrorInvalidValue;
  }
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t
cudaMemAdvise(const void* p, std::size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return api("cudaMemAdvise", [&](Runtime& rt, ThreadState&) {
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy ||
        bytes == 0 || !is_managed(rt, p, bytes)) {
      return cudaErrorInvalidValue;
    }
    const bool ignores_location = advice == cudaMemAdviseSetReadMostly ||
                                  advice == cudaMemAdviseUnsetReadMostly ||
                                  advice == cudaMemAdviseUnsetPreferredLocation;
    return ignores_location ? cudaSuccess : check_location(rt, location);
  });
}

cudaError_t cudaMemPrefetchAsync(
    const void* p,
    std::size_t bytes,
    cudaMemLocation location,
    unsigned int flags,
    cudaStream_t handle
) {
  return api("cudaMemPrefetchAsync", [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (flags != 0 || bytes == 0 || !is_managed(rt, p, bytes)) {
      return cudaErrorInvalidValue;
    }
    if (const cudaError_t error = check_location(rt, location); error != cudaSuccess) {
      return error;
    }
    const auto command = rt.enqueue(**stream, Operation{Nothing{}, "cudaMemPrefetchAsync", 0});
    return command ? cudaSuccess : command.error();
  });
}
cudaError_t cudaMemPrefetchAsync_ptsz(
    const void* p,
    std::size_t bytes,
    cudaMemLocation location,
    unsigned int flags,
    cudaStream_t stream
) {
  return cudaMemPrefetchAsync(p, bytes, location, flags, per_thread(stream));
}

} // extern "C"
#pragma GCC visibility pop
