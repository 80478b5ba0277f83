// What the launcher of an MPI job (mpirun, srun) tells a process that it starts, before MPI does.
//
//   if (started_by_launcher()) …               // this process is a rank of a job
//   if (told_rank() == 0) …
//
// It is told by variables of the environment; which ones depends on the launcher.
#pragma once

#include <sys/types.h>

#include <optional>

namespace heddle::cli {

/// One of our libraries that speak with a launcher's MPI; null without a launcher.
const char* mpi_library_name();
inline bool started_by_launcher() {
  return mpi_library_name() != nullptr;
}

/// The number of this rank, if the launcher tells it.
std::optional<int> told_rank();
/// The same of another process; none also if that cannot be seen.
std::optional<int> told_rank_of(pid_t process);

struct ToldRank {
  int rank = 0, size = 1;
};
/// If the launcher has said that all ranks are on this machine.
std::optional<ToldRank> told_on_one_machine();

/// Open MPI takes a third of a second to look for networks. Ranks of one machine need none: while
/// this object lives, the environment says so.
class WithoutNetworks {
public:
  WithoutNetworks();
  ~WithoutNetworks(); // programs that are checked get this environment
  WithoutNetworks(const WithoutNetworks&) = delete;
  WithoutNetworks& operator=(const WithoutNetworks&) = delete;

private:
  bool set_;
};

} // namespace heddle::cli
