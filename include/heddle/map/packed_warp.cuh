// Bulk operations on a packed table, by whole warps: every lane brings a key, and tiles of as many
// lanes as a bucket has granules read the buckets of their lanes one after the other, each lane its
// granule. A bucket then costs a GPU one request instead of one per granule, and a lane has several
// loads under way.
//
// The protocol is that of packed_table.cuh; what is rare there (tombstones, locked ends, a full
// table, the key of all ones) is left to its code for one thread. All lanes of a warp must call,
// with `wanted` false if they bring no key.
//
// Progress: as for one thread. Lanes of a warp wait for each other at each shuffle, which they
// reach after finitely many steps of their own: the loops here never wait for another thread.
#pragma once

#include "packed_table.cuh"

#if defined(__CUDACC__)

namespace heddle {
namespace detail {

/// Which lane of its warp a thread is: in the kernels of bulk calls, whose blocks are rows, and in
/// blocks of any shape. (A read of %laneid each time costs bulk insertion a quarter.)
struct lanes_of_rows {
  static HEDDLE_DEVICE unsigned lane() { return threadIdx.x % 32; }
};
struct lanes_of_any_block {
  static HEDDLE_DEVICE unsigned lane() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
  }
};

template <class Table, class Lanes = lanes_of_rows> struct packed_warp {
  using Word = typename Table::word_type;
  using Key = typename Table::key_type;
  using Value = typename Table::mapped_type;
  using field = typename Table::field;
  using path = typename Table::path;
  static constexpr int tile = Table::granules;
  static constexpr int granule_units = Table::granule_units;
  static constexpr unsigned everyone = 0xffffffffu;
  static constexpr unsigned tile_bits = (1u << tile) - 1;

  struct position {
    std::uint32_t bucket;
    std::uint32_t filter_index;
    field stored;
  };

  static HEDDLE_DEVICE position from_lane(const position& mine, int lane) {
    return {
        __shfl_sync(everyone, mine.bucket, lane, tile),
        __shfl_sync(everyone, mine.filter_index, lane, tile),
        __shfl_sync(everyone, mine.stored, lane, tile)
    };
  }
  static HEDDLE_DEVICE unsigned lane() { return Lanes::lane(); }
  static HEDDLE_DEVICE int lane_in_tile() { return static_cast<int>(lane() % tile); }
  static HEDDLE_DEVICE unsigned tile_shift() { return lane() / tile * tile; }
  /// What the lanes of this tile said.
  static HEDDLE_DEVICE unsigned tile_ballot(bool yes) {
    return __ballot_sync(everyone, yes) >> tile_shift() & tile_bits;
  }
  static HEDDLE_DEVICE Word* granule_of(const Table& table, std::uint32_t bucket) {
    return table.units_ + static_cast<std::size_t>(bucket) * Table::bucket_units +
           lane_in_tile() * granule_units;
  }

  /// What the tile saw in one bucket, for the lane that asked: the same for all lanes of the tile.
  struct answer {
    bool match;
    bool ends;
    int unit; // of the match
    Word word;
  };

  static HEDDLE_DEVICE answer look(const position& at, const Word (&words)[granule_units]) {
    bool ends = false;
    int unit = -1;
    Word candidate = words[0];
    HEDDLE_UNROLL
    for (int u = 0; u < granule_units; ++u) {
      if (u == 0 && lane_in_tile() == 0) {
        ends = (control_bits(words[0]) >> at.filter_index & 1) == 0;
      } else {
        if (words[u].key == at.stored) {
          unit = u;
          candidate = words[u];
        }
        ends = ends || is_empty(words[u]);
      }
    }
    const unsigned matches = tile_ballot(unit >= 0);
    answer result;
    result.match = matches != 0;
    result.ends = tile_ballot(ends) != 0;
    const int source = result.match ? __ffs(static_cast<int>(matches)) - 1 : 0;
    result.word.key = at.stored;
    result.word.other = __shfl_sync(everyone, candidate.other, source, tile);
    if constexpr (granule_units == 1) {
      result.unit = source;
    } else {
      result.unit = source * granule_units + (tile_ballot(unit == 1) != 0 ? 1 : 0);
    }
    return result;
  }

  /// The slot of each lane's key, or nullptr.
  static HEDDLE_DEVICE Word* search(const Table& table, bool wanted, const Key& key, Word& found) {
    Word* slot = nullptr;
    const field stored = Table::stored_key(key);
    if (wanted && Table::is_special(stored)) {
      slot = table.search(key, ordering::relaxed, found);
      wanted = false;
    }
    const path p = table.path_of(key);
    position mine{p.bucket, p.filter_index, stored};
    Word words[tile][granule_units];
    HEDDLE_UNROLL
    for (int turn = 0; turn < tile;
         ++turn) { // every lane's first bucket: all loads before their first use
      Table::load_granule(
          granule_of(table, __shfl_sync(everyone, mine.bucket, turn, tile)),
          access::relaxed,
          words[turn]
      );
    }
    HEDDLE_UNROLL
    for (int turn = 0; turn < tile; ++turn) {
      const answer seen = look(from_lane(mine, turn), words[turn]);
      if (turn == lane_in_tile() && wanted) {
        if (seen.match) {
          slot = table.units_ + static_cast<std::size_t>(mine.bucket) * Table::bucket_units +
                 seen.unit;
          found = seen.word;
        }
        wanted = !seen.match && !seen.ends;
      }
    }
    std::uint32_t visited = 1;
    if (wanted) {
      mine.bucket = table.next(mine.bucket, p.step);
      wanted = visited < table.buckets_;
    }
    while (__any_sync(everyone, wanted)) {
      const unsigned pending = tile_ballot(wanted);
      const int leader = pending != 0 ? __ffs(static_cast<int>(pending)) - 1 : 0;
      const position at = from_lane(mine, leader);
      Word here[granule_units] = {};
      if (pending != 0) {
        Table::load_granule(granule_of(table, at.bucket), access::relaxed, here);
      }
      const answer seen = look(at, here);
      if (wanted && leader == lane_in_tile()) {
        if (seen.match) {
          slot = table.units_ + static_cast<std::size_t>(mine.bucket) * Table::bucket_units +
                 seen.unit;
          found = seen.word;
        }
        mine.bucket = table.next(mine.bucket, p.step);
        wanted = !seen.match && !seen.ends && ++visited < table.buckets_;
      }
    }
    return slot;
  }

  /// try_insert of each lane's pair.
  static HEDDLE_DEVICE insert_result
  insert(const Table& table, bool wanted, const Key& key, const Value& value) {
    return insert_word(table, wanted, Word{Table::stored_key(key), to_field<field>(value)});
  }
  /// The same for one thread.
  static HEDDLE_DEVICE insert_result insert_alone(const Table& table, Word desired) {
    if (Table::is_special(desired.key)) {
      return table.upsert_special(desired.other, ordering::relaxed, never());
    }
    return table.upsert_along(table.path_of(key_of(desired)), desired, ordering::relaxed, never());
  }

  static HEDDLE_DEVICE insert_result insert_word(const Table& table, bool wanted, Word desired) {
    insert_result result = insert_result::exists;
    if (wanted && Table::is_special(desired.key)) {
      result = table.upsert_special(desired.other, ordering::relaxed, never());
      wanted = false;
    }
    if (wanted) {
      wanted = table.upsert_at_once(
                   table.path_of(key_of(desired)),
                   desired,
                   ordering::relaxed,
                   never(),
                   result
               ) != Table::attempt::decided;
    }
    return insert_along(table, wanted, desired, result);
  }

  /// The first two slots of a path: true if that decided.
  static HEDDLE_DEVICE bool insert_at_once(const Table& table, Word desired) {
    insert_result result;
    return table.upsert_at_once(
               table.path_of(key_of(desired)),
               desired,
               ordering::relaxed,
               never(),
               result
           ) == Table::attempt::decided;
  }

  /// Whether what insert_at_once leaves over is better gone on with by single threads.
  static constexpr bool past_by_threads = Table::quick_past_pairs;
  static HEDDLE_DEVICE void insert_past(const Table& table, Word desired) {
    insert_result result;
    const path p = table.path_of(key_of(desired));
    if (table.upsert_past_pairs(p, desired, ordering::relaxed, never(), result) !=
        Table::attempt::decided) {
      table.upsert_along(p, desired, ordering::relaxed, never());
    }
  }

  /// All the rest of a path. In each round the tile reads the current bucket of every lane that has
  /// one, four loads before their first use; then every lane acts on what was seen in its bucket.
  static HEDDLE_DEVICE insert_result
  insert_along(const Table& table, bool wanted, Word desired, insert_result result) {
    const path p = table.path_of(key_of(desired));
    position mine{p.bucket, p.filter_index, desired.key};
    std::uint32_t visited = 0;
    Word* confirmed = nullptr;
    bool alone = false; // left to the code for one thread
    while (__any_sync(everyone, wanted)) {
      __syncwarp(); // in this round each lane knows what the others have acquired before: P3
      const unsigned pending = tile_ballot(wanted);
      bool match = false, odd = false, announced = false;
      unsigned empty[granule_units] = {};
      HEDDLE_UNROLL
      for (int batch = 0; batch < tile; batch += 4) {
        Word words[4][granule_units];
        HEDDLE_UNROLL
        for (int i = 0; i < 4; ++i) {
          Word* const granule =
              granule_of(table, __shfl_sync(everyone, mine.bucket, batch + i, tile));
          if ((pending >> (batch + i) & 1) != 0) {
            Table::load_granule(granule, access::acquire, words[i]);
          } else {
            HEDDLE_UNROLL
            for (int u = 0; u < granule_units; ++u) {
              words[i][u] = {0, 0};
            }
          }
        }
        HEDDLE_UNROLL
        for (int i = 0; i < 4; ++i) {
          const position at = from_lane(mine, batch + i);
          bool match_here = false, odd_here = false;
          const bool filter_here = lane_in_tile() == 0;
          unsigned empty_there[granule_units];
          HEDDLE_UNROLL
          for (int u = 0; u < granule_units; ++u) {
            const Word w = words[i][u];
            const bool slot = u != 0 || !filter_here;
            match_here = match_here || (slot && w.key == at.stored);
            odd_here =
                odd_here || (slot && w.key == 0 && w.other != 0); // a tombstone, a stamp, a lock
            empty_there[u] = tile_ballot(slot && same(w, Word{0, 0}));
          }
          const bool bit_here =
              filter_here && (control_bits(words[i][0]) >> at.filter_index & 1) != 0;
          const bool matches = tile_ballot(match_here) != 0;
          const bool odds = tile_ballot(odd_here) != 0;
          const bool bits = tile_ballot(bit_here) != 0;
          if (batch + i == lane_in_tile()) {
            match = matches;
            odd = odds;
            announced = bits;
            HEDDLE_UNROLL
            for (int u = 0; u < granule_units; ++u) {
              empty[u] = empty_there[u];
            }
          }
        }
      }
      if (!wanted) {
        continue;
      }
      const int end = first_on_path(empty, p.start);
      Word* const base = table.units_ + static_cast<std::size_t>(mine.bucket) * Table::bucket_units;
      if (match) {
        wanted = false; // `exists`
      } else if (odd) {
        alone = true;
        wanted = false;
      } else if (end < 0) {
        if (!announced) {
          Table::mem::set_bits(base, p.filter_bit());
        }
        mine.bucket = table.next(mine.bucket, p.step);
        alone = ++visited == table.buckets_;
        wanted = !alone;
      } else if (base + end == p.first(table.units_) || base + end == confirmed) { // P3
        if (same(
                Table::mem::compare_exchange(base + end, Word{0, 0}, desired, ordering::relaxed),
                Word{0, 0}
            )) {
          result = insert_result::inserted;
          wanted = false;
        }
        confirmed = nullptr;
        mine.bucket = p.bucket;
        visited = 0;
      } else {
        confirmed = base + end;
        mine.bucket = p.bucket;
        visited = 0;
      }
    }
    if (alone) {
      result = table.upsert_along(p, desired, ordering::relaxed, never());
    }
    return result;
  }

  static HEDDLE_DEVICE Key key_of(Word pair) {
    return from_field<Key>(static_cast<field>(~pair.key));
  }

private:
  struct never {
    static constexpr bool writes = false;
    HEDDLE_DEVICE void operator()(Value&) const {}
  };

  /// The first empty unit of a bucket in the order of a path that begins at unit `start`; -1 if
  /// there is none.
  static HEDDLE_DEVICE int
  first_on_path(const unsigned (&empty)[granule_units], std::uint32_t start) {
    const unsigned turn = start / granule_units;
    unsigned any = empty[0];
    if constexpr (granule_units == 2) {
      any |= empty[granule_units - 1];
    }
    if (any == 0) {
      return -1;
    }
    const unsigned turned = (any >> turn | any << (tile - turn)) & tile_bits;
    const int granule = static_cast<int>((__ffs(static_cast<int>(turned)) - 1 + turn) % tile);
    if constexpr (granule_units == 1) {
      return granule;
    } else {
      const bool first_there = (empty[0] >> granule & 1) != 0,
                 second_there = (empty[1] >> granule & 1) != 0;
      const bool second_leads = granule == static_cast<int>(turn) && start % 2 == 1;
      return granule * 2 + (second_leads ? (second_there ? 1 : 0) : (first_there ? 0 : 1));
    }
  }
};

/// Whether a table has operations for whole warps.
template <class Table> struct has_warp_operations : std::false_type {};
template <class Word, class Key, class Value, cuda::thread_scope Scope, class Hash>
struct has_warp_operations<packed_table<Word, Key, Value, Scope, Hash>> : std::true_type {};

} // namespace detail
} // namespace heddle

#endif
