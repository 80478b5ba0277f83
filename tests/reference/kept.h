// A random program as a file: what is around its kernel in comments, then the statements of its
// body.
//
//   // shape 0                  enumeration::Shape, by its number
//   // threads 2
//   // host 0:0 14:0            what the host does: enumeration::HostKind by its number, and a
//   value
//   // weak                     of other memory models, lockstep, other guarantees of progress
//   // kills RULE:MUTANT        mutants that this program notices
//   // terminates               what is true of a program that asks a clock: the oracle tries some
//   values only
//   // hangs
//   ld.param.u64 %d1, [memory];
#pragma once

#include "reference/generator.h"

#include <string>
#include <vector>

namespace heddle::differ {

struct Kept {
  Generated program;
  std::vector<std::string> kills;
};

Kept read_kept(const std::string& file);
std::string as_kept(const Generated& program);

} // namespace heddle::differ
