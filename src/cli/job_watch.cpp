// Implements job_watch.h.
#include "cli/job_watch.h"

#include "cli/mpi_launcher.h"
#include "explore/interruption.h"
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

JobWatch::JobWatch(pid_t parent, std::vector<Need> needs, std::map<int, pid_t> known)
    : parent_(parent),
      needs_(std::move(needs)),
      known_(std::move(known)),
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

std::vector<JobWatch::End> JobWatch::ended() const {
  const std::lock_guard hold(mutex_);
  return ended_;
}

bool JobWatch::has_ended(int rank) const {
  const std::lock_guard hold(mutex_);
  return std::ranges::find(ended_, rank, &End::rank) != ended_.end();
}

void JobWatch::watch(int rank, pid_t process) {
  if (watched_.contains(rank) || has_ended(rank)) {
    return;
  }
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (descriptor >= 0) {
    watched_.emplace(rank, descriptor);
  } else if (errno == ESRCH && known_.contains(rank)) {
    note_end(rank, explore::Interruption::received() == 0);
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

void JobWatch::note_end(int rank, bool came_first) {
  {
    const std::lock_guard hold(mutex_);
    ended_.push_back({.rank = rank, .came_first = came_first});
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
    std::vector<std::pair<int, pollfd>> all{{launcher, {over_, POLLIN, 0}}};
    for (const auto& [rank, descriptor] : watched_) {
      all.push_back({rank, {descriptor, POLLIN, 0}});
    }
    std::vector<pollfd> polled;
    std::ranges::transform(all, std::back_inserter(polled), &std::pair<int, pollfd>::second);
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
    // Of several that have ended together the first one must not tell this process to end before
    // the others count.
    const bool came_first = explore::Interruption::received() == 0;
    for (std::size_t n = 1; n < polled.size(); ++n) {
      if (polled[n].revents != 0) {
        note_end(all[n].first, came_first);
        ::close(watched_.extract(all[n].first).mapped());
      }
    }
  }
}

} // namespace heddle::cli
