// Implements rank_0.h.
#include "cli/ranks/rank_0.h"

#include "base/check.h"
#include "base/process.h"
#include "cli/commands.h"
#include "cli/ranks/job_watch.h"
#include "cli/ranks/launcher_output.h"
#include "cli/ranks/mpi_launcher.h"
#include "cli/ranks/rank_relay.h"
#include "cli/suite/suite.h"
#include "explore/process/explored_process.h"
#include "explore/process/interruption.h"
#include "explore/ranks/peers.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::cli {
namespace {

using Kind = RelayFrame::Kind;
constexpr auto between_looks_at_the_check = std::chrono::milliseconds(1);
// For the other ranks, once the search is over: one that does not come would hold up the report.
constexpr auto time_to_agree = std::chrono::seconds(60);
// For the judgement of what has been found, and the report.
constexpr auto time_to_report = std::chrono::seconds(20);

/// Not where more than the search needs the other ranks, nor where the check writes more than its
/// report. (The schedules that look for races where --races is not given follow the search, on one
/// rank.)
bool may_go_ahead(const CheckOptions& options, const std::optional<ToldRank>& told) {
  return told && told->rank == 0 && options.suite.empty() && options.ranks_per_machine == 0 &&
         options.races.value_or(0) == 0 && options.html.empty() && options.checkpoint.empty();
}

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

/// A launcher that has ended reads nothing any more. (A handler, and not SIG_IGN, which programs
/// that are checked would inherit.)
void outlive_readers() {
  struct sigaction nothing{}, before{};
  nothing.sa_handler = [](int) {};
  ::sigaction(SIGPIPE, nullptr, &before);
  if (before.sa_handler != SIG_IGN) {
    ::sigaction(SIGPIPE, &nothing, nullptr);
  }
}

report::Report nothing_found(std::string why) {
  report::Report report;
  report.bounds = "1 input, not yet searched";
  report.claims.cut(std::move(why));
  return report;
}

// --- The process that checks ---------------------------------------------------------------------

class CheckForRank0 {
public:
  CheckForRank0(
      const CheckOptions& options,
      const RelaySocket& socket,
      const LauncherOutput& output,
      pid_t rank,
      pid_t launcher,
      int told_to_end
  )
      : options_(options),
        socket_(socket),
        output_(output),
        launcher_(name_of_program(launcher)),
        watch_(
            launcher,
            {{JobWatch::launcher, /*interrupts=*/true, time_to_report},
             {0, /*interrupts=*/true, time_to_report}},
            {{0, rank}},
            told_to_end
        ) {}

  /// Without the other ranks.
  int check_ahead(const ToldRank& told) {
    const auto prepared = prepare_program(options_);
    if (explore::Interruption::received() == 0) {
      const auto own = identity_of(options_, prepared);
      const auto kind = own ? ErrorKind::Input : own.error().kind;
      socket_.write(Kind::Identity, static_cast<std::int32_t>(kind), identity_text(own));
    }
    CheckOptions own = options_;
    own.workers.jobs = jobs_for_ranks(told.size, options_, guessed_processors(told.size));
    auto report = check_program(own, prepared);
    others_are_missing_ = !all_agree();
    if (report) {
      add_ends(*report, [](int) { return true; });
    }
    return say(report);
  }

  /// With them.
  int check_together() {
    auto messages = join_relay(socket_);
    if (!messages) {
      return is_told_to_end() ? say_interrupted() : report_error(messages.error());
    }
    Ranks ranks(std::move(*messages));
    int code = report::exit_code::clean;
    if (ranks.rank() != 0) {
      code = check_on(&ranks, options_);
    } else if (!options_.suite.empty()) {
      code = suite_command(options_, &ranks);
    } else {
      auto report = check_program(options_, prepare_program(options_), &ranks);
      if (report) {
        const std::vector<int> searched = ranks.machines(options_.ranks_per_machine).leaders;
        add_ends(*report, [&](int rank) { return std::ranges::count(searched, rank) == 0; });
      }
      code = !report && is_told_to_end() ? say_interrupted() : say(report);
    }
    ranks.ends_with(code);
    return code;
  }

private:
  /// Waits until rank 0 says so, or it is clear that it cannot. If they do not, it ends this
  /// process.
  bool all_agree() const {
    constexpr int between_looks = 50; // milliseconds
    const auto end = std::chrono::steady_clock::now() + time_to_agree;
    while (!socket_.is_readable_within(between_looks)) {
      if (!watch_.ended().empty() || explore::Interruption::received() != 0 ||
          std::chrono::steady_clock::now() >= end) {
        return false;
      }
    }
    return socket_.read().has_value();
  }

