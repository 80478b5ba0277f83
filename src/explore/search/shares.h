// Shares: giving work away and taking it. A process that has nothing left to do goes back to the
// base of its family (work_board.h) and rests; one that has work gives it half of what it has left,
// those choices that are nearest to the beginning, since they are likely to lead to most. If nobody
// rests it forks a new member, which costs as much as some thousands of states: page tables, copies
// on write, and each page of the table once more.
//
//   shares.give();                          // if another process may take part
//   if (!shares.take()) …                   // nobody gives this one any more
#pragma once

#include "explore/search/mover.h"
#include "explore/search/work.h"

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

namespace heddle::explore {

class Shares {
public:
  Shares(Ground& ground, System& system, Way& way, Processes& processes, Mover& mover, News& news);

  /// Half of what is left, if another process may take part.
  void give();
  /// This process has nothing left to do, and is at the base. False: nor will it get any more to do
  /// there.
  bool take();

  // --- Pieces of work ----------------------------------------------------------------------------
  /// For each state of the way how many of its choices stay here; empty: there is nothing to give
  /// away.
  std::vector<std::size_t> halve();
  Work piece_of_work(std::span<const std::size_t> kept) const;
  void keep(std::span<const std::size_t> kept);
  /// From the base, the only state of the way. False: what was said of it does not hold here.
  bool repeat_way(const Work& work, bool of_other_rank = false);

private:
  std::size_t first_to_give(const Node& node) const;
  void drop_known(Node& node);
  void fork_member(std::span<const std::size_t> kept);
  bool open_choices(const Work::Open* open);
  bool repeat_step(const Work::Step& step, bool of_other_rank);

  Ground& ground_;
  StateTable& table_;
  Stepper& stepper_;
  System& system_;
  Way& way_;
  Processes& processes_;
  Mover& mover_;
  News& news_;
  std::chrono::steady_clock::time_point next_piece_{}, next_fork_{};
};

} // namespace heddle::explore
