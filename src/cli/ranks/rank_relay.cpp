// Implements rank_relay.h. A frame is a head and so many bytes.
#include "cli/ranks/rank_relay.h"

#include "explore/process/interruption.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <sstream>
#include <utility>

namespace heddle::cli {
namespace {

using Kind = RelayFrame::Kind;
constexpr std::size_t most_messages_in_answer = 256;
constexpr char has_no_identity = '!';

struct FrameHead {
  Kind kind{};
  std::int32_t number = 0;
  std::uint64_t bytes = 0;
};

/// Calls `some`, which is send(2) or recv(2) of so many bytes from a place on, until all are done.
template <class F> bool all_bytes(std::size_t count, const F& some) {
  for (std::size_t done = 0; done < count;) {
    const ssize_t now = some(done, count - done);
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now <= 0) {
      return false;
    }
    done += static_cast<std::size_t>(now);
  }
  return true;
}

bool write_to_socket(int socket, const void* bytes, std::size_t count) {
  return all_bytes(count, [&](std::size_t from, std::size_t rest) {
    return ::send(socket, static_cast<const char*>(bytes) + from, rest, MSG_NOSIGNAL);
  });
}

bool read_from_socket(int socket, void* bytes, std::size_t count) {
  return all_bytes(count, [&](std::size_t from, std::size_t rest) {
    return ::recv(socket, static_cast<char*>(bytes) + from, rest, 0);
  });
}

/// What MPI says of the job, but for the leaders.
struct PlainJob {
  int rank = 0, size = 1, size_here = 1;
  cpu_set_t processors_here{};
  pid_t process = 0;
};

std::string text_of(const RankMessages::Job& job) {
  const PlainJob plain{job.rank, job.size, job.size_here, job.processors_here, job.process};
  std::string text(reinterpret_cast<const char*>(&plain), sizeof plain);
  text.append(
      reinterpret_cast<const char*>(job.leaders.data()),
      job.leaders.size() * sizeof job.leaders.front()
  );
  return text;
}

RankMessages::Job job_from(const std::string& text) {
  PlainJob plain;
  std::memcpy(&plain, text.data(), sizeof plain);
  RankMessages::Job job{
      .rank = plain.rank,
      .size = plain.size,
      .size_here = plain.size_here,
      .leaders = {},
      .processors_here = plain.processors_here,
      .process = plain.process
  };
  job.leaders.resize(static_cast<std::size_t>(plain.size));
  std::memcpy(
      job.leaders.data(),
      text.data() + sizeof plain,
      job.leaders.size() * sizeof job.leaders.front()
  );
  return job;
}

class RelayedMessages final : public RankMessages {
public:
  RelayedMessages(const RelaySocket& socket, Job job) : socket_(socket), job_(std::move(job)) {}
  const Job& job() const override { return job_; }
  void send(int to, std::string_view text) override { say(Kind::Send, to, text); }
  std::optional<Message> receive() override {
    if (received_.empty() && say(Kind::Receive)) {
      while (take() && last_.kind == Kind::Message) {
        received_.push_back({last_.number, std::move(last_.text)});
      }
    }
    if (received_.empty()) {
      return std::nullopt;
    }
    Message first = std::move(received_.front());
    received_.pop_front();
    return first;
  }
  bool all_sent() override { return say(Kind::AllSent) && take() && last_.number != 0; }
  void finish() override {
    if (say(Kind::Finish)) {
      take();
    }
  }
  void leave(int code) override {
    say(Kind::Leave, code);
    ::_exit(code);
  }
  bool is_there() const override { return is_there_; }

private:
  bool say(Kind kind, std::int32_t number = 0, std::string_view text = {}) {
    is_there_ = is_there_ && socket_.write(kind, number, text);
    return is_there_;
  }
  bool take() {
    auto frame = socket_.read();
    is_there_ = is_there_ && frame.has_value();
    last_ = frame ? *std::move(frame) : RelayFrame();
    return is_there_;
  }

