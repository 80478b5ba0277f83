// JobWatch: notices that a rank of this machine, or the launcher, has ended: also before MPI has
// started, and after it is over.
//
//   JobWatch watch(launcher, {{JobWatch::launcher, …}, {0, …}});      // cannot do without these
//   for (const int rank : watch.ended()) …                              // so far, in their order
//
// The ranks of a machine are children of one process (mpirun, one of its daemons, slurmstepd), and
// the launcher has put their numbers into their environments. A thread looks for them there, and
// waits for their ends.
//
// May be wrong: misses ranks of other machines, ranks that end before they have been seen, and all
// of them where another process (a script) stands between the launcher and this one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace heddle::cli {

class JobWatch {
public:
  static constexpr int launcher = -1; // in the place of a rank
  /// What happens to this process when that one has ended.
  struct Need {
    int rank = launcher;
    bool interrupts = false;          // this process gets SIGTERM, unless it was interrupted before
    std::chrono::seconds time_left{}; // if it is still here then, it is ended
  };
  /// `parent`: of all ranks of this machine. `known`: ranks that need not be looked for.
  /// `told_to_end`: an eventfd. What is written to it is the signal that this process is to get,
  /// once the ends that came before it have been noticed. -1: there is none.
  JobWatch(
      pid_t parent,
      std::vector<Need> needs,
      std::map<int, pid_t> known = {},
      int told_to_end = -1
  );
  ~JobWatch();
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  std::vector<int> ended() const;
  bool has_ended(int rank) const;
  /// The first of these had ended before this process was told to end. (When a job is ended all
  /// do. When one ends by itself its launcher ends the others, and may know of it first.)
  bool some_came_first() const;

private:
  using Clock = std::chrono::steady_clock;
  void run(const std::stop_token& stop);
  void look_for_ranks();
  void watch(int rank, pid_t process);
  void note_end(int rank);

  pid_t parent_;
  std::vector<Need> needs_;
  std::map<int, pid_t> known_;
  int told_to_end_;
  int over_;                   // can be read when the thread is to stop
  std::map<int, int> watched_; // descriptors of processes, by rank
  std::optional<Clock::time_point> end_of_this_;
  mutable std::mutex mutex_;
  std::vector<int> ended_;
  bool some_came_first_ = false;
  std::jthread thread_;
};

} // namespace heddle::cli
