// Memory pools of stream-ordered allocation ("Stream Ordered Memory Allocator").
//
// A pool is bookkeeping here: memory is taken from the device for each allocation and given back at
// its free, never kept for later, so that a use after the free is noticed. What a pool says of its
// reserved memory is therefore its used memory, rounded up as a real pool grows.
#pragma once

#include "runtime/runtime.h"

#include <map>
#include <memory>
#include <mutex>

namespace heddle::runtime {

struct Pool {
  cudaMemPool_t handle = nullptr;
  int device = 0;
  std::uint64_t max_bytes = 0; // 0: the device's memory
  std::uint64_t release_threshold = 0;
  bool shareable = false;   // with other processes
  bool imported = false;    // another process's: nothing is allocated from it
  int reuse[3] = {1, 1, 1}; // the three cudaMemPoolReuse… attributes
  std::uint64_t used_high = 0, reserved_high = 0;
  std::map<int, cudaMemAccessFlags> access; // of other devices

  static std::uint64_t reserved(std::uint64_t used);
};
using PoolPtr = std::shared_ptr<Pool>;

/// Thread safe; a pool's members are guarded by lock().
class Pools {
public:
  explicit Pools(int devices);

  std::unique_lock<std::recursive_mutex> lock() { return std::unique_lock(mutex_); }
  PoolPtr create(int device);
  bool is_default(const Pool& pool) const;
  /// Allocations of it stay. Where it was the device's current pool, the default pool is again.
  void destroy(const Pool& pool);
  PoolPtr find(cudaMemPool_t handle) const;
  PoolPtr default_pool(int device) const { return defaults_[static_cast<std::size_t>(device)]; }
  PoolPtr current(int device) const { return current_[static_cast<std::size_t>(device)]; }
  void set_current(int device, PoolPtr pool);

private:
  mutable std::recursive_mutex mutex_;
  std::uint64_t next_id_ = 1;
  std::vector<PoolPtr> defaults_, current_; // by device
  std::map<cudaMemPool_t, PoolPtr> pools_;
};

/// Bytes allocated from it now.
std::uint64_t used_bytes(Runtime& rt, const Pool& pool);

/// cudaMallocAsync & co.; a null pool is the current one of the stream's device.
cudaError_t allocate_from_pool(
    Runtime& rt,
    void** p,
    std::size_t bytes,
    cudaMemPool_t pool,
    cudaStream_t stream,
    const char* what
);

} // namespace heddle::runtime