  const RelaySocket& socket_;
  Job job_;
  RelayFrame last_; // answer
  std::deque<Message> received_;
  bool is_there_ = true;
};

} // namespace

RelaySocket::RelaySocket() {
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_) != 0) {
    ends_[0] = ends_[1] = -1;
  }
}

RelaySocket::~RelaySocket() {
  for (const int end : ends_) {
    if (end >= 0) {
      ::close(end);
    }
  }
}

void RelaySocket::keep(int end) {
  int& other = ends_[1 - end];
  if (other >= 0) {
    ::close(std::exchange(other, -1));
  }
}

bool RelaySocket::write(Kind kind, std::int32_t number, std::string_view text) const {
  const FrameHead head{.kind = kind, .number = number, .bytes = text.size()};
  return write_to_socket(end(), &head, sizeof head) &&
         write_to_socket(end(), text.data(), text.size());
}

std::optional<RelayFrame> RelaySocket::read() const {
  FrameHead head;
  if (!read_from_socket(end(), &head, sizeof head)) {
    return std::nullopt;
  }
  RelayFrame frame{.kind = head.kind, .number = head.number, .text = {}};
  frame.text.resize(head.bytes);
  return read_from_socket(end(), frame.text.data(), frame.text.size())
             ? std::optional(std::move(frame))
             : std::nullopt;
}

bool RelaySocket::is_readable_within(int milliseconds) const {
  pollfd some{.fd = end(), .events = POLLIN, .revents = 0};
  return ::poll(&some, 1, milliseconds) > 0;
}

bool RelaySocket::is_gone() const {
  char next = 0;
  return ::recv(end(), &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

Result<std::unique_ptr<RankMessages>> join_relay(const RelaySocket& socket) {
  constexpr int between_looks_at_signals = 20; // milliseconds
  if (!socket.write(Kind::Join)) {
    return input_error("rank 0 has ended");
  }
  while (!socket.is_readable_within(between_looks_at_signals)) {
    if (explore::Interruption::received() != 0) {
      return input_error(explore::Interruption::text());
    }
  }
  const auto answer = socket.read();
  if (!answer || answer->kind != Kind::Job) {
    return input_error("rank 0 has ended");
  }
  return std::make_unique<RelayedMessages>(socket, job_from(answer->text));
}

bool serve_relay(const RelaySocket& socket, RankMessages& messages) {
  while (const auto asked = socket.read()) {
    switch (asked->kind) {
    case Kind::Join:
      socket.write(Kind::Job, 0, text_of(messages.job()));
      break;
    case Kind::Send:
      messages.send(asked->number, asked->text);
      break;
    case Kind::Receive:
      for (std::size_t n = 0; n < most_messages_in_answer; ++n) {
        const auto message = messages.receive();
        if (!message) {
          break;
        }
        socket.write(Kind::Message, message->from, message->text);
      }
      socket.write(Kind::NoMore);
      break;
    case Kind::AllSent:
      socket.write(Kind::Answer, messages.all_sent() ? 1 : 0);
      break;
    case Kind::Finish:
      messages.finish();
      socket.write(Kind::Finished);
      return true;
    case Kind::Leave:
      return false;
    default:
      break;
    }
  }
  return false;
}

std::string identity_text(const Result<std::map<std::string, std::string>>& what) {
  if (!what) {
    return has_no_identity + what.error().message;
  }
  std::string text;
  for (const auto& [key, value] : *what) {
    text += key + "=" + value + "\n";
  }
  return text;
}

Result<std::map<std::string, std::string>> identity_from(const RelayFrame& asked) {
  const std::string& text = asked.text;
  if (text.starts_with(has_no_identity)) {
    return unexpected(Error{static_cast<ErrorKind>(asked.number), text.substr(1)});
  }
  std::map<std::string, std::string> what;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t middle = line.find('=');
    if (middle != std::string::npos) {
      what[line.substr(0, middle)] = line.substr(middle + 1);
    }
  }
  return what;
}

} // namespace heddle::cli
