// Implements commands.h.
#include "race/commands.h"

#include "machine/grid.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::race {

/// [RACE-COMMAND]: a wait that may as well come before a record does not wait for it, but for the
/// one that it certainly comes behind.
CommandSet Commands::recorded_before(CommandInfoPtr record, const CommandSet& known) {
  while (record != nullptr && record->recorded != nullptr && !known.includes(*record->recorded)) {
    if (std::ranges::find(missed_, record) == missed_.end()) {
      missed_.push_back(record);
    }
    record = record->replaces;
  }
  return record != nullptr ? record->completed() : CommandSet();
}

Why Commands::why(Why known, const CommandInfo& earlier, const CommandInfo& later) const {
  const std::lock_guard lock(mutex_);
  const bool missed = std::ranges::any_of(missed_, [&](const CommandInfoPtr& record) {
    return later.follows(earlier, record->completed());
  });
  return known == Why::Commands && missed ? Why::Record : known;
}

void Commands::submitted(
    const machine::Command& command,
    const CommandSet& host,
    const HostThreads::Hope& hope
) {
  auto info = std::make_shared<CommandInfo>();
  info->id = command.id;
  info->kind = command.kind;
  info->label = command.label;
  info->stream = command.stream;
  info->device = command.device;
  if (command.grid != nullptr) {
    const machine::LaunchConfig& config = command.grid->config();
    info->label = fmt::format("kernel '{}'", command.grid->describe());
    info->grid = config.grid;
    info->block = config.block;
    info->called_from = config.called_from;
    info->cluster = config.cluster;
  }
  if (callers_ && command.part_of == 0 && info->called_from.empty()) {
    info->called_from = callers_(); // of a graph: its launch
  }
  auto before = std::make_shared<CommandSet>(host);
  auto late = std::make_shared<CommandSet>(host);
  const std::lock_guard lock(mutex_);
  if (const auto whole = commands_.find(command.part_of); whole != commands_.end()) {
    info->part_of = whole->second;
    info->launcher = whole->second->launcher;
    before->add(*info->part_of->late);
    late->add(*info->part_of->late);
    // A conditional node has looked at its value when its body begins.
    if (command.after_threads || info->part_of->kind == machine::CommandKind::Empty) {
      before->add(command.part_of, command.part_of);
      late->add(command.part_of, command.part_of);
    }
  }
  for (const auto& other : command.after) {
    const auto known = other != nullptr ? commands_.find(other->id) : commands_.end();
    if (known == commands_.end()) {
      continue;
    }
    const bool by_event = other->id == command.event.record && command.part_of == 0 &&
                          known->second->stream != info->stream;
    const CommandSet theirs =
        by_event ? recorded_before(known->second, host) : known->second->completed(); // [DEP]
    late->add(theirs);
    before->add(theirs);
  }
  for (const machine::EarlyDependency& early : command.early) { // [DEP-EARLY]
    if (const auto known = commands_.find(early.grid->id); known != commands_.end()) {
      before->add(*known->second->before);
      late->add(*known->second->before);
    }
  }
  for (const machine::Overlap& overlap : command.overlaps) { // [DEP-WAIT]
    const auto known = commands_.find(overlap.grid->id);
    if (command.grid != nullptr && overlap.awaited && known != commands_.end()) {
      late->add(known->second->completed());
    }
  }
  if (command.kind == machine::CommandKind::EventRecord && command.part_of == 0) {
    info->recorded = std::make_shared<CommandSet>(host);
    const auto last = commands_.find(command.event.record);
    info->replaces = last != commands_.end() ? last->second : nullptr;
  }
  info->before = std::move(before);
  info->late = std::move(late);
  info->hoped = hope.known;
  info->hoped_call = hope.call;
  by_device_[command.device].add(command.id, command.id);
  if (command.grid != nullptr) {
    by_grid_[command.grid.get()] = info;
  }
  commands_.emplace(command.id, std::move(info));
}

void Commands::launched(
    const machine::Command& command,
    const Clock& known,
    const CommandSet& commands
) {
  const std::lock_guard lock(mutex_);
  const auto it = commands_.find(command.id);
  if (it == commands_.end()) {
    return;
  }
  auto info = std::make_shared<CommandInfo>(*it->second);
  const auto with = [&](const CommandSet& more) {
    auto set = std::make_shared<CommandSet>(more);
    set->add(commands);
    return set;
  };
  info->launcher.learn(known);
  info->before = with(*info->before);
  info->late = with(*info->late);
  if (command.grid != nullptr) {
    by_grid_[command.grid.get()] = info;
  }
  it->second = std::move(info);
}

bool Commands::none() const {
  const std::lock_guard lock(mutex_);
  return commands_.empty();
}

CommandInfoPtr Commands::find(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto known = commands_.find(id);
  return known != commands_.end() ? known->second : nullptr;
}

CommandInfoPtr Commands::of(const machine::Grid& grid) const {
  const std::lock_guard lock(mutex_);
  const auto it = by_grid_.find(&grid);
  return it != by_grid_.end() ? it->second : std::make_shared<CommandInfo>();
}

CommandSet Commands::waited_for(const machine::HostWait& wait, const CommandSet& known) {
  CommandSet more;
  const std::lock_guard lock(mutex_);
  for (const auto& command : wait.commands) {
    const auto info = command != nullptr ? commands_.find(command->id) : commands_.end();
    if (info != commands_.end()) {
      more.add(wait.for_events ? recorded_before(info->second, known) : info->second->completed());
    }
  }
  return more;
}

CommandSet Commands::of_device(int device, std::uint64_t last) const {
  const std::lock_guard lock(mutex_);
  const auto all = by_device_.find(device);
  return all != by_device_.end() ? all->second.up_to(last) : CommandSet();
}

} // namespace heddle::race