  /// Which ranks have ended before their time; not if all have ended because the job was ended.
  template <class F> void add_ends(report::Report& report, F&& has_only_lent) const {
    if (others_are_missing_) {
      report.warnings.emplace_back(
          "not all ranks were there when the report was written; their programs have not been "
          "compared"
      );
    }
    if (explore::Interruption::received() != 0 && !watch_.some_came_first()) {
      return;
    }
    for (const int rank : watch_.ended()) {
      const bool is_lender = rank > 0 && has_only_lent(rank);
      std::string text = rank == JobWatch::launcher
                             ? fmt::format(
                                   "{} ended before the check did",
                                   launcher_.empty() ? "the launcher" : launcher_
                               )
                         : rank == 0 ? "rank 0 was killed"
                                     : fmt::format("rank {} ended before the check did", rank);
      if (is_lender) {
        text += "; it had only lent its processors";
      }
      if (report.is_exhaustive() || is_lender) {
        report.warnings.push_back(std::move(text));
      } else {
        report.claims.cut(std::move(text));
      }
    }
  }

  /// Also if rank 0 has ended and the watch is about to say so.
  bool is_told_to_end() const {
    while (socket_.is_gone() && explore::Interruption::received() == 0) {
      std::this_thread::sleep_for(between_looks_at_the_check);
    }
    return explore::Interruption::received() != 0;
  }

  /// Before there was a search.
  int say_interrupted() const {
    report::Report report = nothing_found(explore::Interruption::text());
    add_ends(report, [](int) { return false; });
    return say(report);
  }

  int say(const Result<report::Report>& report) const {
    if (explore::Interruption::received() != 0) {
      output_.use();
    }
    return report_check(options_, report);
  }

  const CheckOptions& options_;
  const RelaySocket& socket_;
  const LauncherOutput& output_;
  std::string launcher_;
  bool others_are_missing_ = false;
  JobWatch watch_;
};

/// That process, as rank 0 sees it.
class CheckProcess {
public:
  CheckProcess(const CheckOptions& options, const std::optional<ToldRank>& ahead)
      : options_(options) {
    begin(ahead);
  }
  ~CheckProcess() { ::close(told_to_end_); }
  CheckProcess(const CheckProcess&) = delete;
  CheckProcess& operator=(const CheckProcess&) = delete;
  /// Once more, with the other ranks.
  void begin_again() {
    end();
    ::close(told_to_end_);
    begin(std::nullopt);
  }
  void end() const {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  /// Passes a signal on, by way of the watch there (job_watch.h).
  void tell_to_end(int signal) const {
    const auto number = static_cast<std::uint64_t>(signal);
    if (::write(told_to_end_, &number, sizeof number) != sizeof number) {
      ::kill(pid_, signal);
    }
  }
  pid_t pid() const { return pid_; }
  const std::shared_ptr<RelaySocket>& socket() const { return socket_; }
  /// The status of waitpid, if it has ended.
  std::optional<int> ended() const {
    int status = 0;
    return ::waitpid(pid_, &status, WNOHANG) == pid_ ? std::optional(status) : std::nullopt;
  }

private:
  void begin(const std::optional<ToldRank>& ahead) {
    socket_ = std::make_shared<RelaySocket>();
    told_to_end_ = ::eventfd(0, EFD_CLOEXEC);
    std::fflush(nullptr);
    const pid_t rank = ::getpid(), launcher = ::getppid();
    pid_ = ::fork();
    HEDDLE_CHECK(pid_ >= 0, "cannot fork: {}", std::strerror(errno));
    if (pid_ > 0) {
      ::setpgid(pid_, pid_); // whichever process comes first
      socket_->be_rank();
      return;
    }
    ::setpgid(0, 0); // signals are for the rank, which passes them on
    outlive_readers();
    socket_->be_check();
    int code = 0;
    {
      CheckForRank0 check(options_, *socket_, output_, rank, launcher, told_to_end_);
      code = ahead ? check.check_ahead(*ahead) : check.check_together();
    }
    std::fflush(nullptr);
    std::_Exit(code);
  }

  const CheckOptions& options_;
  LauncherOutput output_;
  int told_to_end_ = -1;
  std::shared_ptr<RelaySocket> socket_;
  pid_t pid_ = -1;
};

// --- Rank 0 --------------------------------------------------------------------------------------

/// What the rank does about MPI. All of it is done by one thread: MPI wants the one that started
/// it.
class MpiOfRank0 {
public:
  MpiOfRank0(const std::optional<ToldRank>& ahead, CheckProcess& check)
      : ahead_(ahead),
        check_(check.pid()),
        socket_(check.socket()),
        thread_([this] {
          run();
          over_.set_value();
        }) {}

  /// The launcher was wrong: the check has to begin again, and go_on() to be called.
  bool was_misled() const { return was_misled_; }
  void go_on(const CheckProcess& check) {
    was_misled_ = false;
    next_.set_value(check.socket());
  }

