// The classical families of litmus tests, each with many strengths, scopes, fences and placements
// of its threads in blocks, clusters and devices.
//
//   for (const Shape& s : shapes()) … uniform_programs(s) …; mixed_program(s, 17)
//
// A shape is written as in the literature: "Wx Wy, Ry Rx" is message passing. W: store, R: load,
// U: an update (exchange), A: an update without a result, B: a barrier of the block.
#pragma once

#include "memory/litmus.h"

#include <cstdint>
#include <vector>

namespace heddle::litmus {

struct Shape {
  const char* name;
  const char* threads;
};

const std::vector<Shape>& shapes();
/// In each placement: all accesses of one strength and scope, and one kind of fence between any two
/// accesses of a thread, or none.
std::vector<Program> uniform_programs(const Shape& shape);
/// Each access, fence and place of a thread drawn by itself. The same seed is the same program.
Program mixed_program(const Shape& shape, std::uint64_t seed);

} // namespace heddle::litmus
