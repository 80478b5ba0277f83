// Where every byte lives: device allocations, host memory known to the device, windows.
//
// A *generic address* is 64 bits. Three windows of 4 GiB each are not backed by allocations but by
// the thread that uses them: shared (rank in bits 24-31, see shared_window), local and param.
// Everything else is global memory: one list of allocations. Device memory has addresses that the
// host cannot touch (a reserved, unreadable range); its bytes lie at address + delta. Host memory
// (pinned, registered, managed) has delta 0.
#pragma once

#include "base/result.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace heddle::memory {

using Address = std::uint64_t;

/// Windows of the generic address space.
inline constexpr Address window_base = 0x0000'1f00'0000'0000ULL; // reserved at start, unreadable
inline constexpr Address window_size = 1ULL << 32;
inline constexpr Address shared_window = window_base;
inline constexpr Address local_window = window_base + window_size;
inline constexpr Address param_window = window_base + 2 * window_size;
/// Shared addresses (32 bits): (rank + 1) << 24 | offset in another block of the cluster,
/// offset alone in one's own block.
inline constexpr unsigned shared_rank_shift = 24;
/// Shared memory that belongs to the system (%reserved_smem_offset_1: barriers of cooperative
/// groups larger than a warp); at the end of the block's range so that it does not hide
/// out-of-bounds accesses.
inline constexpr std::uint32_t reserved_shared_bytes = 1024;
inline constexpr std::uint32_t reserved_shared_offset =
    (1U << shared_rank_shift) - reserved_shared_bytes;

enum class AllocationKind : std::uint8_t {
  Device,     // cudaMalloc & co.
  Managed,    // cudaMallocManaged, __managed__
  Pinned,     // cudaMallocHost, cudaHostAlloc
  Registered, // cudaHostRegister
  Global,     // a module's .global variable
  Constant,   // a module's .const variable
  Heap        // device malloc()
};

struct Allocation {
  Address base = 0;
  std::uint64_t size = 0;
  std::int64_t delta = 0; // host pointer of byte a = a + delta
  AllocationKind kind = AllocationKind::Device;
  int device = 0;
  std::uint64_t id = 0; // dense, in order of allocation
  bool freed = false;
  bool by_peers =
      false;        // code of another device reaches it only with peer access: restrict_to_peers()
  std::string name; // variable name, or empty

  bool contains(Address a, std::uint64_t n) const {
    return a - base <= size && n <= size - (a - base);
  }
  Address end() const { return base + size; }
};

/// A readable range as a worker caches it: valid while generation() is unchanged.
struct Range {
  Address base = 1;
  std::uint64_t size =
      0; // bytes; an access of n bytes at a fits iff n <= size && a - base <= size - n
  std::int64_t delta = 0;
  bool writable = false;
  bool of_devices = false; // only device code and copies reach it: no host code, no other process
};

/// Thread safe. One per process.
class AddressSpace {
public:
  AddressSpace();
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  /// Device-side memory, zero-filled; addresses are multiples of `align` (a power of two), are not
  /// used again before the whole range has been used once, and are followed by at least 256 bytes
  /// that belong to nobody. Input error: no room left.
  Result<Address> allocate(
      std::uint64_t bytes,
      std::uint64_t align,
      AllocationKind kind,
      int device,
      std::string name = {}
  );
  /// malloc() of device code: the same, of kind Heap, with a name that says so.
  Result<Address> allocate_heap(std::uint64_t bytes, int device);
  /// Frees what allocate_heap() has allocated at `base`: its size. Nothing: that is no such place.
  std::optional<std::uint64_t> release_heap(Address base);
  /// Makes host memory visible to devices (pinned, registered, managed). Input error: overlaps.
  Result<void> add_host(void* p, std::uint64_t bytes, AllocationKind kind, int device);
  /// Called with each range that add_host() has made visible or will make so.
  void on_host_memory(std::function<void(Address, std::uint64_t)> listener);
  /// Frees device-side memory or forgets host memory whose base is `base`. The record stays (freed)
  /// so that later accesses can be explained. Error: no such live allocation.
  Result<void> release(Address base);

  /// The device-side memory that release() has freed at `base` lives again, zero-filled. Error:
  /// nothing was freed there, or its addresses have been used again since.
  Result<void> revive(Address base);

  /// Calls f for each live allocation, by ascending address. f must not change the space.
  void each_live(const std::function<void(const Allocation&)>& f) const;
  /// The live allocation that holds address a.
  std::optional<Allocation> find(Address a) const;
  /// Range for the fast path; size 0 if none.
  Range find_range(Address a) const;
  /// The same for code of `device`: none, too, if it does not reach the allocation [MEM-PEER].
  Range find_range(Address a, int device) const;
  /// Code of other devices reaches the live allocation at `base` with peer access only.
  void restrict_to_peers(Address base);
  /// May code of `device` access such memory of `peer`? At first it may not.
  void set_peer_access(int device, int peer, bool may);
  /// For messages: the live or freed allocation nearest to a ("12 bytes past the end of …").
  std::optional<Allocation> nearest(Address a) const;
  /// Host pointer to n bytes at a, or nullptr if they do not lie in one live allocation.
  void* host_pointer(Address a, std::uint64_t n) const;
  /// Where device code finds these bytes, if they are global memory; else their own address.
  static Address device_address(const void* bytes);
  /// True for addresses inside the reserved, host-unreadable device range.
  static bool in_device_range(Address a);
  /// True if the host has memory of its own at a.
  static bool is_host_memory(Address a);

  /// From now on other processes may see some of the memory.
  void share_with_processes();

  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  struct Freed {
    Address base = 0;
    std::uint64_t size = 0;
    std::uint64_t generation = 0; // since then
  };
  static constexpr std::size_t most_freed = 64;
  /// What has been freed since generation() was `from`: their number, and `to` is what it is now.
  /// Nothing: there was more than that, or something else has changed.
  std::optional<std::size_t>
  freed_since(std::uint64_t from, std::array<Freed, most_freed>& freed, std::uint64_t& to) const;
  std::uint64_t bytes_in_use(int device) const;

private:
  Address place(std::uint64_t bytes, std::uint64_t align);
  Address place_otherwise(std::uint64_t bytes, std::uint64_t align);
  void clear(Address base, std::uint64_t bytes);
  void note_freed(Address base, std::uint64_t bytes);
  void for_each_live(const std::function<void(const Allocation&)>& f) const;
  void forget_freed(Address begin, Address end);

  mutable std::shared_mutex mutex_;
  std::map<Address, Allocation> allocations_; // live and freed, by base
  std::atomic<std::uint64_t> generation_{1};
  Address next_ = 0;
  struct Records;
  std::unique_ptr<Records> records_; // of the device's heap, and of what has been freed
  std::function<void(Address, std::uint64_t)> host_memory_listener_;
  bool shared_ = false;                       // with other processes
  std::set<std::pair<int, int>> peer_access_; // device, peer
  std::map<int, std::uint64_t> in_use_;       // bytes of device-side memory, per device
};

} // namespace heddle::memory
