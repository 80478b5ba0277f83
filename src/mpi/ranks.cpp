// Implements ranks.h with MPI. A message is sent without waiting; its bytes are kept until it is
// out.
#include "mpi/ranks.h"

#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <list>
#include <vector>

namespace {

constexpr int tag = 1;

struct Sending {
  std::vector<char> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};
std::list<Sending> sending; // MPI has one world for each process, and so has this
std::vector<int> leaders;

void forget_sent() {
  sending.remove_if([](Sending& one) {
    int done = 0;
    MPI_Test(&one.request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

void send(int to, const void* bytes, std::size_t count) {
  forget_sent();
  const char* first = static_cast<const char*>(bytes);
  Sending& one = sending.emplace_back();
  one.bytes.assign(first, first + count);
  MPI_Isend(
      one.bytes.data(),
      static_cast<int>(count),
      MPI_BYTE,
      to,
      tag,
      MPI_COMM_WORLD,
      &one.request
  );
}

int receive(void (*take)(void*, int, const void*, std::size_t), void* context) {
  forget_sent();
  int some = 0;
  MPI_Status status{};
  MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &some, &status);
  if (some == 0) {
    return 0;
  }
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  std::vector<char> bytes(static_cast<std::size_t>(count));
  MPI_Recv(
      bytes.data(),
      count,
      MPI_BYTE,
      status.MPI_SOURCE,
      tag,
      MPI_COMM_WORLD,
      MPI_STATUS_IGNORE
  );
  take(context, status.MPI_SOURCE, bytes.data(), bytes.size());
  return 1;
}

int all_sent() {
  forget_sent();
  return sending.empty() ? 1 : 0;
}

void finish() {
  while (!sending.empty()) {
    forget_sent();
  }
  MPI_Finalize();
}

/// MPI_Finalize would wait for the one that is gone. What has been sent to the others gets a
/// moment.
void leave(int code) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (!sending.empty() && std::chrono::steady_clock::now() < end) {
    forget_sent();
  }
  std::_Exit(code);
}

/// Which ranks share a machine, and what each of them may use there: launchers bind ranks to
/// processors.
void look_around(HeddleRanks& ranks) {
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_size(here, &ranks.size_here);
  cpu_set_t own;
  CPU_ZERO(&own);
  ::sched_getaffinity(0, sizeof own, &own);
  MPI_Allreduce(&own, &ranks.processors_here, sizeof own, MPI_BYTE, MPI_BOR, here);
  int leader = ranks.rank;
  MPI_Allreduce(&ranks.rank, &leader, 1, MPI_INT, MPI_MIN, here);
  leaders.resize(static_cast<std::size_t>(ranks.size));
  MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, MPI_COMM_WORLD);
  ranks.leaders = leaders.data();
  MPI_Comm_free(&here);
}

HeddleRanks ranks{0, 1, 1, nullptr, {}, send, receive, all_sent, finish, leave};

} // namespace

extern "C" __attribute__((visibility("default"))) const HeddleRanks*
heddle_ranks_open(int version) {
  int threads = MPI_THREAD_SINGLE;
  if (version != heddle_ranks_version ||
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads) != MPI_SUCCESS ||
      threads < MPI_THREAD_SERIALIZED) {
    return nullptr;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); // a rank that dies is no end
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  look_around(ranks);
  return &ranks;
}
