// Implements ranks.h with MPI. A message is sent without waiting; its bytes are kept until it is
// out. Nor does who receives wait: the rest of a long message never comes from a rank that has died
// while it was on its way.
#include "mpi/ranks.h"

#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <list>
#include <utility>
#include <vector>

namespace {

constexpr int tag = 1;

struct Message {
  std::vector<char> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};
struct Receiving : Message {
  int from = 0;
  bool failed = false;
};
// MPI has one world for each process, and so has this.
std::list<Message> sending;
std::list<Receiving> receiving; // in the order in which the messages of each rank were sent
std::vector<int> leaders;       // one for each rank

void forget_sent() {
  sending.remove_if([](Message& one) {
    int done = 0;
    MPI_Test(&one.request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

void send(int to, const void* bytes, std::size_t count) {
  forget_sent();
  const char* first = static_cast<const char*>(bytes);
  Message& one = sending.emplace_back();
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

/// Begins to receive the next message, if one has been announced.
void begin_to_receive() {
  int some = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status{};
  MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &some, &message, &status);
  if (some == 0) {
    return;
  }
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  Receiving& one = receiving.emplace_back();
  one.from = status.MPI_SOURCE;
  one.bytes.resize(static_cast<std::size_t>(count));
  MPI_Imrecv(one.bytes.data(), count, MPI_BYTE, &message, &one.request);
}

/// The first message that is there, after all that its sender has sent before.
std::list<Receiving>::iterator first_received() {
  std::vector<bool> waits(leaders.size());
  for (auto one = receiving.begin(); one != receiving.end(); ++one) {
    const auto from = static_cast<std::size_t>(one->from);
    int done = 0;
    if (!waits[from] && !one->failed) {
      one->failed = MPI_Test(&one->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    }
    if (done != 0 && !one->failed) {
      return one;
    }
    waits[from] = true;
  }
  return receiving.end();
}

int receive(void (*take)(void*, int, const void*, std::size_t), void* context) {
  forget_sent();
  begin_to_receive();
  const auto one = first_received();
  if (one == receiving.end()) {
    return 0;
  }
  const Receiving whole = std::move(*one);
  receiving.erase(one);
  take(context, whole.from, whole.bytes.data(), whole.bytes.size());
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
  for (Receiving& one : receiving) { // nobody asks for them any more
    MPI_Wait(&one.request, MPI_STATUS_IGNORE);
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
