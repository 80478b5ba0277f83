// The table behind layout::packed8 and layout::packed16: a pair is one word, changed by one
// compare-exchange.
//
// Memory: buckets of 64 bytes (packed8: a cache line of the host, two sectors of a GPU) or 128
// bytes (packed16). Word 0 of a bucket is its overflow filter, the others hold pairs. A *granule*
// is 16 bytes, what one thread loads at once:
//
//     packed8    filter 1 | 2 3 | 4 5 | 6 7                       4 granules
//     packed16   filter | 1 | 2 | 3 | 4 | 5 | 6 | 7               8 granules
//
// Probing: a key's hash gives a bucket, a slot in it to begin with, a step to the next bucket
// (double hashing over a prime number of buckets) and one of 64 filter bits. The *path* of a key is
// the order in which it visits slots: its first slot, the other one of that granule, the following
// granules of the bucket (around its end); then the next bucket in the same way; and after all
// buckets, as if it were a last slot, the *gate* of the table. An insertion that goes beyond a
// bucket first sets its bit in the bucket's filter, so a search for a key that is not there mostly
// ends after one bucket even when the table is nearly full.
//
// One thread reads a granule at a time, because what a GPU can do is a number of requests: 16 bytes
// cost as much as 8, and 64 bytes by one thread as much as four keys. Bulk calls read a bucket by
// as many lanes as it has granules (see packed_warp.cuh), for which 64 bytes cost one request.
//
// Protocol. Slots change like this, and in no other way, while the map is shared:
//
//     empty(stamp) ──insert──► pair(k,v) ──erase──► tombstone
//     tombstone ──insert, holding the lock──► pair(k',v')
//     pair(k,v) ──assign──► pair(k,v')
//     empty(stamp) ◄──lock──► empty(stamp, locked) ──unlock──► empty(stamp+1)
//
//   P1  An empty slot that was filled never becomes empty again. So all inserters of one key agree
//       on the first empty slot of its path, its *end*, or one of them finds it filled; and no key
//       is stored beyond its end.
//   P2  Every insertion of k commits by changing the end of k's path: either it exchanges the end
//       for the pair, or it locks the end, puts the pair into a tombstone of the path, and unlocks
//       the end with a new stamp.
//   P3  An insertion that exchanges the end has read the end's stamp *before* it read the path for
//       k the last time (two scans that agree on the end), and expects that stamp. By P2 nobody
//       inserted k in between.
//   P3' An insertion that takes the second slot of a path, expecting stamp 0, after the first was
//       seen to hold another pair, needs no second scan: since the first slot was filled every
//       insertion of k would have had the second as its end, and would have left another stamp or
//       a pair there.
//   P4  An insertion that re-uses a tombstone reads the path for k while it holds the end locked.
//       P3, P3' and P4: at most one slot holds k, however erasures run in between. An empty first
//       slot of a path has nothing before it, so the common insertion is one compare-exchange.
//   P5  A filter bit is set before an insertion passes its bucket, and never cleared. So a search
//       may stop at a full bucket without the bit, as at an empty slot.
//
// tests/map/mutants.py breaks each of these rules in turn, and `heddle check` finds out.
//
// Memory orders. `order` is what the caller's data need. The protocol itself needs:
//
//   O1  Scans acquire, the gate too, and an end is unlocked by a release. So a thread that reads
//       the stamp of an insertion sees the pair that was put before the end (P3, P4). Exchanges of
//       the end keep that, whatever their order: a read-modify-write stands in the release sequence
//       of what it replaces.
//   O2  Who exchanges an end expects the word that the scan acquired. No other message has this
//       value, since each stamp is written once; so there is nothing more to acquire. Who finds
//       another word scans again. The lock itself says nothing: nobody may act on a locked end, and
//       the unlocking releases.
//   O3  Who re-uses a tombstone has acquired, in the scan before, the erasure of its own key, if
//       there was one: nobody else inserts the key meanwhile (P4). Who finds another word scans
//       again.
//   O4  Filter bits are relaxed: the insertion that goes on releases them with its pair, and a bit
//       that it found set is one that it has read, so nobody who knows the pair misses it.
//
// tests/map/orders.py weakens each order by one step.
//
// Linearisation points: insertion: the exchange that stores the pair; assignment and erasure: the
// exchange that replaces the pair; an insertion that finds the key, and a successful search: the
// load that saw the pair. A search that fails: some moment between its start and its last load at
// which the key was absent; there is one, since a key that is there all the time stays in one slot,
// which the search visits before it may stop (P1, P5). `full` is returned after a scan that saw
// neither an empty slot nor a tombstone: erasures that run at the same time may have made room
// behind it.
//
// Progress: search and erasure never wait (erasure repeats an exchange only when another one
// succeeded). Insertion waits only for a thread that holds the end locked. That thread has started,
// so it takes steps ([DEV]: every started device thread does; a host thread too), and it needs
// finitely many: one scan, one exchange, one store.
#pragma once

