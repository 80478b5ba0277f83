// Implements check_ahead.h.
#include "cli/check_ahead.h"

#include "base/check.h"
#include "cli/commands.h"
#include "cli/parent_watch.h"
#include "explore/explored_process.h"
#include "explore/interruption.h"
#include "explore/peers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::cli {
namespace {

constexpr auto between_looks_at_the_check = std::chrono::milliseconds(1);
// For the other ranks, once the search is over: one that is killed while MPI starts holds up all.
constexpr auto time_to_agree = std::chrono::seconds(60);
constexpr char all_agree = 'y';

/// Processors that the ranks may use together: those of this one, or, where the launcher has bound
/// it to some, as many for each.
std::uint32_t guessed_processors(int ranks) {
  cpu_set_t own;
  CPU_ZERO(&own);
  const auto online = static_cast<std::uint32_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
  const std::uint32_t usable = explore::jobs_of({});
  const bool bound = ::sched_getaffinity(0, sizeof own, &own) == 0 &&
                     static_cast<std::uint32_t>(CPU_COUNT(&own)) < online;
  return bound ? std::min(usable * static_cast<std::uint32_t>(ranks), online) : usable;
}

/// The process that checks.
class CheckAhead {
public:
  CheckAhead() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) {
      return;
    }
    std::fflush(nullptr);
    const pid_t rank = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setpgid(0, 0); // signals are for the rank, which passes them on
      ::close(ends_[1]);
      rank_.emplace(); // if it is killed, this process reports what it has found
      if (::getppid() != rank) {
        ::_exit(1);
      }
      parent_ = rank;
    }
  }
  bool started() const { return pid_ >= 0; }
  bool is_here() const { return pid_ == 0; }

  // --- In the process ----------------------------------------------------------------------------
  void await_agreement() {
    std::string text;
    pollfd answer{.fd = ends_[0], .events = POLLIN, .revents = 0};
    const auto end = std::chrono::steady_clock::now() + time_to_agree;
    while (::poll(&answer, 1, /*timeout=*/100) <= 0) {
      if (std::chrono::steady_clock::now() >= end) {
        others_are_missing_ = true;
        return;
      }
    }
    for (;;) {
      std::array<char, 256> some{};
      const ssize_t count = ::read(ends_[0], some.data(), some.size());
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count <= 0) {
        break;
      }
      text.append(some.data(), static_cast<std::size_t>(count));
    }
    if (!text.starts_with(all_agree)) {
      ::_exit(1);
    }
    std::istringstream lines(text.substr(1));
    Ranks::Process other;
    while (lines >> other.rank && lines.get() && std::getline(lines, other.name)) {
      others_.push_back(other);
    }
  }
  /// Ranks that have ended before their time.
  void add_ended_ranks(report::Report& report) const {
    if (others_are_missing_) {
      report.warnings.emplace_back(
          "the other ranks did not start in time; their programs have not been compared"
      );
    }
    if (::getppid() != parent_) { // the launcher ends the others, too
      (report.complete ? report.warnings : report.limits).emplace_back("rank 0 was killed");
      return;
    }
    add_ended_lenders(report, others_);
  }

  // --- In the rank -------------------------------------------------------------------------------
  void may_report(std::span<const Ranks::Process> others) {
    std::string text(1, all_agree);
    for (const Ranks::Process& other : others) {
      text += fmt::format("{} {}\n", other.rank, other.name);
    }
    (void)(::write(ends_[1], text.data(), text.size()) > 0); // a pipe has room for it
    ::close(std::exchange(ends_[1], -1));
  }
  void drop() {
    dropped_ = true;
    ::kill(pid_, SIGKILL);
  }
  bool dropped() const { return dropped_; }
  pid_t pid() const { return pid_; }
  /// Its status; passes on the signal that ends the check.
  int wait() const {
    int status = 0;
    for (bool passed_on = false; ::waitpid(pid_, &status, WNOHANG) == 0;) {
      const int signal = explore::Interruption::received();
      if (signal != 0 && !std::exchange(passed_on, true)) {
        ::kill(pid_, signal);
      }
      std::this_thread::sleep_for(between_looks_at_the_check);
    }
    return status;
  }

