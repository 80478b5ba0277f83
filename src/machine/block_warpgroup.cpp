// Warpgroups: four warps that execute an instruction together, [WARPGROUP]. PTX makes a warp wait
// for its own lanes only, so that each warp goes on by itself here; what is noted is which
// instructions each has executed that others have not yet, and what was in shared memory when the
// first did: then the multiplication was under way, and it is over when any warp has waited for it.
//
// May be wrong in this direction: misses warps that execute another number of wgmma.fence,
// commit_group and wait_group, since only mma_async is compared.
#include "isa/lower_collective_wgmma.h"
#include "machine/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heddle::machine {

using isa::LaneMask;
using isa::Op;
using isa::warpgroup_warps;

bool Block::warpgroup(isa::Exec& exec, const Op& op, std::uint64_t operands) {
  const std::size_t w = index_of(exec.warp());
  const std::size_t first = w / warpgroup_warps * warpgroup_warps;
  const WarpState::WarpgroupOp here{&op, &exec.code(), operands};
  const std::size_t number = warps_[w].warpgroup_ahead.size();
  const auto wrong = [&](std::string text) {
    isa::Fault& fault = exec.fault();
    fault = {};
    fault.kind = isa::FaultKind::WarpgroupMisuse;
    fault.lane = std::countr_zero(exec.mask());
    fault.text = std::move(text);
    return false;
  };
  for (std::size_t other = first; other < first + warpgroup_warps; ++other) {
    if (other >= warps_.size() || created(other) != isa::all_lanes) {
      return wrong(
          fmt::format(
              "warps {} to {} are not a warpgroup: the block has {} threads",
              first,
              first + warpgroup_warps - 1,
              threads_
          )
      );
    }
    const auto& theirs = warps_[other].warpgroup_ahead;
    if (theirs.size() > number) {
      if (theirs[number].op != &op) {
        return wrong(
            fmt::format(
                "warp {} of the warpgroup executes this one, warp {} that at {}",
                w - first,
                other - first,
                describe_place(*theirs[number].code, *theirs[number].op)
            )
        );
      }
      if (!theirs[number].same(here)) {
        return wrong(
            fmt::format(
                "warps {} and {} of the warpgroup give different descriptors",
                w - first,
                other - first
            )
        );
      }
    } else if (const LaneMask ended = ~warps_[other].warp.live; ended != 0) {
      const Dim3 t = thread_index(other, std::countr_zero(ended));
      return wrong(
          fmt::format(
              "thread ({},{},{}) of the warpgroup has ended without executing it",
              t.x,
              t.y,
              t.z
          )
      );
    }
  }
  warps_[w].warpgroup_ahead.push_back(here);
  return true;
}

std::shared_ptr<const Block::Bytes>
Block::warpgroup_reads(isa::Exec& exec, const Op& op, Bytes (*read)(isa::Exec&, const Op&)) {
  const std::size_t w = index_of(exec.warp());
  const std::size_t first = w / warpgroup_warps * warpgroup_warps;
  auto& mine = warps_[w].warpgroup_ahead;
  std::shared_ptr<const Bytes> result;
  for (std::size_t other = first; other < first + warpgroup_warps && !mine.empty(); ++other) {
    const auto& theirs = warps_[other].warpgroup_ahead;
    if (theirs.size() >= mine.size() && theirs[mine.size() - 1].read != nullptr) {
      result = theirs[mine.size() - 1].read;
    }
  }
  if (result == nullptr) {
    result = std::make_shared<const Bytes>(read(exec, op));
  }
  if (mine.empty()) { // lanes that came from different places: another one spoke for the warp
    return result;
  }
  mine.back().read = result;
  const auto group = warps_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = group + warpgroup_warps;
  if (std::all_of(group, end, [](const WarpState& s) {
        return !s.warpgroup_ahead.empty() && s.warpgroup_ahead.front().read != nullptr;
      })) {
    std::for_each(group, end, [](WarpState& s) {
      s.warpgroup_ahead.erase(s.warpgroup_ahead.begin());
    });
  }
  return result;
}

/// `lane` of warp `w` has ended: has it left out what another warp of its warpgroup has executed?
void Block::look_who_left_warpgroup(std::size_t w, int lane) {
  const std::size_t first = w / warpgroup_warps * warpgroup_warps;
  const std::size_t number = warps_[w].warpgroup_ahead.size();
  for (std::size_t other = first; other < std::min(first + warpgroup_warps, warps_.size());
       ++other) {
    const auto& theirs = warps_[other].warpgroup_ahead;
    if (theirs.size() <= number || divergence_) {
      continue;
    }
    const WarpState::WarpgroupOp& left_out = theirs[number];
    FaultReport report =
        misuse(isa::FaultKind::WarpgroupMisuse, *left_out.code, *left_out.op, w, lane);
    report.fault.text = fmt::format(
        "warp {} of the warpgroup has executed it, this thread of warp {} has ended without",
        other - first,
        w - first
    );
    divergence_ = std::move(report);
  }
}

} // namespace heddle::machine
