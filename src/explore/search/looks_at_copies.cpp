// Implements looks_at_copies.h.
#include "explore/search/looks_at_copies.h"

#include "explore/host/copy_words.h"

#include <algorithm>

namespace heddle::explore {

bool copies_few_words(const machine::Command& command) {
  return command.kind == machine::CommandKind::Copy && command.touches &&
         std::ranges::any_of(*command.touches, [](const auto& r) {
           return has_few_words(r.bytes);
         });
}

bool meets_copy_of_few_words(const reduce::Works& works, memory::Address address) {
  return std::ranges::any_of(works, [&](const auto& work) {
    return !work->done && copies_few_words(*work->command) &&
           std::ranges::any_of(*work->command->touches, [&](const auto& r) {
             return address >= r.begin && address - r.begin < r.bytes;
           });
  });
}

void refute_whole_copies(StateTable& table, const Options& options, const Purpose& purpose) {
  if (!options.learned.holds(reduce::Assumption::Copies) || purpose.one_way()) {
    return;
  }
  reduce::Learned learned;
  learned.refute(reduce::Assumption::Copies);
  table.learn(learned);
  table.note(Fact::Refuted);
}

} // namespace heddle::explore
