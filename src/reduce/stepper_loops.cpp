// Implements the part of stepper.h that is about threads that run for long without a choice: either
// their state comes back (recurrence.h), or they get somewhere.
//
// May be wrong: never; a loop that does neither within the bound makes the search incomplete.
#include "machine/recurrence.h"
#include "reduce/lane.h"
#include "reduce/stepper_work.h"

#include <fmt/format.h>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Stop;

namespace {

// Of a loop that does nothing but such operations each one is looked at.
constexpr std::uint64_t most_silent = 64;

} // namespace

void Stepper::note_acts(const Operation& operation, Recurrence& circle) {
  if (operation.step != StepKind::None) {
    circle.did(Recurrence::Steps);
  }
  if (operation.local) {
    circle.did(Recurrence::AccessesLocals);
  }
  if (operation.plain_read) {
    circle.did(Recurrence::ReadsPlain);
  }
}

void Stepper::note_endless(const Lane& at, LaneMask lanes, const Recurrence& circle) {
  auto& loops = at.work->progress[at.cluster].loops[at.block][at.warp];
  const auto if_it = [&](Recurrence::Act act) { return circle.does(act) ? lanes : 0; };
  loops.endless |= lanes;
  loops.stepping |= if_it(Recurrence::Steps);
  loops.local |= if_it(Recurrence::AccessesLocals);
  loops.sleeping |= if_it(Recurrence::Sleeps);
}

/// Called for a thread that has run for long without a choice: either its state comes again, then
/// it will loop forever, or it gets somewhere, or `rounds` of its loops are over. False if it
/// failed.
bool Stepper::loops_for_ever(const Lane& at, std::uint64_t rounds) {
  const isa::Warp& warp = warp_state(at).warp;
  Work::Progress& progress = at.work->progress[at.cluster];
  under_way_.early = false; // what is written again and again is seen again and again
  Recurrence circle(lane_state(live_, at));
  std::uint64_t asked = 0, silent_in_row = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const Stop stop = run(at, /*fuel=*/1);
    if (stop == Stop::Fault || stop == Stop::Unsupported) {
      fail(at);
      return false;
    }
    if ((warp.live & ~warp.blocked & bit(at.lane)) == 0) {
      return true;
    }
    if (is_choice(at)) {
      return true;
    }
    bool silent = false;
    if (stands_at_visible(at)) {
      const Operation operation = classify(at);
      note_acts(operation, circle);
      silent = operation.kind == OperationKind::Silent;
      if (operation.kind == OperationKind::Orderly && operation.plain_read &&
          ++asked > most_asked) {
        // It counts how often it asks, or backs off: who would answer must have a turn.
        progress.loops[at.block][at.warp].plain |= bit(at.lane);
        return settle_lane(at);
      }
    }
    if (stop == Stop::Yield) {
      circle.did(Recurrence::Sleeps);
    }
    // Whether it comes by a fence or a look at a clock may depend on registers that decide nothing
    // else, and that no state is known by. So it is left at something that each round comes by.
    silent_in_row = silent ? silent_in_row + 1 : 0;
    if (silent_in_row != 0 && silent_in_row < most_silent) {
      continue;
    }
    const Hash128 state = lane_state(live_, at);
    if (circle.is_back(state)) {
      auto& loops = progress.loops[at.block][at.warp];
      if (circle.does(Recurrence::ReadsPlain)) {
        loops.plain |= bit(at.lane); // others may write what it reads
        return settle_lane(at);
      }
      note_endless(at, bit(at.lane), circle);
      return true;
    }
    circle.go_on(state);
  }
  if (rounds < loop_rounds) {
    return true;
  }
  under_way_.failure = Failure{};
  under_way_.failure->incomplete = fmt::format(
      "a thread of {} ran through {} rounds of a loop without an operation that others can see",
      at.work->command->label,
      loop_rounds
  );
  return false;
}

} // namespace heddle::reduce
