// Groups: threads of which each meets only others of the group at the places to which it comes
// ([RED-GROUPS]): their moves stand for all moves of a state.
//
//   groups.note(moves);                       // of each state
//   groups.path_ended();                      // once: from now on it is known who comes where
//   const auto some = groups.one_group(moves);
//
// Used where blocks start at once, so that no state repeats ([RED-STRAIGHT]).
#pragma once

#include "reduce/persistent_sets/meetings.h"
#include "reduce/stepper_parts.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace heddle::reduce {

class Groups {
public:
  explicit Groups(const StepperParts& parts) : parts_(parts), meetings_(parts.options.mutant) {}

  /// `moves` are all that can happen in the present state. Who stands where comes there.
  void note(std::span<const Move> moves);
  /// A path of the search has come to its end. Before the first one little is known.
  void path_ended() { meetings_.path_ended(); }
  /// Numbers of the moves of one group, the one that the move `with` is of, if that is given. None:
  /// there is no group, or all moves are of it. `moves` as above, and the host takes no part.
  std::vector<std::size_t>
  one_group(std::span<const Move> moves, std::optional<std::size_t> with = std::nullopt);
  Meetings& meetings() { return meetings_; }
  const Meetings& meetings() const { return meetings_; }

private:
  /// What a move accesses.
  struct Target {
    bool is_known = true; // else it may be anything
    std::vector<Meetings::Place> places;
  };
  Target target_of(const Move& move) const;
  Meetings::Who maker_of(const Move& move) const;
  const Work* only_grid() const;
  bool is_over(const Work& work, const Meetings::Who& who) const;
  std::vector<std::size_t> group_of(std::size_t seed) const;

  StepperParts parts_;
  Meetings meetings_;
  // While a group is looked for.
  std::vector<Target> targets_;                                            // by move
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> move_of_; // by cluster and thread
  const Work* work_ = nullptr;
};

} // namespace heddle::reduce
