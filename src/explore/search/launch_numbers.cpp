// Implements launch_numbers.h.
#include "explore/search/launch_numbers.h"

#include "reduce/stepper.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace heddle::explore {

const LaunchNumbers::Known* LaunchNumbers::known(std::uint64_t command) const {
  const auto found = known_.find(command);
  return found != known_.end() ? &found->second : nullptr;
}

/// The command, the one that it is a part of, and so on.
std::vector<std::uint64_t> LaunchNumbers::lineage(std::uint64_t command) const {
  std::vector<std::uint64_t> result{command};
  for (const Known* at = known(command); at != nullptr && at->part_of != 0;
       at = known(at->part_of)) {
    result.push_back(at->part_of);
  }
  return result;
}

/// Has `before` completed when `command` begins, in all executions?
bool LaunchNumbers::follows(std::uint64_t command, std::uint64_t before) const {
  const std::vector<std::uint64_t> any_of = lineage(before); // each completes after its parts
  const std::uint64_t earliest = *std::ranges::min_element(any_of);
  std::set<std::uint64_t> seen;
  std::vector<std::uint64_t> todo;
  const auto add_all_before = [&](std::uint64_t later) {
    for (const std::uint64_t one : lineage(later)) { // each has begun before its parts
      if (const Known* const at = known(one)) {
        std::ranges::copy_if(at->behind, std::back_inserter(todo), [&](std::uint64_t id) {
          return id >= earliest && seen.insert(id).second;
        });
      }
    }
  };
  for (add_all_before(command); !todo.empty();) {
    const std::uint64_t next = todo.back();
    todo.pop_back();
    if (std::ranges::find(any_of, next) != any_of.end()) {
      return true;
    }
    add_all_before(next);
  }
  return false;
}

std::string LaunchNumbers::submitted(
    const machine::Command& command,
    const std::string& kernel,
    unsigned thread,
    const std::string& name
) {
  known_[command.id] = {.behind = command.behind, .part_of = command.part_of};
  if (kernel.empty()) {
    return "";
  }
  std::vector<std::uint64_t>& last = last_[{thread, kernel}];
  const auto free =
      std::ranges::find_if(last, [&](std::uint64_t before) { return follows(command.id, before); });
  const auto number = static_cast<std::size_t>(free - last.begin()) + 1;
  if (free == last.end()) {
    last.push_back(command.id);
  } else {
    *free = command.id;
  }
  constexpr std::string_view begin = reduce::MoveNames::launch_number;
  return thread != 0   ? fmt::format("{}{}, {})", begin, number, name)
         : number != 1 ? fmt::format("{}{})", begin, number)
                       : "";
}

} // namespace heddle::explore
