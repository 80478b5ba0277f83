// A litmus program: threads at places of the scope hierarchy, each a few accesses and fences to a
// few places. Every write writes a value of its own, so an outcome tells which write each read has
// read.
//
//   Program p = …;  const Outcomes a = axioms::outcomes(p), b = machine_outcomes(p);
#pragma once

#include "weak/scope.h"
#include "weak/weak_memory.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::litmus {

struct Instruction {
  enum class Kind : std::uint8_t {
    Load,
    Store,
    Update, // an exchange
    Fence,
    Reduce,  // red.or of `reduce_bit`: an update without a result, and no read operation (8.3)
    Barrier, // of all threads of the block that have one
    Add,     // adds `value`, modulo 16
    Cas      // writes `value` if it finds `expected`; else it is a load
  } kind{};
  std::uint8_t place = 0;
  bool strong = false;
  weak::Scope scope{};
  bool acquire = false, release = false, sc = false;
  bool is_volatile = false; // written so; it means relaxed.sys

  // What an earlier instruction of the thread has read, by its number, decides …
  enum class Use : std::uint8_t {
    Nothing,
    Data,      // an odd number is written one higher (modulo 16)
    Address,   // an odd number means the place after `place`
    IfZero,    // it is skipped, unless that was 0
    IfNotZero, // … unless it was another number
    IfOdd
  } use{};
  std::uint8_t from = 0;
  std::uint8_t value = 0; // that it writes; 0: the number of the instruction
  std::uint8_t expected = 0;

  bool reads() const { return kind == Kind::Load || exchanges(); }
  bool exchanges() const { return kind == Kind::Update || kind == Kind::Add || kind == Kind::Cas; }
  bool updates() const { return exchanges() || kind == Kind::Reduce; }
  bool writes() const { return kind == Kind::Store || updates(); }
  bool is_fence() const { return kind == Kind::Fence; }
  bool is_barrier() const { return kind == Kind::Barrier; }
  bool accesses() const { return !is_fence() && !is_barrier(); }
  bool operator==(const Instruction&) const = default;
};

struct Program {
  std::vector<weak::Location> locations; // of its threads
  std::vector<std::vector<Instruction>> threads;
  int places = 2;
  bool equal_updates = false; // they all write the same value
};

inline constexpr std::uint64_t reduce_bit = 8;

/// Instruction `slot` of thread `thread` as a number from 1 to 14.
inline std::uint64_t number_of(const Program& p, std::size_t thread, std::size_t slot) {
  std::uint64_t value = 1 + slot;
  for (std::size_t t = 0; t < thread; ++t) {
    value += p.threads[t].size();
  }
  return value;
}

/// The value that it writes.
inline std::uint64_t value_of(const Program& p, std::size_t thread, std::size_t slot) {
  constexpr std::uint64_t of_all = 15;
  const Instruction& i = p.threads[thread][slot];
  if (i.kind == Instruction::Kind::Reduce) {
    return reduce_bit; // and the bits that it finds
  }
  if (i.value != 0) {
    return i.value;
  }
  const bool update = i.kind == Instruction::Kind::Update;
  return p.equal_updates && update ? of_all : number_of(p, thread, slot);
}

/// What an instruction is in an execution in which the earlier ones of its thread have read `read`,
/// a number for each slot: its place, what it adds or writes, and whether it is executed at all.
struct Executed {
  Instruction i;
  std::uint64_t operand = 0;
  bool skipped = false;

  /// What it writes behind a read of `found`.
  std::uint64_t written(std::uint64_t found) const {
    return i.kind == Instruction::Kind::Reduce ? found | operand
           : i.kind == Instruction::Kind::Add  ? (found + operand) % 16
                                               : operand;
  }
  /// With what it found: an exchange that does not happen is a load.
  Executed having_found(std::uint64_t found) const;
};
template <class Read>
Executed execute(const Program& p, std::size_t thread, std::size_t slot, Read&& read) {
  using Use = Instruction::Use;
  Executed e{p.threads[thread][slot], value_of(p, thread, slot)};
  const std::uint64_t by = e.i.use == Use::Nothing ? 0 : read(e.i.from);
  e.operand = e.i.use == Use::Data ? (e.operand + by % 2) % 16 : e.operand;
  if (e.i.use == Use::Address) {
    e.i.place = static_cast<std::uint8_t>((e.i.place + by % 2) % static_cast<unsigned>(p.places));
  }
  e.skipped = (e.i.use == Use::IfZero && by != 0) || (e.i.use == Use::IfNotZero && by == 0) ||
              (e.i.use == Use::IfOdd && by % 2 == 0);
  return e;
}

/// What each read has read, in the order of threads and instructions, then what each place holds at
/// the end: 4 bits each. Sorted. With a data race nothing else counts.
struct Outcomes {
  bool race = false;
  std::vector<std::uint64_t> outcomes;
  bool operator==(const Outcomes&) const = default;
};

std::string text(const Program& p);
/// The program as tests/memory/interpret.cu reads it: "lrgx10-0,srgx20d0".
std::string code(const Program& p);
/// Where its threads are, block, cluster and device: "000,110".
std::string places_of(const Program& p);
std::string text(const Outcomes& o);

/// Threads that wait at different barriers of a block forever: no litmus program.
bool hangs(const Program& p);

/// `ordered_fences`: whether WeakMemory says so in some execution.
Outcomes machine_outcomes(
    const Program& p,
    weak::Mutant mutant = weak::Mutant::None,
    bool* ordered_fences = nullptr
);

} // namespace heddle::litmus
