// RankLink: one rank's part of a divided search, as the tool sees it: what goes to the other ranks
// and comes from them while the processes search. A thread of its own runs it.
//
//   RankLink link(peers, {…});             // rank 0: nothing is divided until the search is large
//   link.start(); … the processes search …
//   link.own_search_over() …               // rank 0: it only does what others give it from now on
//   link.finish();                         // everywhere; rank 0 has the others' tables then
//
// Claims go from each rank to each other one. All else goes by way of rank 0, in order: work,
// notes of accesses, facts. So rank 0 knows which ranks have work: those that it has given some and
// that have not said "idle" since. A piece of work is with its giver, on its way to rank
// 0, with rank 0, or with its taker, and a rank says "idle" behind the pieces that it has sent. So
// the search is over when rank 0 has nothing to do, has no piece, and all others have said "idle":
// Dijkstra and Scholten's detection of termination, with a tree of depth one.
#pragma once

#include "explore/options.h"
#include "explore/process/progress.h"
#include "explore/ranks/peers.h"
#include "explore/ranks/rank_board.h"
#include "explore/ranks/rank_cut.h"
#include "explore/ranks/rank_tally.h"
#include "explore/ranks/rank_work.h"
#include "explore/table/state_table.h"

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace heddle::explore {

class RankLink {
public:
  struct Of {
    StateTable& table;
    RankBoard board;
    std::uint32_t attempt = 0;       // a number of this search: messages of others are dropped
    std::string begin{};             // rank 0: what the others need to know of it
    std::uint32_t states_alone = 0;  // rank 0: so many are searched before
    std::function<void()> end_all{}; // ends all processes of the search on this rank
    bool starts_at_once = false;     // the search is over when a state comes back
    std::uint32_t max_states = 0;    // of all ranks together
    std::vector<Hash128> claims{};   // rank 0: of the search that this one goes on with
    std::function<pid_t()> leader{}; // of the processes on another rank; 0: there are none
  };
  RankLink(Peers& peers, Of of);
  ~RankLink();
  RankLink(const RankLink&) = delete;
  RankLink& operator=(const RankLink&) = delete;

  void start();
  /// Rank 0, with no states before: waits until they can take work.
  void await_others();
  /// Rank 0: the process that began has ended. False: the search has not been divided, and will not
  /// be.
  bool own_search_over();
  /// Rank 0, while its processes stand still: what all others have found so far
  /// (RankCut::copies()); they stand still until let_go(). Empty: there are none yet. None: that
  /// could not be done now.
  std::optional<std::vector<int>> cut();
  void let_go() { cut_.end(); }
  /// The processes of this rank have ended; `limit`: why that is not the end of what it had to do,
  /// if it is not.
  void finish(const std::string& limit);

  /// All processes of the search are to end, or have ended.
  bool stopped() const { return stopped_; }
  /// What has been met makes going on useless.
  bool is_void() const;

  // Rank 0, after finish():
  /// Files with what the others have found: StateTable::take_in(); -1: that is missing.
  const std::vector<int>& parts() const { return parts_; }
  /// So many: a rank has been lost, or the check was interrupted and a rank has not answered soon.
  std::size_t parts_missing() const;
  /// Why it is not everything; empty: no reason.
  const std::string& problem() const { return problem_; }
  /// Which rank was told to end, in words, unless all were; empty: none.
  const std::string& told_to_end() const { return told_to_end_; }
  struct Cost { // of the division, on all ranks
    std::uint64_t messages = 0, bytes = 0, claims = 0, pieces = 0;
  };
  const Cost& cost() const { return cost_; }

  /// Rank 0, at any time: what is known of the other ranks is added to what it knows of itself.
  void add_others(Progress& progress);

private:
  class Around;
  struct Other {                         // rank, as rank 0 knows it
    bool ended = false, is_here = false; // it has nothing more to say; its table has come
    std::chrono::steady_clock::time_point heard{};
  };
  bool leads() const { return peers_.rank() == 0; }
  void run();
  void send(int to, char kind, std::string_view body = {});
  void send_to_others(char kind, std::string_view body, int except = -1);
  void receive();
  void take(int from, char kind, std::string_view body);
  void take_from(int from, char kind, std::string_view body);
  void note_claims(std::string_view body);
  void tell(std::string_view body, int from);
  void exchange();
  void exchange_claims();
  void begin_if_large();
  void lead();
  void follow();
  void stop();
  void show_life();
  void send_table();
  bool send_copy(char kind, std::string_view before, const std::function<bool()>& is_wanted);
  void pass_on_cut();
  void stand_still();
  void give_up(int rank);
  void has_started(int rank);
  void note_problem(std::string_view why);
  void add_cost(std::string_view body);
  void collect();

  Peers& peers_;
  Of of_;
  std::thread thread_;
  std::atomic<bool> quit_ = false;
  std::atomic<int> starting_ = 0; // ranks
  std::mutex mutex_;              // of what follows: begun_, serves_, may_begin_
  bool begun_ = false, may_begin_ = true, serves_ = false;
  std::atomic<bool> stopped_ = false;
  std::vector<Hash128> claims_; // not sent yet
  std::deque<std::uint32_t> told_by_others_;
  std::uint32_t told_ = 0; // of what is told in the table: sent
  std::uint64_t facts_sent_ = 0;
  reduce::Learned learned_sent_;
  std::unique_ptr<Around> around_;
  WorkOfRank work_;       // another rank than 0
  WorkOfAll work_of_all_; // rank 0
  std::mutex tally_mutex_;
  RankTally tally_;            // rank 0
  RankCut cut_;                // rank 0
  std::uint32_t cut_told_ = 0; // … that the others know of; another rank: that it stands still for
  std::vector<Other> others_;  // by rank; 0 is not used
  bool lost_ = false, unwanted_ = false; // a rank, our table
  bool ended_ = false;                   // the processes of this rank have been told
  std::uint64_t parts_taken_ = 0;        // of our table, by rank 0
  std::chrono::steady_clock::time_point next_sign_{};
  std::vector<int> parts_;
  std::string problem_, told_to_end_;
  Cost cost_;
};

} // namespace heddle::explore
