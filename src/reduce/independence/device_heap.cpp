// Implements device_heap.h.
//
// Why the bound (Header::bound) is one. Let some schedule have a first malloc for which there is no
// room. Until then, and if it got its memory, it is an execution of a machine with an endless heap,
// where all these calls commute with those of others, so one that differs only in their order is
// searched. In both each thread makes the same calls in the same order; so at no moment does it
// have more than the most that it had between two of its own calls (what others free of it is not
// taken off), and the sum of that over all threads of all grids, which is the bound at the end of
// what is searched, is at least what would be allocated at that malloc: more than the limit.
//
// `Arena::live` and `most` are those of the caller that used the arena last, since then; what they
// have added to the bound before stays in it. Then a thread never has more than what it has ever
// added, less `most`, plus `live`: calls of its own keep that, and so does the change to another
// one, which sets both to zero.
#include "reduce/independence/device_heap.h"

#include "base/hash.h"
#include "base/outside.h"
#include "memory/usual_address.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle::reduce {

namespace {

constexpr std::uint64_t whole = std::uint64_t{1} << 38;    // bytes of addresses
constexpr std::uint64_t smallest = std::uint64_t{1} << 24; // arena
constexpr std::uint64_t slot_bytes = 1 << 20;              // of an arena, at its begin
constexpr std::uint64_t first_slot = 64;
constexpr std::uint64_t gap = 64; // behind each allocation: belongs to nobody
constexpr std::uint64_t alignment = 16;
// So many pieces of a size are free before one of them is used again: until then whoever still uses
// it is found out.
constexpr std::uint64_t kept_free = 8;

std::uint64_t round_up(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) / align * align;
}

/// From the last arena to the first one, and from the end of each to its begin.
bool descends() {
  return is_other(SystemAnswer::DeviceAddresses);
}

/// Where arenas and pieces lie.
struct Places {
  std::byte* bytes;
  std::uint64_t size, stride;

  std::byte* arena(std::uint64_t n) const {
    return bytes + (descends() ? size / stride - 1 - n : n + 1) * stride;
  }
  std::byte* arena_around(const std::byte* at) const {
    return bytes + static_cast<std::uint64_t>(at - bytes) / stride * stride;
  }
  /// Where pieces descend, the offset of one is the distance of its end from that of the arena.
  std::byte* place_of(std::byte* begin, const DeviceHeap::Slot& slot) const {
    const std::uint64_t used = round_up(slot.size_and_state >> 2, alignment);
    return begin + (descends() ? stride + slot_bytes - slot.offset - used : slot.offset);
  }
  std::uint64_t offset_of(const std::byte* at) const {
    const auto inside = static_cast<std::uint64_t>(at - arena_around(at));
    return descends() ? stride + slot_bytes - 1 - inside : inside;
  }
  /// So that what is told of places is the same as in a search.
  void
  note_usual_place(memory::Address base, std::byte* begin, const DeviceHeap::Slot& slot) const {
    if (!descends()) {
      return;
    }
    const std::uint64_t number = size / stride - static_cast<std::uint64_t>(begin - bytes) / stride;
    const memory::Address usual = memory::usual_address(base) + number * stride;
    memory::note_usual_address(base + static_cast<std::uint64_t>(begin - bytes), slot_bytes, usual);
    memory::note_usual_address(
        base + static_cast<std::uint64_t>(place_of(begin, slot) - bytes),
        round_up(slot.size_and_state >> 2, alignment),
        usual + slot.offset
    );
  }
};

} // namespace

DeviceHeap::DeviceHeap(
    World& world,
    MemoryJournal& journal,
    const isa::Exec& exec,
    bool commutes,
    Mutant mutant
)
    : world_(world),
      journal_(journal),
      exec_(exec),
      commutes_(commutes),
      mutant_(mutant) {
  constexpr int no_device = -1; // counts nowhere as memory in use
  const auto place =
      world.space()
          .allocate(whole, smallest, memory::AllocationKind::Heap, no_device, "device heap");
  if (!place) {
    return;
  }
  base_ = *place;
  const memory::Range range = world.space().find_range(base_);
  bytes_ = reinterpret_cast<std::byte*>(base_ + static_cast<std::uint64_t>(range.delta));
  size_ = whole;
  stride_ = std::min(whole / 2, std::max(smallest, 4 * std::bit_ceil(world.heap_limit())));
}

