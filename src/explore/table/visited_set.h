// VisitedSet: the ids of the states that have been seen, by their hashes, in memory that all
// exploring processes share and change at the same time.
//
//   VisitedSet seen(memory, 1000);             // VisitedSet::bytes(1000) bytes, zero at first
//   const StateId id = seen.insert(hash, my_id);    // not my_id: another process was first
//
// It is a heddle::concurrent_map, the one that programs use: the host side of its protocol of
// slots. A key is one half of the hash, and half of the other stands beside the id; so 96 bits tell
// states apart (a collision would hide states: probability below 10^-16 for a million of them).
#pragma once

#include "base/hash.h"
#include "explore/judge/progress_graph.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace heddle::explore {

class VisitedSet {
public:
  static std::size_t bytes(std::uint32_t states);
  /// `memory` is aligned to 128 bytes. The set has room for at least so many states.
  VisitedSet(void* memory, std::uint32_t states);
  VisitedSet(VisitedSet&&) noexcept;
  VisitedSet& operator=(VisitedSet&&) noexcept;
  ~VisitedSet();

  std::optional<StateId> find(const Hash128& hash) const;
  /// It is going to be looked for soon.
  void fetch(const Hash128& hash) const;
  /// Takes over what is in a piece of a smaller one, which nobody changes meanwhile: pieces are 0
  /// to smaller.pieces() - 1. Several processes may do so.
  void insert_piece(const VisitedSet& smaller, std::uint32_t piece) const;
  std::uint32_t pieces() const;
  /// The id of the state from now on: `id`, or the one that it has already.
  StateId insert(const Hash128& hash, StateId id);

private:
  struct Map; // so that nobody else sees CUDA's headers
  std::unique_ptr<Map> map_;
};

} // namespace heddle::explore
