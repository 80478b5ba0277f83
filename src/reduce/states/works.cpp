#include "reduce/states/works.h"

#include "machine/device_launches.h"
#include "machine/launch_identity.h"

#include <algorithm>

namespace heddle::reduce {

bool happens_by_itself(const Command& command) {
  return command.kind == CommandKind::EventRecord ||
         (command.kind == CommandKind::Empty && !command.more);
}

bool launches_anything(const Command& command) {
  const DeviceLaunches* launches = command.grid->launches();
  return launches->used() && !launches->over();
}
std::unique_ptr<Work> Works::make(const CommandPtr& command) const {
  auto work = std::make_unique<Work>();
  work->command = command;
  work->after = command->after;
  work->passed = std::ranges::any_of(all_, [&](const auto& other) {
    return other->passed && other->command->id == command->part_of;
  });
  Hasher hasher;
  hasher.text(command->label);
  hasher.text(command->stream);
  if (work->kernel()) {
    hasher.value(launch_identity(*command->grid));
  }
  if (const auto& wait = command->value) {
    hasher.value(wait->address);
    hasher.value(wait->wanted);
    hasher.value(static_cast<std::uint64_t>(wait->condition) << 8 | wait->bytes);
  }
  work->identity = hasher.finish().low;
  // Commands that are otherwise the same are told apart by their order. One that is complete, in
  // the move that submits this one, is told apart from nobody any more.
  while (std::any_of(all_.begin(), all_.end(), [&](const auto& other) {
    return !other->done && other->identity == work->identity;
  })) {
    ++work->identity;
  }
  return work;
}

void Works::add(std::unique_ptr<Work> work) {
  some_early_ = some_early_ || !work->command->early.empty();
  all_.push_back(std::move(work));
}

void Works::drop_done() {
  for (const auto& work : all_) {
    if (work->done) {
      work->command->after.clear();
      work->command->early.clear();
      if (work->kernel()) { // others pass them on
        work->command->overlaps.clear();
      }
    }
  }
  std::erase_if(all_, [](const auto& work) { return work->done; });
}

std::set<const Command*> Works::before(const CommandPtr& command) {
  std::set<const Command*> before;
  std::vector<const Command*> todo{command.get()};
  while (!todo.empty()) {
    const Command* next = todo.back();
    todo.pop_back();
    const auto comes_before = [&](const CommandPtr& other) {
      if (before.insert(other.get()).second) {
        todo.push_back(other.get());
      }
    };
    std::ranges::for_each(next->after, comes_before);
    // The kernel itself may overlap with these, who comes after it does not.
    for (const EarlyDependency& early : next->early) {
      if (next != command.get() && next->kind == CommandKind::Kernel) {
        comes_before(early.grid);
      }
    }
  }
  return before;
}

bool Works::busy() const {
  return std::ranges::any_of(all_, [](const auto& work) { return !work->done; });
}

namespace {

bool has_byte(const std::vector<machine::Command::Region>& regions, memory::Address address) {
  return std::ranges::any_of(regions, [&](const machine::Command::Region& region) {
    return address - region.begin < region.bytes;
  });
}

/// What is freed is no longer the host's to use: that another one is found is no matter of moments.
bool accesses_no_memory(machine::CommandKind kind) {
  using Kind = machine::CommandKind;
  return kind == Kind::EventRecord || kind == Kind::Allocate || kind == Kind::Free ||
         kind == Kind::Empty;
}

} // namespace

bool Works::may_reach(memory::Address address) const {
  return std::ranges::any_of(all_, [&](const auto& work) {
    const machine::Command& command = *work->command;
    return !work->done && !accesses_no_memory(command.kind) &&
           (!command.touches || has_byte(*command.touches, address));
  });
}

bool Works::names(memory::Address address) const {
  return std::ranges::any_of(all_, [&](const auto& work) {
    const machine::Command& command = *work->command;
    return !work->done && command.touches && has_byte(*command.touches, address);
  });
}

bool Works::copies_words(const Command& command) {
  constexpr std::uint64_t word = 4; // bytes
  return command.kind == CommandKind::Copy && command.touches &&
         std::ranges::any_of(*command.touches, [](const auto& r) { return r.bytes > word; });
}

bool Works::copies_words_beside(const Command& command) const {
  return std::ranges::any_of(all_, [&](const auto& work) {
    return !work->done && work->command->stream != command.stream && copies_words(*work->command);
  });
}

std::uint64_t Works::name_of(const Command& command) const {
  const auto known = std::ranges::find_if(all_, [&](const auto& work) {
    return work->command.get() == &command && !work->done;
  });
  return known != all_.end() ? (*known)->identity : 0;
}

std::uint64_t Works::names_of_commands() const {
  std::uint64_t names = 0;
  for (const auto& work : all_) {
    if (!work->done) {
      names = (names * 31 + (work->identity << 1 | 1)) * 31 + work->command->content;
    }
  }
  return names;
}

void Works::hash_contents(Hasher& hasher) const {
  for (const auto& work : all_) {
    if (!work->done && work->command->content != 0) {
      hasher.value(work->identity);
      hasher.value(work->command->content);
    }
  }
}

CommandPtr Works::host_function(const Move& move) const {
  const CommandPtr& command = all_[move.work]->command;
  return command->kind == CommandKind::HostFunction ? command : nullptr;
}

std::vector<CommandPtr> Works::value_waits() const {
  std::vector<CommandPtr> result;
  for (const auto& work : all_) {
    if (work->ready && !work->done && work->command->value && !work->command->value->holds()) {
      result.push_back(work->command);
    }
  }
  return result;
}

bool Works::commutes(const Move& move) const {
  const CommandKind kind = all_[move.work]->command->kind;
  return move.thread ? move.through : kind == CommandKind::Copy || kind == CommandKind::Set;
}

bool Works::simple(const Move& move) const {
  const CommandKind kind = all_[move.work]->command->kind;
  return kind == CommandKind::Allocate || kind == CommandKind::ValueWait;
}

const Work* Works::work_of(const Command& command) const {
  const auto found =
      std::ranges::find_if(all_, [&](const auto& work) { return work->command.get() == &command; });
  return found != all_.end() && !(*found)->done ? found->get() : nullptr;
}

bool Works::held_back(const Work& work) const {
  const auto waits = [](const CommandPtr& before) { return !before->done.load(); };
  if (!options_.ignore_grid_order || !work.kernel()) {
    return std::any_of(work.after.begin(), work.after.end(), waits) ||
           !std::ranges::all_of(work.command->early, [&](const EarlyDependency& early) {
             return triggered(early);
           });
  }
  // Only for what is not a grid, directly or behind events.
  std::vector<const Command*> todo{work.command.get()};
  while (!todo.empty()) {
    const Command* next = todo.back();
    todo.pop_back();
    for (const CommandPtr& before : next->after) {
      if (!waits(before) || before->kind == CommandKind::Kernel) {
        continue;
      }
      if (!happens_by_itself(*before)) {
        return true;
      }
      todo.push_back(before.get());
    }
  }
  return false;
}

bool Works::has_dependents(const Work& work) const {
  return some_early_ && std::ranges::any_of(all_, [&](const auto& other) {
           return !other->done && !other->ready &&
                  std::ranges::any_of(other->command->early, [&](const EarlyDependency& early) {
                    return early.grid == work.command;
                  });
         });
}

bool Works::triggered(const EarlyDependency& early) const {
  if (early.grid->done.load()) {
    return true;
  }
  const Work* work = work_of(*early.grid);
  if (work == nullptr || !work->ready) {
    return false;
  }
  return early.on == Trigger::Launch || std::ranges::all_of(work->images, [](const Image* image) {
           return image != nullptr && (image->ended || image->rest->lets_dependents_begin);
         });
}

bool Works::is_over(const Command& grid) const {
  if (grid.done.load()) {
    return true;
  }
  const Work* work = work_of(grid);
  return work != nullptr && work->ready && work->ended() && !launches_anything(grid);
}

bool Works::grids_are_over(const Work& work) const {
  return std::ranges::all_of(work.command->overlaps, [&](const Overlap& overlap) {
    return !overlap.awaited || is_over(*overlap.grid);
  });
}

bool Works::may_call_host() const {
  return options_.mutant != Mutant::HostFirstForgetsFunctions &&
         std::ranges::any_of(all_, [](const auto& work) {
           return !work->done && !work->begun &&
                  (work->command->kind == CommandKind::HostFunction ||
                   (!work->kernel() && work->command->more));
         });
}

bool Works::may_wait(const Work& work) const {
  if (std::ranges::any_of(work.command->overlaps, [](const Overlap& overlap) {
        return !overlap.grid->done.load();
      })) {
    return true;
  }
  return work.command->kind == CommandKind::HostFunction &&
         std::ranges::any_of(all_, [](const auto& other) { return other->begun && !other->done; });
}

bool Works::waiting_may_run_through() const {
  const bool overlap = std::ranges::any_of(all_, [](const auto& work) {
    return !work->done && !work->command->overlaps.empty();
  });
  if (overlap) {
    return false; // what it does before it waits may meet what the grid before it does
  }
  return options_.lasting == 0 || std::ranges::none_of(all_, [&](const auto& work) {
           return !work->done &&
                  (work->kernel() ? !work->ready && (options_.lasting & lasting_bit(*work)) != 0
                                  : static_cast<bool>(work->command->more));
         });
}

void Works::host_passes() {
  for (const auto& work : all_) {
    work->passed = work->passed || (!work->done && !(work->kernel() && work->ready));
  }
}

std::uint64_t Works::lasting_bit(const Work& work) {
  Hasher hasher;
  hasher.text(work.command->grid->kernel().name);
  return std::uint64_t{1} << (hasher.finish().low & 63);
}

} // namespace heddle::reduce
