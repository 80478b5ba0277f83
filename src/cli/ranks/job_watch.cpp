// Implements job_watch.h.
#include "cli/ranks/job_watch.h"

#include "cli/ranks/mpi_launcher.h"
#include "explore/process/interruption.h"
#include "report/diagnostic.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

namespace heddle::cli {
namespace {

// A launcher starts its ranks one after the other.
constexpr auto time_to_appear = std::chrono::seconds(2);
constexpr auto between_looks_for_ranks = std::chrono::milliseconds(10);

} // namespace

JobWatch::JobWatch(
    pid_t parent,
    std::vector<Need> needs,
    std::map<int, pid_t> known,
    int told_to_end
)
    : parent_(parent),
      needs_(std::move(needs)),
      known_(std::move(known)),
      told_to_end_(told_to_end),
      over_(::eventfd(0, EFD_CLOEXEC)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

JobWatch::~JobWatch() {
  thread_.request_stop();
  const std::uint64_t one = 1;
  (void)(::write(over_, &one, sizeof one) > 0);
  thread_.join();
  for (const auto& [rank, descriptor] : watched_) {
    ::close(descriptor);
  }
  ::close(over_);
}

std::vector<int> JobWatch::ended() const {
  const std::lock_guard hold(mutex_);
  return ended_;
}

bool JobWatch::has_ended(int rank) const {
  const std::lock_guard hold(mutex_);
  return std::ranges::find(ended_, rank) != ended_.end();
}

bool JobWatch::some_came_first() const {
  const std::lock_guard hold(mutex_);
  return some_came_first_;
}

void JobWatch::watch(int rank, pid_t process) {
  if (watched_.contains(rank) || has_ended(rank)) {
    return;
  }
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (descriptor >= 0) {
    watched_.emplace(rank, descriptor);
  } else if (errno == ESRCH && known_.contains(rank)) {
    note_end(rank);
  }
}

void JobWatch::look_for_ranks() {
  std::error_code failure;
  const auto tasks = fmt::format("/proc/{}/task", parent_);
  for (const auto& task : std::filesystem::directory_iterator(tasks, failure)) {
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) {
      if (const auto rank = told_rank_of(child)) {
        watch(*rank, child);
      }
    }
  }
}

void JobWatch::note_end(int rank) {
  {
    const std::lock_guard hold(mutex_);
    some_came_first_ =
        some_came_first_ || (ended_.empty() && explore::Interruption::received() == 0);
    ended_.push_back(rank);
  }
  const auto need = std::ranges::find(needs_, rank, &Need::rank);
  if (need == needs_.end()) {
    return;
  }
  const auto end = Clock::now() + need->time_left;
  end_of_this_ = end_of_this_ ? std::min(*end_of_this_, end) : end;
  if (need->interrupts && explore::Interruption::received() == 0) {
    ::kill(::getpid(), SIGTERM);
  }
}

void JobWatch::run(const std::stop_token& stop) {
  known_.emplace(launcher, parent_);
  for (const auto& [rank, process] : known_) {
    watch(rank, process);
  }
  const auto last_look = Clock::now() + time_to_appear;
  while (!stop.stop_requested()) {
    const auto now = Clock::now();
    if (end_of_this_ && now >= *end_of_this_) {
      std::_Exit(report::exit_code::signal + SIGTERM);
    }
    const bool looks = now < last_look;
    if (looks) {
      look_for_ranks();
    }
    // In this order: a rank that had ended when this process was told to end is found to have
    // ended by the same poll.
    std::vector<pollfd> polled{{told_to_end_, POLLIN, 0}, {over_, POLLIN, 0}};
    const std::size_t first_rank = polled.size();
    std::vector<int> ranks;
    for (const auto& [rank, descriptor] : watched_) {
      ranks.push_back(rank);
      polled.push_back({descriptor, POLLIN, 0});
    }
    auto wait = std::chrono::milliseconds(-1);
    if (end_of_this_) {
      wait = std::chrono::ceil<std::chrono::milliseconds>(*end_of_this_ - now);
    }
    if (looks) {
      wait = between_looks_for_ranks;
    }
    if (::poll(polled.data(), polled.size(), static_cast<int>(wait.count())) <= 0) {
      continue;
    }
    for (std::size_t n = 0; n < ranks.size(); ++n) {
      if (polled[first_rank + n].revents != 0) {
        note_end(ranks[n]);
        ::close(watched_.extract(ranks[n]).mapped());
      }
    }
    std::uint64_t signal = 0;
    if (polled.front().revents != 0 &&
        ::read(told_to_end_, &signal, sizeof signal) == sizeof signal) {
      ::kill(::getpid(), static_cast<int>(signal));
    }
  }
}

} // namespace heddle::cli
