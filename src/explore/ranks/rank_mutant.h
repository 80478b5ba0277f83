// Mutants of a search on several ranks: ways to break its rules on purpose. The enumeration of
// small systems (tests/unit/explore/rank_model_test.cpp) must notice each of them; nobody else sets
// one.
#pragma once

#include <cstdint>

namespace heddle::explore {

enum class RankMutant : std::uint8_t {
  None,
  // Of claims (claim_rule.h):
  ClaimsToldFirst,  // a rank tells what it claims before it looks whether another one has
  ClaimsHaveNoKind, // moves of devices and ways of host threads have the same claim
  ClaimsTakeAny,    // a state is not visited if any of its moves has been claimed
  // Of the end (rank_work.h):
  EndLooksLate,      // a rank looks whether it is idle after it has looked for what it gives away
  EndSaysIdleFirst,  // … and says so before it sends that
  EndLooksLateAtAll, // rank 0 looks so late
  EndForgetsTakers   // rank 0 forgets to which ranks it has given work
};

} // namespace heddle::explore
