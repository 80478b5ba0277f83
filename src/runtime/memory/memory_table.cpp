// Implements memory_table.h.
#include "runtime/memory/memory_table.h"

#include "runtime/diagnostics/host_place.h"
#include "runtime/diagnostics/pending_memory.h"

#include <sys/mman.h>

#include <utility>

namespace heddle::runtime {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::uint64_t device_alignment = 512; // as the real allocator's

std::uint64_t mapping_bytes(std::uint64_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

} // namespace

tl::expected<memory::Address, cudaError_t> MemoryTable::allocate_device(
    std::uint64_t bytes,
    int device,
    std::uint64_t limit,
    cudaMemPool_t pool,
    bool page
) {
  const std::vector<const void*> from = caller();
  const std::lock_guard lock(mutex_);
  const std::uint64_t used = space_.bytes_in_use(device);
  if (bytes > limit || used > limit - bytes) {
    return tl::unexpected(cudaErrorMemoryAllocation);
  }
  const std::uint64_t alignment = page ? page_bytes : device_alignment;
  const auto at = space_.allocate(bytes, alignment, memory::AllocationKind::Device, device);
  if (!at) {
    return tl::unexpected(cudaErrorMemoryAllocation);
  }
  owned_[*at] = Owned{
      *at,
      bytes,
      memory::AllocationKind::Device,
      0,
      device,
      pool,
      next_number_++,
      from,
      id_at(*at)
  };
  return *at;
}

tl::expected<void*, cudaError_t> MemoryTable::allocate_host(
    std::uint64_t bytes,
    memory::AllocationKind kind,
    unsigned flags,
    int device
) {
  // Pages of its own: neighbours on the same page would not be noticed when they are overrun.
  void* p = ::mmap(
      nullptr,
      mapping_bytes(bytes),
      PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
      -1,
      0
  );
  if (p == MAP_FAILED) {
    return tl::unexpected(cudaErrorMemoryAllocation);
  }
  const std::lock_guard lock(mutex_);
  if (!space_.add_host(p, bytes, kind, device)) {
    ::munmap(p, mapping_bytes(bytes));
    return tl::unexpected(cudaErrorMemoryAllocation);
  }
  const auto base = reinterpret_cast<memory::Address>(p);
  shared_ = true;
  owned_[base] =
      Owned{base, bytes, kind, flags, device, nullptr, next_number_++, caller(), id_at(base)};
  return p;
}

cudaError_t MemoryTable::add_registered(void* p, std::uint64_t bytes, unsigned flags, int device) {
  const std::lock_guard lock(mutex_);
  if (!space_.add_host(p, bytes, memory::AllocationKind::Registered, device)) {
    return cudaErrorHostMemoryAlreadyRegistered;
  }
  const auto base = reinterpret_cast<memory::Address>(p);
  shared_ = true;
  owned_[base] = Owned{
      base,
      bytes,
      memory::AllocationKind::Registered,
      flags,
      device,
      nullptr,
      0,
      caller(),
      id_at(base)
  };
  return cudaSuccess;
}

std::optional<Owned> MemoryTable::find(memory::Address base) const {
  const std::lock_guard lock(mutex_);
  const auto it = owned_.find(base);
  return it == owned_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<Owned> MemoryTable::containing(memory::Address a) const {
  const std::lock_guard lock(mutex_);
  auto it = owned_.upper_bound(a);
  if (it == owned_.begin()) {
    return std::nullopt;
  }
  --it;
  return a - it->first < it->second.bytes ? std::optional(it->second) : std::nullopt;
}

std::vector<const void*> MemoryTable::caller() const {
  return remembers_ ? callers() : std::vector<const void*>();
}

std::uint64_t MemoryTable::id_at(memory::Address base) const {
  const auto allocation = remembers_ ? space_.find(base) : std::nullopt;
  return allocation ? allocation->id : 0;
}

void MemoryTable::unmap(const Owned& owned) {
  PendingMemory::forget(owned.base, owned.bytes);
  static_cast<void>(space_.release(owned.base));
  if (owned.kind == memory::AllocationKind::Managed ||
      owned.kind == memory::AllocationKind::Pinned) {
    ::munmap(reinterpret_cast<void*>(owned.base), mapping_bytes(owned.bytes));
  }
}

bool MemoryTable::revive(const Owned& owned) {
  const std::lock_guard lock(mutex_);
  if (owned_.contains(owned.base)) {
    return true;
  }
  if (!space_.revive(owned.base)) {
    return false;
  }
  owned_[owned.base] = owned;
  return true;
}

bool MemoryTable::release(memory::Address base) {
  const std::lock_guard lock(mutex_);
  const auto it = owned_.find(base);
  if (it == owned_.end()) {
    return false;
  }
  unmap(it->second);
  if (remembers_) {
    freed_[base] = {std::move(it->second.called_from), caller(), it->second.id};
  }
  owned_.erase(it);
  return true;
}

MemorySites MemoryTable::sites(memory::Address base, bool freed) const {
  const std::lock_guard lock(mutex_);
  if (freed) {
    const auto at = freed_.find(base);
    return at != freed_.end() ? at->second : MemorySites();
  }
  const auto at = owned_.find(base);
  return at != owned_.end() ? MemorySites{at->second.called_from, {}, at->second.id}
                            : MemorySites();
}

std::vector<const void*> MemoryTable::allocated_from(const memory::Allocation& one) const {
  for (const bool freed : {false, true}) {
    if (MemorySites known = sites(one.base, freed); known.id == one.id && one.id != 0) {
      return std::move(known.allocated_from);
    }
  }
  return {};
}

void MemoryTable::release_device(int device) {
  const std::lock_guard lock(mutex_);
  for (auto it = owned_.begin(); it != owned_.end();) {
    if (it->second.device == device) {
      unmap(it->second);
      reset_.insert(it->first);
      it = owned_.erase(it);
    } else {
      ++it;
    }
  }
}

bool MemoryTable::has_been_shared() const {
  const std::lock_guard lock(mutex_);
  return shared_;
}

bool MemoryTable::take_reset(memory::Address base) {
  const std::lock_guard lock(mutex_);
  return reset_.erase(base) != 0;
}

std::vector<Owned> MemoryTable::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Owned> result;
  for (const auto& [base, owned] : owned_) {
    result.push_back(owned);
  }
  return result;
}

} // namespace heddle::runtime
