// How many lanes the loops of handlers go through: a warp's, or one in the bitcode that the
// compiler of regions widens to as many as it wants (region_exec.h). Masks keep their 32 bits;
// there, bit 0 is the lane.
#pragma once

#include "isa/op.h"

namespace heddle::isa {

#if defined(HEDDLE_REGION_HANDLERS)
inline constexpr int lane_count = 1;
#else
inline constexpr int lane_count = warp_size;
#endif

} // namespace heddle::isa
