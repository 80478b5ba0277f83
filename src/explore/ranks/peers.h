// Peers: the ranks that search together, as the search sees them. Who they are, and how messages
// travel, is the command line's (cli/ranks/ranks.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::explore {

/// A rank sends a sign of life so often, and one that has been silent for so long counts as dead.
constexpr auto between_signs_of_life = std::chrono::seconds(1);
constexpr auto silence_of_the_dead = std::chrono::seconds(10);

class Peers {
public:
  Peers() = default;
  virtual ~Peers() = default;
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The number that the user knows a rank by.
  virtual int name(int rank) const = 0;
  /// Messages from one rank to another one arrive in their order.
  virtual void send(int to, std::string_view bytes) = 0;
  struct Message {
    int from = 0;
    std::string bytes;
  };
  /// Does not wait.
  virtual std::optional<Message> receive() = 0;
  /// False: this rank has ended, and only the process that searches for it goes on.
  virtual bool are_reachable() const = 0;
  /// It does not answer any more: the user is told, and nobody waits for it.
  virtual void lost(int rank) = 0;
  /// Rank 0: no search is divided any more.
  void lose(int rank) {
    all_there_ = false;
    lost(rank);
  }
  bool all_there() const { return all_there_; }
  /// Rank 0: numbers the searches that all make together.
  std::uint32_t next_attempt() { return ++attempts_; }

private:
  std::uint32_t attempts_ = 0;
  bool all_there_ = true;
};

} // namespace heddle::explore
