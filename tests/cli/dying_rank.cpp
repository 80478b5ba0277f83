// Three ranks. Rank 1 dies while its long message to rank 0 is being transferred; later rank 2
// sends a short one. Rank 0 must not block, and must receive the message of rank 2.
//
//   mpirun --enable-recovery -n 3 dying_rank libheddle_mpi.so       prints "got 0 1", or "got 1 1"
//                                                                   where rank 0 was quick
#include "mpi/ranks.h"
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <vector>

int main(int, char** argv) {
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const auto open =
      reinterpret_cast<const HeddleRanks* (*)(int)>(dlsym(library, "heddle_ranks_open"));
  const HeddleRanks* const ranks = open(heddle_ranks_version);
  if (ranks == nullptr) {
    return 2;
  }
  const auto send = [&](std::size_t bytes) {
    const std::vector<char> message(bytes);
    ranks->send(0, message.data(), message.size());
  };
  if (ranks->rank == 1) {
    send(std::size_t{8} << 20); // too long to be there before it is asked for
    return raise(SIGKILL);
  }
  if (ranks->rank == 2) {
    sleep(2);
    send(100);
    while (ranks->all_sent() == 0) {
    }
    ranks->leave(0);
  }
  sleep(1); // rank 1 should be dead by then
  std::array<int, 3> got{};
  const auto take = [](void* context, int from, const void*, std::size_t) {
    ++(*static_cast<std::array<int, 3>*>(context))[static_cast<std::size_t>(from)];
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (got[2] == 0 && std::chrono::steady_clock::now() < end) {
    ranks->receive(take, &got);
  }
  std::printf("got %d %d\n", got[1], got[2]);
  std::fflush(stdout);
  ranks->leave(0);
}
