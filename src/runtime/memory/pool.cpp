// Implements pool.h.
#include "runtime/memory/pool.h"

#include "runtime/diagnostics/announce.h"
#include "runtime/handle.h"

#include <algorithm>

namespace heddle::runtime {
namespace {

constexpr std::uint64_t pool_tag = 0x504f'0000'0000'0000ULL;
constexpr std::uint64_t growth = 32ULL << 20; // a real pool grows by so much

} // namespace

std::uint64_t Pool::reserved(std::uint64_t used) {
  return (used + growth - 1) / growth * growth;
}

Pools::Pools(int devices) {
  for (int device = 0; device < devices; ++device) {
    defaults_.push_back(create(device));
  }
  current_ = defaults_;
}

PoolPtr Pools::create(int device) {
  const auto held = lock();
  auto pool = std::make_shared<Pool>();
  pool->handle = to_handle<cudaMemPool_t>(pool_tag, next_id_++);
  pool->device = device;
  pools_[pool->handle] = pool;
  return pool;
}

bool Pools::is_default(const Pool& pool) const {
  return std::any_of(defaults_.begin(), defaults_.end(), [&](const PoolPtr& p) {
    return p.get() == &pool;
  });
}

void Pools::destroy(const Pool& pool) {
  const auto held = lock();
  for (std::size_t device = 0; device < current_.size(); ++device) {
    if (current_[device].get() == &pool) {
      current_[device] = defaults_[device];
    }
  }
  pools_.erase(pool.handle);
}

PoolPtr Pools::find(cudaMemPool_t handle) const {
  const std::lock_guard held(mutex_);
  const auto it = pools_.find(handle);
  const std::uint64_t id = to_id(pool_tag, handle);
  if (it == pools_.end() && id != 0 && id < next_id_) {
    announce_stale_handle("a memory pool");
  }
  return it == pools_.end() ? nullptr : it->second;
}

void Pools::set_current(int device, PoolPtr pool) {
  const auto held = lock();
  current_[static_cast<std::size_t>(device)] = std::move(pool);
}

std::uint64_t used_bytes(Runtime& rt, const Pool& pool) {
  std::uint64_t used = 0;
  for (const Owned& owned : rt.memory().all()) {
    used += owned.pool == pool.handle ? owned.bytes : 0;
  }
  return used;
}

cudaError_t allocate_from_pool(
    Runtime& rt,
    void** p,
    std::size_t bytes,
    cudaMemPool_t handle,
    cudaStream_t stream_handle,
    const char* what
) {
  if (p == nullptr) {
    return cudaErrorInvalidValue;
  }
  const auto stream = rt.stream(stream_handle);
  if (!stream) {
    return stream.error();
  }
  const auto held = rt.pools().lock();
  const PoolPtr pool =
      handle == nullptr ? rt.pools().current((*stream)->device) : rt.pools().find(handle);
  if (pool == nullptr || pool->imported) {
    return cudaErrorInvalidValue;
  }
  if (bytes == 0) {
    *p = nullptr;
    return cudaSuccess;
  }
  if (pool->max_bytes != 0 &&
      bytes > pool->max_bytes - std::min(pool->max_bytes, used_bytes(rt, *pool))) {
    return cudaErrorMemoryAllocation;
  }
  // The address is known at once; using it before the stream gets there is the program's mistake.
  // What is captured belongs to the graph and to no pool.
  const bool captured = (*stream)->capture != nullptr;
  const auto at = rt.memory().allocate_device(
      bytes,
      pool->device,
      rt.model().global_bytes,
      captured ? nullptr : pool->handle,
      pool->shareable // pages are what is shared
  );
  if (!at) {
    return at.error();
  }
  const auto command = rt.enqueue(**stream, Operation{Allocate{*at, bytes, {}}, what, 0});
  if (!command) {
    rt.memory().release(*at);
    return command.error();
  }
  const std::uint64_t used = used_bytes(rt, *pool);
  pool->used_high = std::max(pool->used_high, used);
  pool->reserved_high = std::max(pool->reserved_high, Pool::reserved(used));
  *p = reinterpret_cast<void*>(*at);
  return cudaSuccess;
}

} // namespace heddle::runtime