#include "word.cuh"

namespace heddle {

/// What an insertion did. `full`: nothing was inserted, because no slot was free.
enum class insert_result {
  inserted,
  exists,
  full
};

namespace detail {

template <class Table, class Lanes> struct packed_warp;

template <class Word, class Key, class Value, cuda::thread_scope Scope, class Hash>
class packed_table {
  template <class Table, class Lanes> friend struct packed_warp;

public:
  using word_type = Word;
  using key_type = Key;
  using mapped_type = Value;
  using field = typename Word::field;
  using mem = memory<Scope>;
  static constexpr cuda::thread_scope scope = Scope;
  static constexpr int bucket_units = Word::bucket_units;
  static constexpr int bucket_slots = bucket_units - 1;
  static constexpr int granule_units = Word::granule_units;
  static constexpr int granules = bucket_units / granule_units;
  static_assert(bucket_slots >= 3, "heddle: the first two slots of a path are in one bucket");
  /// Words in front of the buckets: the pair with the key of all ones, and the gate.
  static constexpr int header_units = 128 / sizeof(Word);

  packed_table() = default;
  HEDDLE_ANYWHERE packed_table(void* memory, std::uint32_t buckets, Hash hash)
      : units_(static_cast<Word*>(memory) + header_units),
        buckets_(buckets),
        hash_(hash) {}

  static constexpr std::size_t bytes(std::uint32_t buckets) {
    return sizeof(Word) * (header_units + static_cast<std::size_t>(buckets) * bucket_units);
  }
  /// The number of buckets for at least so many slots: a prime, so that every step visits all of
  /// them.
  static constexpr std::uint32_t buckets_for(std::size_t slots) {
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
  HEDDLE_ANYWHERE std::uint32_t buckets() const { return buckets_; }
  HEDDLE_ANYWHERE Hash hash() const { return hash_; }
  HEDDLE_ANYWHERE std::size_t capacity() const {
    return static_cast<std::size_t>(buckets_) * bucket_slots;
  }
  /// Places that for_each visits: every slot, and the one of the key of all ones.
  HEDDLE_ANYWHERE std::size_t places() const { return capacity() + 1; }

  HEDDLE_ANYWHERE static field stored_key(const Key& key) {
    return static_cast<field>(~to_field<field>(key));
  }
  /// Whether a key has the slot of its own in front of the buckets.
  HEDDLE_ANYWHERE static constexpr bool is_special(field stored) {
    return sizeof(Key) == sizeof(field) &&
           stored == 0; // shorter keys leave a bit that is always set
  }

  /// Where searches for the key begin.
  HEDDLE_ANYWHERE const void* first_place(const Key& key) const {
    const path p = path_of(key);
    return units_ + static_cast<std::size_t>(p.bucket) * bucket_units + p.start;
  }

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
    const Word w = mem::load(
        units_ + place / bucket_slots * bucket_units + 1 + place % bucket_slots,
        access::acquire
    );
    if (w.key == 0) {
      return false;
    }
    visit(from_field<Key>(static_cast<field>(~w.key)), from_field<Value>(w.other));
    return true;
  }

  /// Calls visit(value) with a snapshot of the value stored with the key, if there is one.
  HEDDLE_NO_EXEC_CHECK
  template <class Visit>
  HEDDLE_ANYWHERE bool visit(const Key& key, ordering order, Visit&& visit) const {
    Word found;
    if (search(key, order, found) == nullptr) {
      return false;
    }
    visit(from_field<Value>(found.other));
    return true;
  }

