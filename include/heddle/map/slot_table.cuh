// The table behind layout::state and layout::talk: any key and value, a state per slot, as in the
// talk that introduced the map: a slot is reserved by compare-exchange, filled, and published by a
// releasing store.
//
// A state is 64 bits:
//
//   bits 0..2    kind
//   bits 16..31  fingerprint of the key
//   bits 32..63  stamp (empty) or number of readers (full)
//
//     empty(stamp) ──► reserved ──► full ◄──► full with readers
//     empty(stamp) ◄──► empty, locked
//     full ◄──► exclusive ──► tombstone ──► reserved
//     reserved ──► tombstone (a constructor threw)
//
// Searches hold a slot as readers while they look at it, assignment and erasure hold it
// exclusively. Whoever looks for another fingerprint passes by without waiting; everybody else
// waits until the state is full, a tombstone or empty: by polling, or in layout::talk by wait and
// notify, as in the talk.
//
// Paths, ends, the gate and the rules P1 to P4 are those of packed_table.cuh, with "stores the
// pair" read as "reserves the slot"; there is no filter. Probing is linear, as in the talk.
//
// Linearisation points: insertion: the store that makes the state full; assignment and erasure: the
// moment the slot is held exclusively; search: the moment it is held as a reader.
//
// Progress: every operation may wait for a slot that another thread has reserved or holds, or for
// readers to leave. That thread has started, so it takes steps ([DEV]), and it runs one
// constructor, one comparison or one function of the caller's. Waiting chains have length one: a
// thread that holds a slot waits for nothing (which the caller's functions must not break by using
// the map), and one that holds an end locked only waits for holders of slots. A constructor that
// throws leaves a tombstone, and the exception goes to the caller.
#pragma once

#include "packed_table.cuh"

namespace heddle {
namespace detail {

/// State, key and value side by side.
template <class Key, class Value> class slots_together {
public:
  static constexpr bool waits_for_notice = false;
  slots_together() = default;
  HEDDLE_ANYWHERE slots_together(void* memory, std::size_t) : slots_(static_cast<slot*>(memory)) {}
  static constexpr std::size_t bytes(std::size_t slots) { return slots * sizeof(slot); }
  HEDDLE_ANYWHERE std::uint64_t& state(std::size_t i) const { return slots_[i].state; }
  HEDDLE_ANYWHERE Key* key(std::size_t i) const { return reinterpret_cast<Key*>(slots_[i].key); }
  HEDDLE_ANYWHERE Value* value(std::size_t i) const {
    return reinterpret_cast<Value*>(slots_[i].value);
  }

private:
  struct slot {
    std::uint64_t state;
    alignas(Key) unsigned char key[sizeof(Key)];
    alignas(Value) unsigned char value[sizeof(Value)];
  };
  slot* slots_ = nullptr;
};

/// The talk's three arrays.
template <class Key, class Value> class slots_apart {
public:
  static constexpr bool waits_for_notice = true; // as the talk does
  slots_apart() = default;
  HEDDLE_ANYWHERE slots_apart(void* memory, std::size_t slots)
      : memory_(static_cast<unsigned char*>(memory)),
        slots_(slots) {}
  static constexpr std::size_t bytes(std::size_t slots) {
    return value_offset(slots) + slots * sizeof(Value);
  }
  HEDDLE_ANYWHERE std::uint64_t& state(std::size_t i) const {
    return reinterpret_cast<std::uint64_t*>(memory_)[i];
  }
  HEDDLE_ANYWHERE Key* key(std::size_t i) const {
    return reinterpret_cast<Key*>(memory_ + key_offset(slots_)) + i;
  }
  HEDDLE_ANYWHERE Value* value(std::size_t i) const {
    return reinterpret_cast<Value*>(memory_ + value_offset(slots_)) + i;
  }

private:
  HEDDLE_ANYWHERE static constexpr std::size_t up(std::size_t offset) {
    return (offset + 127) / 128 * 128;
  }
  HEDDLE_ANYWHERE static constexpr std::size_t key_offset(std::size_t slots) {
    return up(slots * sizeof(std::uint64_t));
  }
  HEDDLE_ANYWHERE static constexpr std::size_t value_offset(std::size_t slots) {
    return up(key_offset(slots) + slots * sizeof(Key));
  }
  unsigned char* memory_ = nullptr;
  std::size_t slots_ = 0;
};

template <class Slots, class Key, class Value, cuda::thread_scope Scope, class Hash, class KeyEqual>
class slot_table {
public:
  static constexpr std::size_t header_bytes = 128; // the gate
  static constexpr cuda::thread_scope scope = Scope;
  static constexpr std::size_t bytes(std::uint32_t slots) {
    return header_bytes + Slots::bytes(slots);
  }
  static constexpr std::uint32_t buckets_for(std::size_t slots) {
    return static_cast<std::uint32_t>(slots == 0 ? 1 : slots);
  }

