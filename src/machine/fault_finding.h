// Which finding of the closed list (report/finding.def) a fault of device code is.
#pragma once

#include "machine/world.h"
#include "report/finding.h"

#include <algorithm>
#include <string_view>

namespace heddle::machine {

inline report::Finding finding_of(isa::FaultKind kind) {
  using isa::FaultKind;
  using report::Finding;
  switch (kind) {
  case FaultKind::OutOfBounds:
    return Finding::OutOfBounds;
  case FaultKind::Misaligned:
    return Finding::Misaligned;
  case FaultKind::Null:
    return Finding::Null;
  case FaultKind::UseAfterFree:
    return Finding::UseAfterFree;
  case FaultKind::ReadOnly:
    return Finding::ReadOnly;
  case FaultKind::BadSpace:
    return Finding::WrongSpace;
  case FaultKind::HostMemory:
    return Finding::HostMemory;
  case FaultKind::PeerMemory:
    return Finding::PeerMemory;
  case FaultKind::StackOverflow:
    return Finding::StackOverflow;
  case FaultKind::Assert:
    return Finding::Assert;
  case FaultKind::Trap:
    return Finding::Trap;
  case FaultKind::IllegalInstruction:
    return Finding::IllegalInstruction;
  case FaultKind::BadCall:
    return Finding::BadCall;
  case FaultKind::BarrierMisuse:
    return Finding::BarrierMisuse;
  case FaultKind::BarrierEnded:
    return Finding::BarrierDivergence;
  case FaultKind::BarrierReused:
    return Finding::BarrierReused;
  case FaultKind::WarpgroupMisuse:
    return Finding::WarpgroupMisuse;
  case FaultKind::HeapMisuse:
    return Finding::InvalidFree;
  }
  return Finding::Trap;
}

/// How the text of a fault of Block::divergence() begins.
inline constexpr std::string_view divergent_barrier = "barrier in divergent code";

/// Is the instruction, as PTX text with or without a guard, one in which the lanes of a warp meet?
inline bool is_warp_collective(std::string_view instruction) {
  if (instruction.starts_with('@')) {
    instruction.remove_prefix(std::min(instruction.size(), instruction.find(' ') + 1));
  }
  for (const std::string_view name :
       {"shfl.sync", "vote.sync", "match.", "redux.sync", "elect.sync", "bar.warp.sync"}) {
    if (instruction.starts_with(name)) {
      return true;
    }
  }
  return false;
}

inline report::Finding finding_of(const FaultReport& fault) {
  using report::Finding;
  switch (fault.kind) {
  case FaultReport::Kind::Unsupported:
    return Finding::Unsupported;
  case FaultReport::Kind::Deadlock:
    return Finding::Deadlock;
  case FaultReport::Kind::Starvation:
    return Finding::Starvation;
  case FaultReport::Kind::Livelock:
    return Finding::Livelock;
  case FaultReport::Kind::Fault:
    break;
  }
  if (fault.fault.kind == isa::FaultKind::BarrierMisuse && is_warp_collective(fault.instruction)) {
    return Finding::WarpMask;
  }
  if (fault.fault.kind == isa::FaultKind::HeapMisuse && fault.nearest && fault.nearest->freed &&
      fault.nearest->base == fault.fault.address) {
    return Finding::DoubleFree;
  }
  if (fault.fault.text.starts_with(divergent_barrier)) {
    return Finding::BarrierDivergence;
  }
  return finding_of(fault.fault.kind);
}

} // namespace heddle::machine
