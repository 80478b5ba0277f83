// Implements unawaited.h.
#include "machine/unawaited.h"

#include "machine/grid.h"

#include <algorithm>
#include <set>

namespace heddle::machine {

void Unawaited::submitted(const Command& command) {
  if (command.part_of != 0) {
    return;
  }
  Work work;
  work.kind = command.kind;
  work.device = command.device;
  work.label = command.label;
  work.stream = command.stream;
  if (command.grid != nullptr) {
    work.label = command.grid->describe();
    work.called_from = command.grid->config().called_from;
  }
  const std::lock_guard lock(mutex_);
  const auto add = [&](const Command& before, std::vector<std::uint64_t>& into) {
    if (work_.contains(before.id)) {
      into.push_back(before.id);
    }
  };
  for (const CommandPtr& before : command.after) {
    if (before != nullptr) {
      add(*before, work.behind);
    }
  }
  for (const EarlyDependency& early : command.early) {
    add(*early.grid, work.completes_behind);
  }
  for (const Overlap& overlap : command.overlaps) {
    add(*overlap.grid, work.completes_behind);
  }
  work_.emplace(command.id, std::move(work));
  last_ = std::max(last_, command.id);
}

void Unawaited::forget(std::uint64_t id) {
  std::vector<std::uint64_t> open{id};
  while (!open.empty()) {
    const auto it = work_.find(open.back());
    open.pop_back();
    if (it == work_.end()) {
      continue;
    }
    open.insert(open.end(), it->second.behind.begin(), it->second.behind.end());
    open.insert(open.end(), it->second.completes_behind.begin(), it->second.completes_behind.end());
    work_.erase(it);
  }
}

void Unawaited::host_waited(std::span<const CommandPtr> commands) {
  const std::lock_guard lock(mutex_);
  for (const CommandPtr& command : commands) {
    if (command != nullptr) {
      forget(command->id);
    }
  }
}

void Unawaited::host_waited_for(int device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(work_, [&](const auto& entry) { return entry.second.device == device; });
}

bool Unawaited::contains(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  return work_.contains(id);
}

std::uint64_t Unawaited::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

bool Unawaited::is_before(std::uint64_t first, std::uint64_t second) const {
  const std::lock_guard lock(mutex_);
  if (!work_.contains(first)) {
    return true;
  }
  std::vector<std::uint64_t> open{second};
  std::set<std::uint64_t> seen;
  while (!open.empty()) {
    const auto it = work_.find(open.back());
    open.pop_back();
    if (it == work_.end() || !seen.insert(it->first).second) {
      continue;
    }
    open.insert(open.end(), it->second.behind.begin(), it->second.behind.end());
    if (it->first != second) { // it has completed
      open.insert(
          open.end(),
          it->second.completes_behind.begin(),
          it->second.completes_behind.end()
      );
    }
    if (std::ranges::find(open, first) != open.end()) {
      return true;
    }
  }
  return false;
}

std::vector<Unawaited::Work> Unawaited::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Work> result;
  for (const auto& [id, work] : work_) {
    result.push_back(work);
  }
  return result;
}

} // namespace heddle::machine
