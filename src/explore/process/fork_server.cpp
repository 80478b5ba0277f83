// Implements fork_server.h.
#include "explore/process/fork_server.h"

#include "base/check.h"
#include "explore/process/open_files.h"
#include "explore/process/quiet_fork.h"
#include "ptx/form.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

namespace heddle::explore {
namespace {

constexpr std::size_t most_descriptors = 5; // the log and those of a handover
constexpr int first_high_descriptor = 512;

/// What goes to the server, but for the descriptors.
struct Request {
  pid_t server = 0; // so that a process that the program has forked by itself does not serve
  std::array<char, 1020> text{};
};

/// Those of a handover that are there, always in this order.
template <class HandoverOrConst> auto descriptors_of(HandoverOrConst& handover) {
  std::vector<decltype(&handover.table)> present;
  for (auto* const fd : {&handover.table, &handover.replay, &handover.trace, &handover.samples}) {
    if (*fd >= 0) {
      present.push_back(fd);
    }
  }
  return present;
}

/// A message of one part, with room for descriptors.
class Message {
public:
  Message(void* bytes, std::size_t size) : part_{bytes, size} {
    header_.msg_iov = &part_;
    header_.msg_iovlen = 1;
  }

  bool send(int socket, std::span<const int> descriptors) {
    header_.msg_control = control_.data();
    header_.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const first = CMSG_FIRSTHDR(&header_);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(first), descriptors.data(), descriptors.size_bytes());
    return ::sendmsg(socket, &header_, MSG_NOSIGNAL) == static_cast<ssize_t>(part_.iov_len);
  }

  /// False: the other end is gone.
  bool receive(int socket, std::vector<int>& descriptors) {
    header_.msg_control = control_.data();
    header_.msg_controllen = control_.size();
    ssize_t count = 0;
    while ((count = ::recvmsg(socket, &header_, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    if (const cmsghdr* const first = CMSG_FIRSTHDR(&header_); count > 0 && first != nullptr) {
      descriptors.resize((first->cmsg_len - CMSG_LEN(0)) / sizeof(int));
      std::memcpy(descriptors.data(), CMSG_DATA(first), descriptors.size() * sizeof(int));
    }
    return count == static_cast<ssize_t>(part_.iov_len);
  }

private:
  iovec part_;
  msghdr header_{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_descriptors * sizeof(int))> control_{};
};

void close_all(std::span<const int> descriptors) {
  for (const int fd : descriptors) {
    ::close(fd);
  }
}

/// In the forked process.
Result<Handover> take_over(const Request& request, std::span<const int> descriptors) {
  ::dup2(descriptors.front(), STDERR_FILENO);
  TRY(Handover handover, parse_handover(request.text.data()));
  const auto present = descriptors_of(handover);
  if (present.size() + 1 != descriptors.size()) {
    return input_error("the descriptors of a search are missing");
  }
  for (std::size_t i = 0; i < present.size(); ++i) {
    *present[i] = ::fcntl(descriptors[i + 1], F_DUPFD_CLOEXEC, first_high_descriptor);
    if (*present[i] < 0) {
      return input_error(fmt::format("no descriptor is left: {}", std::strerror(errno)));
    }
  }
  close_all(descriptors);
  return handover;
}

} // namespace

CheckRequest with_answers(CheckRequest request, std::span<const SystemAnswer> others) {
  // Tests keep one, to see that it makes the difference.
  const char* const kept = std::getenv("HEDDLE_KEEP_ANSWERS");
  std::string& words = request.environment[answers_variable];
  for (const SystemAnswer answer : others) {
    if (kept == nullptr || kept != word_of(answer)) {
      words += fmt::format("{} ", word_of(answer));
    }
  }
  return request;
}

ForkServer::~ForkServer() {
  if (leader_ != 0) {
    end_all();
    (void)status_of_server();
  }
}

void ForkServer::end_all() {
  if (const pid_t leader = leader_; leader != 0) {
    is_ending_ = true;
    ::kill(-leader, SIGKILL);
  }
}

Result<void> ForkServer::start(int log) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return input_error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  // Where the program's own files do not come.
  const int theirs = ::fcntl(ends[1], F_DUPFD, first_high_descriptor);
  ::close(ends[1]);
  if (theirs < 0) {
    ::close(ends[0]);
    return input_error(fmt::format("no descriptor is left: {}", std::strerror(errno)));
  }
  const auto started = start_program(
      request_,
      {.text = fmt::format("{}{}", serve_key, theirs),
       .addresses = addresses_,
       .log = log,
       .socket = theirs}
  );
  ::close(theirs);
  if (!started) {
    ::close(ends[0]);
    return unexpected(started.error());
  }
  leader_ = *started;
  socket_ = ends[0];
  return {};
}

Result<void> ForkServer::fork(const Handover& handover, int log) {
  if (is_ending_ && leader_ != 0) { // somebody has said so since status()
    (void)status_of_server();
  }
  if (leader_ == 0) {
    TRY_VOID(start(log));
  }
  Request request{.server = leader_};
  const std::string text = to_text(handover);
  HEDDLE_CHECK(text.size() < request.text.size(), "a handover is too long: {}", text);
  text.copy(request.text.data(), text.size());
  std::vector<int> descriptors{log};
  for (const int* const fd : descriptors_of(handover)) {
    descriptors.push_back(*fd);
  }
  // If it is not received, status() tells how the server has ended.
  (void)Message(&request, sizeof request).send(socket_, descriptors);
  return {};
}

int ForkServer::status() {
  int status = 0;
  std::vector<int> none;
  if (!Message(&status, sizeof status).receive(socket_, none)) {
    return status_of_server();
  }
  if (is_ending_) { // the process had ended just before
    (void)status_of_server();
  }
  return status;
}

int ForkServer::status_of_server() {
  int status = 0;
  const pid_t leader = leader_.exchange(0); // whose number may soon be another process's
  while (::waitpid(leader, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(socket_);
  socket_ = -1;
  is_ending_ = false;
  return status;
}

Result<Handover> serve(int socket) {
  ptx::form_table(); // made when it is first asked for: not in each forked process
  for (;;) {
    Request request;
    std::vector<int> descriptors;
    if (!Message(&request, sizeof request).receive(socket, descriptors)) {
      ::_exit(0); // the tool has ended
    }
    const pid_t server = ::getpid();
    if (descriptors.empty()) {
      return input_error(fmt::format("file descriptor {} does not lead to heddle", socket));
    }
    if (request.server != server) {
      return input_error(
          "the program has forked before its first call of the CUDA runtime; heddle can explore "
          "one process only"
      );
    }
    OpenFiles files;
    files.look();
    const pid_t child = quiet_fork();
    if (child == 0) {
      files.make_own();
      ::close(socket);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != server) { // it was killed before that took effect
        ::_exit(0);
      }
      return take_over(request, descriptors);
    }
    int status = 0;
    if (child < 0) {
      ::dprintf(descriptors.front(), "cannot fork: %s\n", std::strerror(errno));
      status = cannot_start << CHAR_BIT;
    }
    close_all(descriptors);
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ::send(socket, &status, sizeof status, MSG_NOSIGNAL);
  }
}

} // namespace heddle::explore
