// Implements the part of stepper.h that is about clocks ([CLOCK], spec/clocks.md).
//
// Each thread has a clock of its own. A look at it shows what the look before has shown (*soon*),
// or so much more that every time limit is over (*late*): which of the two is chosen, like
// everything that the rules leave open, so that both are looked at. No choice is a look
// - whose answer decides nothing, for data only: it shows a time that depends on the instruction;
// - of a thread that remembers no time: clocks show nothing but differences;
// - that comes back to itself if it is soon, without anything else: time goes on, so it is late.
//
// So that a state can come back, the clock stands still, and instead the times that the thread
// remembers (ptx/clock_flow.h) become older: by `late_by`, until nothing that a program could ask
// is different any more. Where it is not known which registers hold times, the thread's clock goes
// forward, and how often it has done so is part of the thread's state as long as it remembers a
// time.
//
// May be wrong: what is between soon and late is not tried, nor clocks of which a program takes for
// granted that they run together; a time limit of more than half a year, or of more than half a
// second if the lower half of a clock is read, may never be over (it misses what is behind, or
// invents a hang). Where the search says that it is incomplete: more than `most_late` late looks of
// a clock that goes forward; more than `most_soon` soon ones of a loop that only counts them.
#include "reduce/stepper_trial.h"
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace heddle::reduce {

namespace {

// In nanoseconds; clocks that count cycles show twice as much. 2.28 years, and visible in the lower
// half of a register: 0.067 s.
constexpr std::uint64_t low_late_by = std::uint64_t{1} << 26;
constexpr std::uint64_t late_by = (std::uint64_t{1} << 56) + low_late_by;
// What the first look shows: far from zero, since times become older; but where they are compared
// with what no clock has shown, there they do not.
constexpr std::uint64_t low_begin = std::uint64_t{1} << 29;
constexpr std::uint64_t begin = (std::uint64_t{1} << 60) + low_begin;
constexpr std::uint64_t absolute_begin = (std::uint64_t{1} << 40) + low_begin;
// With one more, 64 bits and, as a signed number, 32 of the clock of cycles are used up.
constexpr std::uint8_t most_late = 14;
// Between two times that a thread remembers, or one and now, more is as good as this much.
// (Nanoseconds, as above.)
constexpr std::uint64_t most_between = std::uint64_t{1} << 54,
                        low_most_between = std::uint64_t{1} << 29;

using Clock = ptx::ClockFlow::Clock;

/// Of instructions that others see, these do so only because they read a clock. (Arithmetic,
/// comparisons, logic and moves come first in opcode_name.def.)
bool only_makes_values(ptx::Opcode opcode) {
  return opcode <= ptx::Opcode::Mov || opcode == ptx::Opcode::Cvt;
}

bool is_low(Clock clock) {
  return clock == Clock::CyclesLow || clock == Clock::NanosecondsLow;
}
std::uint64_t in_units_of(Clock clock, std::uint64_t nanoseconds) {
  const bool cycles = clock == Clock::Cycles || clock == Clock::CyclesLow;
  return cycles ? 2 * nanoseconds : nanoseconds;
}

/// How long ago: times before now are positive. Sorted, without repetitions, zero among them; what
/// each becomes when more between two neighbours is cut off.
std::vector<std::int64_t> drawn_together(const std::vector<std::int64_t>& ages, std::int64_t most) {
  std::vector<std::int64_t> result = ages;
  for (std::size_t i = 1; i < ages.size(); ++i) {
    if (ages[i] > 0) {
      result[i] = result[i - 1] + std::min(ages[i] - ages[i - 1], most);
    }
  }
  return result;
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
  const bool open = clock_reading(at)->clock == ptx::ClockFlow::Reading::Decides;
  return {
      open && remembers_times(at) ? OperationKind::Clock : OperationKind::Silent,
      StepKind::None,
      "a look at a clock"
  };
}

/// What the clock at which the lane looks shows to it, if no time passes.
std::uint64_t Stepper::time_shown(const Lane& at) const {
  const LiveState::At& reading = *clock_reading(at);
  const std::uint64_t first = reading.absolute_times ? absolute_begin : begin;
  if (reading.clock == ptx::ClockFlow::Reading::Data) {
    return first - reading.data_reading; // later in the text, later
  }
  return remembers_times(at) ? first + late_readings(at) * late_by : first;
}

/// Would the lane, if no time passes, come back to where it is now without having done anything?
bool Stepper::asks_only_the_time(const Lane& at) const {
  if (!options_.eager || by_warps() || weak_ || !Trial::possible(at)) {
    return false;
  }
  const Hash128 state = lane_state(at);
  const std::uint64_t key = combine(state.low, state.high).low;
  if (const auto known = tried_out_.asks_only_the_time.find(key);
      known != tried_out_.asks_only_the_time.end()) {
    return known->second;
  }
  Trial trial(*this, at);
  const bool result = trial.go_on() && trial.state() == state;
  tried_out_.asks_only_the_time.emplace(key, result);
  return result;
}

/// The times that the lane remembers become older; false: which these are is not known.
bool Stepper::much_later(const Lane& at, const LiveState::At& reading) {
  const isa::Warp& warp = warp_state(at).warp;
  const auto lane = static_cast<std::size_t>(at.lane);
  isa::Frame& frame = *warp.frame[lane];
  if (!reading.times || frame.caller != nullptr) {
    return false;
  }
  for (const Clock clock :
       {Clock::Cycles, Clock::CyclesLow, Clock::Nanoseconds, Clock::NanosecondsLow}) {
    const bool low = is_low(clock);
    const auto now = static_cast<std::int64_t>(in_units_of(clock, time_shown(at)));
    const auto by = static_cast<std::int64_t>(in_units_of(clock, low ? low_late_by : late_by));
    const auto age_of = [&](const LiveState::At::Time& time) {
      const std::byte* value = frame.registers.data() + time.in.offset + time.in.bytes * lane;
      std::int64_t wide = 0;
      std::int32_t narrow = 0;
      std::memcpy(
          time.in.bytes == sizeof narrow ? static_cast<void*>(&narrow) : &wide,
          value,
          time.in.bytes
      );
      return time.in.bytes == sizeof narrow
                 ? std::int64_t{static_cast<std::int32_t>(now) - std::int64_t{narrow}}
                 : (low ? std::int64_t{static_cast<std::int32_t>(now)} : now) - wide;
    };
    std::vector<std::int64_t> ages{0};
    for (const LiveState::At::Time& time : *reading.times) {
      if (time.of == clock) {
        ages.push_back(age_of(time) + by);
      }
    }
    std::ranges::sort(ages);
    ages.erase(std::ranges::unique(ages).begin(), ages.end());
    const std::uint64_t most = in_units_of(clock, low ? low_most_between : most_between);
    const std::vector<std::int64_t> then = drawn_together(ages, static_cast<std::int64_t>(most));
    for (const LiveState::At::Time& time : *reading.times) {
      if (time.of != clock) {
        continue;
      }
      const auto at_age = std::ranges::lower_bound(ages, age_of(time) + by) - ages.begin();
      const std::int64_t value = (low ? std::int64_t{static_cast<std::int32_t>(now)} : now) -
                                 then[static_cast<std::size_t>(at_age)];
      std::memcpy(
          frame.registers.data() + time.in.offset + time.in.bytes * lane,
          &value,
          time.in.bytes
      );
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

/// A look of a thread at its clock commutes with all that others do, and is seen by none of them:
/// if some thread is about to look, its two moves stand for all (a persistent set). What the others
/// do is explored behind it. On no circle are they put off for ever: one that consists of looks
/// alone and is late again and again is endless whatever they do, and any other one [CLOCK] makes
/// the thread leave.
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
  if (reading->clock == ptx::ClockFlow::Reading::Decides) {
    const bool remembers = remembers_times(first);
    for (isa::LaneMask m = lanes; m != 0; m &= m - 1) {
      Lane at = first;
      at.lane = std::countr_zero(m);
      std::uint8_t& late = late_readings(at);
      if (!remembers) {
        late = 0;
      } else if (
          time != Time::Soon && stands_at_visible(at) && !much_later(at, *reading) &&
          late++ == most_late
      ) {
        under_way_.failure = Failure{};
        under_way_.failure->incomplete = fmt::format(
            "a thread of {} remembers a time while more than {} time limits pass",
            at.work->command->label,
            most_late
        );
        return false;
      }
    }
  }
  const std::uint64_t shown = time_shown(first);
  first.work->clusters[first.cluster]->block(first.block).stop_time_at(shown);
  return true;
}

} // namespace heddle::reduce
