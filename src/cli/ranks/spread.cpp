// Implements spread.h. Messages: from a rank "room N", "alive", "done I TEXT", "failed I WHY"; to
// it "task I", "over".
#include "cli/ranks/spread.h"

#include "base/check.h"
#include "explore/process/interruption.h"
#include "explore/ranks/peers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <thread>
#include <vector>

namespace heddle::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto tick = std::chrono::milliseconds(5);
constexpr auto time_to_end = std::chrono::milliseconds(500); // launchers kill soon after SIGTERM

std::string contents_of(int fd) {
  std::string text(static_cast<std::size_t>(std::max<off_t>(::lseek(fd, 0, SEEK_END), 0)), '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t bytes = ::pread(fd, text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (bytes <= 0) {
      break;
    }
    at += static_cast<std::size_t>(bytes);
  }
  text.resize(at);
  return text;
}

/// False: something is missing.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t bytes = ::write(fd, text.data(), text.size());
    if (bytes < 0 && errno == EINTR) {
      continue;
    }
    if (bytes <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(bytes));
  }
  return true;
}

/// The tasks that this machine is at, each in a process.
class Processes {
public:
  explicit Processes(const Tasks& tasks) : tasks_(tasks) {}
  bool room() const { return running_.size() < tasks_.at_once; }
  bool none() const { return running_.empty(); }

  void start(std::size_t number) {
    const int result = ::memfd_create("heddle-result", MFD_CLOEXEC);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    HEDDLE_CHECK(result >= 0 && child >= 0, "cannot fork: {}", std::strerror(errno));
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL); // and with it all that it has started
      if (::getppid() != parent) {
        ::_exit(1);
      }
      ::setpgid(0, 0); // Ctrl-C is for the parent, which passes it on
      const bool written = write_all(result, tasks_.work(number));
      std::fflush(nullptr);
      ::_exit(written ? 0 : 1);
    }
    running_.emplace(child, One{number, result});
  }

  /// One that has ended, if there is one.
  std::optional<std::pair<std::size_t, Outcome>> ended() {
    for (const auto& [child, one] : running_) {
      int status = 0;
      if (::waitpid(child, &status, WNOHANG) != child) {
        continue;
      }
      Outcome outcome{.text = contents_of(one.result), .error = {}};
      ::close(one.result);
      if (WIFSIGNALED(status)) {
        outcome.error = fmt::format("was ended by: {}", ::strsignal(WTERMSIG(status)));
      } else if (WEXITSTATUS(status) != 0) {
        outcome.error = fmt::format("ended with code {}", WEXITSTATUS(status));
      }
      const std::size_t number = one.number;
      running_.erase(child);
      return std::pair(number, std::move(outcome));
    }
    return std::nullopt;
  }

  void signal(int number) const {
    for (const auto& [child, one] : running_) {
      ::kill(child, number);
    }
  }

private:
  struct One {
    std::size_t number = 0;
    int result = -1;
  };
  const Tasks& tasks_;
  std::map<pid_t, One> running_;
};

std::size_t number_in(std::string_view text) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// "done 12 TEXT"
struct Words {
  std::string_view what;
  std::size_t number = 0;
  std::string_view rest;
};
Words split(std::string_view text) {
  const std::size_t first = std::min(text.find(' '), text.size());
  const std::size_t second =
      std::min(text.find(' ', std::min(first + 1, text.size())), text.size());
  return {
      text.substr(0, first),
      first < text.size() ? number_in(text.substr(first + 1, second - first - 1)) : 0,
      second < text.size() ? text.substr(second + 1) : std::string_view()
  };
}

/// A rank other than 0: does what it is given until all is over.
void serve(Ranks& ranks, const Tasks& tasks) {
  Processes processes(tasks);
  ranks.send(0, fmt::format("room {}", tasks.at_once));
  auto next_sign = Clock::now() + explore::between_signs_of_life;
  for (;;) {
    if (Clock::now() >= next_sign) {
      ranks.send(0, "alive");
      next_sign = Clock::now() + explore::between_signs_of_life;
    }
    while (auto ended = processes.ended()) {
      const auto& [number, outcome] = *ended;
      ranks.send(
          0,
          outcome.error.empty() ? fmt::format("done {} {}", number, outcome.text)
                                : fmt::format("failed {} {}", number, outcome.error)
      );
    }
    if (const auto message = ranks.receive(tick)) {
      const Words words = split(message->text);
      if (words.what == "over") {
        processes.signal(SIGKILL);
        while (!processes.none()) {
          processes.ended();
          std::this_thread::sleep_for(tick);
        }
        return;
      }
      if (words.what == "task") {
        processes.start(words.number);
      }
    }
  }
}

