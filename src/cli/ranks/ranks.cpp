// Implements ranks.h.
#include "cli/ranks/ranks.h"

#include "cli/ranks/rank_relay.h"
#include "explore/process/explored_process.h"
#include "explore/process/interruption.h"
#include "explore/ranks/peers.h"
#include "report/diagnostic.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto between_looks = std::chrono::milliseconds(2);
constexpr auto patience = std::chrono::seconds(300); // until all have compiled
constexpr auto between_looks_of_the_idle = std::chrono::milliseconds(20);
constexpr std::string_view over = "over?", all_sent = "all sent", bye = "bye",
                           bye_without_one = "bye, one is lost", bye_before = "bye, before ";

/// "PID NAMESPACE": which processes can see each other's numbers.
std::string name_of_process(pid_t process) {
  struct stat space{};
  ::stat("/proc/self/ns/pid", &space);
  return fmt::format("{} {}", process, space.st_ino);
}

/// Its number can be used here.
bool can_be_seen(const std::string& name) {
  const std::string here = name_of_process(::getpid());
  const std::size_t space = name.find(' ');
  return space != std::string::npos && name.substr(space) == here.substr(here.find(' '));
}

/// Has that process ended, now or within so many milliseconds (-1: wait until it has)? False if it
/// cannot be seen from here.
bool ends_within(const std::string& name, int timeout) {
  if (!can_be_seen(name)) {
    return false;
  }
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, std::atoi(name.c_str()), 0));
  if (process < 0) {
    return errno == ESRCH;
  }
  pollfd ended{.fd = process, .events = POLLIN, .revents = 0};
  int count = 0;
  while ((count = ::poll(&ended, 1, timeout)) < 0 && errno == EINTR) {
  }
  ::close(process);
  return count > 0;
}

/// Processes and threads of `process` and below; what ends meanwhile is left out.
void for_all_threads(pid_t process, const std::function<void(pid_t)>& what) {
  std::error_code failure;
  const auto tasks = fmt::format("/proc/{}/task", process);
  for (const auto& thread : std::filesystem::directory_iterator(tasks, failure)) {
    what(std::atoi(thread.path().filename().c_str()));
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) {
      for_all_threads(child, what);
    }
  }
}

/// Waits until it has ended. If this process is told to end, or was by the signal `earlier`, that
/// one is, too: whoever ends one of the ranks means all of them. (It takes two signals within half
/// a second for one.)
void await_process(const std::string& name, int earlier) {
  const int between_looks = static_cast<int>(between_looks_of_the_idle.count());
  for (bool told = false; can_be_seen(name) && !ends_within(name, between_looks);) {
    const int signal = earlier != 0 ? earlier : explore::Interruption::received();
    if (signal != 0 && !std::exchange(told, true)) {
      ::kill(std::atoi(name.c_str()), signal);
    }
  }
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// A line that differs, and what must not.
std::string encode(const Result<std::map<std::string, std::string>>& what) {
  return host_name() + "\n" + identity_text(what);
}

/// Line 0, 1, … of a text, or what follows from there on.
std::string from_line(const std::string& text, int line) {
  std::size_t begin = 0;
  for (; line > 0 && begin < text.size(); --line) {
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  return text.substr(begin);
}
std::string line_of(const std::string& text, int line) {
  const std::string rest = from_line(text, line);
  return rest.substr(0, rest.find('\n'));
}

/// Why ranks with these cannot work together; empty: they can.
std::string difference(int rank, const std::string& ours, const std::string& theirs) {
  const std::string where = fmt::format("rank {} on {}", rank, line_of(theirs, 0));
  const std::string rest = from_line(theirs, 1);
  if (rest.starts_with('!')) {
    return fmt::format("{}: {}", where, rest.substr(1));
  }
  const std::string own = from_line(ours, 1);
  for (std::size_t a = 0, b = 0; a < own.size() || b < rest.size();) {
    const std::string x = own.substr(a, own.find('\n', a) - a);
    const std::string y = rest.substr(b, rest.find('\n', b) - b);
    if (x != y) {
      return fmt::format(
          "{} has another {} than rank 0: all ranks need the same ({}, {})",
          where,
          x.substr(0, x.find('=')),
          y.substr(y.find('=') + 1),
          x.substr(x.find('=') + 1)
      );
    }
    a += x.size() + 1;
    b += y.size() + 1;
  }
  return "";
}

} // namespace

void Ranks::without_colour() {
  ::setenv("HEDDLE_COLOR", "never", /*overwrite=*/0);
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) {
      return line.substr(std::min(line.find(": ") + 2, line.size()));
    }
  }
  return "unknown";
}

