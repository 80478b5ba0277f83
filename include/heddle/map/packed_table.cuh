// The table behind layout::packed8 and layout::packed16: a pair is one word, changed by one compare-exchange.
//
// Memory: buckets of 8 words, 64 bytes (packed8: a cache line of the host, two sectors of the GPU) or 128 bytes
// (packed16). Word 0 of a bucket is its overflow filter; words 1..7 hold pairs.
//
//     bucket   | filter | slot 1 | slot 2 | slot 3 |  slot 4 | slot 5 | slot 6 | slot 7 |
//              '------------ sector 0 -------------'---------------- sector 1 ----------'
//
// Probing: a key's hash gives a bucket, a slot in it to begin with, a step to the next bucket (double hashing over a
// prime number of buckets) and one of 64 filter bits. The *path* of a key is the order in which it visits slots: the
// sector of its first slot, starting there and wrapping around; then the bucket's other sectors; then the next bucket
// in the same way; and after all buckets, as if it were a last slot, the *gate* of the table. An insertion that goes
// beyond a bucket first sets its bit in the bucket's filter, so a search for a key that is not there mostly ends
// after one bucket even when the table is full.
//
// Protocol. Slots change like this, and in no other way, while the map is shared:
//
//     empty(stamp) ──insert──► pair(k,v) ──erase──► tombstone ──insert, holding the lock──► pair(k',v')
//     empty(stamp) ◄─lock─► empty(stamp, locked) ──unlock──► empty(stamp+1)         pair(k,v) ──assign──► pair(k,v')
//
//   P1  An empty slot that was filled never becomes empty again. So all inserters of one key agree on the first empty
//       slot of its path, its *end*, or one of them finds it filled; and no key is stored beyond its end.
//   P2  Every insertion of k commits by changing the end of k's path: either it exchanges the end for the pair, or it
//       locks the end, puts the pair into a tombstone of the path, and unlocks the end with a new stamp.
//   P3  An insertion that exchanges the end has read the end's stamp *before* it read the path for k the last time
//       (two scans that agree on the end), and expects that stamp. By P2 nobody inserted k in between.
//   P4  An insertion that re-uses a tombstone reads the path for k while it holds the end locked.
//   P3 and P4: at most one slot holds k, however erasures run in between. An empty first slot of a path has nothing
//   before it, so the common insertion is one compare-exchange.
//   P5  A filter bit is set before an insertion passes its bucket, and never cleared. So a search may stop at a full
//       bucket without the bit, as at an empty slot.
//
// Linearisation points: insertion: the exchange that stores the pair; assignment and erasure: the exchange that
// replaces the pair; an insertion that finds the key, and a successful search: the load that saw the pair. A search
// that fails: some moment between its start and its last load at which the key was absent; there is one, since a key
// that is there all the time stays in one slot, which the search visits before it may stop (P1, P5).
// `full` is returned after a scan that saw neither an empty slot nor a tombstone: erasures that run at the same time
// may have made room behind it.
//
// Progress: search and erasure never wait (erasure repeats an exchange only when another one succeeded). Insertion
// waits only for a thread that holds the end locked. That thread has started, so it takes steps ([DEV]: every started
// device thread does; a host thread too), and it needs finitely many: one scan, one exchange, one store.
#pragma once

#include <heddle/map/word.cuh>

