// Advice and prefetching of managed memory: hints without meaning on a virtual device, whose
// managed memory is host memory. They are judged as the real library judges them, keep stream
// order, and are remembered for those who ask. Memory that is discarded keeps its contents.
#include "runtime/memory/advice.h"
#include "runtime/runtime.h"

using namespace heddle::runtime;

namespace {

/// A range of one managed allocation.
struct Range {
  std::uint64_t allocation = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
std::optional<Range> managed_range(Runtime& rt, const void* p, std::size_t bytes) {
  const auto at = reinterpret_cast<heddle::memory::Address>(p);
  const auto allocation = rt.space().find(at);
  if (bytes == 0 || !allocation || allocation->kind != heddle::memory::AllocationKind::Managed ||
      !allocation->contains(at, bytes)) {
    return std::nullopt;
  }
  return Range{allocation->id, at - allocation->base, at - allocation->base + bytes};
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
    const auto range = managed_range(rt, p, bytes);
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy || !range) {
      return cudaErrorInvalidValue;
    }
    const bool ignores_location = advice == cudaMemAdviseSetReadMostly ||
                                  advice == cudaMemAdviseUnsetReadMostly ||
                                  advice == cudaMemAdviseUnsetPreferredLocation;
    if (const cudaError_t error = ignores_location ? cudaSuccess : check_location(rt, location);
        error != cudaSuccess) {
      return error;
    }
    const int who = location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
    rt.advice().update(range->allocation, range->begin, range->end, [&](Advised& advised) {
      switch (advice) {
      case cudaMemAdviseSetReadMostly:
      case cudaMemAdviseUnsetReadMostly:
        advised.read_mostly = advice == cudaMemAdviseSetReadMostly;
        break;
      case cudaMemAdviseSetPreferredLocation:
        advised.preferred = location;
        break;
      case cudaMemAdviseUnsetPreferredLocation:
        advised.preferred.reset();
        break;
      case cudaMemAdviseSetAccessedBy:
        advised.accessed_by.insert(who);
        break;
      case cudaMemAdviseUnsetAccessedBy:
        advised.accessed_by.erase(who);
        break;
      }
    });
    return cudaSuccess;
  });
}

cudaError_t cudaMemRangeGetAttributes(
    void** data,
    std::size_t* sizes,
    cudaMemRangeAttribute* attributes,
    std::size_t count,
    const void* p,
    std::size_t bytes
) {
  return api("cudaMemRangeGetAttributes", [&](Runtime& rt, ThreadState&) {
    const auto range = managed_range(rt, p, bytes);
    if (data == nullptr || sizes == nullptr || attributes == nullptr || count == 0 || !range) {
      return cudaErrorInvalidValue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (data[i] == nullptr || sizes[i] % sizeof(std::int32_t) != 0) {
        return cudaErrorInvalidValue;
      }
      const std::span<std::int32_t> place{
          static_cast<std::int32_t*>(data[i]),
          sizes[i] / sizeof(std::int32_t)
      };
      const cudaError_t error =
          rt.advice().answer(range->allocation, range->begin, range->end, attributes[i], place);
      if (error != cudaSuccess) {
        return error;
      }
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemRangeGetAttribute(
    void* data,
    std::size_t size,
    cudaMemRangeAttribute attribute,
    const void* p,
    std::size_t bytes
) {
  return cudaMemRangeGetAttributes(&data, &size, &attribute, 1, p, bytes);
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
    const auto range = managed_range(rt, p, bytes);
    if (flags != 0 || !range) {
      return cudaErrorInvalidValue;
    }
    if (const cudaError_t error = check_location(rt, location); error != cudaSuccess) {
      return error;
    }
    rt.advice().update(range->allocation, range->begin, range->end, [&](Advised& advised) {
      advised.prefetched = location;
    });
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

cudaError_t cudaMemDiscardBatchAsync(
    void** places,
    std::size_t* sizes,
    std::size_t count,
    unsigned long long flags,
    cudaStream_t handle
) {
  return api("cudaMemDiscardBatchAsync", [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (places == nullptr || sizes == nullptr || count == 0 || flags != 0) {
      return cudaErrorInvalidValue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!managed_range(rt, places[i], sizes[i])) {
        return cudaErrorInvalidValue;
      }
    }
    const auto command = rt.enqueue(**stream, Operation{Nothing{}, "cudaMemDiscardBatchAsync", 0});
    return command ? cudaSuccess : command.error();
  });
}
cudaError_t cudaMemDiscardBatchAsync_ptsz(
    void** places,
    std::size_t* sizes,
    std::size_t count,
    unsigned long long flags,
    cudaStream_t stream
) {
  return cudaMemDiscardBatchAsync(places, sizes, count, flags, per_thread(stream));
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(
    void** places,
    std::size_t* sizes,
    std::size_t count,
    cudaMemLocation* locations,
    std::size_t* starts,
    std::size_t location_count,
    unsigned long long flags,
    cudaStream_t stream
) {
  const cudaError_t error = cudaMemDiscardBatchAsync(places, sizes, count, flags, stream);
  return error != cudaSuccess ? error
                              : cudaMemPrefetchBatchAsync(
                                    places,
                                    sizes,
                                    count,
                                    locations,
                                    starts,
                                    location_count,
                                    flags,
                                    stream
                                );
}
cudaError_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(
    void** places,
    std::size_t* sizes,
    std::size_t count,
    cudaMemLocation* locations,
    std::size_t* starts,
    std::size_t location_count,
    unsigned long long flags,
    cudaStream_t stream
) {
  return cudaMemDiscardAndPrefetchBatchAsync(
      places,
      sizes,
      count,
      locations,
      starts,
      location_count,
      flags,
      per_thread(stream)
  );
}

} // extern "C"
#pragma GCC visibility pop
