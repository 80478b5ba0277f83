// RankMessages: messages between the ranks of an MPI job, and what MPI says of the ranks.
//
//   TRY(const auto messages, start_mpi());                 // in the process that is the rank
//   messages->send(to, bytes);
//   while (const auto message = messages->receive()) …
//
// Either MPI itself, or the way to it of the process that checks for rank 0 (rank_relay.h). Called
// by one thread at a time.
#pragma once

#include "base/result.h"

#include <sched.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

class RankMessages {
public:
  struct Job {
    int rank = 0, size = 1, size_here = 1; // here: on this machine
    std::vector<int> leaders;              // by rank: the first one of its machine
    cpu_set_t processors_here{};           // that the ranks of this machine may use, together
    pid_t process = 0;                     // which is this rank
  };
  struct Message {
    int from = 0;
    std::string text;
  };
  RankMessages() = default;
  virtual ~RankMessages() = default;
  RankMessages(const RankMessages&) = delete;
  RankMessages& operator=(const RankMessages&) = delete;

  virtual const Job& job() const = 0;
  virtual void send(int to, std::string_view text) = 0;
  /// Does not wait.
  virtual std::optional<Message> receive() = 0;
  /// What has been sent is out. What nobody receives may never be.
  virtual bool all_sent() = 0;
  /// All ranks together end MPI.
  virtual void finish() = 0;
  /// Ends this process without the other ranks: one of them does not answer.
  virtual void leave(int code) = 0;
  /// False: the rank has ended. Then nothing is sent or received any more.
  virtual bool is_there() const { return true; }
};

/// Loads MPI, which only a process that a launcher has started may do. Input error: it cannot be
/// used.
Result<std::unique_ptr<RankMessages>> start_mpi();

} // namespace heddle::cli
