// Ranks: the processes of one MPI job, if Heddle was started as one (mpirun, srun).
//
//   Ranks ranks(std::move(messages));                   // rank_messages.h
//   TRY_VOID(ranks.agree({{"program", hash}}));         // all have the same, or an error
//   if (ranks.rank() == 0) …                            // it alone reports
#pragma once

#include "base/result.h"
#include "cli/ranks/rank_messages.h"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::cli {

class Ranks {
public:
  /// What this process prints from now on has no colours: Open MPI gives ranks a terminal of its
  /// own, whatever its own output is.
  static void without_colour();
  explicit Ranks(std::unique_ptr<RankMessages> messages) : messages_(std::move(messages)) {}
  /// Waits until all ranks are here and nothing that they have sent is under way, but not for one
  /// that does not answer.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const;
  int size() const;
  int size_here() const; // on this machine
  /// Ranks of one machine belong together. `each`: as if so many had a machine, one after the
  /// other; 0: as it is.
  struct Machines {
    std::vector<int> leaders; // the first rank of each, rank 0 first
    bool leads = false;       // this one does
    int ranks_here = 1;
  };
  Machines machines(int each) const;
  /// From now on this process may use all that the ranks of its machine may. How many processors
  /// that is.
  std::uint32_t borrow_processors() const;
  /// The same for that process and all below it.
  void lend_processors(pid_t process) const;
  void send(int to, std::string_view text);
  using Message = RankMessages::Message;
  std::optional<Message> receive(std::chrono::milliseconds at_most);
  /// False: this rank has ended, and only the process that checks for it goes on.
  bool are_reachable() const { return messages_->is_there(); }

  /// All ranks call it, with what must be equal everywhere, or why there is nothing. Input error,
  /// on all ranks: something differs, or one has an error; on rank 0 it says which and where.
  Result<void> agree(const Result<std::map<std::string, std::string>>& what);
  /// A rank does not answer any more: nobody waits for the others at the end.
  void lost(int rank);
  /// Rank 0, with all ranks on its machine: ends MPI now, while this process has more to do. The
  /// other ones wait for its end, since a launcher may end a job some time after its first process.
  void end_before_rank_0();

private:
  std::optional<Message> await_message(std::chrono::seconds at_most);
  void end_others(std::string_view goodbye);
  std::string await_end();
  bool is_to_leave();

  std::unique_ptr<RankMessages> messages_;
  std::set<int> lost_; // rank 0
  bool some_lost_ = false, said_bye_ = false, finished_ = false;
  std::optional<std::chrono::steady_clock::time_point> told_to_end_;
  int exit_code_ = 0;

public:
  /// With which this process ends: needed if a rank was lost.
  void ends_with(int exit_code) { exit_code_ = exit_code; }
};

/// "AMD EPYC 9V33X 96-Core Processor": ranks with different ones may see different things.
std::string processor_name();

} // namespace heddle::cli
