// Which bytes of a kernel's parameters its code can read. The others are padding of the structures
// that a host passes by value; they hold whatever the host's stack held, which differs between two
// executions of one program and is no part of what a launch is.
//
//   for (const ByteRange& r : parameter_bytes_read(kernel)) … // ascending, disjoint
//
// May be too much, never too little: a parameter whose address is taken counts as read as a whole.
#pragma once

#include "isa/program.h"

#include <cstdint>
#include <vector>

namespace heddle::machine {

struct ByteRange {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};

std::vector<ByteRange> parameter_bytes_read(const isa::Kernel& kernel);

} // namespace heddle::machine