namespace heddle {

/// What an insertion did. `full`: nothing was inserted, because no slot was free.
enum class insert_result { inserted, exists, full };

namespace detail {

template <class Word, class Key, class Value, cuda::thread_scope Scope, class Hash> class packed_table {
public:
  using field = typename Word::field;
  using mem = memory<Scope>;
  static constexpr int bucket_units = 8;
  static constexpr int bucket_slots = bucket_units - 1;
  static constexpr int sector_units = Word::sector_units;
  static constexpr int sectors = bucket_units / sector_units;
  /// Words in front of the buckets: the pair with the key of all ones, and the gate.
  static constexpr int header_units = bucket_units;

  packed_table() = default;
  HEDDLE_ANYWHERE packed_table(void* memory, std::uint32_t buckets, Hash hash)
      : units_(static_cast<Word*>(memory) + header_units), buckets_(buckets), hash_(hash) {}

  static constexpr std::size_t bytes(std::uint32_t buckets) {
    return sizeof(Word) * (header_units + static_cast<std::size_t>(buckets) * bucket_units);
  }
  /// The number of buckets for at least so many slots: a prime, so that every step visits all of them.
  static std::uint32_t buckets_for(std::size_t slots) {
    std::uint64_t buckets = (slots + bucket_slots - 1) / bucket_slots;
    for (;; ++buckets) {
      bool prime = buckets > 1;
      for (std::uint64_t d = 2; prime && d * d <= buckets; ++d) {
        prime = buckets % d != 0;
      }
      if (prime || buckets == 1) {
        return static_cast<std::uint32_t>(buckets);
      }
    }
  }
  static constexpr bool waits_for_readers = false;

  HEDDLE_ANYWHERE std::uint32_t buckets() const { return buckets_; }
  HEDDLE_ANYWHERE Hash hash() const { return hash_; }
  HEDDLE_ANYWHERE std::size_t capacity() const { return static_cast<std::size_t>(buckets_) * bucket_slots; }
  /// Places that for_each visits: every slot, and the one of the key of all ones.
  HEDDLE_ANYWHERE std::size_t places() const { return capacity() + 1; }

  /// Calls visit(key, value) for the pair at a place, if there is one.
  HEDDLE_NO_EXEC_CHECK
  template <class Visit> HEDDLE_ANYWHERE bool visit_place(std::size_t place, Visit&& visit) const {
    if (place == capacity()) {
      const Word side = mem::load(special(), access::acquire);
      if (side.key == 0) {
        return false;
      }
      visit(from_field<Key>(static_cast<field>(~field(0))), from_field<Value>(side.other));
      return true;
    }
    const Word w = mem::load(units_ + place / bucket_slots * bucket_units + 1 + place % bucket_slots, access::acquire);
    if (w.key == 0) {
      return false;
    }
    visit(from_field<Key>(static_cast<field>(~w.key)), from_field<Value>(w.other));
    return true;
  }

  /// Calls visit(value) with a snapshot of the value stored with the key, if there is one.
  HEDDLE_NO_EXEC_CHECK
  template <class Visit> HEDDLE_ANYWHERE bool visit(const Key& key, ordering order, Visit&& visit) const {
    Word found;
    if (search(key, order, found) == nullptr) {
      return false;
    }
    visit(from_field<Value>(found.other));
    return true;
  }

  HEDDLE_ANYWHERE bool erase(const Key& key, ordering order) const {
    Word seen;
    Word* slot = search(key, order, seen);
    const Word gone = slot == special() ? Word{0, 0} : tombstone<Word>();
    while (slot != nullptr) {
      const Word before = mem::compare_exchange(slot, seen, gone, order);
      if (same(before, seen)) {
        return true;
      }
      if (before.key != seen.key) {
        return false; // somebody else erased it: at that moment the key was absent
      }
      seen = before; // another value was assigned
    }
    return false;
  }

  /// Inserts (key, make()); or, if the key is there, replaces its value v by what `update(v)` leaves in v, provided
  /// that Update::writes. `make` and `update` may be called several times.
  HEDDLE_NO_EXEC_CHECK
  template <class Make, class Update>
  HEDDLE_ANYWHERE insert_result upsert(const Key& key, ordering order, Make&& make, const Update& update) const {
    const field stored = stored_key(key);
    const Word desired{stored, to_field<field>(static_cast<Value>(make()))};
    if (is_special(stored)) {
      return upsert_special(desired.other, order, update);
    }
    const path p = path_of(key);
    // The first slot of the path is usually empty in a table that is not full, and never was anything else.
    const Word first = mem::compare_exchange(p.first(units_), Word{0, 0}, desired, order);
    if (same(first, Word{0, 0})) {
      return insert_result::inserted;
    }
    if (first.key == stored && (!Update::writes || replace(p.first(units_), first, order, update))) {
      return insert_result::exists;
    }
    return upsert_along(p, desired, order, update);
  }

private:
  /// Where the slots of one key are.
  struct path {
    std::uint32_t bucket;
    std::uint32_t step;
    std::uint32_t start; // a unit, 1..7
    std::uint64_t filter_bit;

    HEDDLE_ANYWHERE Word* first(Word* units) const {
      return units + static_cast<std::size_t>(bucket) * bucket_units + start;
    }
  };

  /// What a scan of a path saw. `end` is the first empty slot, or the gate.
  struct scan_result {
    Word* match = nullptr;
    Word match_word{};
    Word* end = nullptr;
    Word end_word{};
    Word* tombstone = nullptr;
  };

  HEDDLE_ANYWHERE Word* special() const { return units_ - header_units; }
  HEDDLE_ANYWHERE Word* gate() const { return units_ - header_units + 1; }

  HEDDLE_ANYWHERE static field stored_key(const Key& key) { return static_cast<field>(~to_field<field>(key)); }
  HEDDLE_ANYWHERE static constexpr bool is_special(field stored) {
    return sizeof(Key) == sizeof(field) && stored == 0; // shorter keys leave a bit that is always set
  }

  HEDDLE_ANYWHERE path path_of(const Key& key) const {
    const std::uint64_t h = mix(static_cast<std::uint64_t>(hash_(key)));
    const std::uint64_t fraction = h * buckets_;
    return {static_cast<std::uint32_t>(multiply_high(h, buckets_)),
            1 + scale(static_cast<std::uint32_t>(h), buckets_ - 1),
            1 + scale(static_cast<std::uint32_t>(fraction >> 32), bucket_slots), std::uint64_t(1) << (h & 63)};
  }

  HEDDLE_ANYWHERE std::uint32_t next(std::uint32_t bucket, std::uint32_t step) const {
    const std::uint64_t sum = static_cast<std::uint64_t>(bucket) + step;
    return static_cast<std::uint32_t>(sum >= buckets_ ? sum - buckets_ : sum);
  }

  HEDDLE_ANYWHERE static void load_sector(Word* sector, access order, Word (&words)[sector_units]) {
    for (int i = 0; i < sector_units; i += 2) {
      mem::load_pair(sector + i, order, words[i], words[i + 1]);
    }
  }

  /// The slot that holds the key, and the pair in it; nullptr if there is none.
  HEDDLE_ANYWHERE Word* search(const Key& key, ordering order, Word& found) const {
    const field stored = stored_key(key);
    const access loads = order == ordering::relaxed ? access::relaxed : access::acquire;
    if (is_special(stored)) {
      found = mem::load(special(), loads);
      return found.key != 0 ? special() : nullptr;
    }
    const path p = path_of(key);
    std::uint32_t bucket = p.bucket;
    for (std::uint32_t visited = 0; visited < buckets_; ++visited, bucket = next(bucket, p.step)) {
      Word* const base = units_ + static_cast<std::size_t>(bucket) * bucket_units;
      std::uint64_t filter = 0;
      std::uint32_t sector = p.start / sector_units;
      HEDDLE_NO_UNROLL
      for (int i = 0; i < sectors; ++i, sector = (sector + 1) % sectors) {
        Word words[sector_units];
        load_sector(base + sector * sector_units, loads, words);
        Word* match = nullptr;
        bool ends = false;
        HEDDLE_UNROLL
        for (int u = 0; u < sector_units; ++u) {
          const bool slot = u != 0 || sector != 0;
          if (slot && words[u].key == stored) {
            match = base + sector * sector_units + u;
            found = words[u];
          }
          ends = ends || (slot && is_empty(words[u]));
        }
        if (match != nullptr) {
          return match;
        }
        if (ends) {
          return nullptr;
        }
        if (sector == 0) {
          filter = control_bits(words[0]);
        }
      }
      if ((filter & p.filter_bit) == 0) {
        return nullptr;
      }
    }
    return nullptr;
  }

  /// Reads the path of a key up to its end, and announces the passage in the filters of buckets that it leaves.
  /// Acquires: who reads an unlocked end, or a pair that took its place, sees what was inserted before it.
  HEDDLE_ANYWHERE scan_result scan(const path& p, field stored) const {
    scan_result result;
    std::uint32_t bucket = p.bucket;
    for (std::uint32_t visited = 0; visited < buckets_; ++visited, bucket = next(bucket, p.step)) {
      Word* const base = units_ + static_cast<std::size_t>(bucket) * bucket_units;
      std::uint64_t filter = 0;
      std::uint32_t sector = p.start / sector_units;
      std::uint32_t rotation = p.start % sector_units;
      HEDDLE_NO_UNROLL
      for (int i = 0; i < sectors; ++i, sector = (sector + 1) % sectors, rotation = 0) {
        Word words[sector_units];
        Word* const here = base + sector * sector_units;
        load_sector(here, access::acquire, words);
        std::uint32_t empty = 0, dead = 0;
        HEDDLE_UNROLL
        for (int u = 0; u < sector_units; ++u) {
          if (u == 0 && sector == 0) {
            filter = control_bits(words[0]);
            continue;
          }
          if (words[u].key == stored) {
            result.match = here + u;
            result.match_word = words[u];
          }
          empty |= is_empty(words[u]) ? 1u << u : 0u;
          dead |= is_tombstone(words[u]) ? 1u << u : 0u;
        }
        if (result.match != nullptr) {
          return result;
        }
        const int end = first_from(empty, rotation);
        const int tombstone = first_from(dead, rotation);
        if (tombstone >= 0 && result.tombstone == nullptr && (end < 0 || before(tombstone, end, rotation))) {
          result.tombstone = here + tombstone;
        }
        if (end >= 0) {
          result.end = here + end;
        HEDDLE_UNROLL
          for (int u = 0; u < sector_units; ++u) {
            if (u == end) {
              result.end_word = words[u];
            }
          }
          return result;
        }
      }
      if ((filter & p.filter_bit) == 0) {
        mem::set_bits(base, p.filter_bit);
      }
    }
    result.end = gate();
    result.end_word = mem::load(gate(), access::acquire);
    return result;
  }

  /// The first set bit at or after `rotation`, wrapping around; -1 if there is none.
  HEDDLE_ANYWHERE static int first_from(std::uint32_t bits, std::uint32_t rotation) {
    const std::uint32_t turned = (bits >> rotation | bits << (sector_units - rotation)) & ((1u << sector_units) - 1);
    return turned == 0 ? -1 : static_cast<int>((lowest_bit(turned) + rotation) % sector_units);
  }
  HEDDLE_ANYWHERE static bool before(int a, int b, std::uint32_t rotation) {
    return (a - rotation) % sector_units < (b - rotation) % sector_units;
  }

  /// Replaces the value at a slot that holds the key. False if the key is there no longer.
  HEDDLE_NO_EXEC_CHECK
  template <class Update>
  HEDDLE_ANYWHERE static bool replace(Word* slot, Word seen, ordering order, const Update& update) {
    if constexpr (Update::writes) {
      for (;;) {
        Value value = from_field<Value>(seen.other);
        update(value);
        const Word held = mem::compare_exchange(slot, seen, Word{seen.key, to_field<field>(value)}, order);
        if (same(held, seen)) {
          return true;
        }
        if (held.key != seen.key) {
          return false;
        }
        seen = held;
      }
    } else {
      return true;
    }
  }

  HEDDLE_NO_EXEC_CHECK
  template <class Update>
  HEDDLE_ANYWHERE insert_result upsert_along(const path& p, Word desired, ordering order, const Update& update) const {
    Word* confirmed = nullptr; // the end that the last scan saw, with its stamp
    Word confirmed_word{};
    for (;;) {
      const scan_result now = scan(p, desired.key);
      if (now.match != nullptr) {
        if (replace(now.match, now.match_word, order, update)) {
          return insert_result::exists;
        }
        confirmed = nullptr;
      } else if (is_locked(now.end_word)) {
        wait_a_little();
        confirmed = nullptr;
      } else if (now.tombstone != nullptr) {
        const Word held = locked(now.end_word);
        if (same(mem::compare_exchange(now.end, now.end_word, held, ordering::synchronizing), now.end_word)) {
          const bool done = reuse_tombstone(p, desired, order);
          mem::store_release(now.end, unlocked(held));
          if (done) {
            return insert_result::inserted;
          }
        }
        confirmed = nullptr;
      } else if (now.end == p.first(units_) || (now.end == confirmed && same(now.end_word, confirmed_word))) {
        if (now.end == gate()) {
          return insert_result::full;
        }
        if (same(mem::compare_exchange(now.end, now.end_word, desired, order), now.end_word)) {
          return insert_result::inserted;
        }
        confirmed = nullptr;
      } else {
        confirmed = now.end;
        confirmed_word = now.end_word;
      }
    }
  }

  /// Called with the end of the path locked. False if the key is there, or others took all tombstones.
  HEDDLE_ANYWHERE bool reuse_tombstone(const path& p, Word desired, ordering order) const {
    for (;;) {
      const scan_result now = scan(p, desired.key);
      if (now.match != nullptr || now.tombstone == nullptr) {
        return false;
      }
      const Word held = mem::compare_exchange(now.tombstone, tombstone<Word>(), desired, order);
      if (is_tombstone(held)) {
        return true;
      }
    }
  }

  HEDDLE_NO_EXEC_CHECK
  template <class Update>
  HEDDLE_ANYWHERE insert_result upsert_special(field other, ordering order, const Update& update) const {
    for (;;) {
      const Word seen = mem::compare_exchange(special(), Word{0, 0}, Word{1, other}, order);
      if (seen.key == 0) {
        return insert_result::inserted;
      }
      if (replace(special(), seen, order, update)) {
        return insert_result::exists;
      }
    }
  }

  Word* units_ = nullptr;
  std::uint32_t buckets_ = 0;
  Hash hash_{};
};

} // namespace detail
} // namespace heddle
