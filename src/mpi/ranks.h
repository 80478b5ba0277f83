// What libheddle_mpi.so offers: a few messages between the processes of one MPI job ("ranks").
//
//   const HeddleRanks* ranks = heddle_ranks_open(heddle_ranks_version);     // found by dlsym
//
// The library is the only part of Heddle that is linked with MPI; there is one for each
// implementation, since their binary interfaces differ. Called by one thread at a
// time.
#pragma once

#include <cstddef>

constexpr int heddle_ranks_version = 1;

struct HeddleRanks {
  int rank, size, size_here; // here: on this machine
  void (*send)(int to, const void* bytes, std::size_t count);
  /// Takes one message, if there is one: 1, and `take` has been called. Does not wait.
  int (*receive)(
      void (*take)(void* context, int from, const void* bytes, std::size_t count),
      void* context
  );
  void (*finish)();        // all ranks together
  void (*leave)(int code); // ends this process without the others: one of them does not answer
};

/// Null: another version, or MPI does not start.
extern "C" const HeddleRanks* heddle_ranks_open(int version);
