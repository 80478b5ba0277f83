// Implements reference_driver.h.
#include "runtime/reference_driver.h"

#include "reference/search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace heddle::runtime {

using machine::Command;
using machine::CommandKind;
using machine::CommandPtr;

namespace {

machine::EngineOptions one_fair_order() {
  machine::EngineOptions options;
  options.seed = 0;
  return options;
}

/// Does it only say when other commands are over?
bool is_mark(const Command& command) {
  return command.kind == CommandKind::EventRecord || command.kind == CommandKind::Empty;
}

/// The kernels that have to end before each kernel may begin, by their numbers among `kernels`; by
/// way of commands of `group` that are no kernels.
std::vector<std::vector<std::size_t>>
dependencies(const std::vector<CommandPtr>& kernels, const std::vector<CommandPtr>& group) {
  std::map<const Command*, std::set<std::size_t>>
      over_before; // kernels behind which a command comes
  std::vector<std::vector<std::size_t>> result;
  for (const CommandPtr& command : group) {
    std::set<std::size_t>& own = over_before[command.get()];
    for (const CommandPtr& before : command->after) {
      if (const auto known = over_before.find(before.get()); known != over_before.end()) {
        own.insert(known->second.begin(), known->second.end());
      }
    }
    if (const auto kernel = std::ranges::find(kernels, command); kernel != kernels.end()) {
      result.emplace_back(own.begin(), own.end());
      own.insert(static_cast<std::size_t>(kernel - kernels.begin()));
    }
  }
  return result;
}

std::string words(const reference::Outcome& is) {
  if (!is.refused.empty()) {
    return fmt::format("not searched: {}", is.refused);
  }
  std::string text = fmt::format("{} states, {} moves: ", is.states, is.moves);
  if (is.races) {
    return text + "defect: a data race; nothing else is said of a program that has one";
  }
  if (!is.faults.empty()) {
    return text + fmt::format("defect: {}", fmt::join(is.faults, "; "));
  }
  if (!is.deadlocked.empty()) {
    return text + fmt::format("defect: may hang: {} blocked", fmt::join(is.deadlocked, ", "));
  }
  if (!is.endless.empty()) {
    return text + fmt::format(
                      "defect: may hang: {} may go on forever{}",
                      fmt::join(is.endless, ", "),
                      is.loops ? ", without a step" : ""
                  );
  }
  return text + "every order of these kernels' instructions comes to their end";
}

} // namespace

ReferenceDriver::ReferenceDriver(machine::World& world, const std::string& asked)
    : world_(world),
      engine_(world, one_fair_order()) {
  std::istringstream words(asked);
  words >> most_states_ >> std::ws;
  std::getline(words, file_);
}

void ReferenceDriver::submitted(const CommandPtr& command) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(command);
}

void ReferenceDriver::wait(
    const std::function<bool()>& done,
    std::span<const CommandPtr> commands,
    const char* what
) {
  go_on();
  engine_.wait(done, commands, what);
}

bool ReferenceDriver::complete_rest() {
  go_on();
  return engine_.complete_rest();
}

bool ReferenceDriver::query(
    const std::function<bool()>& ready,
    std::span<const CommandPtr> commands
) {
  go_on();
  return engine_.query(ready, commands);
}

void ReferenceDriver::carry_out(const Commands& commands) {
  for (const CommandPtr& command : commands) {
    engine_.submitted(command);
  }
  const auto done = [&commands] {
    return std::ranges::all_of(commands, [](const CommandPtr& c) { return c->done.load(); });
  };
  engine_.wait(done, commands, "the reference");
}

void ReferenceDriver::go_on() {
  const std::lock_guard lock(mutex_);
  while (!waiting_.empty() && !world_.fault()) {
    const bool kernels = waiting_.front()->kind == CommandKind::Kernel;
    const auto end = std::ranges::find_if(waiting_, [kernels](const CommandPtr& command) {
      const bool kernel = command->kind == CommandKind::Kernel;
      return kernels ? !kernel && !is_mark(*command) : kernel;
    });
    const Commands group(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    if (kernels) {
      search(group);
    }
    carry_out(group);
  }
}

void ReferenceDriver::search(const Commands& group) {
  Commands kernels;
  std::vector<std::string> names;
  for (const CommandPtr& command : group) {
    if (command->kind == CommandKind::Kernel) {
      kernels.push_back(command);
      names.push_back(command->grid->describe());
    }
  }
  std::ofstream(file_, std::ios::app)
      << fmt::format("reference: {}: {}\n", fmt::join(names, ", "), outcome(kernels, group));
}

std::string ReferenceDriver::outcome(const Commands& kernels, const Commands& group) {
  constexpr std::size_t most_memory = 1 << 20; // each state that waits has all of it
  std::vector<std::span<std::byte>> memory;
  std::size_t bytes = 0;
  world_.space().each_live([&](const memory::Allocation& allocation) {
    if (allocation.kind != memory::AllocationKind::Constant &&
        allocation.kind != memory::AllocationKind::Heap) {
      memory.push_back(
          {reinterpret_cast<std::byte*>(
               allocation.base + static_cast<std::uint64_t>(allocation.delta)
           ),
           allocation.size}
      );
      bytes += allocation.size;
    }
  });
  if (bytes > most_memory) {
    return fmt::format("not searched: {} bytes of memory, and a state has all of it", bytes);
  }
  std::vector<std::vector<std::size_t>> behind = dependencies(kernels, group);
  std::vector<reference::Launched> grids;
  for (std::size_t n = 0; n < kernels.size(); ++n) {
    if (kernels[n]->grid->config().programmatic) {
      return "not searched: the reference does not know programmatic launches";
    }
    grids.push_back({kernels[n]->grid, std::move(behind[n])});
  }
  reference::System system(std::move(grids), std::move(memory), world_.space());
  const reference::Bytes before = system.save();
  const std::optional<reference::Outcome> is = reference::search(system, most_states_);
  system.load(before);
  return is ? words(*is)
            : fmt::format("not searched to the end: more than {} states", most_states_);
}

} // namespace heddle::runtime
