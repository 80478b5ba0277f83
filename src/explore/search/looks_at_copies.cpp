// Implements looks_at_copies.h: the monitors of [RED-COPIES].
#include "explore/search/looks_at_copies.h"

#include "explore/host/copy_words.h"

#include <algorithm>

namespace heddle::explore {

using reduce::Mutant;

bool copies_few_words(const machine::Command& command) {
  return command.kind == machine::CommandKind::Copy && command.touches &&
         std::ranges::any_of(*command.touches, [](const auto& r) {
           return has_few_words(r.bytes);
         });
}

bool host_looks_at_copy(const Stepper& stepper, memory::Address address, std::size_t bytes) {
  if (stepper.assumed().mutant_is(Mutant::CopiesForgetHosts)) {
    return false;
  }
  const memory::Address end =
      address + (stepper.assumed().mutant_is(Mutant::CopiesFirstByte) ? 1 : bytes);
  return std::ranges::any_of(stepper.works(), [&](const auto& work) {
    return !work->done && copies_few_words(*work->command) &&
           std::ranges::any_of(*work->command->touches, [&](const auto& r) {
             return address < r.begin + r.bytes && r.begin < end;
           });
  });
}

bool device_looks_at_copy(const Stepper& stepper) {
  return stepper.choice_met_command() && !stepper.assumed().mutant_is(Mutant::CopiesForgetDevices);
}

void refute_whole_copies(StateTable& table) {
  reduce::Learned learned;
  learned.refute(reduce::Assumption::Copies);
  table.learn(learned);
  table.note(Fact::Refuted);
}

} // namespace heddle::explore
