// Random programs in PTX: one kernel of two to four threads that exchange values, pass them through
// whatever PTX has for values to pass through, and decide by them whether to hang.
//
//   const Generated program = generate({.seed = 7});
//   program.program()        // the kernel `k`, whose parameter is the address of its memory
//
// The lines of the kernel's body stay apart, so that a program on which two searches disagree can be
// made smaller by leaving some of them out (minimise.h).
#pragma once

#include "reduce/micro_program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::differ {


struct Generated {
  std::uint64_t seed = 0;
  enumeration::Shape shape{}; // Blocks, Block, Cluster, Cooperative or Pairs
  unsigned threads = 2;
  std::vector<std::string> functions; // that the kernel calls
  std::vector<std::string> body;      // statements; a label is one of its own
  unsigned words = 0;                 // registers of each kind

  enumeration::MicroProgram program() const;
};

struct Wish {
  std::uint64_t seed = 0;
  unsigned length = 5; // statements of a thread, at most
};

Generated generate(const Wish& wish);

/// A program that is kept in a file: `// blocks 2` (or threads, of one block), `// kills RULE:MUTANT`…, and the
/// statements of its body.
struct Kept {
  Generated program;
  std::vector<std::string> kills;
};
Kept read_kept(const std::string& file);

} // namespace heddle::differ
