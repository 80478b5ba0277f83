// What libheddle_mpi.so offers: a few messages between the processes of one MPI job ("ranks").
//
//   const HeddleRanks* ranks = heddle_ranks_open(heddle_ranks_version);     // found by dlsym
//
// The library is the only part of Heddle that is linked with MPI; there is one for each
// implementation, since their binary interfaces differ. Called by one thread at a
// time.
#pragma once

#include <sched.h>

#include <cstddef>

constexpr int heddle_ranks_version = 2;

struct HeddleRanks {
  int rank, size, size_here; // here: on this machine
  const int* leaders;        // by rank: the first one of its machine
  cpu_set_t processors_here; // that the ranks of this machine may use, together
  void (*send)(int to, const void* bytes, std::size_t count);
  /// Takes one message, if there is one: 1, and `take` has been called. Does not wait.
  int (*receive)(
      void (*take)(void* context, int from, const void* bytes, std::size_t count),
      void* context
  );
  int (*all_sent)();       // 1: what has been sent is out. What nobody receives may never be
  void (*finish)();        // all ranks together
  void (*leave)(int code); // ends this process without the others: one of them does not answer
};

/// Null: another version, or MPI does not start.
extern "C" const HeddleRanks* heddle_ranks_open(int version);
