// Election: does it matter which lane elect.sync elects? PTX promises one lane, the same one for
// the same mask, and not which.
//
//   if (election_matters(function, cfg, n)) …    // instruction n is elect.sync
//
// It matters if the number of the elected lane is used for anything, if a ballot or activemask
// tells which one it was, or if what the elected lane does otherwise than the others meets what
// lanes do otherwise by their number: a register that comes from the election, or any register
// behind a branch by it, is used together with one that comes from %tid, %laneid, a mask of lanes,
// an atomic update or local memory.
//
// Misses: an election whose lane matters only because of the order of that lane's own accesses. So
// a verdict names the lane that is taken in any case.
#pragma once

#include "analysis/cfg.h"
#include "ptx/module.h"

#include <cstdint>

namespace heddle::analysis {

bool election_matters(const ptx::Function& function, const Cfg& cfg, std::uint32_t n);

} // namespace heddle::analysis