  slot_table() = default;
  HEDDLE_ANYWHERE slot_table(void* memory, std::uint32_t slots, Hash hash, KeyEqual equal)
      : gate_(static_cast<std::uint64_t*>(memory)),
        slots_(static_cast<unsigned char*>(memory) + header_bytes, slots),
        capacity_(slots),
        hash_(hash),
        equal_(equal) {}

  HEDDLE_ANYWHERE std::uint32_t buckets() const { return capacity_; }
  HEDDLE_ANYWHERE Hash hash() const { return hash_; }
  HEDDLE_ANYWHERE std::size_t capacity() const { return capacity_; }
  HEDDLE_ANYWHERE std::size_t places() const { return capacity_; }

  HEDDLE_NO_EXEC_CHECK
  template <class Visit> HEDDLE_ANYWHERE bool visit_place(std::size_t i, Visit&& visit) const {
    std::uint64_t state = load(i);
    for (;;) {
      const kind k = kind_of(state);
      if (k == kind::full) {
        if (exchange(i, state, state + one_reader)) {
          const reader_hold hold{*this, i};
          visit(
              static_cast<const Key&>(*slots_.key(i)),
              static_cast<const Value&>(*slots_.value(i))
          );
          return true;
        }
      } else if (k == kind::exclusive) {
        await_change(i, state);
        state = load(i);
      } else {
        return false;
      }
    }
  }

  HEDDLE_NO_EXEC_CHECK
  template <class Visit> HEDDLE_ANYWHERE bool visit(const Key& key, ordering, Visit&& visit) const {
    const scan_result found = scan(key, hashed(key), hold_as::reader);
    if (found.match == none) {
      return false;
    }
    const reader_hold hold{*this, found.match};
    visit(static_cast<const Value&>(*slots_.value(found.match)));
    return true;
  }

  HEDDLE_NO_EXEC_CHECK
  HEDDLE_ANYWHERE bool erase(const Key& key, ordering) const {
    const scan_result found = scan(key, hashed(key), hold_as::writer);
    if (found.match == none) {
      return false;
    }
    slots_.value(found.match)->~Value();
    slots_.key(found.match)->~Key();
    store(found.match, word(kind::tombstone, 0));
    return true;
  }