/// Rank 0, or the only process.
class Master {
public:
  Master(Ranks* ranks, const Tasks& tasks, const std::function<void(std::size_t, Outcome)>& done)
      : ranks_(ranks),
        tasks_(tasks),
        done_(done),
        processes_(tasks),
        others_(ranks != nullptr ? static_cast<std::size_t>(ranks->size()) : 1) {
    for (std::size_t i = 0; i < tasks.count; ++i) {
      open_.push_back(i);
    }
    for (Other& other : others_) {
      other.heard = Clock::now();
    }
  }

  void run() {
    while (finished_.size() < tasks_.count && !interrupted()) {
      give();
      look();
    }
    for (int rank = 1; ranks_ != nullptr && rank < ranks_->size(); ++rank) {
      ranks_->send(rank, "over");
    }
  }

private:
  struct Other {
    std::size_t room = 0;
    std::set<std::size_t> has;
    Clock::time_point heard;
    bool lost = false;
  };

  void give() {
    for (std::size_t rank = 1; rank < others_.size(); ++rank) {
      Other& other = others_[rank];
      while (!open_.empty() && !other.lost && other.has.size() < other.room) {
        other.has.insert(open_.front());
        ranks_->send(static_cast<int>(rank), fmt::format("task {}", open_.front()));
        open_.pop_front();
      }
    }
    while (!open_.empty() && processes_.room()) {
      processes_.start(open_.front());
      open_.pop_front();
    }
  }

  void look() {
    while (auto ended = processes_.ended()) {
      finish(ended->first, std::move(ended->second));
    }
    if (ranks_ == nullptr) {
      std::this_thread::sleep_for(tick);
      return;
    }
    if (const auto message = ranks_->receive(tick)) {
      const auto from = static_cast<std::size_t>(message->from);
      Other& other = others_[from];
      other.heard = Clock::now();
      const Words words = split(message->text);
      if (words.what == "room") {
        other.room = words.number;
      } else if (words.what == "done" || words.what == "failed") {
        other.has.erase(words.number);
        const std::string text(words.rest);
        finish(words.number, words.what == "done" ? Outcome{text, {}} : Outcome{{}, text});
      }
    }
    for (std::size_t rank = 1; rank < others_.size(); ++rank) {
      Other& other = others_[rank];
      if (!other.lost && Clock::now() - other.heard > explore::silence_of_the_dead) {
        fmt::print(
            stderr,
            "heddle: rank {} does not answer any more: the others do what it had\n",
            rank
        );
        other.lost = true;
        ranks_->lost(static_cast<int>(rank));
        open_.insert(open_.begin(), other.has.begin(), other.has.end());
        other.has.clear();
      }
    }
  }

  void finish(std::size_t number, Outcome outcome) {
    if (finished_.insert(number).second) { // else another rank was quicker
      done_(number, std::move(outcome));
    }
  }

  /// Each process may say what it has seen so far; what others have is lost.
  bool interrupted() {
    const int signal = explore::Interruption::received();
    if (signal == 0) {
      return false;
    }
    processes_.signal(signal);
    const auto end = Clock::now() + time_to_end;
    while (!processes_.none() && Clock::now() < end) {
      while (auto ended = processes_.ended()) {
        finish(ended->first, std::move(ended->second));
      }
      std::this_thread::sleep_for(tick);
    }
    processes_.signal(SIGKILL);
    return true;
  }

  Ranks* ranks_;
  const Tasks& tasks_;
  const std::function<void(std::size_t, Outcome)>& done_;
  Processes processes_;
  std::vector<Other> others_; // by rank; 0 is this one
  std::deque<std::size_t> open_;
  std::set<std::size_t> finished_;
};

} // namespace

void spread(
    Ranks* ranks,
    const Tasks& tasks,
    const std::function<void(std::size_t, Outcome)>& done
) {
  if (ranks != nullptr && ranks->rank() != 0) {
    serve(*ranks, tasks);
    return;
  }
  Master(ranks, tasks, done).run();
}

} // namespace heddle::cli
