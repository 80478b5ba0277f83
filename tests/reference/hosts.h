// What the host does around the kernel of a random program.
#pragma once

#include "base/random.h"
#include "reference/generator.h"

namespace heddle::differ {

/// Launches the kernel, once or twice, with copies, sets, events, host functions and questions around it, in two
/// streams and sometimes from two threads.
void draw_host(Random& random, Generated& program);

/// May two grids of the kernel be under way?
bool launches_twice(const Generated& program);

} // namespace heddle::differ
