// Warp collectives: what lower_collective.cpp offers to the other files, and the way in:
// collect<T>.
//
//   struct Elect {
//     static constexpr CollectiveKind kind = CollectiveKind::Elect;
//     static void contribute(Exec&, const Op&, Exchange&);         // as in struct Collective
//     static void conclude(Exec&, const Op&, const Exchange&);
//     static void at_once(Exec&, const Op&);                       // the same for converged lanes
//   };
//   op.execute = collect<Elect>;
//
// With `static constexpr bool by_lanes = true` (or as a template parameter says) at_once is written
// for lane_count lanes, and what they know of each other comes from exec: so regions compute it
// (region_exec.h).
//
// The membermask is the operand Ref{op.imm2}; none: the old forms without .sync, which act on the
// lanes that happen to execute together.
#pragma once

#include "isa/exec.h"
#include "isa/lowering.h"

namespace heddle::isa {

void register_collective(LowerTable&); // shfl vote match redux activemask elect

inline Ref membermask_of(const Op& op) {
  return Ref{static_cast<std::uint32_t>(op.imm2)};
}

/// Do the executing lanes, all of one mind, make up everybody who is named? (Where a named lane has
/// ended, the environment looks whether it should have come.)
inline bool converged(Exec& exec, const std::uint32_t* membermask) {
  const LaneMask mask = exec.mask();
  const std::uint32_t wanted = membermask[std::countr_zero(mask)];
  if ((wanted & exec.warp().created) != mask) {
    return false;
  }
  std::uint32_t different = 0;
  for (int lane = 0; lane < warp_size; ++lane) {
    different |= (mask >> lane & 1) != 0 ? membermask[lane] ^ wanted : 0;
  }
  return different == 0;
}

/// Answers `&op` if every executing lane is named by its own mask; else it is a fault: nullptr.
const Op* check_membermask(Exec& exec, const Op& op, const std::uint32_t* membermask);

#if defined(HEDDLE_REGION_HANDLERS)
/// A region has found out that the lanes are converged.
template <class T> const Op* collect(Exec& exec, const Op& op) {
  if constexpr (requires { requires T::by_lanes; }) {
    T::at_once(exec, op);
    return &op + 1;
  } else {
    return exec.block(op, nullptr); // the interpreter's
  }
}
#else
template <class T> const Op* collect(Exec& exec, const Op& op) {
  const Ref ref = membermask_of(op);
  if (ref.none()) {
    T::at_once(exec, op);
    return &op + 1;
  }
  const auto* membermask = exec.in<std::uint32_t>(ref);
  if (converged(exec, membermask)) {
    T::at_once(exec, op);
    return &op + 1;
  }
  if (check_membermask(exec, op, membermask) == nullptr) {
    return nullptr;
  }
  static constexpr Collective collective{T::kind, T::contribute, T::conclude};
  return exec.environment().collective(exec, op, collective, membermask);
}
#endif

/// bar.warp.sync: nothing but the meeting.
struct WarpBarrier {
  static constexpr CollectiveKind kind = CollectiveKind::BarWarpSync;
  static constexpr bool by_lanes = true;
  static void contribute(Exec&, const Op&, Exchange&) {}
  static void conclude(Exec&, const Op&, const Exchange&) {}
  static void at_once(Exec&, const Op&) {}
};

} // namespace heddle::isa