private:
  int ends_[2] = {-1, -1};
  pid_t pid_ = -1;
  pid_t parent_ = -1;
  std::optional<ParentWatch> rank_;
  std::vector<Ranks::Process> others_;
  bool others_are_missing_ = false;
  std::atomic<bool> dropped_ = false;
};

/// What the rank does about MPI. All of it is done by one thread: MPI wants the one that started
/// it.
class MpiBeside {
public:
  MpiBeside(
      const CheckOptions& options,
      const Ranks::Told& told,
      const Result<Prepared>& prepared,
      CheckAhead& check
  )
      : options_(options),
        told_(told),
        prepared_(prepared),
        check_(check),
        thread_([this] { over_.set_value(run()); }) {}

  /// The check has been dropped: the exit code instead.
  int instead() {
    thread_.join();
    return result_.get();
  }
  /// The check has ended so. Ends this process if a rank does not answer.
  void end(int code) {
    if (result_.wait_for(explore::silence_of_the_dead) != std::future_status::ready) {
      std::fflush(nullptr);
      std::_Exit(code);
    }
    thread_.join();
    if (ranks_) {
      ranks_->ends_with(code);
    }
  }

private:
  bool is_as_told() const {
    return ranks_ && ranks_->rank() == 0 && ranks_->size() == told_.size &&
           ranks_->size_here() == told_.size;
  }

  int run() {
    auto joined = Ranks::join();
    if (!joined) {
      check_.drop();
      return report_error(joined.error());
    }
    ranks_ = std::move(*joined);
    // MPI libraries have handlers of their own.
    const int signal = explore::Interruption::received();
    interruption_.emplace();
    if (signal != 0) {
      ::kill(check_.pid(), signal);
    }
    if (!is_as_told()) {
      check_.drop();
      const int code = check_on(ranks_.get(), options_, &prepared_);
      if (ranks_) {
        ranks_->ends_with(code);
        ranks_.reset();
      }
      return code;
    }
    if (const auto agreed = agree_on(options_, prepared_->target, *ranks_); !agreed) {
      check_.drop();
      const int code = report_error(agreed.error());
      ranks_->ends_with(code);
      ranks_.reset();
      return code;
    }
    ranks_->lend_processors(check_.pid());
    check_.may_report(ranks_->processes_here());
    ranks_->end_before_rank_0();
    return report::exit_code::clean;
  }

  const CheckOptions& options_;
  Ranks::Told told_;
  const Result<Prepared>& prepared_;
  CheckAhead& check_;
  std::unique_ptr<Ranks> ranks_;
  std::optional<explore::Interruption> interruption_;
  std::promise<int> over_;
  std::future<int> result_ = over_.get_future();
  std::thread thread_;
};

} // namespace

bool may_go_ahead(const CheckOptions& options, const Ranks::Told& told) {
  return told.rank == 0 && options.suite.empty() && options.ranks_per_machine == 0 &&
         options.races == 0 && options.html.empty() && options.checkpoint.empty();
}

int check_ahead(const CheckOptions& options, const Ranks::Told& told) {
  const explore::Interruption interruption; // until the report is written
  const auto prepared = prepare_program(options);
  if (!prepared || !prepared->target) { // all ranks hear of it
    return join_and_check(options, &prepared);
  }
  Ranks::without_colour();
  CheckAhead check;
  if (check.is_here()) {
    CheckOptions own = options;
    own.workers.jobs = jobs_for_ranks(told.size, options, guessed_processors(told.size));
    auto report = check_program(own, prepared);
    check.await_agreement();
    if (report) {
      check.add_ended_ranks(*report);
    }
    return report_check(options, report);
  }
  HEDDLE_CHECK(check.started(), "cannot fork: {}", std::strerror(errno));
  const ParentWatch launcher; // a thread of this process only
  MpiBeside mpi(options, told, prepared, check);
  const int status = check.wait();
  if (check.dropped()) {
    return mpi.instead();
  }
  const int code =
      WIFEXITED(status) ? WEXITSTATUS(status) : report::exit_code::signal + WTERMSIG(status);
  mpi.end(code);
  if (WIFSIGNALED(status)) { // so does this one, for the launcher to see
    ::signal(WTERMSIG(status), SIG_DFL);
    ::raise(WTERMSIG(status));
  }
  return code;
}

} // namespace heddle::cli