void DeviceHeap::turn(std::uint64_t grid, std::uint64_t first_thread) {
  grid_ = grid;
  first_thread_ = first_thread;
}

std::uint64_t DeviceHeap::caller() const {
  return first_thread_ + static_cast<std::uint64_t>(std::countr_zero(exec_.mask()));
}

std::uint64_t DeviceHeap::owner_of(std::uint64_t thread) const {
  const std::uint64_t words[] = {grid_, thread};
  return XXH3_64bits(words, sizeof words) | 1;
}

DeviceHeap::Slot* DeviceHeap::slots_of(std::byte* begin) {
  return reinterpret_cast<Slot*>(begin + first_slot);
}

void DeviceHeap::set(std::uint64_t& word, std::uint64_t value) {
  if (word != value) {
    journal_.about_to_write(reinterpret_cast<std::byte*>(&word), sizeof word);
    word = value;
  }
}

/// One of that size which has been free for long.
DeviceHeap::Slot*
DeviceHeap::free_slot(std::byte* begin, std::uint64_t bytes, std::uint64_t owner) {
  Arena& arena = arena_of(begin);
  Slot* const slots = slots_of(begin);
  const auto fits = [&](const Slot& slot) {
    return slot.size_and_state == (bytes << 2 | Free) && (!commutes_ || slot.owner == owner);
  };
  std::uint64_t found = 0;
  Slot* first = nullptr; // behind the one that was used again last
  Slot* lowest = nullptr;
  for (std::uint64_t n = 0; n < arena.slots; ++n) {
    if (fits(slots[n])) {
      ++found;
      lowest = lowest == nullptr ? &slots[n] : lowest;
      first = first == nullptr && n >= arena.last_reused ? &slots[n] : first;
    }
  }
  if (found < kept_free) {
    return nullptr;
  }
  Slot* const chosen = first != nullptr ? first : lowest;
  set(arena.last_reused, static_cast<std::uint64_t>(chosen - slots) + 1);
  return chosen;
}

memory::Address DeviceHeap::allocate(std::uint64_t bytes) {
  const std::uint64_t thread = caller();
  const std::uint64_t owner = owner_of(thread);
  const std::uint64_t limit = world_.heap_limit();
  if (bytes > limit || (!commutes_ && bytes > limit - header().used)) {
    return 0;
  }
  const std::uint64_t number = commutes_ ? thread % (size_ / stride_ - 1) : 0;
  const Places places{bytes_, size_, stride_};
  std::byte* const begin = places.arena(number);
  Arena& arena = arena_of(begin);
  Slot* slot = free_slot(begin, bytes, owner);
  if (slot == nullptr) {
    Slot* const slots = slots_of(begin);
    const Slot* last = arena.slots == 0 ? nullptr : &slots[arena.slots - 1];
    const std::uint64_t offset =
        last == nullptr ? slot_bytes
                        : round_up(last->offset + (last->size_and_state >> 2) + gap, alignment);
    const std::uint64_t most_slots = (slot_bytes - first_slot) / sizeof(Slot);
    if (offset + bytes + gap > stride_ || arena.slots == most_slots) {
      gave_up_ = true;
      return 0;
    }
    slot = &slots[arena.slots];
    set(slot->offset, offset);
    set(arena.slots, arena.slots + 1);
    set(header().arenas, std::max(header().arenas, number + 1));
  }
  set(slot->size_and_state, bytes << 2 | Live);
  set(slot->owner, owner);
  places.note_usual_place(base_, begin, *slot);
  if (!commutes_) {
    set(header().used, header().used + bytes);
  } else {
    if (arena.owner != owner) { // what was counted for another one stays counted
      set(arena.owner, owner);
      set(arena.live, 0);
      set(arena.most, 0);
    }
    set(arena.live, arena.live + bytes);
    if (static_cast<std::int64_t>(arena.live) > static_cast<std::int64_t>(arena.most)) {
      set(header().bound, header().bound + arena.live - arena.most);
      set(arena.most, arena.live);
    }
    const std::uint64_t room = limit + (mutant_ == Mutant::HeapBoundTooHigh ? bytes : 0);
    overflow_ = overflow_ || header().bound > room;
  }
  return address_of(places.place_of(begin, *slot));
}

