// Ranks: the processes of one MPI job, if Heddle was started as one (mpirun, srun).
//
//   TRY(const auto ranks, Ranks::join());               // null: it was not
//   TRY_VOID(ranks->agree({{"program", hash}}));        // all have the same, or an error
//   if (ranks->rank() == 0) …                           // it alone reports
//
// MPI is loaded only then (mpi/ranks.h).
#pragma once

#include "base/result.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct HeddleRanks;

namespace heddle::cli {

class Ranks {
public:
  /// Input error: a launcher has started several of us, but its MPI cannot be used.
  static Result<std::unique_ptr<Ranks>> join();
  /// Waits until all ranks are here.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const;
  int size() const;
  int size_here() const; // on this machine
  void send(int to, std::string_view text);
  struct Message {
    int from = 0;
    std::string text;
  };
  std::optional<Message> receive(std::chrono::milliseconds at_most);

  /// All ranks call it, with what must be equal everywhere, or why there is nothing. Input error,
  /// on all ranks: something differs, or one has an error; on rank 0 it says which and where.
  Result<void> agree(const Result<std::map<std::string, std::string>>& what);
  /// A rank does not answer any more: nobody waits for the others at the end.
  void lost(int rank);
  bool some_lost() const { return some_lost_; }

private:
  explicit Ranks(const HeddleRanks* ranks) : ranks_(ranks) {}

  const HeddleRanks* ranks_;
  bool some_lost_ = false;
  int exit_code_ = 0;

public:
  /// With which this process ends: needed if a rank was lost.
  void ends_with(int exit_code) { exit_code_ = exit_code; }
};

/// "AMD EPYC 9V33X 96-Core Processor": ranks with different ones may see different things.
std::string processor_name();

} // namespace heddle::cli
