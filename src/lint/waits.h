// waits.h: loops that wait for what somebody else writes, which memory an address means to a
// launch, and what a value was computed from. For rules; nothing here reports.
//
//   const Waits waits(entry);
//   for (const ValueId poll : waits.polls(loop)) … object_of(entry, address_of(entry, poll)) …
//
// A loop is judged by what is inside of it, not by what its condition means: a loop that happens to
// end counts as waiting only if nothing in it could make it end.
#pragma once

#include "lint/check.h"

#include <compare>
#include <functional>

namespace heddle::lint {

/// Memory that several kernels, or several blocks, can reach: a global variable, or what a
/// parameter of the entry points to.
struct SharedObject {
  bool is_parameter = false;
  std::int64_t number = 0; // index into Unit::globals, or of the parameter
  auto operator<=>(const SharedObject&) const = default;
};
std::optional<SharedObject> object_of(const Entry& entry, ValueId address);
/// A member of it, or of its elements: the members from the object inwards; none: all of it.
struct SharedMember {
  SharedObject object;
  std::vector<std::int64_t> path;
  bool operator==(const SharedMember&) const = default;
  bool may_overlap(const SharedMember& other) const;
};
std::optional<SharedMember> member_of(const Entry& entry, ValueId address);
/// The address that a load, a store or an atomic operation goes to, resolved.
ValueId address_of(const Entry& entry, ValueId access);

/// From what a value is computed. Loads from memory that the block shares are followed to the
/// stores; other loads and atomics end the search.
struct Origin {
  bool block_index = false;
  bool thread_index = false;
  bool grid_size = false;
  bool parameter = false;
  bool atomic_update = false;
  bool loaded = false;          // from global memory, at an address that differs between threads
  bool loaded_alike = false;    // from global memory, at one address for the block
  std::vector<ValueId> updates; // the atomic updates
};
/// Do two addresses in one object lead to the same member, for different block indices?
bool differ_in_block_index(const Entry& entry, ValueId one, ValueId other);
Origin origin_of(const Entry& entry, ValueId value);
/// Is `part` among what `value` is computed from?
bool is_computed_from(const Entry& entry, ValueId value, ValueId part);

/// Is there a way from instruction `from` to instruction `to` that passes no instruction that
/// `stops` names?
bool reaches(
    const Graph& graph,
    ValueId from,
    ValueId to,
    const std::function<bool(const Instruction&)>& stops
);

/// All branches that decide, directly or not, whether `block` is reached.
std::vector<std::uint32_t> deciding_branches(const Graph& graph, std::uint32_t block);
bool dominates(const Graph& graph, std::uint32_t above, std::uint32_t below);

class Waits {
public:
  explicit Waits(const Entry& entry) : entry_(entry), graph_(entry.graph) {}

  /// Nothing in the loop can make it end: what decides about its exits does not change in it.
  bool may_never_end(std::uint32_t loop) const;
  /// The reads of shared memory that decide when such a loop ends.
  std::vector<ValueId> polls(std::uint32_t loop) const;
  /// The atomicCAS or exchange of two constants by which a loop takes a lock; no_value: none.
  ValueId takes_lock(std::uint32_t loop) const;

  bool is_private(ValueId address) const;
  bool is_volatile(ValueId access) const;
  /// atomicAdd(p, 0) and its like: a read in disguise.
  bool is_disguised_read(ValueId id) const;
  Spot loop_spot(std::uint32_t loop) const;

  template <class F> void each_in(std::uint32_t loop, F&& visit) const {
    for (const std::uint32_t block : graph_.loops[loop].blocks) {
      for (ValueId i = graph_.blocks[block].first; i < graph_.blocks[block].last; ++i) {
        visit(i);
      }
    }
  }

private:
  bool changes(ValueId id, std::uint32_t loop, int depth) const;
  bool is_constant(ValueId id) const;
  bool writes_object_of(ValueId load, std::uint32_t loop) const;

  const Entry& entry_;
  const Graph& graph_;
};

} // namespace heddle::lint
