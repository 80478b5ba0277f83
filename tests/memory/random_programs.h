// Random litmus programs, larger than the bounds of main.cpp: two to four threads of two to five
// accesses to two or three places, with fences, barriers, updates of every kind, and what is read
// deciding about values, places and branches.
//
//   const Program p = random_program(17);   // the same number is the same program
//   const Program least = smallest(p, [](const Program& p) { return differs(p); });
#pragma once

#include "memory/litmus.h"

#include <cstdint>
#include <functional>

namespace heddle::litmus {

/// Every thread of a block has as many barriers as the others. No more than 20 instructions, and no
/// more than 16 of what an outcome has.
Program random_program(std::uint64_t seed);

/// The program with as little of it left as `still` holds for: leaves out instructions and
/// dependencies, one after the other, until nothing can be left out.
Program smallest(Program p, const std::function<bool(const Program&)>& still);

} // namespace heddle::litmus
