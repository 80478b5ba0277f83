// Retry loops ([RED-RETRIES]): updates of one place in memory that are made of compare-and-swap.
//
//   old = *p;                                                  // or any guess
//   do { seen = old; old = cas(p, seen, f(seen)); } while (old != seen);
//
//   for (const RetryLoop& loop : retry_loops(function, cfg)) …
//
// Whatever happens in between, such a loop does what one atomic operation would do that replaces
// the value v of the place by f(v) (or, where it may be left before the exchange, does nothing for
// some v): a round that fails has changed nothing, and the next one begins with the value that was
// there then, as if the loop began. (Pure loops: Flanagan, Freund, Qadeer, "Exploiting purity for
// atomicity", 2005.) What it does not promise is an end, if others change the place forever.
//
// So of a loop is asked that it has one exchange, which is its only effect; that a round depends on
// nothing that earlier rounds have left but what the last exchange found; that it expects that
// value; and that behind the exchange it is left if and only if this has succeeded.
#pragma once

#include "analysis/bit_vector.h"
#include "analysis/cfg.h"
#include "ptx/module.h"

#include <cstdint>
#include <vector>

namespace heddle::analysis {

struct RetryLoop {
  std::uint32_t exchange = 0; // the instruction
  BitVector blocks;           // of the Cfg
  BitVector changed;          // registers that are not the same in each round
};

/// Scalar exchanges only. May miss some.
/// `any_guess`, for tests of tests: a round may expect what it likes.
std::vector<RetryLoop>
retry_loops(const ptx::Function& function, const Cfg& cfg, bool any_guess = false);

} // namespace heddle::analysis