  HEDDLE_NO_EXEC_CHECK
  template <class Make, class Update>
  HEDDLE_ANYWHERE insert_result
  upsert(const Key& key, ordering, Make&& make, const Update& update) const {
    const std::uint64_t h = hashed(key);
    std::size_t confirmed = none;
    std::uint64_t confirmed_state = 0;
    for (;;) {
      const scan_result now = scan(key, h, Update::writes ? hold_as::writer : hold_as::reader);
      if (now.match != none) {
        if constexpr (Update::writes) {
          const writer_hold hold{*this, now.match, h};
          update(*slots_.value(now.match));
        } else {
          leave(now.match);
        }
        return insert_result::exists;
      }
      if (kind_of(now.end_state) == kind::empty_locked) {
        std::uint64_t seen = now.end_state;
        do {
          await_change(now.end, seen);
          seen = load(now.end);
        } while (kind_of(seen) == kind::empty_locked);
        confirmed = none;
      } else if (now.tombstone != none) {
        confirmed = none;
        std::uint64_t expected = now.end_state;
        if (exchange_end(now.end, expected, now.end_state | 1)) { // P4
          const std::size_t reserved = reserve_tombstone(key, h);
          store_end(now.end, (now.end_state & ~std::uint64_t(0xffffffff)) + one_stamp);
          if (reserved != none) {
            fill(reserved, h, key, make);
            return insert_result::inserted;
          }
        }
      } else if (
          now.end == first(h) || (now.end == confirmed && now.end_state == confirmed_state)
      ) { // P3
        if (now.end == gate) {
          return insert_result::full;
        }
        std::uint64_t expected = now.end_state;
        if (exchange(now.end, expected, word(kind::reserved, h))) {
          fill(now.end, h, key, make);
          return insert_result::inserted;
        }
        confirmed = none;
      } else {
        confirmed = now.end;
        confirmed_state = now.end_state;
      }
    }
  }

private:
  enum class kind : std::uint64_t {
    empty = 0,
    empty_locked = 1,
    reserved = 2,
    full = 3,
    exclusive = 4,
    tombstone = 5
  };
  enum class hold_as {
    reader,
    writer
  };
  static constexpr std::size_t none = ~std::size_t(0);
  static constexpr std::size_t gate = none - 1;
  static constexpr std::uint64_t one_reader = std::uint64_t(1) << 32;
  static constexpr std::uint64_t one_stamp = std::uint64_t(1) << 32;
  static constexpr std::uint64_t fingerprint_bits = 0xffff0000;

  struct scan_result {
    std::size_t match = none; // held
    std::size_t end = gate;
    std::uint64_t end_state = 0;
    std::size_t tombstone = none;
  };

  struct reader_hold {
    const slot_table& table;
    std::size_t slot;
    HEDDLE_ANYWHERE ~reader_hold() { table.leave(slot); }
  };
  struct writer_hold {
    const slot_table& table;
    std::size_t slot;
    std::uint64_t hash;
    HEDDLE_ANYWHERE ~writer_hold() { table.store(slot, word(kind::full, hash)); }
  };
  /// A reserved slot: becomes a tombstone unless it was filled.
  struct reservation {
    const slot_table& table;
    std::size_t slot;
    std::uint64_t hash;
    bool has_key = false;
    bool filled = false;
    HEDDLE_NO_EXEC_CHECK
    HEDDLE_ANYWHERE ~reservation() {
      if (has_key && !filled) {
        table.slots_.key(slot)->~Key();
      }
      table.store(slot, filled ? word(kind::full, hash) : word(kind::tombstone, 0));
    }
  };

  HEDDLE_ANYWHERE static kind kind_of(std::uint64_t state) { return static_cast<kind>(state & 7); }
  HEDDLE_ANYWHERE static std::uint64_t word(kind k, std::uint64_t hash) {
    return static_cast<std::uint64_t>(k) |
           (k == kind::tombstone ? 0 : (hash << 16 & fingerprint_bits));
  }

  HEDDLE_NO_EXEC_CHECK
  HEDDLE_ANYWHERE std::uint64_t hashed(const Key& key) const {
    return mix(static_cast<std::uint64_t>(hash_(key)));
  }
  HEDDLE_ANYWHERE std::size_t first(std::uint64_t h) const { return multiply_high(h, capacity_); }

  HEDDLE_ANYWHERE cuda::atomic_ref<std::uint64_t, Scope> state(std::size_t i) const {
    return cuda::atomic_ref<std::uint64_t, Scope>(i == gate ? *gate_ : slots_.state(i));
  }
  HEDDLE_ANYWHERE std::uint64_t load(std::size_t i) const {
    return state(i).load(cuda::memory_order_acquire);
  }
  HEDDLE_ANYWHERE void store(std::size_t i, std::uint64_t s) const {
    state(i).store(s, cuda::memory_order_release);
    give_notice(i);
  }
  /// Takes hold of a slot, or locks an end: does not release, since a state that says so makes
  /// others wait or pass by, and what becomes of the slot is released by store or leave. It keeps
  /// what released the state before, as a read-modify-write. Acquires, although the state was read
  /// before: the same state may have come back.
  HEDDLE_ANYWHERE bool
  exchange(std::size_t i, std::uint64_t& expected, std::uint64_t desired) const {
    return state(i).compare_exchange_strong(
        expected,
        desired,
        cuda::memory_order_acquire,
        cuda::memory_order_acquire
    );
  }
  HEDDLE_ANYWHERE bool
  exchange_end(std::size_t i, std::uint64_t& expected, std::uint64_t desired) const {
    return exchange(i, expected, desired);
  }
  HEDDLE_ANYWHERE void store_end(std::size_t i, std::uint64_t s) const { store(i, s); }
  HEDDLE_ANYWHERE void leave(std::size_t i) const {
    state(i).fetch_sub(one_reader, cuda::memory_order_release);
    give_notice(i);
  }
  /// Until the state is no longer as seen, or for a while.
  HEDDLE_ANYWHERE void await_change(std::size_t i, std::uint64_t seen) const {
    if constexpr (Slots::waits_for_notice) {
      state(i).wait(seen, cuda::memory_order_relaxed);
    } else {
      wait_a_little();
    }
  }
  HEDDLE_ANYWHERE void give_notice(std::size_t i) const {
    if constexpr (Slots::waits_for_notice) {
      state(i).notify_all();
    }
  }

