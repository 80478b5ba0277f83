// How the process that checks for rank 0 speaks with the other ranks: by way of rank 0 itself, the
// process that the launcher has started, which does what it is asked through a socket. So that
// process can be killed, and the one that checks still reports what it has found.
//
//   RelaySocket socket;                                      // and fork
//   socket.be_rank();  serve_relay(socket, *messages);       // the rank, until all is over
//   socket.be_check(); TRY(auto messages, join_relay(socket));   // the process that checks
//
// The rank only answers, so neither end waits for the other one while that one waits.
#pragma once

#include "base/result.h"
#include "cli/ranks/rank_messages.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::cli {

/// A message between the two. Each question is answered by messages of the kind below it.
struct RelayFrame {
  enum class Kind : std::uint32_t {
    Join,     // what job is it?
    Job,      // …
    Identity, // do all ranks have this in common? `number`: the kind of error, if there is nothing
    Agreed,
    Send,    // to rank `number`
    Receive, // is there anything?
    Message, // from rank `number`
    NoMore,  // messages
    AllSent, // has everything been sent?
    Answer,  // `number`
    Finish,  // the job is over
    Finished,
    Leave // the same, but without waiting for other ranks; the exit code is `number`
  };
  Kind kind{};
  std::int32_t number = 0;
  std::string text;
};

/// Both ends, until the process is one of the two.
class RelaySocket {
public:
  RelaySocket();
  ~RelaySocket();
  RelaySocket(const RelaySocket&) = delete;
  RelaySocket& operator=(const RelaySocket&) = delete;
  void be_rank() { keep(0); }
  void be_check() { keep(1); }

  /// False: the other end is gone.
  bool write(RelayFrame::Kind kind, std::int32_t number = 0, std::string_view text = {}) const;
  /// Waits. None: the other end is gone.
  std::optional<RelayFrame> read() const;
  /// There is something to read, or the other end is gone.
  bool is_readable_within(int milliseconds) const;
  /// The other end is gone, and all that it has written has been read.
  bool is_gone() const;

private:
  void keep(int end);
  int end() const { return ends_[0] >= 0 ? ends_[0] : ends_[1]; }

  int ends_[2] = {-1, -1};
};

/// In the process that checks. Input error: this process was interrupted, or the rank has ended,
/// before MPI had started.
Result<std::unique_ptr<RankMessages>> join_relay(const RelaySocket& socket);

/// In the rank: does what it is asked. True: MPI is over. False: this rank is to leave without the
/// others.
bool serve_relay(const RelaySocket& socket, RankMessages& messages);

/// What all ranks have in common, or why there is nothing, as a text.
std::string identity_text(const Result<std::map<std::string, std::string>>& what);
Result<std::map<std::string, std::string>> identity_from(const RelayFrame& asked);

} // namespace heddle::cli
