// Clock flow: which readings of a clock decide something, and where a time that one of them has
// shown may still be compared with another one.
//
//   const ClockFlow flow(function, cfg);
//   flow.reading(i)         // instruction i reads no clock, or for data only, or what it shows
//   decides flow.held_before(i)     // some register that matters may hold a time, right before
//   instruction i flow.absolute()         // a time is compared with something that no clock has
//   shown flow.times_at(i)        // the registers that hold times where instruction i reads a
//   clock
//
// What only says how long to sleep, or which way to go where both ways do nothing else, is data,
// too (faint registers of liveness.h). Clocks are %clock, %clock_hi, %clock64 and %globaltimer with
// its halves. A reading decides if what it shows may reach a branch, a barrier, the address of a
// synchronising access, a caller or a local variable (value_flow.h), or if the function compares
// times at all. Registers hold
//   a time            what a clock has shown, plus or minus what no clock has
//   a duration        the difference of two times: the same whenever it is taken
//   something else made of a time, by a multiplication or a division
//
// May be too large, never too small: a register that may hold a time on one way to an instruction
// holds one.
#pragma once

#include "ptx/bit_vector.h"
#include "ptx/cfg.h"
#include "ptx/module.h"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace heddle::ptx {

/// Does the instruction read a clock?
bool reads_clock(const Instruction& instruction);
bool reads_clock(const Function& function);

class ClockFlow {
public:
  ClockFlow(const Function& function, const Cfg& cfg);

  enum class Reading : std::uint8_t {
    None,
    Data,
    Decides
  };
  Reading reading(std::uint32_t instruction) const { return readings_[instruction]; }
  bool held_before(std::uint32_t instruction) const { return held_.test(instruction); }
  bool absolute() const { return absolute_; }

  enum class Clock : std::uint8_t {
    Cycles,
    CyclesLow, // the lower half
    Nanoseconds,
    NanosecondsLow
  };
  struct Time {
    std::uint32_t index = 0; // in Function::registers
    Clock of{};
  };
  /// Those that matter, before a reading that decides; nullptr: what times are is not known of all.
  const std::vector<Time>* times_at(std::uint32_t instruction) const {
    const auto known = times_.find(instruction);
    return known != times_.end() ? &known->second : nullptr;
  }

private:
  enum class Holds : std::uint8_t {
    Nothing, // of a clock
    Duration,
    Cycles, // a time, and of which clock
    CyclesLow,
    Nanoseconds,
    NanosecondsLow,
    Made // of a time
  };
  static bool is_time(Holds holds) { return holds >= Holds::Cycles && holds < Holds::Made; }

  using State = std::vector<Holds>; // by slot
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};
  /// Gives a slot to each register that may hold something that comes from a reading.
  void find_carriers();
  static Holds join(Holds a, Holds b);
  Holds of(const Operand& operand, const State& state) const;
  Holds made_by(const Instruction& i, const State& state) const;
  static Holds convert(const Instruction& i, Holds from);
  void step(std::uint32_t instruction, State& state) const;
  void note_times(std::uint32_t n, const State& state, const BitVector& live);
  void find_readings(const std::function<const BitVector&(std::uint32_t)>& live_behind);
  void compare(const Instruction& i, const State& state, const BitVector& live_behind);

  const Function& function_;
  std::vector<Reading> readings_;
  std::vector<std::uint32_t> slots_;    // by register
  std::vector<std::uint32_t> carriers_; // registers by slot
  BitVector held_;
  std::map<std::uint32_t, std::vector<Time>> times_;
  bool compares_ = false, absolute_ = false;
};

} // namespace heddle::ptx
