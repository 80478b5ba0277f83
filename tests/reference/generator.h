// Random programs in PTX: one kernel of one to four threads that exchange values, pass them through
// whatever PTX has for values to pass through, and decide by them whether to hang.
//
//   const Generated program = generate({.seed = 7});
//   program.program()        // the kernel `k`, whose parameter is the address of its memory
//
// The lines of the kernel's body stay apart, so that a program on which two searches disagree can
// be made smaller by leaving some of them out (minimise.h).
#pragma once

#include "reduce/configurations.h"
#include "reduce/micro_program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::differ {

struct Generated {
  std::uint64_t seed = 0;
  enumeration::Shape shape{};
  unsigned threads = 2;
  std::vector<std::string> functions; // that the kernel calls
  std::vector<std::string> body;      // statements; a label is one of its own
  unsigned words = 0;                 // registers of each kind
  // As in enumeration::MicroProgram.
  std::vector<enumeration::HostOperation> host, beside;
  bool prompt = true, weak = false, lockstep = false;
  model::ProgressModel progress{};
  std::optional<bool> hangs;                 // whoever has written it says so
  std::optional<enumeration::Reduction> aim; // what its idiom is for: searched without it, too

  /// It asks a clock: what the search may say is not compared, only what it must ([CLOCK]).
  bool asks_clocks() const;
  enumeration::MicroProgram program() const;
};

struct Wish {
  std::uint64_t seed = 0;
  unsigned length = 5; // statements of a thread, at most
};

Generated generate(const Wish& wish);

} // namespace heddle::differ
