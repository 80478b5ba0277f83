// A block that compiled code executes as a whole: isa/region.h. Its warps have no program counters
// then. When compiled code leaves a group of lanes to the interpreter, all lanes get theirs
// (spread()), after the other groups have come to a barrier, to their end, or to an op of the
// interpreter's, too. So whatever a barrier or an end means is decided in one place, block.cpp, and
// threads get their turns from then on as in every block, until all live ones stand behind a
// barrier of the block that has just opened (resume()).
//
// A group has a bounded amount of fuel for each barrier that opens, and only so many barriers may
// open: a bounded number of steps. A block that comes back may do less in one go than one that
// starts, because it comes back as often as it has turns for.
#include "base/check.h"
#include "isa/region_fault.h"
#include "machine/block.h"

#include <cstring>
#include <utility>

namespace heddle::machine {

using isa::LaneMask;
using isa::Op;
using isa::RegionContext;
using isa::RegionGroup;
using isa::Stop;

namespace {

struct Budget {
  std::int64_t fuel = 0;            // of a group for each barrier
  std::uint64_t poll_doublings = 0; // see RegionContext
  std::int64_t barriers = 0;
};
constexpr Budget budget_of_group{16 * 4096, 7, 4096};
constexpr Budget budget_of_resumed_group{4096, 3, 64};

} // namespace

/// Compiled code for the block as a whole; nullptr: there is none.
isa::Region Block::whole_region() const {
  const isa::Region region = __atomic_load_n(&grid_.kernel().code->region, __ATOMIC_ACQUIRE);
  if (region == nullptr || rules_ != nullptr || monitor_ != nullptr || cluster_.size() != 1) {
    return nullptr;
  }
  const isa::RegionWords words = isa::region_words(region);
  const Dim3& block = grid_.config().block;
  const bool fits = words.fits(isa::region_row(block.x, block.y, block.z));
  return words.whole_blocks() && fits ? region : nullptr;
}

/// Groups of the warps' live lanes.
void Block::make_groups(isa::Region region) {
  const isa::RegionWords words = isa::region_words(region);
  const std::uint32_t lanes = words.lanes();
  const LaneMask ones = lanes == isa::warp_size ? isa::all_lanes : (LaneMask{1} << lanes) - 1;
  region_ = region;
  groups_.clear();
  for (WarpState& state : warps_) {
    for (std::uint32_t first = 0; first < isa::warp_size; first += lanes) {
      RegionGroup group;
      group.special = state.warp.special;
      group.uniform = warps_[0].warp.special;
      group.local = state.warp.local;
      group.warp = &state.warp;
      group.first = first;
      group.mask = state.warp.live >> first & ones;
      group.live = state.warp.live;
      group.created = state.warp.created;
      if (group.mask != 0) {
        groups_.push_back(group);
      }
    }
  }
  slots_.resize(groups_.size() * words.slots);
  for (std::size_t n = 0; n < groups_.size(); ++n) {
    groups_[n].slots = reinterpret_cast<std::byte*>(slots_.data() + n * words.slots);
  }
}

/// False: the block starts with its warps' turns.
bool Block::prepare_compiled() {
  const isa::Code& code = *grid_.kernel().code;
  const isa::Region region = whole_region();
  if (region == nullptr) {
    return false;
  }
  write_block_specials(cluster_index_, 1);
  // A block that has ended in compiled code leaves its groups and their frames as they were.
  const bool as_before = std::exchange(ended_compiled_, false);
  if (region != region_ || resumed_ || !as_before) {
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      warps_[w].warp.live = created(w);
    }
    if (region != region_ || resumed_) { // else they are the same in all blocks
      make_groups(region);
    }
    resumed_ = false;
    for (RegionGroup& group : groups_) {
      group.frame = &group.warp->only_frame(&code, group.live);
      group.registers = group.frame->registers.data();
      group.warp->live = group.live; // a new frame is the first one of a warp without lanes
    }
  }
  for (const auto& [offset, bytes] : code.cleared) {
    for (const RegionGroup& group : groups_) {
      std::memset(group.registers + offset, 0, bytes);
    }
  }
  return true;
}

/// All threads that have not ended are behind `op`, a barrier of all of them that has just opened,
/// the executing group of `exec` excepted, which is about to go on there. True: they do so in
/// compiled code, with the next run_compiled().
bool Block::resume(isa::Exec& exec, const Op& op) {
  const isa::Code& code = *grid_.kernel().code;
  const Op* at = &op + 1;
  if (!may_compile_ || &exec.code() != &code || (at->flags & isa::Compiled) == 0) {
    return false;
  }
  const isa::Region region = whole_region();
  if (region == nullptr) {
    return false;
  }
  for (WarpState& state : warps_) {
    isa::Warp& warp = state.warp;
    const LaneMask executing = &warp == &exec.warp() ? exec.group() : 0;
    const LaneMask others = warp.live & ~executing;
    if (warp.live == 0) {
      continue;
    }
    const auto some = static_cast<std::size_t>(std::countr_zero(warp.live));
    const isa::Frame* frame = warp.frame[some];
    LaneMask elsewhere = 0;
    for (std::size_t lane = 0; lane < isa::warp_size; ++lane) {
      elsewhere |= static_cast<LaneMask>(warp.pc[lane] != at) << lane & others;
      elsewhere |= static_cast<LaneMask>(warp.frame[lane] != frame) << lane & warp.live;
    }
    // Nothing may be under way that compiled code does not know of.
    if (elsewhere != 0 || warp.blocked != 0 || !warp.is_only_frame(frame, code) ||
        (state.cluster_arrived | state.cluster_waiting | state.cluster_passed) != 0 ||
        !state.warpgroup_ahead.empty()) {
      return false;
    }
  }
  make_groups(region);
  for (RegionGroup& group : groups_) {
    group.frame = group.warp->frame[static_cast<std::size_t>(std::countr_zero(group.live))];
    group.registers = group.frame->registers.data();
  }
  resumed_ = true;
  begins_at_ = static_cast<std::uint32_t>(at - code.ops.data());
  goes_compiled_ = true;
  return true;
}