  /// Looks for the key on its path, up to the end. A match is held.
  HEDDLE_NO_EXEC_CHECK
  HEDDLE_ANYWHERE scan_result scan(const Key& key, std::uint64_t h, hold_as how) const {
    scan_result result;
    std::size_t i = first(h);
    for (std::uint32_t visited = 0; visited < capacity_;
         ++visited, i = i + 1 == capacity_ ? 0 : i + 1) {
      std::uint64_t seen = load(i);
      const kind k = kind_of(seen);
      if (k == kind::empty || k == kind::empty_locked) {
        result.end = i;
        result.end_state = seen;
        return result;
      }
      if (hold_if_equal(i, seen, key, h, how)) {
        result.match = i;
        return result;
      }
      if (kind_of(seen) == kind::tombstone && result.tombstone == none) {
        result.tombstone = i;
      }
    }
    result.end_state = load(gate);
    return result;
  }

  /// Holds slot i if it has this key. `seen` becomes its last state.
  HEDDLE_NO_EXEC_CHECK
  HEDDLE_ANYWHERE bool hold_if_equal(
      std::size_t i,
      std::uint64_t& seen,
      const Key& key,
      std::uint64_t h,
      hold_as how
  ) const {
    while (kind_of(seen) != kind::tombstone &&
           (seen & fingerprint_bits) == (h << 16 & fingerprint_bits)) {
      const bool free =
          kind_of(seen) == kind::full && (how == hold_as::reader || seen < one_reader);
      if (!free) {
        await_change(i, seen);
        seen = load(i);
        continue;
      }
      if (exchange(
              i,
              seen,
              how == hold_as::reader ? seen + one_reader : word(kind::exclusive, h)
          )) {
        if (equal_(*slots_.key(i), key)) {
          return true;
        }
        if (how == hold_as::reader) {
          leave(i);
        } else {
          store(i, word(kind::full, h));
        }
        return false;
      }
    }
    return false;
  }

  HEDDLE_ANYWHERE std::size_t reserve_tombstone(const Key& key, std::uint64_t h) const {
    for (;;) {
      const scan_result now = scan(key, h, hold_as::reader);
      if (now.match != none) {
        leave(now.match);
        return none;
      }
      if (now.tombstone == none) {
        return none;
      }
      std::uint64_t expected = word(kind::tombstone, 0);
      if (exchange(now.tombstone, expected, word(kind::reserved, h))) {
        return now.tombstone;
      }
    }
  }

  HEDDLE_NO_EXEC_CHECK
  template <class Make>
  HEDDLE_ANYWHERE void fill(std::size_t i, std::uint64_t h, const Key& key, Make& make) const {
    reservation mine{*this, i, h};
    ::new (static_cast<void*>(slots_.key(i))) Key(key);
    mine.has_key = true;
    ::new (static_cast<void*>(slots_.value(i))) Value(make());
    mine.filled = true;
  }

  std::uint64_t* gate_ = nullptr;
  Slots slots_;
  std::uint32_t capacity_ = 0;
  Hash hash_{};
  KeyEqual equal_{};
};

} // namespace detail
} // namespace heddle