  HEDDLE_ANYWHERE bool erase(const Key& key, ordering order) const {
    Word seen;
    Word* const slot = search(key, order, seen);
    return erase_at(slot, seen, order);
  }
  /// Erases the pair that was seen at a slot (nullptr: none was).
  HEDDLE_ANYWHERE bool erase_at(Word* slot, Word seen, ordering order) const {
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

  /// Inserts (key, make()); or, if the key is there, replaces its value v by what `update(v)`
  /// leaves in v, provided that Update::writes. `make` and `update` may be called several times.
  HEDDLE_NO_EXEC_CHECK
  template <class Make, class Update>
  HEDDLE_ANYWHERE insert_result
  upsert(const Key& key, ordering order, Make&& make, const Update& update) const {
    const field stored = stored_key(key);
    const Word desired{stored, to_field<field>(static_cast<Value>(make()))};
    if (is_special(stored)) {
      return upsert_special(desired.other, order, update);
    }
    const path p = path_of(key);
    insert_result result = insert_result::full;
    attempt done = upsert_at_once(p, desired, order, update, result);
    if constexpr (quick_past_pairs) {
      if (done == attempt::met_pairs) {
        done = upsert_past_pairs(p, desired, order, update, result);
      }
    }
    return done == attempt::decided ? result : upsert_along(p, desired, order, update);
  }

private:
  /// Where the slots of one key are.
  struct path {
    std::uint32_t bucket;
    std::uint32_t step;
    std::uint32_t start; // a unit, 1..7
    std::uint32_t filter_index;

    HEDDLE_ANYWHERE std::uint64_t filter_bit() const { return std::uint64_t(1) << filter_index; }
    HEDDLE_ANYWHERE Word* first(Word* units) const {
      return units + static_cast<std::size_t>(bucket) * bucket_units + start;
    }
  };

  /// The unit that a path visits after unit `start` of its first bucket.
  HEDDLE_ANYWHERE static std::uint32_t second_unit(std::uint32_t start) {
    if constexpr (granule_units == 2) {
      return start == 1 ? 2 : start ^ 1;
    } else {
      return start == bucket_units - 1 ? 1 : start + 1;
    }
  }

  /// How far the quick ways of insertion came.
  enum class attempt {
    decided,
    met_pairs, // both slots hold pairs with other keys
    odd        // something that is not a pair, which upsert_along deals with
  };

  /// The first two slots of a path, without reading anything before.
  template <class Update>
  HEDDLE_ANYWHERE attempt upsert_at_once(
      const path& p,
      Word desired,
      ordering order,
      const Update& update,
      insert_result& result
  ) const {
    Word* slot = p.first(units_);
    for (int i = 0; i < 2; ++i) {
      const Word seen = mem::compare_exchange(slot, Word{0, 0}, desired, order);
      if (same(seen, Word{0, 0})) {
        result = insert_result::inserted;
        return attempt::decided;
      }
      if (seen.key == desired.key) {
        result = insert_result::exists;
        return replace(slot, seen, order, update) ? attempt::decided : attempt::odd;
      }
      if (seen.key == 0) {
        return attempt::odd; // a tombstone, or a stamp
      }
      slot += static_cast<std::ptrdiff_t>(second_unit(p.start)) -
              static_cast<std::ptrdiff_t>(p.start); // P3'
    }
    return attempt::met_pairs;
  }

  /// Goes on behind two pairs, as long as it meets nothing but pairs. Slots that were seen filled
  /// stay filled (P1), so the path is read once to find its end, and then, after the end's stamp,
  /// once more for the key (P3); when another pair takes the end meanwhile, the way goes on from
  /// there. Where a granule holds two slots, scans by granule are quicker.
  template <class Update>
  HEDDLE_ANYWHERE attempt upsert_past_pairs(
      const path& p,
      Word desired,
      ordering order,
      const Update& update,
      insert_result& result
  ) const {
    std::uint32_t bucket = p.bucket;
    std::uint32_t rank = 2; // of the next slot, on the path through this bucket
    for (std::uint32_t visited = 0; visited < buckets_;
         ++visited, bucket = next(bucket, p.step), rank = 0) {
      Word* const base = units_ + static_cast<std::size_t>(bucket) * bucket_units;
      HEDDLE_NO_UNROLL
      for (; rank < bucket_slots; ++rank) {
        Word* const slot = base + unit_at(p.start, rank);
        Word seen = mem::load(slot, access::acquire); // before the path is read again
        if (same(seen, Word{0, 0})) {
          if (!only_others(p, visited, rank, desired.key)) {
            return attempt::odd;
          }
          seen = mem::compare_exchange(slot, seen, desired, order);
          if (same(seen, Word{0, 0})) {
            result = insert_result::inserted;
            return attempt::decided;
          }
        }
        if (seen.key == desired.key) {
          result = insert_result::exists;
          return replace(slot, seen, order, update) ? attempt::decided : attempt::odd;
        }
        if (seen.key == 0) {
          return attempt::odd;
        }
      }
      if ((control_bits(mem::load(base, access::relaxed)) & p.filter_bit()) == 0) {
        mem::set_bits(base, p.filter_bit());
      }
    }
    return attempt::odd; // full
  }

  /// Whether the slots of a path before the one of this rank in this bucket hold pairs with other
  /// keys only. Who meets the key here reads it again, in upsert_along, so relaxed loads do.
  HEDDLE_ANYWHERE bool only_others(
      const path& p,
      std::uint32_t last_bucket,
      std::uint32_t last_rank,
      field stored
  ) const {
    std::uint32_t bucket = p.bucket;
    HEDDLE_NO_UNROLL
    for (std::uint32_t visited = 0; visited <= last_bucket;
         ++visited, bucket = next(bucket, p.step)) {
      Word* const base = units_ + static_cast<std::size_t>(bucket) * bucket_units;
      const std::uint32_t ranks = visited == last_bucket ? last_rank : bucket_slots;
      HEDDLE_NO_UNROLL
      for (std::uint32_t rank = 0; rank < ranks; rank += read_ahead) {
        Word words[read_ahead];
        HEDDLE_UNROLL
        for (std::uint32_t i = 0; i < read_ahead; ++i) { // all loads before the first use
          const std::uint32_t at = rank + i < ranks ? rank + i : rank;
          words[i] = mem::load(base + unit_at(p.start, at), access::relaxed);
        }
        HEDDLE_UNROLL
        for (std::uint32_t i = 0; i < read_ahead; ++i) {
          if (words[i].key == stored || words[i].key == 0) {
            return false;
          }
        }
      }
    }
    return true;
  }
  static constexpr std::uint32_t read_ahead = 3;
  static constexpr bool quick_past_pairs = granule_units == 1;

  /// The unit of the slot with this rank (0 is the first) on a path through a bucket.
  HEDDLE_ANYWHERE static std::uint32_t unit_at(std::uint32_t start, std::uint32_t rank) {
    static_assert(granule_units == 1, "units in turn");
    const std::uint32_t unit = start + rank;
    return unit < bucket_units ? unit : unit - bucket_units + 1;
  }

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

  HEDDLE_ANYWHERE path path_of(const Key& key) const {
    const std::uint64_t h = mix(static_cast<std::uint64_t>(hash_(key)));
    const std::uint64_t fraction = h * buckets_;
    return {
        static_cast<std::uint32_t>(multiply_high(h, buckets_)),
        1 + scale(static_cast<std::uint32_t>(h), buckets_ - 1),
        1 + scale(static_cast<std::uint32_t>(fraction >> 32), bucket_slots),
        static_cast<std::uint32_t>(h & 63)
    };
  }

  HEDDLE_ANYWHERE std::uint32_t next(std::uint32_t bucket, std::uint32_t step) const {
    const std::uint64_t sum = static_cast<std::uint64_t>(bucket) + step;
    return static_cast<std::uint32_t>(sum >= buckets_ ? sum - buckets_ : sum);
  }

  HEDDLE_ANYWHERE static void
  load_granule(Word* granule, access order, Word (&words)[granule_units]) {
    if constexpr (granule_units == 2) {
      mem::load_pair(granule, order, words[0], words[1]);
    } else {
      words[0] = mem::load(granule, order);
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
      HEDDLE_NO_UNROLL
      for (int i = 0; i < granules; ++i) {
        const std::uint32_t at = (p.start / granule_units + i) % granules * granule_units;
        Word words[granule_units];
        load_granule(base + at, loads, words);
        HEDDLE_UNROLL
        for (int u = 0; u < granule_units; ++u) {
          if (at + u == 0) {
            filter = control_bits(words[0]);
          } else if (words[u].key == stored) {
            found = words[u];
            return base + at + u;
          }
        }
        // An empty slot ends the search even if it is the second of the path: no key is beyond its
        // end.
        HEDDLE_UNROLL
        for (int u = 0; u < granule_units; ++u) {
          if (at + u != 0 && is_empty(words[u])) {
            return nullptr;
          }
        }
      }
      if ((filter & p.filter_bit()) == 0) {
        return nullptr;
      }
    }
    return nullptr;
  }

  /// Reads the path of a key up to its end, and announces the passage in the filters of buckets
  /// that it leaves. Acquires: who reads an unlocked end, or a pair that took its place, sees what
  /// was inserted before it.
  HEDDLE_ANYWHERE scan_result scan(const path& p, field stored) const {
    scan_result result;
    std::uint32_t bucket = p.bucket;
    for (std::uint32_t visited = 0; visited < buckets_; ++visited, bucket = next(bucket, p.step)) {
      Word* const base = units_ + static_cast<std::size_t>(bucket) * bucket_units;
      std::uint64_t filter = 0;
      HEDDLE_NO_UNROLL
      for (int i = 0; i < granules; ++i) {
        const std::uint32_t at = (p.start / granule_units + i) % granules * granule_units;
        Word words[granule_units];
        load_granule(base + at, access::acquire, words);
        if (granule_units == 2 && i == 0 && p.start % granule_units == 1) {
          const Word first = words[0]; // the path begins with the second word
          words[0] = words[granule_units - 1];
          words[granule_units - 1] = first;
        }
        HEDDLE_UNROLL
        for (int j = 0; j < granule_units; ++j) {
          const std::uint32_t u = at + (i == 0 ? (p.start + j) % granule_units : j);
          if (u == 0) {
            filter = control_bits(words[j]);
          } else if (words[j].key == stored) {
            result.match = base + u;
            result.match_word = words[j];
            return result;
          } else if (is_empty(words[j])) {
            result.end = base + u;
            result.end_word = words[j];
            return result;
          } else if (is_tombstone(words[j]) && result.tombstone == nullptr) {
            result.tombstone = base + u;
          }
        }
      }
      if ((filter & p.filter_bit()) == 0) {
        mem::set_bits(base, p.filter_bit());
      }
    }
    result.end = gate();
    result.end_word = mem::load(gate(), access::acquire);
    return result;
  }

  /// Replaces the value at a slot that holds the key. False if the key is there no longer.
  HEDDLE_NO_EXEC_CHECK
  template <class Update>
  HEDDLE_ANYWHERE static bool replace(Word* slot, Word seen, ordering order, const Update& update) {
    if constexpr (Update::writes) {
      for (;;) {
        Value value = from_field<Value>(seen.other);
        update(value);
        const Word held =
            mem::compare_exchange(slot, seen, Word{seen.key, to_field<field>(value)}, order);
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
  HEDDLE_ANYWHERE insert_result
  upsert_along(const path& p, Word desired, ordering order, const Update& update) const {
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
        do { // the end alone: whoever waits must not keep the holder's path busy
          wait_a_little();
        } while (is_locked(mem::load(now.end, access::relaxed)));
        confirmed = nullptr;
      } else if (now.tombstone != nullptr) {
        const Word held = locked(now.end_word);
        if (same(
                mem::compare_exchange(now.end, now.end_word, held, ordering::relaxed), // O2
                now.end_word
            )) {
          const bool done = reuse_tombstone(p, desired, order);
          mem::store_release(now.end, unlocked(held));
          if (done) {
            return insert_result::inserted;
          }
        }
        confirmed = nullptr;
      } else if (
          now.end == p.first(units_) || (now.end == confirmed && same(now.end_word, confirmed_word))
      ) {
        if (now.end == gate()) {
          return insert_result::full;
        }
        if (same(
                mem::compare_exchange(now.end, now.end_word, desired, order, access::relaxed),
                now.end_word
            )) { // O2
          return insert_result::inserted;
        }
        confirmed = nullptr;
      } else {
        confirmed = now.end;
        confirmed_word = now.end_word;
      }
    }
  }

  /// Called with the end of the path locked. False if the key is there, or others took all
  /// tombstones.
  HEDDLE_ANYWHERE bool reuse_tombstone(const path& p, Word desired, ordering order) const {
    for (;;) {
      const scan_result now = scan(p, desired.key);
      if (now.match != nullptr || now.tombstone == nullptr) {
        return false;
      }
      const Word free = tombstone<Word>();
      const Word held =
          mem::compare_exchange(now.tombstone, free, desired, order, access::relaxed); // O3
      if (is_tombstone(held)) {
        return true;
      }
    }
  }

  HEDDLE_NO_EXEC_CHECK
  template <class Update>
  HEDDLE_ANYWHERE insert_result
  upsert_special(field other, ordering order, const Update& update) const {
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