Stop Block::run_compiled(isa::Exec& exec, std::size_t& warp) {
  goes_compiled_ = false;
  const isa::Code& code = *grid_.kernel().code;
  exec.enter_block(exec_block());
  RegionContext context;
  exec.enter_code(context, code);
  context.local_stride = warps_.front().warp.local_stride;
  context.local_bytes = warps_.front().warp.local_bytes;
  const Budget& budget = resumed_ ? budget_of_resumed_group : budget_of_group;
  context.poll_doublings = budget.poll_doublings;
  context.barriers = budget.barriers;
  context.first_group = groups_.data();
  context.groups_end = groups_.data() + groups_.size();
  std::uint32_t begin = resumed_ ? begins_at_ : isa::region_from_slots;
  stands_.assign(groups_.size(), {});
  rests_.clear();
  // A group that leaves does not keep those behind it from coming to the next barrier: to bring
  // them there in compiled code costs less than their turns. That barrier does not open here.
  for (std::size_t n = 0; n < groups_.size();) {
    context.group = &groups_[n];
    context.fuel = budget.fuel;
    context.rests = 0;
    const Op* left = region_(context, begin);
    isa::note_guess(code, context);
    const bool ended = std::exchange(context.ended, 0) != 0;
    if (ended && n == 0) {
      exec.add_executed(context.executed);
      ended_compiled_ = !resumed_;
      live_ = 0;
      cluster_.note_progress();
      return Stop::Exited;
    }
    if (left == nullptr && !ended) {
      exec.add_executed(context.executed);
      return fail_compiled(exec, context, budget.fuel, warp);
    }
    const auto end =
        ended ? groups_.size() : static_cast<std::size_t>(context.group - groups_.data());
    for (; n < end; ++n) {
      stands_[n] = {code.ops.data() + context.arrived, Stand::InFront, context.arrived + 1};
    }
    begin = context.begin;
    if (n < groups_.size()) {
      stands_[n] = {left, Stand::InFrame, 0};
      for (std::uint64_t rest = 0; rest < context.rests; ++rest) {
        const LaneMask lanes = context.rest[rest].lanes << groups_[n].first;
        rests_.push_back({groups_[n].warp, lanes, context.ops + context.rest[rest].op});
      }
      ++n;
    }
    context.barriers = 0;
  }
  exec.add_executed(context.executed);
  spread(context);
  return Stop::Blocked;
}

/// A group has stopped with a fault. The rest of its warp may fail at the same op.
Stop Block::fail_compiled(
    isa::Exec& exec,
    RegionContext& context,
    std::int64_t fuel,
    std::size_t& warp
) {
  isa::RegionFault fault;
  fault.add(exec, context);
  isa::Warp& failed = *context.group->warp;
  warp = index_of(failed);
  failed.frame.fill(context.group->frame);
  const std::uint32_t begin = context.begin;
  context.barriers = 0;
  for (RegionGroup* next = context.group + 1;
       next != groups_.data() + groups_.size() && next->warp == &failed;
       ++next) {
    context.group = next;
    context.first_group = next;
    context.groups_end = next + 1;
    context.fuel = fuel;
    if (region_(context, begin) == nullptr && context.ended == 0) {
      fault.add(exec, context);
    }
  }
  fault.put(exec);
  return fault.why;
}

/// All threads get their program counters: groups stand where run_compiled() has noted.
void Block::spread(RegionContext& context) {
  if (!resumed_) {
    start_warps(/*keep_frames=*/true);
  }
  for (std::size_t n = 0; n < groups_.size(); ++n) {
    RegionGroup& group = groups_[n];
    HEDDLE_CHECK(
        group.warp->frame[group.first + static_cast<std::size_t>(std::countr_zero(group.mask))] ==
            group.frame,
        "a warp has another frame than compiled code knows"
    );
    const Stand& stand = stands_[n];
    for (LaneMask m = group.mask << group.first; m != 0; m &= m - 1) {
      group.warp->pc[static_cast<std::size_t>(std::countr_zero(m))] = stand.at;
    }
    if (stand.where == Stand::InFront) {
      context.group = &group;
      context.spill = 1;
      context.rests = 0;
      (void)region_(context, stand.behind | isa::region_from_slots);
    }
  }
  for (const Rest& rest : rests_) {
    for (LaneMask m = rest.lanes; m != 0; m &= m - 1) {
      rest.warp->pc[static_cast<std::size_t>(std::countr_zero(m))] = rest.at;
    }
  }
}

} // namespace heddle::machine