bool DeviceHeap::release(memory::Address p) {
  const std::uint64_t owner = owner_of(caller());
  if (p < base_ || p - base_ >= size_) {
    return false;
  }
  std::byte* const at = bytes_ + (p - base_);
  Slot* const slot = slot_before(at);
  if (slot == nullptr || (slot->size_and_state & 3) != Live) {
    return false;
  }
  const Places places{bytes_, size_, stride_};
  std::byte* const begin = places.arena_around(at);
  if (places.place_of(begin, *slot) != at) {
    return false;
  }
  const std::uint64_t bytes = slot->size_and_state >> 2;
  // What nobody can read any more is no part of the state.
  auto* const words = reinterpret_cast<std::uint64_t*>(at);
  for (std::uint64_t w = 0; w < round_up(bytes, sizeof *words) / sizeof *words; ++w) {
    set(words[w], 0);
  }
  Arena& arena = arena_of(begin);
  set(slot->size_and_state, bytes << 2 | (!commutes_ || slot->owner == owner ? Free : Gone));
  if (!commutes_) {
    set(header().used, header().used - bytes);
  } else if (slot->owner == owner && arena.owner == owner) {
    set(arena.live, arena.live - bytes); // below zero: allocated before another one had its turn
  }
  return true;
}

DeviceHeap::Slot* DeviceHeap::slot_before(const std::byte* at) const {
  if (static_cast<std::uint64_t>(at - bytes_) < stride_) {
    return nullptr;
  }
  const Places places{bytes_, size_, stride_};
  std::byte* const begin = places.arena_around(at);
  const std::uint64_t offset = places.offset_of(at);
  Slot* const slots = slots_of(begin);
  Slot* const end = slots + arena_of(begin).slots;
  Slot* const behind = std::ranges::upper_bound(slots, end, offset, std::less<>(), &Slot::offset);
  return behind == slots ? nullptr : behind - 1;
}

DeviceHeap::Slot* DeviceHeap::find(const std::byte* at, std::uint32_t bytes) const {
  Slot* const slot = slot_before(at);
  if (slot == nullptr || (slot->size_and_state & 3) != Live) {
    return nullptr;
  }
  const Places places{bytes_, size_, stride_};
  const auto offset =
      static_cast<std::uint64_t>(at - places.place_of(places.arena_around(at), *slot));
  const std::uint64_t size = slot->size_and_state >> 2;
  return bytes <= size && offset <= size - bytes ? slot : nullptr;
}

std::optional<memory::Allocation> DeviceHeap::nearest(const std::byte* at) const {
  const Slot* const slot = slot_before(at);
  if (slot == nullptr) {
    return std::nullopt;
  }
  memory::Allocation result;
  const Places places{bytes_, size_, stride_};
  result.base = address_of(places.place_of(places.arena_around(at), *slot));
  result.size = slot->size_and_state >> 2;
  result.kind = memory::AllocationKind::Heap;
  result.freed = (slot->size_and_state & 3) != Live;
  result.name = "device heap";
  return result;
}

void DeviceHeap::each_part(const std::function<void(const std::byte*, const std::byte*)>& f) const {
  f(bytes_, bytes_ + sizeof(Header));
  const Places places{bytes_, size_, stride_};
  for (std::uint64_t n = 0; n < header().arenas; ++n) {
    std::byte* const begin = places.arena(n);
    const Arena& arena = arena_of(begin);
    if (arena.slots != 0) {
      const Slot* const slots = slots_of(begin);
      f(begin, reinterpret_cast<const std::byte*>(slots + arena.slots));
      const Slot& last = slots[arena.slots - 1];
      const std::byte* const lowest =
          descends() ? places.place_of(begin, last) : begin + slot_bytes;
      const std::uint64_t used = last.offset + (last.size_and_state >> 2);
      f(lowest, begin + (descends() ? stride_ : round_up(used, sizeof(std::uint64_t))));
    }
  }
}

} // namespace heddle::reduce
