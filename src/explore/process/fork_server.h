// The explored program as a fork server: started once, it stops at its first call of Heddle's
// runtime (with nvcc's programs: before main), and each search or repetition is a process forked
// from there. So what the dynamic linker and the runtime do to start is done once for a check.
//
//   ForkServers servers(request);                        // the tool; nothing is started yet
//   servers.fixed.fork(handover, log);                   // Result<void>
//   … poll(servers.fixed.ended()) …
//   const int status = servers.fixed.status();           // as waitpid() tells it
//
//   TRY(const Handover handover, serve(socket));         // the program: returns in each fork
//
// Both ends talk through a socket that keeps messages apart: to the server the text of a handover
// together with its descriptors, back the status of the process once it has ended. Descriptors get
// high numbers, so that a program that opens files finds the ones it would find anyway.
//
// Killing the tool kills the server, and that kills its process.
#pragma once

#include "base/outside.h"
#include "base/result.h"
#include "explore/options.h"
#include "explore/process/program_start.h"

#include <sys/types.h>

#include <atomic>
#include <span>
#include <string_view>

namespace heddle::explore {

/// The program gets these answers otherwise.
CheckRequest with_answers(CheckRequest request, std::span<const SystemAnswer> others);

class ForkServer {
public:
  /// `request` outlives it.
  ForkServer(const CheckRequest& request, Addresses addresses)
      : request_(request),
        addresses_(addresses) {}
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;
  /// Ends the server and its process.
  ~ForkServer();

  /// One process, which gets copies of the descriptors in `handover` and writes its messages to
  /// `log`; so does the program if it ends before it serves. Only after status() of the one before.
  /// Input error: the program could not be started.
  Result<void> fork(const Handover& handover, int log);
  /// The server. It leads a process group with everything that it has forked.
  pid_t leader() const { return leader_; }
  /// A descriptor that can be read as soon as status() does not have to wait.
  int ended() const { return socket_; }
  /// How the process has ended, or, if it never was, or has been ended together with the server,
  /// how the server has.
  int status();
  /// Ends the server and all that it has forked; any thread may say so. status() tells when that
  /// is done; the next fork() starts the program again.
  void end_all();

private:
  Result<void> start(int log);
  int status_of_server();

  const CheckRequest& request_;
  Addresses addresses_;
  std::atomic<pid_t> leader_ = 0; // 0: not started, or ended
  std::atomic<bool> is_ending_ = false;
  int socket_ = -1;
};

struct ForkServers {
  explicit ForkServers(const CheckRequest& request)
      : answers_otherwise(with_answers(request, all_answers)),
        fixed(request, Addresses::Fixed),
        otherwise(answers_otherwise, Addresses::Elsewhere) {}
  CheckRequest answers_otherwise;
  ForkServer fixed;
  ForkServer otherwise; // other addresses of stack, heap and libraries, and all other answers
};

/// What HEDDLE_EXPLORE says to a fork server, before the number of its socket.
inline constexpr std::string_view serve_key = "serve=";

/// In the program: serves until the tool ends, and returns in each process that is forked. Input
/// error: the socket is not the tool's, or the program has forked before it came here.
Result<Handover> serve(int socket);

} // namespace heddle::explore
