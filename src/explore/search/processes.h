// Processes: those of a search: one for each way that cannot be gone back, and as many at the same
// time as have a permit of the table (shares.h has how they share the work).
//
//   if (processes.fork_for(node)) …          // in the child, which has the choice to itself
//   processes.finish();                      // this one has nothing left to do
#pragma once

#include "explore/search/news.h"
#include "explore/search/way.h"
#include "explore/search/work_board.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::explore {

/// Another process of this search.
struct Searcher {
  pid_t id = 0;
  std::uint32_t process = 0; // of the table
};

class Processes {
public:
  Processes(Ground& ground, News& news, Way& way);

  // --- Forks -------------------------------------------------------------------------------------
  /// 0 in the child, which ends with its parent; negative: no process could be made.
  pid_t fork_child();
  /// How the child has ended, as waitpid() tells it.
  static int wait_for(pid_t child);
  /// As fork_child(), for a part of this search; for a member of `family`, if there is one.
  pid_t fork_searcher(Searcher& searcher, std::optional<WorkBoard::Family> family = std::nullopt);
  /// Waits until it has ended. True if it has done all that was its own to do.
  bool ended_well(const Searcher& searcher);
  /// False if it has left something undone; then it is noted what.
  bool look_at_end_of_child(int status, std::uint32_t process);
  /// True in the child, which has the choice under way to itself. The parent waits until it has
  /// ended, or goes on at the same time if another process may take part.
  bool fork_for(const Node& node);
  /// It explores at the same time, and ends before this one.
  void add_helper(const Searcher& helper) { helpers_.push_back(helper); }
  bool has_helpers() const { return !helpers_.empty(); }
  /// Processes that wait for this one.
  int depth() const { return depth_; }

  // --- The family, whose base is the first state of the way --------------------------------------
  const std::optional<WorkBoard::Family>& family() const { return family_; }
  WorkBoard& board() { return board_; }
  /// This process founds one if it is in none.
  WorkBoard::Family found_family();
  /// This process goes on from somewhere else than the base, or ends.
  void leave_family();
  /// It has got no more to do there, and gave its permit back when it came to rest.
  void lose_family();

  // --- Ends --------------------------------------------------------------------------------------
  [[noreturn]] void finish();
  /// A way that led to a state leads elsewhere: the search is invalid.
  [[noreturn]] void unrepeatable();
  /// A state came back, or what blocks that start at once need does not hold.
  void note_circle();

private:
  Ground& ground_;
  StateTable& table_;
  News& news_;
  Way& way_;
  WorkBoard board_;
  std::vector<Searcher> helpers_;
  int depth_ = 0;
  std::optional<WorkBoard::Family> family_;
  bool has_permit_ = true; // to search
};

} // namespace heddle::explore
