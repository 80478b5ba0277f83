// Clock flow: which readings of a clock decide something, and whether two answers of each stand for
// all that a clock can show.
//
//   const ClockFlow flow(function, cfg);
//   flow.reading(i)         // instruction i reads no clock, or for data only, or what it shows
//                           // decides
//   flow.follows(i)         // … by time limits alone, so that two answers stand for all
//   flow.held_before(i)     // right before i, a register holds a time that may still decide
//   flow.absolute()         // a time is compared with a value that no clock has shown
//   flow.time_at(i)         // the register that holds the time to which reading i is related, and
//                           // what it holds when no time, or when all time has passed
//   flow.stores(i)          // stores that write what comes from reading i, which decides
//
// What only says how long to sleep, or which way to go where both ways do nothing else, is data,
// too (faint registers of liveness.h). A reading decides if what it shows may reach a branch, a
// barrier, the address of a synchronising access, a caller or a local variable (value_flow.h), or
// if the function compares times at all.
//
// Readings are *followed* if (clock_term.h has the words):
// 1. everything that may be decided by what they show is decided by a ClockTest;
// 2. all tests of one earlier time have the same limit and the same way, so that they have the same
//    answer as long as no other time is read (a limit may change when the earlier time is read
//    anew);
// 3. when a clock is read, at most one earlier time is remembered that may still be tested.
// Then a thread can find out nothing about the value of a clock but one answer for each reading,
// and both answers have a representative. Whatever this analysis does not know makes a reading one
// that is not followed.
//
// May be too large, never too small: a register that may hold a time on one way to an instruction
// holds one.
#pragma once

#include "analysis/bit_vector.h"
#include "analysis/cfg.h"
#include "analysis/clock_condition.h"
#include "analysis/clock_term.h"
#include "analysis/liveness.h"
#include "ptx/module.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace heddle::analysis {

/// Does the instruction read a clock?
bool reads_clock(const ptx::Instruction& instruction);
bool reads_clock(const ptx::Function& function);

class ClockFlow {
public:
  /// `without`: for tests of tests.
  ClockFlow(
      const ptx::Function& function,
      const Cfg& cfg,
      ClockCondition without = ClockCondition::None
  );

  enum class Reading : std::uint8_t {
    None,
    Data,
    Decides
  };
  Reading reading(std::uint32_t instruction) const { return readings_[instruction]; }
  bool follows(std::uint32_t instruction) const {
    return (bad_ >> ordinals_[instruction] % 64 & 1) == 0;
  }
  bool held_before(std::uint32_t instruction) const { return held_.test(instruction); }
  bool absolute() const { return absolute_; }

  /// What each clock shows in a search: far from zero, since times become older, and with lower
  /// halves that are almost the greatest number with a sign.
  static constexpr std::uint64_t now = (std::uint64_t{1} << 62) + 0x7fff0000;
  struct Time {
    std::uint32_t index = 0;           // in Function::registers
    std::optional<std::uint64_t> soon; // none: what it holds
    std::uint64_t late = 0;
  };
  /// nullptr: none matters, or it is not followed.
  const Time* time_at(std::uint32_t instruction) const {
    const auto known = times_.find(instruction);
    return known != times_.end() ? &known->second : nullptr;
  }
  std::vector<std::uint32_t> stores(std::uint32_t instruction) const;

private:
  using State = std::vector<ClockTerm>; // by slot
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};

  BitVector live_behind(std::uint32_t instruction) const;
  bool find_readings();
  void find_carriers();
  void find_tested();
  std::vector<State> flow();
  ClockTerm of(const ptx::Operand& operand, std::uint32_t reading, const State& state) const;
  std::vector<ClockTerm> operands_of(std::uint32_t instruction, const State& state) const;
  void step(std::uint32_t instruction, State& state) const;
  void look_at(std::uint32_t instruction, const State& state);
  void note_renewed(std::uint32_t instruction, const State& state);
  void use(std::uint32_t instruction, const std::vector<ClockTerm>& from);
  void find_limits();
  bool same_limit(const ClockTest& s, const ClockTest& t) const;
  bool stays(const ptx::Operand& operand, int depth = 0) const;
  bool stays_between_tests(std::uint32_t test, const ptx::Operand& limit) const;
  bool reaches(std::uint32_t from, std::uint32_t to, const BitVector& without) const;
  void spread();
  void find_times(const std::vector<State>& entry);
  std::optional<Time> time_of(std::uint32_t index, const ClockTerm& term) const;
  bool run(bool kept);

  const ptx::Function& function_;
  const Cfg& cfg_;
  ClockCondition without_;
  Liveness liveness_;
  std::vector<Reading> readings_;
  std::vector<std::uint32_t> ordinals_; // of readings
  std::vector<std::uint32_t> slots_;    // by register
  std::vector<std::uint32_t> carriers_; // registers by slot
  std::vector<BitVector>
      asked_; // registers that are live before an instruction, and may decide something
  BitVector held_;
  std::map<std::uint32_t, BitVector>
      renewals_;                             // of a register: where it gets what has just been read
  std::map<std::uint32_t, ClockTest> tests_; // by the instruction
  std::map<std::uint32_t, std::uint64_t> stores_; // and the readings that they come from
  std::map<std::uint32_t, Time> times_;
  std::uint64_t bad_ = 0; // readings that are not followed
  bool absolute_ = false;
};

} // namespace heddle::analysis
