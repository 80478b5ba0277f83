// A litmus program: threads at places of the scope hierarchy, each a few accesses and fences to a
// few places. Every write writes a value of its own, so an outcome tells which write each read has
// read.
//
//   Program p = …;  const Outcomes a = axioms::outcomes(p), b = machine_outcomes(p);
#pragma once

#include "weak/scope.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::litmus {

struct Instruction {
  enum class Kind : std::uint8_t {
    Load,
    Store,
    Update, // an exchange
    Fence
  } kind{};
  std::uint8_t place = 0;
  bool strong = false;
  weak::Scope scope{};
  bool acquire = false, release = false, sc = false;

  bool reads() const { return kind == Kind::Load || kind == Kind::Update; }
  bool writes() const { return kind == Kind::Store || kind == Kind::Update; }
  bool is_fence() const { return kind == Kind::Fence; }
  bool operator==(const Instruction&) const = default;
};

struct Program {
  std::vector<weak::Location> locations; // of its threads
  std::vector<std::vector<Instruction>> threads;
  int places = 2;
};

/// Instruction `slot` of thread `thread` as a value that it writes: 1 to 15.
inline std::uint64_t written_by(const Program& p, std::size_t thread, std::size_t slot) {
  std::uint64_t value = 1 + slot;
  for (std::size_t t = 0; t < thread; ++t) {
    value += p.threads[t].size();
  }
  return value;
}

/// What each read has read, in the order of threads and instructions, then what each place holds at
/// the end: 4 bits each. Sorted. With a data race nothing else counts.
struct Outcomes {
  bool race = false;
  std::vector<std::uint64_t> outcomes;
  bool operator==(const Outcomes&) const = default;
};

std::string text(const Program& p);
std::string text(const Outcomes& o);

Outcomes machine_outcomes(const Program& p);

} // namespace heddle::litmus
