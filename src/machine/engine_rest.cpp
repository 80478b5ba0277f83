// The rest of engine.h: what host code does beside the engine, faults, and the end of a program.
#include "machine/engine.h"
#include "machine/host_activity.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace heddle::machine {
namespace {

constexpr auto between_attempts = std::chrono::microseconds(50);
constexpr auto between_looks = std::chrono::milliseconds(10);
constexpr int most_quiet_looks = 20;
constexpr std::uint64_t most_rest = std::uint64_t{1} << 28; // instructions

} // namespace

void Engine::alone(const std::function<void()>& call) {
  std::unique_lock lock(mutex_);
  while (performing_) {
    completed_.wait_for(lock, between_attempts);
  }
  call();
}

bool Engine::is_asleep() {
  const std::lock_guard lock(mutex_);
  own_threads_.insert(::gettid());
  return pending_.empty() && !dropped_ && others_sleep_for_good(own_threads_);
}

// Nothing more runs. Everybody who waits goes on and sees the error: what is dropped counts as done
// only when the fault can be seen, and until then neither as pending nor as complete.
void Engine::fail(FaultReport report, std::unique_lock<std::mutex>& lock) {
  running_.clear();
  resident_.clear();
  host_side_.clear();
  host_functions_.clear();
  waiting_.clear();
  dependents_.clear();
  const bool first = !dropped_;
  std::vector<CommandPtr>& dropped = first ? dropped_.emplace() : *dropped_;
  for (const auto& [id, command] : std::exchange(pending_, {})) {
    dropped.push_back(command);
  }
  if (!first) {
    return; // another thread reports its fault, and ends all that is dropped
  }
  lock.unlock();
  world_.report_fault(std::move(report));
  lock.lock();
  const std::vector<CommandPtr> done = std::move(*dropped_);
  dropped_.reset();
  for (const CommandPtr& command : done) {
    command->done.store(true);
  }
  completed_.notify_all();
}

// The end of a process ends its device work, too, so a kernel that never ends is no defect here: it
// gets so many instructions. Nobody moves: after a while what is left waits for something that will
// not happen.
bool Engine::complete_rest() {
  std::unique_lock lock(mutex_);
  const auto figures = [&] { return std::pair(executed(), progress_); };
  std::vector<CommandPtr> rest =
      dropped_.value_or(std::vector<CommandPtr>()); // done when the fault has been reported
  std::ranges::transform(pending_, std::back_inserter(rest), [](const auto& p) {
    return p.second;
  });
  const auto over = [&] {
    return std::ranges::all_of(rest, [](auto& c) { return c->done.load(); });
  };
  const std::uint64_t last = executed() + most_rest;
  auto seen = figures();
  for (int quiet = 0; !over() && executed() < last && quiet < most_quiet_looks;) {
    host_calls_.note_work();
    if (const Task task = options_.seed ? pick() : Task{}) {
      perform(task, *host_exec_, lock);
      continue;
    }
    completed_.wait_for(lock, between_looks);
    const bool busy =
        dropped_ || (!options_.seed && idle_ < options_.workers) || host_work_is_left();
    quiet = busy || figures() != seen ? 0 : quiet + 1;
    seen = figures();
  }
  return over();
}

} // namespace heddle::machine
