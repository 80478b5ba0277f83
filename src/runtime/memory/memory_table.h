// MemoryTable: what the program allocated through the API, and with which call, so that it is freed
// with the right one. Variables of modules and the device heap are not in it.
#pragma once

#include "memory/address_space.h"
#include "runtime/cudart.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace heddle::runtime {

struct Owned {
  memory::Address base = 0;
  std::uint64_t bytes = 0;
  memory::AllocationKind kind =
      memory::AllocationKind::Device; // Device, Managed, Pinned, Registered
  unsigned flags = 0;
  int device = 0;
  cudaMemPool_t pool = nullptr;         // of stream-ordered allocations
  std::uint64_t number = 0;             // in the order of allocation
  std::vector<const void*> called_from; // see MemoryTable::remember_callers
  std::uint64_t id = 0;                 // memory::Allocation's, where the callers are known
};

/// Return addresses of the code that has asked for it; empty: not known, or not freed.
struct MemorySites {
  std::vector<const void*> allocated_from, freed_from;
  std::uint64_t id = 0; // of what
};

/// Thread safe.
class MemoryTable {
public:
  explicit MemoryTable(memory::AddressSpace& space) : space_(space) {}
  /// From now on allocations know which code of the program has asked for them.
  void remember_callers() { remembers_ = true; }

  /// `bytes` > 0; `page`: begins with one. Error: cudaErrorMemoryAllocation.
  tl::expected<memory::Address, cudaError_t> allocate_device(
      std::uint64_t bytes,
      int device,
      std::uint64_t limit,
      cudaMemPool_t pool = nullptr,
      bool page = false
  );
  /// Host memory that devices reach at the same address: Managed or Pinned. Zero-filled,
  /// page-aligned.
  tl::expected<void*, cudaError_t>
  allocate_host(std::uint64_t bytes, memory::AllocationKind kind, unsigned flags, int device);
  cudaError_t add_registered(void* p, std::uint64_t bytes, unsigned flags, int device);

  /// The allocation that starts at `base`.
  std::optional<Owned> find(memory::Address base) const;
  /// The allocation that contains `a`.
  std::optional<Owned> containing(memory::Address a) const;
  /// Device memory that was freed is allocated again at the same address, zero-filled; nothing is
  /// done if it has not been freed. False: others have its addresses by now.
  bool revive(const Owned& owned);
  /// Frees what starts at `base`; false: nothing does.
  bool release(memory::Address base);
  /// Of what starts at `base`, or if it has been freed, of what did so last.
  MemorySites sites(memory::Address base, bool freed) const;
  /// Who has allocated this one, also if it has been freed since then. Empty if another one lay
  /// there after it.
  std::vector<const void*> allocated_from(const memory::Allocation& one) const;
  /// All of a device: cudaDeviceReset.
  void release_device(int device);
  /// Did release_device free what started at `base`? True once for each.
  bool take_reset(memory::Address base);
  std::vector<Owned> all() const;
  /// Has there ever been memory of the host that devices reach?
  bool has_been_shared() const;

private:
  std::vector<const void*> caller() const;
  /// Of what starts at `base`, where the callers are known.
  std::uint64_t id_at(memory::Address base) const;
  void unmap(const Owned& owned);

  memory::AddressSpace& space_;
  mutable std::mutex mutex_;
  std::map<memory::Address, Owned> owned_;
  std::set<memory::Address> reset_; // what release_device has freed
  std::map<memory::Address, MemorySites> freed_;
  std::uint64_t next_number_ = 0;
  bool remembers_ = false;
  bool shared_ = false; // has_been_shared()
};

} // namespace heddle::runtime
