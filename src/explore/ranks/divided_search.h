// One search on several ranks. Rank 0 begins alone; when the search is large the others start the
// program, too, and what they are given to do is a way from its beginning. Each rank has a table of
// its own, and is told which moves others have claimed (rank_board.h). In the end their tables
// become a part of rank 0's, which judges.
//
//   DividedSearch divided(request, options, {table, …});    // rank 0, in search()
//   TRY_VOID(serve_searches(request, peers));               // the others, until dismiss_ranks()
//
// What is shared is what a rank need *not* do; what it has to do is with it, or on its way to
// another one. So a message that is late or lost costs time and no state (spec/ranks.md has the
// claim and the proof).
#pragma once

#include "explore/process/watch.h"
#include "explore/ranks/peers.h"
#include "explore/ranks/rank_link.h"
#include "explore/session.h"
#include "explore/table/checkpoint.h"
#include "explore/table/state_table.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace heddle::explore {

/// On rank 0. Made before the search begins.
class DividedSearch {
public:
  struct Of {
    StateTable& table;
    std::function<void()> end_all;    // ends all processes of the search on this rank
    Checkpoint* checkpoint = nullptr; // where it is kept; nullptr: nowhere
  };
  /// `options` outlives it.
  DividedSearch(const CheckRequest& request, const Options& options, Of of);
  /// The process that began has ended so. True: others are still at work, and it has to be started
  /// again to do its share.
  bool goes_on(const std::optional<int>& status, const std::string& limit);
  /// What is to be watched then.
  Watch::Of rest(Watch::Of of, const Options& options) const;
  /// As RankLink::add_others().
  void add_others(Progress& progress) { link_.add_others(progress); }
  /// While this rank's processes stand still: keeps what all have found so far, unless others do
  /// not stand still in time.
  void keep();
  /// After goes_on(): other ranks have taken part. Then put_together() keeps what has been found,
  /// if the search has ended early.
  bool was_divided() const { return divided_; }
  /// All processes of this rank have ended. The table is everybody's. `limit`: which was reached,
  /// and is set if another rank has met one. Input error: what came from a rank cannot be used.
  Result<void> put_together(std::string& limit);

private:
  void keep_at_end(bool all_there);

  const Options& options_;
  StateTable& table_;
  Checkpoint* checkpoint_;
  RankLink link_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  bool divided_ = false;
  bool has_file_; // of all ranks, or what this search began with
};

/// On the other ranks: takes part in all searches. Input error: the program cannot be started.
Result<void> serve_searches(CheckRequest request, Peers& peers);
/// On rank 0: there will be no more.
void dismiss_ranks(Peers& peers);

} // namespace heddle::explore
