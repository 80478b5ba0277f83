// Implements the part of stepper.h that is about clocks ([CLOCK], spec/clocks.md).
//
// Each thread has a clock of its own. A look at it gives one of two answers: *soon*, no time has
// passed since the look before, or *late*, so much that every time limit is over. Which of the two
// is chosen, like everything that the rules leave open, so that both are looked at. No choice is a
// look
// - whose answer decides nothing, for data only: it shows a time that depends on the instruction;
// - of a thread that remembers no time, if two answers stand for all: these are alike;
// - that comes back to itself if it is soon, without anything else: time goes on, so it is late.
//
// So that a state can come back, the clock stands still, and instead the time that the thread
// remembers changes: ptx/clock_flow.h says which register that is, and what it holds for each
// answer. Where that is not known, the thread's clock goes forward, and how often it has done so is
// part of the thread's state as long as it remembers a time.
//
// May be wrong: a time limit of more than 2^62 cycles or nanoseconds is never over; a moment that
// some other clock has shown or that the program was given may be past 2^61 and is then never over.
// Where the search says that it is incomplete: readings that two answers do not stand for; more
// than `most_late` late looks of a clock that goes forward; more than `most_soon` soon ones of a
// loop that only counts them.
#include "reduce/stepper_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace heddle::reduce {

namespace {

// By how much a clock goes forward. The lower half of what it shows is another one each time, so
// that its bits differ, too.
constexpr std::uint64_t late_by = std::uint64_t{1} << 57;
std::uint64_t gone_by(std::uint8_t late) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  const std::uint64_t low = late == 0 ? 0 : late * odd >> 32 | 1;
  return late * late_by + (late % 2 == 0 ? low - low % 2 : low);
}
// With two more, a signed number of 64 bits is used up.
constexpr std::uint8_t most_late = 14;
constexpr std::uint8_t most_stepped = 3; // Options::clock_step
// What is shown for data comes before what is shown to decide, as long as times are related.
constexpr std::uint64_t most_data = 1 << 12;

/// Of instructions that others see, these do so only because they read a clock. (Arithmetic,
/// comparisons, logic and moves come first in opcode_name.def.)
bool only_makes_values(ptx::Opcode opcode) {
  return opcode <= ptx::Opcode::Mov || opcode == ptx::Opcode::Cvt;
}

} // namespace

std::uint8_t& Stepper::late_readings(const Lane& at) {
  auto& loops = at.work->progress[at.cluster].loops[at.block][at.warp];
  return loops.late[static_cast<std::size_t>(at.lane)];
}

/// What the lane is about to read; nullptr: that is no clock.
const LiveState::At* Stepper::clock_reading(const Lane& at) const {
  const isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  const isa::Op& op = *warp.pc[index];
  const isa::Code& code = *warp.frame[index]->code;
  const auto& body = code.function->body;
  if ((op.flags & isa::Visible) == 0 || op.instruction >= body.size() ||
      !only_makes_values(body[op.instruction].opcode)) { // the usual case, without a look at tables
    return nullptr;
  }
  const LiveState::At& live = live_.at(code, op);
  return live.clock != ptx::ClockFlow::Reading::None ? &live : nullptr;
}

/// Does the thread remember a time with which what a clock shows now may be compared?
bool Stepper::remembers_times(const Lane& at) const {
  const isa::Warp& warp = warp_state(at).warp;
  const isa::Op* next = warp.pc[static_cast<std::size_t>(at.lane)];
  for (const isa::Frame* frame = warp.frame[static_cast<std::size_t>(at.lane)]; frame != nullptr;
       frame = frame->caller) {
    if (live_.at(*frame->code, *next).holds_time) {
      return true;
    }
    next = frame->return_op;
  }
  return false;
}

Operation Stepper::classify_clock(const Lane& at) const {
  const bool decides = clock_reading(at)->clock == ptx::ClockFlow::Reading::Decides;
  const bool open = decides && (remembers_times(at) || !clock_reading(at)->follows_time);
  return {
      open || options_.clock_step != 0 ? OperationKind::Clock : OperationKind::Silent,
      StepKind::None,
      "a look at a clock"
  };
}

/// What the clock at which the lane looks shows to it, if no time passes.
std::uint64_t Stepper::time_shown(const Lane& at) const {
  const LiveState::At& reading = *clock_reading(at);
  const std::uint64_t first = reading.absolute_times ? 0 : ptx::ClockFlow::now;
  if (options_.clock_step != 0) {
    return first + late_readings(at) * options_.clock_step;
  }
  if (reading.clock == ptx::ClockFlow::Reading::Data) {
    const std::uint64_t before = std::min<std::uint64_t>(reading.data_reading, most_data);
    return reading.absolute_times ? most_data - before : first - before;
  }
  return reading.follows_time && !remembers_times(at) ? first : first + gone_by(late_readings(at));
}

