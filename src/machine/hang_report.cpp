// Implements hang_report.h.
#include "machine/hang_report.h"

#include "machine/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace heddle::machine {

std::string describe_wait(const Command& command) {
  return fmt::format("{} in {} waits {}", command.label, command.stream, command.value->describe());
}

void add_waiting(FaultReport& report, const std::deque<CommandPtr>& waiting, const char* what) {
  for (const CommandPtr& command : waiting) {
    report.waits.push_back({{}, describe_wait(*command)});
  }
  report.waits.push_back({{}, fmt::format("the host waits in {}", what)});
}

static std::string name_of(const Command& command) {
  return command.grid != nullptr
             ? fmt::format("kernel '{}'{}", command.grid->describe(), command.which)
             : command.label;
}

bool could_end_a_wait(const Command& command, const memory::AddressSpace& space) {
  switch (command.kind) {
  case CommandKind::Kernel:
  case CommandKind::HostFunction:
    return true;
  case CommandKind::Copy:
  case CommandKind::Set:
    return !command.touches ||
           std::ranges::any_of(*command.touches, [&](const Command::Region& region) {
             return region.write && space.find_range(region.begin).size != 0;
           });
  default:
    return false;
  }
}

CommandPtr kernel_before(const Command& command) {
  std::vector<const Command*> todo{&command};
  std::set<const Command*> seen;
  CommandPtr first;
  while (!todo.empty()) {
    const Command& next = *todo.back();
    todo.pop_back();
    for (const CommandPtr& before : next.after) {
      if (before == nullptr || before->done || !seen.insert(before.get()).second) {
        continue;
      }
      if (before->kind == CommandKind::Kernel && (first == nullptr || before->id < first->id)) {
        first = before;
      }
      todo.push_back(before.get());
    }
  }
  return first;
}

std::string describe_queued(const Command& command, const Command& kernel) {
  return fmt::format(
      "{} in {}{}{}, and begins when that has ended: if the kernel waits for it, submit it before "
      "the kernel, or in a stream that does not wait for the kernel",
      name_of(command),
      command.stream,
      queued_behind,
      name_of(kernel)
  );
}

void add_queued(
    FaultReport& report,
    const std::map<std::uint64_t, CommandPtr>& pending,
    const memory::AddressSpace& space
) {
  std::size_t told = 0;
  for (const auto& [id, command] : pending) {
    if (!could_end_a_wait(*command, space)) {
      continue;
    }
    const CommandPtr kernel = kernel_before(*command);
    if (kernel == nullptr) {
      continue;
    }
    if (++told > most_queued) {
      break;
    }
    report.waits.push_back({{}, describe_queued(*command, *kernel)});
    if (command->grid != nullptr) {
      report.launches.emplace_back(command->grid->describe(), command->grid->config().called_from);
    }
  }
}

} // namespace heddle::machine
