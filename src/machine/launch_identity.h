// What a launch is, apart from who made it and when: two launches with one identity behave alike in
// equal states.
//
//   std::uint64_t name = launch_identity(grid);
//   for (const ByteRange& r : parameter_bytes_read(kernel)) … // ascending, disjoint
//
// All that a thread may learn of its launch counts: the code and where its variables lie, the
// shape, and of the parameters the bytes that the code can read. The others are padding of the
// structures that a host passes by value; they hold whatever the host's stack held, which differs
// between two executions of one program. %gridid counts only where some code of the program reads
// it, since no two launches have the same.
//
// May be too much, never too little: a parameter whose address is taken counts as read as a whole.
#pragma once

#include "isa/program.h"
#include "machine/grid.h"

#include <cstdint>
#include <vector>

namespace heddle::machine {

/// The same in every process of an exploration.
std::uint64_t launch_identity(Grid& grid);

struct ByteRange {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};

std::vector<ByteRange> parameter_bytes_read(const isa::Kernel& kernel);

} // namespace heddle::machine