Ranks::~Ranks() {
  std::string rank_0_goes_on;
  // A rank that lends its processors only looked at no signal before.
  const int earlier = explore::Interruption::received();
  const explore::Interruption is_rank_0s; // all get the signal, and that one writes the report
  if (rank() != 0) {
    rank_0_goes_on = await_end();
  } else if (!said_bye_) {
    end_others(bye);
  }
  if (some_lost_) {
    std::fflush(nullptr);
    messages_->leave(exit_code_);
  }
  if (!finished_) {
    messages_->finish();
  }
  if (!rank_0_goes_on.empty()) {
    await_process(rank_0_goes_on, earlier);
  }
}

/// This rank, which waits for rank 0 only, was told to end a while ago. If all ranks had been told,
/// rank 0 or the launcher would have ended it meanwhile. So it ends, for the launcher to end the
/// job.
bool Ranks::is_to_leave() {
  constexpr auto patience_with_rank_0 = std::chrono::milliseconds(1500);
  if (explore::Interruption::received() == 0) {
    return false;
  }
  told_to_end_ = told_to_end_.value_or(Clock::now());
  return Clock::now() - *told_to_end_ >= patience_with_rank_0;
}

void Ranks::end_before_rank_0() {
  end_others(fmt::format("{}{}", bye_before, name_of_process(messages_->job().process)));
  if (!some_lost_) {
    messages_->finish();
    finished_ = true;
  }
}

/// Rank 0. MPI ends only with all ranks, and with nothing under way that nobody receives: so each
/// says when all that it has sent has arrived, and receives until all have said so.
void Ranks::end_others(std::string_view goodbye) {
  said_bye_ = true;
  std::set<int> others;
  for (int other = 1; other < size(); ++other) {
    if (!lost_.contains(other)) {
      others.insert(other);
      send(other, over);
    }
  }
  const auto end = Clock::now() + explore::silence_of_the_dead;
  while (!others.empty() && messages_->is_there() && Clock::now() < end) {
    const auto message = receive(between_looks);
    if (message && message->text == all_sent) {
      others.erase(message->from);
    }
  }
  for (const int other : messages_->is_there() ? others : std::set<int>()) {
    const std::string said =
        fmt::format("heddle: rank {} does not answer any more: nobody waits for it\n", other);
    std::fputs(said.c_str(), stderr); // if it can be
    lost(other);
  }
  for (int other = 1; other < size(); ++other) {
    send(other, some_lost_ ? bye_without_one : goodbye);
  }
}

/// The others. They leave the processor to rank 0. The process that they are to wait for then.
std::string Ranks::await_end() {
  constexpr auto most = explore::silence_of_the_dead / 2; // for one that does not receive any more
  std::optional<Clock::time_point> end;
  bool has_said_so = false;
  for (;;) {
    const auto message = receive(std::chrono::milliseconds(0));
    if (message && message->text.starts_with(bye)) {
      some_lost_ = message->text == bye_without_one;
      const bool goes_on = message->text.starts_with(bye_before);
      return goes_on ? message->text.substr(bye_before.size()) : "";
    }
    if (message && message->text == over) {
      end = Clock::now() + most;
    }
    if (end && !has_said_so && (messages_->all_sent() || Clock::now() >= *end)) {
      has_said_so = true;
      send(0, all_sent);
    }
    if (is_to_leave()) {
      std::fflush(nullptr);
      messages_->leave(report::exit_code::signal + explore::Interruption::received());
    }
    if (!message) {
      std::this_thread::sleep_for(end ? between_looks : between_looks_of_the_idle);
    }
  }
}

