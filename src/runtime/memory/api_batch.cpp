// Several copies, prefetches or discards in one call, and the pools of places that are not named by
// a device's number.
//
// A batch is done like its parts one after the other, though the API promises no order among them.
#include "runtime/arrays/array.h"
#include "runtime/memory/api_call.h"

#include <algorithm>

using namespace heddle::runtime;

namespace {

/// Which of `count` attributes holds for element i: each holds from its index on.
std::size_t attribute_of(std::size_t i, const std::size_t* starts, std::size_t count) {
  return static_cast<std::size_t>(std::upper_bound(starts, starts + count, i) - starts) - 1;
}

bool valid_starts(const std::size_t* starts, std::size_t count, std::size_t elements) {
  return count != 0 && starts != nullptr && starts[0] == 0 &&
         std::is_sorted(starts, starts + count) && starts[count - 1] < elements;
}

/// A source that must have been read when the call returns: the call waits.
Completion completion_of(cudaMemcpySrcAccessOrder order) {
  return order == cudaMemcpySrcAccessOrderDuringApiCall ? Completion::Synchronous
                                                        : Completion::Asynchronous;
}

/// One end of a copy of a batch, for copy_of(): array and position, or pitched pointer.
cudaError_t describe(
    Runtime& rt,
    const cudaMemcpy3DOperand& p,
    const cudaExtent& extent,
    std::size_t texel,
    cudaArray_t& array,
    cudaPos& position,
    cudaPitchedPtr& memory
) {
  if (p.type == cudaMemcpyOperandTypeArray) {
    array = p.op.array.array;
    position = {p.op.array.offset.x, p.op.array.offset.y, p.op.array.offset.z};
    return rt.arrays().find(array) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  }
  if (p.type != cudaMemcpyOperandTypePointer) {
    return cudaErrorInvalidValue;
  }
  const std::size_t row = p.op.ptr.rowLength != 0 ? p.op.ptr.rowLength : extent.width;
  const std::size_t rows = p.op.ptr.layerHeight != 0 ? p.op.ptr.layerHeight : extent.height;
  memory = {p.op.ptr.ptr, row * texel, row * texel, rows};
  return cudaSuccess;
}

std::size_t texel_of(Runtime& rt, const cudaMemcpy3DOperand& p) {
  if (p.type != cudaMemcpyOperandTypeArray) {
    return 1;
  }
  const auto array = rt.arrays().find(p.op.array.array);
  return array ? array->texel_bytes() : 1;
}

cudaError_t copy_one(const cudaMemcpy3DBatchOp& p, cudaStream_t stream) {
  const Call call{"cudaMemcpy3DBatchAsync", stream, completion_of(p.srcAccessOrder)};
  return call_copy(
      call,
      cudaMemcpyDefault,
      [&](Runtime& rt, ThreadState&) -> tl::expected<Copy, cudaError_t> {
        const std::size_t texel = std::max(texel_of(rt, p.src), texel_of(rt, p.dst));
        cudaMemcpy3DParms same{};
        same.extent = p.extent;
        same.kind = cudaMemcpyDefault;
        cudaError_t error =
            describe(rt, p.src, p.extent, texel, same.srcArray, same.srcPos, same.srcPtr);
        if (error == cudaSuccess) {
          error = describe(rt, p.dst, p.extent, texel, same.dstArray, same.dstPos, same.dstPtr);
        }
        return error == cudaSuccess ? copy_of(rt, same) : tl::unexpected(error);
      }
  );
}

cudaError_t fail(const char* what, cudaError_t error) {
  return api(what, [&](Runtime&, ThreadState&) { return error; });
}

cudaError_t prefetch_all(
    const char* what,
    void** places,
    const std::size_t* sizes,
    std::size_t count,
    const cudaMemLocation* locations,
    const std::size_t* starts,
    std::size_t location_count,
    unsigned long long flags,
    cudaStream_t stream
) {
  if (places == nullptr || sizes == nullptr || locations == nullptr || flags != 0 ||
      !valid_starts(starts, location_count, count)) {
    return fail(what, cudaErrorInvalidValue);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const cudaMemLocation& where = locations[attribute_of(i, starts, location_count)];
    const cudaError_t error = cudaMemPrefetchAsync(places[i], sizes[i], where, 0, stream);
    if (error != cudaSuccess) {
      return error;
    }
  }
  return cudaSuccess;
}

/// Pinned memory of a device; there are no pools of other places.
cudaError_t
check_pool_place(Runtime& rt, const cudaMemLocation* where, cudaMemAllocationType type) {
  if (where == nullptr || type != cudaMemAllocationTypePinned ||
      where->type != cudaMemLocationTypeDevice) {
    return cudaErrorInvalidValue;
  }
  return rt.valid_device(where->id) ? cudaSuccess : cudaErrorInvalidDevice;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaMemcpyBatchAsync(
    void* const* to,
    const void* const* from,
    const std::size_t* sizes,
    std::size_t count,
    cudaMemcpyAttributes* attributes,
    std::size_t* starts,
    std::size_t attribute_count,
    cudaStream_t stream
) {
  if (to == nullptr || from == nullptr || sizes == nullptr || attributes == nullptr || count == 0 ||
      !valid_starts(starts, attribute_count, count)) {
    return fail("cudaMemcpyBatchAsync", cudaErrorInvalidValue);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto& how = attributes[attribute_of(i, starts, attribute_count)];
    const Call call{"cudaMemcpyBatchAsync", stream, completion_of(how.srcAccessOrder)};
    const cudaError_t error = call_copy(call, cudaMemcpyDefault, [&](Runtime&, ThreadState&) {
      return linear_copy(to[i], from[i], sizes[i]);
    });
    if (error != cudaSuccess) {
      return error;
    }
  }
  return cudaSuccess;
}
cudaError_t cudaMemcpyBatchAsync_ptsz(
    void* const* to,
    const void* const* from,
    const std::size_t* sizes,
    std::size_t count,
    cudaMemcpyAttributes* attributes,
    std::size_t* starts,
    std::size_t attribute_count,
    cudaStream_t stream
) {
  return cudaMemcpyBatchAsync(
      to,
      from,
      sizes,
      count,
      attributes,
      starts,
      attribute_count,
      per_thread(stream)
  );
}

cudaError_t cudaMemcpy3DBatchAsync(
    std::size_t count,
    cudaMemcpy3DBatchOp* list,
    unsigned long long flags,
    cudaStream_t stream
) {
  if (list == nullptr || count == 0 || flags != 0) {
    return fail("cudaMemcpy3DBatchAsync", cudaErrorInvalidValue);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (const cudaError_t error = copy_one(list[i], stream); error != cudaSuccess) {
      return error;
    }
  }
  return cudaSuccess;
}
cudaError_t cudaMemcpy3DBatchAsync_ptsz(
    std::size_t count,
    cudaMemcpy3DBatchOp* list,
    unsigned long long flags,
    cudaStream_t stream
) {
  return cudaMemcpy3DBatchAsync(count, list, flags, per_thread(stream));
}

cudaError_t cudaMemPrefetchBatchAsync(
    void** places,
    std::size_t* sizes,
    std::size_t count,
    cudaMemLocation* locations,
    std::size_t* starts,
    std::size_t location_count,
    unsigned long long flags,
    cudaStream_t stream
) {
  return prefetch_all(
      "cudaMemPrefetchBatchAsync",
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
cudaError_t cudaMemPrefetchBatchAsync_ptsz(
    void** places,
    std::size_t* sizes,
    std::size_t count,
    cudaMemLocation* locations,
    std::size_t* starts,
    std::size_t location_count,
    unsigned long long flags,
    cudaStream_t stream
) {
  return cudaMemPrefetchBatchAsync(
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

cudaError_t
cudaMemGetDefaultMemPool(cudaMemPool_t* pool, cudaMemLocation* where, cudaMemAllocationType type) {
  const cudaError_t error = check_pool_place(Runtime::get(), where, type);
  return error == cudaSuccess ? cudaDeviceGetDefaultMemPool(pool, where->id)
                              : fail("cudaMemGetDefaultMemPool", error);
}

cudaError_t
cudaMemGetMemPool(cudaMemPool_t* pool, cudaMemLocation* where, cudaMemAllocationType type) {
  const cudaError_t error = check_pool_place(Runtime::get(), where, type);
  return error == cudaSuccess ? cudaDeviceGetMemPool(pool, where->id)
                              : fail("cudaMemGetMemPool", error);
}

cudaError_t
cudaMemSetMemPool(cudaMemLocation* where, cudaMemAllocationType type, cudaMemPool_t pool) {
  const cudaError_t error = check_pool_place(Runtime::get(), where, type);
  return error == cudaSuccess ? cudaDeviceSetMemPool(where->id, pool)
                              : fail("cudaMemSetMemPool", error);
}

} // extern "C"
#pragma GCC visibility pop
