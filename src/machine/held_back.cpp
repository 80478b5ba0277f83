// Implements held_back.h.
#include "machine/held_back.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace heddle::machine {
namespace {

constexpr auto look_again = std::chrono::milliseconds(2);
constexpr auto most_worked = std::chrono::milliseconds(20); // by the thread that has submitted it
constexpr auto most_put_off = std::chrono::seconds(2);      // if that thread does not work
constexpr auto most_patience = std::chrono::milliseconds(250); // while a host thread waits
constexpr std::size_t most_held = 256;

thread_local bool waits_unpromised = false;

std::chrono::nanoseconds time_of(clockid_t clock) {
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) { // the thread has ended, and does not work any more
    return std::chrono::nanoseconds::min();
  }
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

} // namespace

UnpromisedWait::UnpromisedWait() {
  waits_unpromised = true;
}

UnpromisedWait::~UnpromisedWait() {
  waits_unpromised = false;
}

HeldBack::HeldBack(std::unique_ptr<Driver> inner, std::unique_ptr<Holder> holder)
    : inner_(std::move(inner)),
      holder_(std::move(holder)) {}

HeldBack::~HeldBack() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (looks_.joinable()) {
    looks_.join();
  }
}

void HeldBack::submitted(const CommandPtr& command) {
  // The host may talk to a function of its own, and wait for what that says.
  if (command->kind == CommandKind::HostFunction) {
    let_all_go();
  }
  std::set<std::uint64_t> before;
  {
    const std::lock_guard lock(mutex_);
    if (!held_.empty()) {
      before = held_before(*command);
    }
    if (!before.empty()) {
      behind_.emplace(command->id, before);
    }
  }
  const bool holds = command->part_of == 0 && holder_->holds(command, before);
  if (!holds) {
    inner_->submitted(command);
    return;
  }
  Held held{command, Clock::now() + most_put_off, {}, {}};
  static_cast<void>(::pthread_getcpuclockid(::pthread_self(), &held.clock));
  held.worked_until = time_of(held.clock) + most_worked;
  bool many = false;
  {
    const std::lock_guard lock(mutex_);
    held_.emplace(command->id, std::move(held));
    many = held_.size() > most_held;
    if (!looks_.joinable()) {
      looks_ = std::thread([this] { look_now_and_then(); });
    }
  }
  changed_.notify_one();
  if (many) {
    let_all_go();
  }
}

void HeldBack::let_go(const Commands& commands, const char* unpromised) {
  for (const auto& [id, command] : commands) {
    holder_->lets_go(*command, unpromised);
    inner_->submitted(command);
  }
}

void HeldBack::let_all_go() {
  Commands all;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, held] : std::exchange(held_, {})) {
      all.emplace(id, std::move(held.command));
    }
    forget_if_none();
  }
  let_go(all, nullptr);
}

/// What is held of that behind which the command comes; with the lock.
std::set<std::uint64_t> HeldBack::held_before(const Command& command) const {
  std::set<std::uint64_t> result;
  const auto add = [&](const Command& before) {
    if (held_.contains(before.id)) {
      result.insert(before.id);
    }
    if (const auto it = behind_.find(before.id); it != behind_.end()) {
      result.insert(it->second.begin(), it->second.end());
    }
  };
  for (const CommandPtr& before : command.after) {
    add(*before);
  }
  for (const EarlyDependency& early : command.early) {
    add(*early.grid);
  }
  for (const Overlap& overlap : command.overlaps) {
    add(*overlap.grid);
  }
  return result;
}

/// These commands, and what has to complete before them.
void HeldBack::let_go_behind(std::span<const CommandPtr> commands, const char* unpromised) {
  std::map<std::uint64_t, CommandPtr> found;
  {
    const std::lock_guard lock(mutex_);
    const auto take = [&](std::uint64_t id) {
      if (auto held = held_.extract(id)) {
        found.emplace(id, std::move(held.mapped().command));
      }
    };
    for (const CommandPtr& command : commands) {
      if (command == nullptr || held_.empty()) {
        continue;
      }
      if (const auto it = behind_.find(command->id); it != behind_.end()) {
        std::ranges::for_each(it->second, take);
      }
      take(command->id);
    }
    forget_if_none();
  }
  let_go(found, unpromised);
}

void HeldBack::forget_if_none() {
  if (held_.empty()) {
    behind_.clear();
  }
}

// --- Time --------------------------------------------------------------------------------------

void HeldBack::look_now_and_then() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (held_.empty()) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, look_again);
    const auto overdue = take_overdue();
    lock.unlock();
    let_go(overdue, nullptr);
    lock.lock();
  }
}

/// All, if one of them is: what is submitted together is better seen together.
HeldBack::Commands HeldBack::take_overdue() {
  const Clock::time_point now = Clock::now();
  const bool overdue = std::ranges::any_of(held_, [&](const auto& entry) {
    const Held& held = entry.second;
    return now >= held.until || time_of(held.clock) >= held.worked_until;
  });
  Commands result;
  if (overdue || (waits_since_ && now - *waits_since_ > most_patience)) {
    for (auto& [id, held] : std::exchange(held_, {})) {
      result.emplace(id, std::move(held.command));
    }
    forget_if_none();
  }
  return result;
}

// --- The host ----------------------------------------------------------------------------------

void HeldBack::wait(
    const std::function<bool()>& done,
    std::span<const CommandPtr> commands,
    const char* what
) {
  const bool promised = !waits_unpromised;
  let_go_behind(commands, promised ? nullptr : what);
  if (commands.empty()) { // it does not say for what
    let_all_go();
  }
  {
    const std::lock_guard lock(mutex_);
    ++waiting_;
    waits_since_ = waits_since_.value_or(Clock::now());
  }
  inner_->wait(done, commands, what);
  {
    const std::lock_guard lock(mutex_);
    if (--waiting_ == 0) {
      waits_since_.reset();
    }
  }
  holder_->host_waited(promised ? Holder::Promise::Made : Holder::Promise::None);
}

bool HeldBack::query(const std::function<bool()>& ready, std::span<const CommandPtr> commands) {
  let_go_behind(commands, nullptr);
  const bool result = inner_->query(ready, commands);
  holder_->host_waited(result ? Holder::Promise::Made : Holder::Promise::None);
  return result;
}

bool HeldBack::complete_rest() {
  let_all_go();
  const bool result = inner_->complete_rest();
  holder_->host_waited(Holder::Promise::Made);
  return result;
}

} // namespace heddle::machine