  /// The error that is printed if no report can be: MPI does not start, or the ranks differ.
  std::optional<Error> refusal() const {
    const std::lock_guard hold(mutex_);
    return refusal_;
  }

  /// The check has ended so. Ends this process if a rank does not answer, or the job is being
  /// ended.
  void end(int code) {
    constexpr auto most_if_interrupted = std::chrono::milliseconds(500);
    const auto most =
        explore::Interruption::received() != 0
            ? most_if_interrupted
            : std::chrono::duration_cast<std::chrono::milliseconds>(explore::silence_of_the_dead);
    if (result_.wait_for(most) != std::future_status::ready) {
      std::fflush(nullptr);
      std::_Exit(code);
    }
    thread_.join();
    if (leaves_) {
      std::fflush(nullptr);
      messages_->leave(code);
    }
  }

private:
  bool is_as_told() const {
    const RankMessages::Job& job = messages_->job();
    return job.rank == 0 && job.size == ahead_->size && job.size_here == ahead_->size;
  }

  void run() {
    auto started = start_mpi();
    if (!started) {
      refuse(started.error());
      return;
    }
    messages_ = std::move(*started);
    // MPI libraries have handlers of their own.
    const int signal = explore::Interruption::received();
    interruption_.emplace();
    if (signal != 0 && explore::Interruption::received() == 0) {
      ::raise(signal);
    }
    if (ahead_ && is_as_told()) {
      agree();
      return;
    }
    if (ahead_) {
      was_misled_ = true;
      socket_ = next_.get_future().get();
    }
    leaves_ = !serve_relay(*socket_, *messages_);
  }

  void refuse(const Error& why) {
    const std::lock_guard hold(mutex_);
    refusal_ = why;
  }

  /// The process that checks goes ahead. Does its report count?
  void agree() {
    const auto asked = socket_->read();
    if (!asked) { // it has ended
      leaves_ = true;
      return;
    }
    Ranks ranks(std::move(messages_));
    if (const auto agreed = ranks.agree(identity_from(*asked)); !agreed) {
      refuse(agreed.error());
      ranks.ends_with(report::exit_code::usage);
      return;
    }
    ranks.lend_processors(check_);
    socket_->write(Kind::Agreed);
    ranks.end_before_rank_0();
  }

  std::optional<ToldRank> ahead_;
  pid_t check_;
  std::shared_ptr<RelaySocket> socket_;
  std::unique_ptr<RankMessages> messages_;
  std::optional<explore::Interruption> interruption_;
  bool leaves_ = false;
  std::atomic<bool> was_misled_ = false;
  mutable std::mutex mutex_;
  std::optional<Error> refusal_;
  std::promise<std::shared_ptr<RelaySocket>> next_;
  std::promise<void> over_;
  std::future<void> result_ = over_.get_future();
  std::thread thread_;
};

/// Until the process that checks has ended: its status. None: it has been ended, since nothing that
/// it says counts.
std::optional<int> await_check(CheckProcess& check, MpiOfRank0& mpi) {
  for (bool passed_on = false;;) {
    if (const auto status = check.ended()) {
      return status;
    }
    if (mpi.was_misled()) {
      check.begin_again();
      mpi.go_on(check);
      passed_on = false;
    }
    const int signal = explore::Interruption::received();
    if (signal != 0 && !std::exchange(passed_on, true)) {
      check.tell_to_end(signal);
    }
    if (signal == 0 && mpi.refusal()) {
      check.end();
      return std::nullopt;
    }
    std::this_thread::sleep_for(between_looks_at_the_check);
  }
}

} // namespace

int check_as_rank_0(const CheckOptions& options) {
  const explore::Interruption interruption; // until the report is written
  Ranks::without_colour();
  const auto told = told_on_one_machine();
  const auto ahead = may_go_ahead(options, told) ? told : std::nullopt;
  CheckProcess check(options, ahead);
  MpiOfRank0 mpi(ahead, check);
  const auto status = await_check(check, mpi);
  if (!status) {
    const int code = report_error(*mpi.refusal());
    mpi.end(code);
    return code;
  }
  if (WIFEXITED(*status)) {
    mpi.end(WEXITSTATUS(*status));
    return WEXITSTATUS(*status);
  }
  const int signal = WTERMSIG(*status);
  if (signal != SIGINT && signal != SIGTERM) { // else it has been told twice to end
    (void)report_check(
        options,
        nothing_found(
            fmt::format("the process that checks for rank 0 was ended by: {}", ::strsignal(signal))
        )
    );
    std::fflush(nullptr);
  }
  ::signal(signal, SIG_DFL); // so does this one, for the launcher to see
  ::raise(signal);
  std::_Exit(report::exit_code::signal + signal);
}

} // namespace heddle::cli
