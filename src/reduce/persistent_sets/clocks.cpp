#include "reduce/persistent_sets/clocks.h"

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

std::uint8_t& late_readings(const Lane& at) {
  auto& loops = at.work->progress[at.cluster].loops[at.block][at.warp];
  return loops.late[static_cast<std::size_t>(at.lane)];
}

} // namespace

const LiveState::At* Clocks::reading(const Lane& at) const {
  const isa::Warp& warp = warp_state(at).warp;
  const auto index = static_cast<std::size_t>(at.lane);
  const isa::Op& op = *warp.pc[index];
  const isa::Code& code = *warp.frame[index]->code;
  const auto& body = code.function->body;
  if ((op.flags & isa::Visible) == 0 || op.instruction >= body.size() ||
      !only_makes_values(body[op.instruction].opcode)) { // the usual case, without a look at tables
    return nullptr;
  }
  const LiveState::At& live = trials_.live.at(code, op);
  return live.clock != analysis::ClockFlow::Reading::None ? &live : nullptr;
}

/// Does the thread remember a time with which what a clock shows now may be compared?
bool Clocks::remembers_times(const Lane& at) const {
  const isa::Warp& warp = warp_state(at).warp;
  const isa::Op* next = warp.pc[static_cast<std::size_t>(at.lane)];
  for (const isa::Frame* frame = warp.frame[static_cast<std::size_t>(at.lane)]; frame != nullptr;
       frame = frame->caller) {
    if (trials_.live.at(*frame->code, *next).holds_time) {
      return true;
    }
    next = frame->return_op;
  }
  return false;
}

Operation Clocks::classify(const Lane& at) const {
  const bool decides = reading(at)->clock == analysis::ClockFlow::Reading::Decides;
  const bool open = decides && (remembers_times(at) || !reading(at)->follows_time);
  return {
      open || options_.step != 0 ? OperationKind::Clock : OperationKind::Silent,
      StepKind::None,
      "a look at a clock"
  };
}

/// What the clock at which the lane looks shows to it, if no time passes.
std::uint64_t Clocks::shown(const Lane& at) const {
  const LiveState::At& looked = *reading(at);
  const std::uint64_t first = looked.absolute_times ? 0 : analysis::ClockFlow::now;
  if (options_.step != 0) {
    return first + late_readings(at) * options_.step;
  }
  if (looked.clock == analysis::ClockFlow::Reading::Data) {
    const std::uint64_t before = std::min<std::uint64_t>(looked.data_reading, most_data);
    return looked.absolute_times ? most_data - before : first - before;
  }
  return looked.follows_time && !remembers_times(at) ? first : first + gone_by(late_readings(at));
}

bool Clocks::asks_only_the_time(const Lane& at) {
  if (!options_.tries || !Trial::possible(at)) {
    return false;
  }
  Trial trial(trials_, at);
  relate(at, *reading(at), Time::Soon);
  const Hash128 state = lane_state(trials_.live, at);
  const std::uint64_t key = combine(state.low, state.high).low;
  if (const auto known = only_the_time_.find(key); known != only_the_time_.end()) {
    return known->second;
  }
  const bool result = trial.go_on() && trial.state() == state;
  only_the_time_.emplace(key, result);
  return result;
}

/// The time that the lane remembers becomes what the answer needs; false: it is not known which
/// register that is.
bool Clocks::relate(const Lane& at, const LiveState::At& reading, Time time) {
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

void Clocks::begin_look(const Lane& at, Time time) {
  time_ = time;
  looks_from_ = time == Time::Soon ? lane_state(trials_.live, at) : Hash128{};
}

void Clocks::end_look(Work& work, const Move& move) {
  const Lane at{&work, move.cluster, move.block, move.warp, move.lane};
  const isa::Warp& warp = warp_state(at).warp;
  const auto lane = static_cast<std::size_t>(at.lane);
  std::uint8_t& soon = work.progress[at.cluster].loops[at.block][at.warp].soon[lane];
  if (move.time != Time::Soon || (warp.live >> at.lane & 1) == 0 || warp.pc[lane] != move.op) {
    soon = 0;
  } else if (lane_state(trials_.live, at) != looks_from_) {
    ++soon;
  }
}

bool Clocks::is_last_step(const Lane& at) const {
  return options_.step != 0 && late_readings(at) == most_stepped;
}

/// [RED-LOOKS]: A look of a thread at its clock commutes with all that others do, and is seen by
/// none of them: if some thread is about to look, its two moves stand for all (a persistent set).
/// What the others do is explored behind it. On no cycle are they put off forever: one that
/// consists of looks alone and is late again and again is endless whatever they do, and any other
/// one [CLOCK] makes the thread leave.
void Clocks::looks_first(std::vector<Move>& moves) const {
  const auto look = std::ranges::find_if(moves, [](const Move& m) { return m.time != Time::None; });
  if (!options_.first || look == moves.end()) {
    return;
  }
  const Move first = *look;
  std::erase_if(moves, [&](const Move& m) {
    return m.work != first.work || m.cluster != first.cluster || m.who != first.who ||
           m.time == Time::None;
  });
}

bool Clocks::look(const Lane& first, isa::LaneMask lanes, Time time) {
  const LiveState::At* at_clock = reading(first);
  if (at_clock == nullptr) {
    return true;
  }
  if (!std::exchange(in_use_, true)) {
    trials_.journal.tell(data_);
  }
  const isa::Frame& frame = *warp_state(first).warp.frame[static_cast<std::size_t>(first.lane)];
  const isa::Op& op = *warp_state(first).warp.pc[static_cast<std::size_t>(first.lane)];
  data_.looked(*frame.code, op, *at_clock);
  if (options_.step != 0) {
    late_readings(first) += time == Time::Late ? 1 : 0;
  } else if (at_clock->clock == analysis::ClockFlow::Reading::Decides) {
    if (!at_clock->follows_time) {
      data_.decides(*frame.code, op);
    }
    const bool remembers = remembers_times(first);
    for (isa::LaneMask m = lanes; m != 0; m &= m - 1) {
      Lane at = first;
      at.lane = std::countr_zero(m);
      std::uint8_t& late = late_readings(at);
      if (!remembers && (at_clock->follows_time || time == Time::Soon)) {
        late = 0;
        continue;
      }
      if (!stands_at_visible(at) || relate(at, *at_clock, time) || time == Time::Soon) {
        continue;
      }
      if (!remembers && time == Time::Late) {
        late = 1;
      } else if (late++ == most_late) {
        gap_ = fmt::format(
            "a thread of {} looks at a clock while more than {} time limits pass",
            at.work->command->label,
            most_late
        );
        return false;
      }
    }
  }
  show(first);
  return true;
}

void Clocks::show(const Lane& at) const {
  if (reading(at) != nullptr) {
    const std::uint64_t time = shown(at);
    at.work->clusters[at.cluster]->block(at.block).stop_time_at(time, time);
  }
}

} // namespace heddle::reduce
