// Implements hang_report.h.
#include "machine/hang_report.h"

#include "machine/grid.h"

#include <fmt/format.h>

#include <algorithm>

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
  return command.grid != nullptr ? fmt::format("kernel '{}'", command.grid->describe())
                                 : command.label;
}

void add_queued(FaultReport& report, const std::map<std::uint64_t, CommandPtr>& pending) {
  constexpr std::size_t most = 4;
  std::size_t told = 0;
  for (const auto& [id, command] : pending) {
    const auto kernel = std::ranges::find_if(command->after, [](const CommandPtr& before) {
      return before != nullptr && before->kind == CommandKind::Kernel && !before->done;
    });
    const bool acts = command->kind == CommandKind::Kernel || command->kind == CommandKind::Copy ||
                      command->kind == CommandKind::Set ||
                      command->kind == CommandKind::HostFunction;
    if (!acts || kernel == command->after.end() || ++told > most) {
      continue;
    }
    report.waits.push_back(
        {{},
         fmt::format(
             "{} in {} is queued behind {}, and begins when that has ended: if the kernel waits "
             "for it, submit it before the kernel",
             name_of(*command),
             command->stream,
             name_of(**kernel)
         )}
    );
    if (command->grid != nullptr) {
      report.launches.emplace_back(command->grid->describe(), command->grid->config().called_from);
    }
  }
}

} // namespace heddle::machine