int Ranks::rank() const {
  return messages_->job().rank;
}
int Ranks::size() const {
  return messages_->job().size;
}
int Ranks::size_here() const {
  return messages_->job().size_here;
}

Ranks::Machines Ranks::machines(int each) const {
  const auto leader_of = [&](int rank) {
    return each != 0 ? rank - rank % each : messages_->job().leaders[rank];
  };
  Machines machines;
  for (int rank = 0; rank < size(); ++rank) {
    if (leader_of(rank) == rank) {
      machines.leaders.push_back(rank);
    }
    machines.ranks_here +=
        rank != this->rank() && leader_of(rank) == leader_of(this->rank()) ? 1 : 0;
  }
  machines.leads = leader_of(rank()) == rank();
  return machines;
}

std::uint32_t Ranks::borrow_processors() const {
  // What the launcher has bound this rank to is less; if the system does not allow it, it stays so.
  ::sched_setaffinity(
      0,
      sizeof messages_->job().processors_here,
      &messages_->job().processors_here
  );
  return explore::jobs_of({});
}

void Ranks::lend_processors(pid_t process) const {
  // What a process starts has what it has. So it is all when a second look has found nothing.
  constexpr int most_looks = 10;
  bool all = false;
  for (int look = 0; look < most_looks && !all; ++look) {
    all = true;
    for_all_threads(process, [&](pid_t thread) {
      cpu_set_t now;
      CPU_ZERO(&now);
      if (::sched_getaffinity(thread, sizeof now, &now) != 0 ||
          CPU_EQUAL(&now, &messages_->job().processors_here)) {
        return;
      }
      all = false;
      ::sched_setaffinity(
          thread,
          sizeof messages_->job().processors_here,
          &messages_->job().processors_here
      );
    });
  }
}

void Ranks::send(int to, std::string_view text) {
  messages_->send(to, text);
}

std::optional<Ranks::Message> Ranks::receive(std::chrono::milliseconds at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  for (;;) {
    if (auto message = messages_->receive()) {
      return message;
    }
    if (std::chrono::steady_clock::now() >= end || !messages_->is_there()) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(between_looks);
  }
}

/// As receive(), but not longer than until this process is told to end.
std::optional<Ranks::Message> Ranks::await_message(std::chrono::seconds at_most) {
  constexpr auto between_looks_at_signals = std::chrono::milliseconds(20);
  const auto end = Clock::now() + at_most;
  std::optional<Message> message;
  while (!message && Clock::now() < end && messages_->is_there() &&
         explore::Interruption::received() == 0) {
    message = receive(between_looks_at_signals);
  }
  return message;
}

Result<void> Ranks::agree(const Result<std::map<std::string, std::string>>& what) {
  const std::string ours = encode(what);
  if (rank() != 0) {
    send(0, ours);
    const auto answer = await_message(patience + patience);
    if (!what || !answer || answer->text != "agreed") {
      return input_error("the ranks do not agree"); // rank 0 says why
    }
    return {};
  }
  std::string problem;
  for (int heard = 1; heard < size(); ++heard) {
    const auto message = await_message(patience);
    if (!message) {
      some_lost_ = true;
      return input_error("not all ranks have come as far as rank 0");
    }
    if (problem.empty() && what) {
      problem = difference(message->from, ours, message->text);
    }
  }
  const bool agreed = what && problem.empty();
  for (int other = 1; other < size(); ++other) {
    send(other, agreed ? "agreed" : "not agreed");
  }
  if (!what) {
    return unexpected(what.error());
  }
  if (!problem.empty()) {
    return input_error(problem);
  }
  return {};
}

void Ranks::lost(int rank) {
  lost_.insert(rank);
  some_lost_ = true;
}

} // namespace heddle::cli
