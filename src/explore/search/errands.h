// Errands: one search on several ranks (divided_search.h): what a process of it does otherwise. It
// makes no move that it knows another rank to make, gives work to ranks that have none, and does
// theirs.
//
//   if (errands.give()) …                                // half of what is left, to another rank
//   if (errands.are_all()) errands.perform(search);      // a process that does others' work only
//
// What is not explored here because it is claimed elsewhere is explored there: [RANK-CLAIMS] in
// spec/ranks.md. A claim is announced after StateTable::claim() has granted it and keep_ours() has
// kept it, and from then on it is in the choices of a node: it is made, or given away as a part of
// a Work, whose taker makes it, or the search ends early and says so.
#pragma once

#include "explore/search/shares.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace heddle::explore {

class Errands {
public:
  Errands(
      Ground& ground,
      System& system,
      Record& record,
      News& news,
      Way& way,
      Processes& processes,
      Mover& mover,
      Shares& shares
  );

  /// Ranks that come to the same states try the moves of devices in different orders, so that each
  /// finds something that the others have not claimed a moment ago.
  void begin_elsewhere(Node& node) const;
  /// Gives half of what is left to a rank that has nothing to do. False: there is none, or nothing.
  bool give();
  /// The choice under way in the last state of the way leads to where nobody goes back from.
  void note_way();

  /// Does this process do nothing but what others give it?
  bool are_all() const { return serves_ || errand_; }
  /// `search` tries everything from the first state of the way on, as Search::run. True: the host
  /// goes on. False: all is done.
  bool perform(const std::function<bool()>& search);

private:
  Errand await();
  bool take_here();
  bool go_to_base(Errand& errand);
  void begin(const Errand& errand);

  Ground& ground_;
  System& system_;
  Record& record_;
  News& news_;
  Way& way_;
  Processes& processes_;
  Mover& mover_;
  Shares& shares_;
  bool serves_ = false;          // is the process that waits for errands
  std::optional<int> taker_;     // Processes::depth() of the one that was forked for the last one
  std::optional<Errand> errand_; // is on its way to the base of this one …
  std::size_t taken_ = 0;        // … and has taken so many of its steps
  std::vector<Errand::Step> from_begin_; // to the first state of the way
  std::chrono::steady_clock::time_point next_piece_{};
};

} // namespace heddle::explore