/// Would the lane, if no time passes, come back to where it is now without having done anything?
bool Stepper::asks_only_the_time(const Lane& at) const {
  if (!options_.eager || by_warps() || weak_ || !Trial::possible(at)) {
    return false;
  }
  Trial trial(*this, at);
  relate(at, *clock_reading(at), Time::Soon);
  const Hash128 state = lane_state(at);
  const std::uint64_t key = combine(state.low, state.high).low;
  if (const auto known = tried_out_.asks_only_the_time.find(key);
      known != tried_out_.asks_only_the_time.end()) {
    return known->second;
  }
  const bool result = trial.go_on() && trial.state() == state;
  tried_out_.asks_only_the_time.emplace(key, result);
  return result;
}

/// The time that the lane remembers becomes what the answer needs; false: it is not known which
/// register that is.
bool Stepper::relate(const Lane& at, const LiveState::At& reading, Time time) {
  const isa::Warp& warp = warp_state(at).warp;
  const auto lane = static_cast<std::size_t>(at.lane);
  isa::Frame& frame = *warp.frame[lane];
  if (!reading.times_known || frame.caller != nullptr) {
    return false;
  }
  if (reading.time) {
    const auto& [in, soon, late] = *reading.time;
    if (const auto value = time == Time::Soon ? soon : std::optional(late)) {
      std::memcpy(frame.registers.data() + in.offset + in.bytes * lane, &*value, in.bytes);
    }
  }
  return true;
}

void Stepper::begin_look(const Lane& at, Time time) {
  under_way_.time = time;
  under_way_.looks_from = time == Time::Soon ? lane_state(at) : Hash128{};
}

/// The move is over. Was it a look, and is its thread at the same one again, in another state?
void Stepper::end_look(const Move& move) {
  Work& work = *works_[move.work];
  const Lane at{&work, move.cluster, move.block, move.warp, move.lane};
  const isa::Warp& warp = warp_state(at).warp;
  const auto lane = static_cast<std::size_t>(at.lane);
  std::uint8_t& soon = work.progress[at.cluster].loops[at.block][at.warp].soon[lane];
  if (move.time != Time::Soon || (warp.live >> at.lane & 1) == 0 || warp.pc[lane] != move.op) {
    soon = 0;
  } else if (lane_state(at) != under_way_.looks_from) {
    ++soon;
  }
}

/// Of a clock that goes forward by steps: is there no further one?
bool Stepper::is_last_step(const Lane& at) const {
  return options_.clock_step != 0 && late_readings(at) == most_stepped;
}

/// [RED-LOOKS]: A look of a thread at its clock commutes with all that others do, and is seen by
/// none of them: if some thread is about to look, its two moves stand for all (a persistent set).
/// What the others do is explored behind it. On no cycle are they put off forever: one that
/// consists of looks alone and is late again and again is endless whatever they do, and any other
/// one [CLOCK] makes the thread leave.
void Stepper::looks_first(std::vector<Move>& moves) const {
  const auto look = std::ranges::find_if(moves, [](const Move& m) { return m.time != Time::None; });
  if (!options_.eager || look == moves.end()) {
    return;
  }
  const Move first = *look;
  std::erase_if(moves, [&](const Move& m) {
    return m.work != first.work || m.cluster != first.cluster || m.who != first.who ||
           m.time == Time::None;
  });
}

/// Sets the clock if the lanes are about to look at one. `time`: as was chosen; None: by nobody.
/// False: there is no later time left.
bool Stepper::look_at_clock(const Lane& first, isa::LaneMask lanes, Time time) {
  const LiveState::At* reading = clock_reading(first);
  if (reading == nullptr) {
    return true;
  }
  if (!std::exchange(followed_.some_clocks, true)) {
    journal_.tell(followed_.clocks);
  }
  const isa::Frame& frame = *warp_state(first).warp.frame[static_cast<std::size_t>(first.lane)];
  const isa::Op& op = *warp_state(first).warp.pc[static_cast<std::size_t>(first.lane)];
  followed_.clocks.looked(*frame.code, op, *reading);
  if (options_.clock_step != 0) {
    late_readings(first) += time == Time::Late ? 1 : 0;
  } else if (reading->clock == ptx::ClockFlow::Reading::Decides) {
    if (!reading->follows_time) {
      followed_.clocks.decides(*frame.code, op);
    }
    const bool remembers = remembers_times(first);
    for (isa::LaneMask m = lanes; m != 0; m &= m - 1) {
      Lane at = first;
      at.lane = std::countr_zero(m);
      std::uint8_t& late = late_readings(at);
      if (!remembers && (reading->follows_time || time == Time::Soon)) {
        late = 0;
        continue;
      }
      if (!stands_at_visible(at) || relate(at, *reading, time) || time == Time::Soon) {
        continue;
      }
      if (!remembers && time == Time::Late) {
        late = 1;
      } else if (late++ == most_late) {
        under_way_.failure = Failure{};
        under_way_.failure->incomplete = fmt::format(
            "a thread of {} looks at a clock while more than {} time limits pass",
            at.work->command->label,
            most_late
        );
        return false;
      }
    }
  }
  const std::uint64_t shown = time_shown(first);
  first.work->clusters[first.cluster]->block(first.block).stop_time_at(shown, shown);
  return true;
}

} // namespace heddle::reduce
