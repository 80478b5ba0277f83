// VisitedSet: the ids of the states that have been seen, by their hashes, in memory that all
// exploring processes share and change at the same time.
//
//   VisitedSet seen(memory, 1000, {&states[0].hash, sizeof states[0]}); // VisitedSet::bytes(1000)
//                                                                       // bytes, zero at first
//   states[my_id].hash = hash;
//   const StateId id = seen.insert(hash, my_id);   // not my_id: another process was there before
//
// It is a heddle::concurrent_map, the one that programs use: the host side of its protocol of
// slots. A key is a quarter of the hash, and its owner keeps the hashes by id; so a slot takes 8
// bytes, and all 128 bits tell states apart (a collision would hide states: its probability is
// below 10^-24 for a million of them).
#pragma once

#include "base/hash.h"
#include "explore/progress_graph.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace heddle::explore {

class VisitedSet {
public:
  /// The hash of each id: written before it is inserted, and never again.
  struct Hashes {
    const Hash128* first = nullptr;
    std::size_t apart = sizeof(Hash128); // bytes from one to the next
    const Hash128& of(StateId id) const {
      return *reinterpret_cast<const Hash128*>(
          reinterpret_cast<const std::byte*>(first) + id * apart
      );
    }
  };

  static std::size_t bytes(std::uint32_t states);
  /// `memory` is aligned to 128 bytes. The set has room for at least so many states.
  VisitedSet(void* memory, std::uint32_t states, Hashes hashes);
  VisitedSet(VisitedSet&&) noexcept;
  VisitedSet& operator=(VisitedSet&&) noexcept;
  ~VisitedSet();

  std::optional<StateId> find(const Hash128& hash) const;
  /// The id of the state from now on: `id`, or the one that it has already.
  StateId insert(const Hash128& hash, StateId id);
  /// It is going to be looked for soon. Twice, in this order: where its place is, and its hash.
  void fetch_place(const Hash128& hash) const;
  void fetch_hash(const Hash128& hash) const;

private:
  struct Map; // so that nobody else sees CUDA's headers
  std::unique_ptr<Map> map_;
};

} // namespace heddle::explore
