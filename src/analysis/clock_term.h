// ClockTerm: what a register holds that comes from a clock, and what an instruction makes of it.
//
//   ClockTerm t = ClockTerm::shown("%clock64", 3);      // reading 3 of the function
//   t = made_of(instruction, {a, b}, stays);            // the destination, from operands 1, 2, …
//   t = t.behind_reading();                             // a clock is read once more
//   if (const auto test = test_of(instruction, a, b)) … // a comparison of which both answers are
//                                                       // known to be possible, and when
//
// Of a comparison that ClockTest describes the answer depends on one thing alone: whether the time
// that has passed is below a limit. That is what a search has to know so that two answers of a
// clock stand for all (spec/clocks.md). Whatever is made otherwise is `Made`, and a comparison of
// that is none of these.
//
// Conservative: a term may be Made that could be followed, never the other way around.
#pragma once

#include "analysis/clock_condition.h"
#include "ptx/module.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace heddle::analysis {

/// Is the operand a clock: %clock, %clock_hi, %clock64, or %globaltimer or one of its halves?
bool is_clock(const ptx::Operand& operand);
bool is_comparison(const ptx::Instruction& instruction);

struct ClockTerm {
  enum class Kind : std::uint8_t {
    Unset,      // on no way yet
    Nothing,    // of a clock
    Time,       // what a clock has shown, plus or minus what no clock has
    TimeLow,    // the lower 32 bits of that
    TimeWide,   // these as 64 bits, with their sign
    Passed,     // the difference of two times, 64 bits
    Real,       // that as a floating-point number, times a positive constant
    PassedLow,  // its lower 32 bits; in 64 bits, with zeros
    PassedWide, // in 64 bits, with their sign
    Apart,      // the difference of two TimeWide
    Made        // something else
  };
  Kind kind{};
  bool nanoseconds = false; // Time…: of %globaltimer
  bool old = false;         // Time…: a clock has been read since
  bool put_off = false;     // Time…: … and something had been added before that
  bool moved = false;       // Passed, Real: negated, or something has been added
  bool varies = false;      // what has been added is not always the same
  std::uint64_t shape = 0; // names what has been made of the difference, or of the time; 0: nothing
  std::uint64_t of = 0;    // the readings that it comes from; reading n is bit n % 64
  std::uint64_t since = 0; // Passed…: those of the earlier time

  static ClockTerm shown(std::string_view clock, std::uint32_t reading);
  bool nothing() const { return kind <= Kind::Nothing; }
  bool is_time() const { return kind >= Kind::Time && kind <= Kind::TimeWide; }
  /// What a thread remembers is what the register holds, whatever has been added to it.
  ClockTerm behind_reading() const;
  bool has_passed() const { return kind >= Kind::Passed && kind <= Kind::Apart; }
  bool operator==(const ClockTerm&) const = default;
};

/// What a register holds that gets one or the other.
ClockTerm join(const ClockTerm& a, const ClockTerm& b);

/// What an instruction makes that computes: of its operands from 1 on. `stays`: has an operand
/// always the same value?
ClockTerm made_of(
    const ptx::Instruction& i,
    const std::vector<ClockTerm>& from,
    const std::function<bool(const ptx::Operand&)>& stays,
    ClockCondition without = ClockCondition::None
);

struct ClockTest {
  /// How two representatives are chosen, one for each answer.
  enum class Way : std::uint8_t {
    Whole,       // no time has passed, or more than any limit
    LowUnsigned, // the least and the greatest number of 32 bits has passed
    LowSigned,
    Apart,         // the earlier time is the greatest, or the least number of 32 bits with a sign
    OrderUnsigned, // the earlier time is the greatest, or the least number of 32 bits
    OrderSigned,
    Moment // a time is compared with what no clock has shown
  };
  Way way{};
  bool strict = false;  // the answer changes behind equality, not at it
  std::uint64_t of = 0; // readings
  std::uint64_t since = 0;
  std::uint64_t shape = 0;
  const ptx::Operand* limit = nullptr; // nullptr: it is in the earlier time
  bool whole_numbers = true;
};
std::optional<ClockTest> test_of(
    const ptx::Instruction& i,
    const ClockTerm& a,
    const ClockTerm& b,
    ClockCondition without = ClockCondition::None
);

} // namespace heddle::analysis
