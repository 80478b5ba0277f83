// Implements hosts.h.
#include "reference/hosts.h"

#include <algorithm>
#include <array>

namespace heddle::differ {

using enumeration::HostKind;
using enumeration::HostOperation;

namespace {

bool launches(const HostOperation& operation) {
  return operation.kind <= HostKind::LaunchEarly;
}

HostOperation draw_operation(Random& random) {
  using enum HostKind;
  static constexpr std::array kinds{
      CallFlag,   CallStore,    Copy,         Set,         SetBefore,    SetTwo,       CopyBack,
      Record,     RecordCopies, Await,        AwaitBefore, AwaitP,       AwaitPBefore, SetIf,
      Store,      Store,        HangIfP,      HangIfP,     HangIfQ,      HangIfFlag,   HangIfDone,
      HangIfEvent, AskUntilDone, WaitEvent,   WaitCopies,  WaitAll,      LaunchBeside, LaunchOne,
      LaunchEarly
  };
  const HostKind kind = kinds[random.below(kinds.size())];
  return {kind, static_cast<std::uint8_t>(enumeration::has_value(kind) ? random.below(3) : 0)};
}

} // namespace

void draw_host(Random& random, Generated& program) {
  if (random.below(100) < 35) {
    program.host.push_back(draw_operation(random));
  }
  program.host.push_back({HostKind::Launch});
  for (std::uint64_t more = 1 + random.below(3); more != 0; --more) {
    program.host.push_back(draw_operation(random));
  }
  if (random.below(100) < 20) {
    program.beside.push_back(draw_operation(random));
    program.beside.push_back(draw_operation(random));
  }
  program.prompt = random.below(100) < 75;
}

bool launches_twice(const Generated& program) {
  return std::ranges::count_if(program.host, launches) +
             std::ranges::count_if(program.beside, launches) >
         1;
}

} // namespace heddle::differ
