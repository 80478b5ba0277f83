// Implements block.h: a program that is watched in compiled code (isa/region.h, RegionWatch).
//
// Compiled code knows nothing of unwritten bits: it is entered, and goes on, only while no register
// of the frame has any. Then nothing but accesses to memory concerns the monitor: stores write all
// their bits, and a load of bits that somebody has not written is the interpreter's, as is what
// follows it.
#include "isa/region.h"

#include "isa/ops_address.h"
#include "unwritten/block.h"

#include <algorithm>
#include <bit>

namespace heddle::unwritten {

using isa::LaneMask;

/// Has somebody written everything between the lowest and the highest address, which are close?
bool BlockUnwritten::reads_written(
    isa::Exec& exec,
    const Use& use,
    LaneMask lanes,
    const std::uint64_t (&address)[isa::warp_size]
) {
  constexpr std::int64_t close = 256;
  const std::uint64_t from = address[std::countr_zero(lanes)];
  std::int32_t lowest = 0; // distances from there, in which a vector has room for more lanes
  std::int32_t highest = 0;
  std::uint64_t far = 0;
  for (std::size_t lane = 0; lane < isa::warp_size; ++lane) {
    const bool executes = (lanes >> lane & 1) != 0;
    const std::uint64_t distance = executes ? address[lane] - from : 0;
    far |= distance + close;
    const auto near = static_cast<std::int32_t>(distance);
    lowest = std::min(lowest, near);
    highest = std::max(highest, near);
  }
  const std::uint64_t low = from + static_cast<std::uint64_t>(std::int64_t{lowest});
  const std::uint64_t bytes = static_cast<std::uint64_t>(highest - lowest) + use.bytes_accessed();
  if (far >= 2 * close || use.in_local || (!use.in_shared && isa::in_window(low))) {
    return false;
  }
  const Place at = place(exec, low, use.in_shared, /*local=*/false, 0);
  return at.area != nullptr && at.area->contains(at.offset, bytes) &&
         at.area->all_written(at.offset, bytes);
}

/// Can the access put nothing unwritten into a register? A store is noted.
bool BlockUnwritten::is_plain(
    isa::Exec& exec,
    const Use& use,
    LaneMask lanes,
    const std::uint64_t (&address)[isa::warp_size]
) {
  const std::uint64_t bytes = use.bytes_accessed();
  const bool store = use.kind == Kind::Store;
  if (!store && reads_written(exec, use, lanes, address)) {
    return true;
  }
  for (LaneMask m = lanes; m != 0;) {
    const int lane = std::countr_zero(m);
    const auto first = static_cast<std::size_t>(lane);
    // Lanes whose bytes lie behind each other at once; each has local memory of its own.
    std::size_t end = first + 1;
    const bool whole = lanes == isa::all_lanes && !use.in_local;
    while (whole && end < isa::warp_size && address[end] == address[end - 1] + bytes) {
      ++end;
    }
    const Place at = place(exec, use, address[first], lane);
    if (at.area == nullptr) {
      m &= m - 1;
      continue;
    }
    m &= end == isa::warp_size ? 0 : ~LaneMask{0} << end;
    const std::uint64_t all = (end - first) * bytes;
    if (!at.area->contains(at.offset, all)) {
      return false;
    }
    if (store) {
      at.area->written(at.offset, all);
    } else if (!at.area->all_written(at.offset, all)) {
      return false;
    }
  }
  return true;
}

std::uint64_t BlockUnwritten::accessed_in_region(
    isa::RegionContext& context,
    const isa::Op& op,
    LaneMask lanes,
    const std::uint64_t* each,
    std::uint64_t base,
    std::int64_t stride
) {
  isa::Exec& exec = *context.exec;
  auto& self = unwritten_in(static_cast<machine::Block&>(exec.environment()));
  const Use* use = self.find_use(exec.code(), op);
  if (use == nullptr) {
    return 1;
  }
  std::uint64_t address[isa::warp_size];
  isa::RegionWatch::addresses(each, base, stride, address);
  return self.is_plain(exec, *use, lanes, address) ? 1 : 0;
}

bool BlockUnwritten::may_call_in_region(isa::Exec& exec, const isa::Op& op) {
  auto& self = unwritten_in(static_cast<machine::Block&>(exec.environment()));
  const Use* known = self.find_use(exec.code(), op);
  if (known == nullptr) {
    return true;
  }
  const Use& use = *known;
  switch (use.kind) {
  case Kind::Load:
  case Kind::Update: {
    if (use.at_parameters) {
      return true;
    }
    std::uint64_t address[isa::warp_size];
    addresses(exec, use, address);
    return self.is_plain(exec, use, exec.mask(), address);
  }
  case Kind::Shuffle: // reads from lanes that have ended
    return exec.warp().live == isa::all_lanes;
  default:
    return true;
  }
}

bool BlockUnwritten::may_enter_region(isa::Exec& exec) {
  auto& block = static_cast<machine::Block&>(exec.environment());
  auto& self = unwritten_in(block);
  if (!self.pending_.empty()) {
    return false;
  }
  Registers& r = self.registers(exec.frame());
  if (r.any) {
    r.any = std::ranges::any_of(r.lanes, [](LaneMask lanes) { return lanes != 0; });
  }
  return !r.any;
}

const isa::RegionWatch* BlockUnwritten::region_watch() const {
  static constexpr isa::RegionWatch watch{
      .access = accessed_in_region,
      .may_call = may_call_in_region,
      .may_enter = may_enter_region,
      .enough_ops = 6 // each of which is looked at in the interpreter
  };
  return &watch;
}

} // namespace heddle::unwritten
