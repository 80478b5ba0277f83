// DeviceHeap: malloc and free of device threads in a search (CUDA C++ Programming Guide, "Dynamic
// Global Memory Allocation"), so that they can be taken back and mostly commute.
//
//   DeviceHeap heap(world, journal, exec, /*commutes=*/true);
//   block.heap_ = &heap;                 // which serves its malloc and free from now on
//   heap.turn(identity, first_thread);   // before each run: whose calls those are
//   heap.overflow()                      // the assumption below does not hold
//
// All that the heap knows is kept in device memory that no program sees, so it is a part of states,
// taken back and compared like everything else there. Each thread (by its number in its grid) has
// an arena, so that where its n-th allocation lies does not depend on what others do. What it has
// freed itself is used again when several pieces of that size are free, so that loops come back to
// where they were; what others have freed is not.
//
// Commuting: as long as there is always room, an allocation or its end can be told by nobody but by
// whoever is handed the pointer, so they happen at once, like plain accesses. That there is room in
// every order is known from a bound: each thread's calls are made in its own order in every
// schedule, so it never has more at a time than the most that it had between its own calls, and all
// together never more than the sum of that. (A thread is credited only what it frees of its own.)
// The sum is a part of the state, so each way to do things is counted as it is. When it exceeds
// cudaLimitMallocHeapSize the search begins again with `commutes` false: then each call is a
// choice, and malloc returns null exactly if what is allocated at that moment leaves too little.
//
// May be wrong: which addresses malloc returns is not explored, one of many is taken; real heaps
// have an overhead for each allocation, so they are full a little earlier.
#pragma once

#include "machine/block.h"
#include "model/memory_journal.h"
#include "reduce/mutant.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace heddle::reduce {

using namespace machine;
using namespace model;

class DeviceHeap final : public HeapServer, public MemoryJournal::Sparse {
public:
  DeviceHeap(
      World& world,
      MemoryJournal& journal,
      const isa::Exec& exec,
      bool commutes,
      Mutant mutant = Mutant::None
  );
  /// False: the address space has no room for it.
  bool exists() const { return base_ != 0; }

  /// The next call is made by a lane of a warp whose lane 0 has that number in its grid.
  void turn(std::uint64_t grid, std::uint64_t first_thread);
  memory::Address allocate(std::uint64_t bytes) override;
  bool release(memory::Address p) override;

  /// More could have been allocated at a time than there is.
  bool overflow() const { return overflow_; }
  /// An arena was full although the heap was not.
  bool gave_up() const { return gave_up_; }

  bool contains(const std::byte* at) const override {
    return static_cast<std::uint64_t>(at - bytes_) < size_;
  }
  struct Slot {                       // of an allocation
    std::uint64_t offset = 0;         // in its arena
    std::uint64_t size_and_state = 0; // size << 2 | State
    std::uint64_t owner = 0;
  };
  enum State : std::uint8_t {
    Live = 1,
    Free = 2,
    Gone = 3 // never used again
  };
  /// Of the live allocation that these bytes lie in; nullptr: there is none.
  Slot* find(const std::byte* at, std::uint32_t bytes) const;
  std::span<std::byte> record_of(const std::byte* at, std::uint32_t bytes) const override {
    Slot* const slot = find(at, bytes);
    return slot != nullptr ? std::as_writable_bytes(std::span(slot, 1)) : std::span<std::byte>();
  }
  /// For messages: the allocation that the address is in, or behind.
  std::optional<memory::Allocation> nearest(const std::byte* at) const;
  std::optional<memory::Allocation> nearest(memory::Address at) const {
    return at - base_ < size_ ? nearest(bytes_ + (at - base_)) : std::nullopt;
  }
  memory::Address address_of(const std::byte* at) const {
    return base_ + static_cast<std::uint64_t>(at - bytes_);
  }
  void each_part(const std::function<void(const std::byte*, const std::byte*)>& f) const override;

private:
  struct Header { // of all
    std::uint64_t used = 0, bound = 0, arenas = 0;
  };
  struct Arena {
    std::uint64_t slots = 0, owner = 0, live = 0, most = 0, last_reused = 0;
  };
  Header& header() const { return *reinterpret_cast<Header*>(bytes_); }
  std::byte* arena(std::uint64_t n) const { return bytes_ + (n + 1) * stride_; }
  static Arena& arena_of(std::byte* begin) { return *reinterpret_cast<Arena*>(begin); }
  static Slot* slots_of(std::byte* begin);
  /// The one that begins there or before; nullptr: there is none.
  Slot* slot_before(const std::byte* at) const;
  void set(std::uint64_t& word, std::uint64_t value);
  std::uint64_t caller() const;
  std::uint64_t owner_of(std::uint64_t thread) const;
  Slot* free_slot(std::byte* begin, std::uint64_t bytes, std::uint64_t owner);

  World& world_;
  MemoryJournal& journal_;
  const isa::Exec& exec_;
  bool commutes_;
  Mutant mutant_;
  memory::Address base_ = 0;
  std::byte* bytes_ = nullptr;
  std::uint64_t size_ = 0, stride_ = 0;
  std::uint64_t grid_ = 0, first_thread_ = 0;
  bool overflow_ = false, gave_up_ = false;
};

} // namespace heddle::reduce
