// Ranks: the processes of one MPI job, if Heddle was started as one (mpirun, srun).
//
//   TRY(const auto ranks, Ranks::join());               // null: it was not
//   TRY_VOID(ranks->agree({{"program", hash}}));        // all have the same, or an error
//   if (ranks->rank() == 0) …                           // it alone reports
//
// MPI is loaded only then (mpi/ranks.h).
#pragma once

#include "base/result.h"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

struct HeddleRanks;

namespace heddle::cli {

class Ranks {
public:
  /// What the launcher has said of this process before MPI starts, if it has said that all ranks
  /// are on this machine.
  struct Told {
    int rank = 0, size = 1;
  };
  static std::optional<Told> told_on_one_machine();
  /// A launcher has started this process.
  static bool are_expected();
  /// What this process prints from now on has no colours: Open MPI gives ranks a terminal of its
  /// own, whatever its own output is.
  static void without_colour();
  /// Input error: a launcher has started several of us, but its MPI cannot be used.
  static Result<std::unique_ptr<Ranks>> join();
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
  struct Message {
    int from = 0;
    std::string text;
  };
  std::optional<Message> receive(std::chrono::milliseconds at_most);

  /// All ranks call it, with what must be equal everywhere, or why there is nothing. Input error,
  /// on all ranks: something differs, or one has an error; on rank 0 it says which and where.
  Result<void> agree(const Result<std::map<std::string, std::string>>& what);
  /// Rank 0, after agree(): the other ranks of its machine, as it sees their processes.
  struct Process {
    int rank = 0;
    std::string name;
    bool has_ended() const; // false also if it cannot be seen from here
  };
  const std::vector<Process>& processes_here() const { return processes_here_; }
  /// A rank does not answer any more: nobody waits for the others at the end.
  void lost(int rank);
  /// Rank 0, with all ranks on its machine: ends MPI now, while this process has more to do. The
  /// other ones wait for its end, since a launcher may end a job some time after its first process.
  void end_before_rank_0();

private:
  explicit Ranks(const HeddleRanks* ranks) : ranks_(ranks) {}
  void end_others(std::string_view goodbye);
  std::string await_end();

  const HeddleRanks* ranks_;
  std::set<int> lost_; // rank 0
  std::vector<Process> processes_here_;
  bool some_lost_ = false, said_bye_ = false, finished_ = false;
  int exit_code_ = 0;

public:
  /// With which this process ends: needed if a rank was lost.
  void ends_with(int exit_code) { exit_code_ = exit_code; }
};

/// "AMD EPYC 9V33X 96-Core Processor": ranks with different ones may see different things.
std::string processor_name();

} // namespace heddle::cli
