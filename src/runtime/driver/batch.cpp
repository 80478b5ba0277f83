// The driver API: several copies or prefetches in one call, and pools by place.
//
// The forms of CUDA 12.8 also tell which element was refused; here that is never known, which they
// may say.
#include "runtime/driver/driver.h"

#include <limits>

using namespace heddle::runtime;

static_assert(sizeof(CUmemcpyAttributes) == sizeof(cudaMemcpyAttributes));
static_assert(sizeof(CUDA_MEMCPY3D_BATCH_OP) == sizeof(cudaMemcpy3DBatchOp));

namespace {

template <class To, class From> To* as(From* p) {
  return reinterpret_cast<To*>(p);
}

cudaError_t copies(
    CUdeviceptr* to,
    CUdeviceptr* from,
    std::size_t* sizes,
    std::size_t count,
    CUmemcpyAttributes* attributes,
    std::size_t* starts,
    std::size_t attribute_count,
    CUstream stream
) {
  return cudaMemcpyBatchAsync(
      as<void* const>(to),
      as<const void* const>(from),
      sizes,
      count,
      as<cudaMemcpyAttributes>(attributes),
      starts,
      attribute_count,
      stream
  );
}

/// "None, or not known."
void no_index(std::size_t* failed) {
  if (failed != nullptr) {
    *failed = std::numeric_limits<std::size_t>::max();
  }
}

} // namespace

#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
HEDDLE_DRIVER_STREAM(cuMemcpyBatchAsync_v2, copies(to, from, sizes, count, attributes, starts, n, stream),
    CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes, std::size_t count, CUmemcpyAttributes* attributes,
    std::size_t* starts, std::size_t n, CUstream stream)
HEDDLE_DRIVER_STREAM(cuMemcpyBatchAsync,
    (no_index(failed), copies(to, from, sizes, count, attributes, starts, n, stream)),
    CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes, std::size_t count, CUmemcpyAttributes* attributes,
    std::size_t* starts, std::size_t n, std::size_t* failed, CUstream stream)
HEDDLE_DRIVER_STREAM(cuMemcpy3DBatchAsync_v2,
    cudaMemcpy3DBatchAsync(count, as<cudaMemcpy3DBatchOp>(list), flags, stream),
    std::size_t count, CUDA_MEMCPY3D_BATCH_OP* list, unsigned long long flags, CUstream stream)
HEDDLE_DRIVER_STREAM(cuMemcpy3DBatchAsync,
    (no_index(failed), cudaMemcpy3DBatchAsync(count, as<cudaMemcpy3DBatchOp>(list), flags, stream)),
    std::size_t count, CUDA_MEMCPY3D_BATCH_OP* list, std::size_t* failed, unsigned long long flags, CUstream stream)
HEDDLE_DRIVER_STREAM(cuMemPrefetchBatchAsync,
    cudaMemPrefetchBatchAsync(as<void*>(places), sizes, count, as<cudaMemLocation>(where), starts, n, flags, stream),
    CUdeviceptr* places, std::size_t* sizes, std::size_t count, CUmemLocation* where, std::size_t* starts,
    std::size_t n, unsigned long long flags, CUstream stream)
HEDDLE_DRIVER_STREAM(cuMemDiscardBatchAsync, cudaMemDiscardBatchAsync(as<void*>(places), sizes, count, flags, stream),
    CUdeviceptr* places, std::size_t* sizes, std::size_t count, unsigned long long flags, CUstream stream)
HEDDLE_DRIVER_STREAM(cuMemDiscardAndPrefetchBatchAsync,
    cudaMemDiscardAndPrefetchBatchAsync(
        as<void*>(places), sizes, count, as<cudaMemLocation>(where), starts, n, flags, stream),
    CUdeviceptr* places, std::size_t* sizes, std::size_t count, CUmemLocation* where, std::size_t* starts,
    std::size_t n, unsigned long long flags, CUstream stream)
HEDDLE_DRIVER(cuMemGetDefaultMemPool,
    cudaMemGetDefaultMemPool(pool, as<cudaMemLocation>(where), static_cast<cudaMemAllocationType>(type)),
    CUmemoryPool* pool, CUmemLocation* where, CUmemAllocationType type)
HEDDLE_DRIVER(cuMemGetMemPool,
    cudaMemGetMemPool(pool, as<cudaMemLocation>(where), static_cast<cudaMemAllocationType>(type)),
    CUmemoryPool* pool, CUmemLocation* where, CUmemAllocationType type)
HEDDLE_DRIVER(cuMemSetMemPool,
    cudaMemSetMemPool(as<cudaMemLocation>(where), static_cast<cudaMemAllocationType>(type), pool),
    CUmemLocation* where, CUmemAllocationType type, CUmemoryPool pool)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
