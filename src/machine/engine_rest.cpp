// The rest of engine.h: what host code does beside the engine, and the end of a program.
#include "machine/engine.h"

#include <chrono>
#include <utility>

namespace heddle::machine {

void Engine::alone(const std::function<void()>& call) {
  constexpr auto between_looks = std::chrono::microseconds(50);
  std::unique_lock lock(mutex_);
  while (performing_) {
    completed_.wait_for(lock, between_looks);
  }
  call();
}

// The end of a process ends its device work, too, so a kernel that never ends is no defect here: it
// gets so many instructions. Nobody moves: after a while what is left waits for something that will
// not happen.
bool Engine::complete_rest() {
  constexpr std::uint64_t most_instructions = std::uint64_t{1} << 30;
  constexpr int most_quiet_looks = 20;
  constexpr auto between_looks = std::chrono::milliseconds(10);
  std::unique_lock lock(mutex_);
  const std::uint64_t before = executed();
  std::pair seen(executed(), progress_);
  int quiet = 0;
  const auto over = [&] { return pending_.empty() || world_.has_fault(); };
  while (!over() && executed() - before < most_instructions && quiet < most_quiet_looks) {
    host_calls_.fetch_add(1, std::memory_order_relaxed);
    Task task;
    if (options_.seed) {
      task = pick();
    }
    if (task) {
      perform(task, *host_exec_, lock);
      continue;
    }
    completed_.wait_for(lock, between_looks);
    const std::pair now(executed(), progress_);
    const bool busy = !options_.seed && idle_ < options_.workers;
    const bool works = now != seen || busy || host_work_is_left();
    quiet = works ? 0 : quiet + 1;
    seen = now;
  }
  return over();
}

} // namespace heddle::machine
