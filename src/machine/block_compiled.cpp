// A block that compiled code executes as a whole, from its start: isa/region.h. Its warps have no
// program counters then. When compiled code leaves a group of lanes to the interpreter, all lanes
// get theirs (spread()): those of groups that have come to a barrier or their end stand in front of
// it, and those that had no turn since the last barrier stand behind that. So whatever a barrier or
// an end means is decided in one place, block.cpp, and threads get their turns from then on as in
// every block.
//
// Until then each group has had the fuel that a warp has in a cluster's turn, for each barrier that
// has opened, and only so many barriers may open: a bounded number of steps.
#include "base/check.h"
#include "isa/region_fault.h"
#include "machine/block.h"

#include <cstring>

namespace heddle::machine {

using isa::LaneMask;
using isa::Op;
using isa::RegionContext;
using isa::RegionGroup;
using isa::Stop;

namespace {

constexpr std::int64_t fuel_of_group = 16 * 4096;
constexpr std::int64_t most_barriers = 4096;

} // namespace

/// False: the block starts with its warps' turns.
bool Block::prepare_compiled() {
  const isa::Code& code = *grid_.kernel().code;
  const isa::Region region = __atomic_load_n(&code.region, __ATOMIC_ACQUIRE);
  if (region == nullptr || rules_ != nullptr || monitor_ != nullptr || cluster_.size() != 1) {
    return false;
  }
  if (region != region_) {
    const isa::RegionWords words = isa::region_words(region);
    const std::uint32_t lanes = words.lanes();
    if (!words.whole_blocks() || (words.in_rows() && grid_.config().block.x % lanes != 0)) {
      return false;
    }
    region_ = region;
    groups_.clear();
    const LaneMask ones = lanes == isa::warp_size ? isa::all_lanes : (LaneMask{1} << lanes) - 1;
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      for (std::uint32_t first = 0; first < isa::warp_size; first += lanes) {
        RegionGroup group;
        group.special = warps_[w].warp.special;
        group.uniform = warps_[0].warp.special;
        group.local = warps_[w].warp.local;
        group.warp = &warps_[w].warp;
        group.first = first;
        group.mask = created(w) >> first & ones;
        group.live = created(w);
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
  write_block_specials(cluster_index_, 1);
  for (RegionGroup& group : groups_) {
    group.frame = &group.warp->only_frame(&code, group.live);
    group.registers = group.frame->registers.data();
    group.warp->live = group.live;
    for (const auto& [offset, bytes] : code.cleared) {
      std::memset(group.registers + offset, 0, bytes);
    }
  }
  return true;
}

Stop Block::run_compiled(isa::Exec& exec, std::size_t& warp) {
  starts_compiled_ = false;
  const isa::Code& code = *grid_.kernel().code;
  exec.enter_block(exec_block());
  RegionContext context;
  exec.enter_code(context, code);
  context.local_stride = warps_.front().warp.local_stride;
  context.fuel = fuel_of_group;
  context.group = groups_.data();
  context.first_group = context.group;
  context.groups_end = context.group + groups_.size();
  context.barriers = most_barriers;
  const Op* left = region_(context, isa::region_from_slots);
  isa::note_guess(code, context);
  exec.add_executed(context.executed);
  if (context.ended != 0) {
    live_ = 0;
    cluster_.note_progress();
    return Stop::Exited;
  }
  if (left != nullptr) {
    spread(context, left);
    return Stop::Blocked;
  }
  // The rest of the warp may fail at the same op.
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
    context.fuel = fuel_of_group;
    if (region_(context, begin) == nullptr && context.ended == 0) {
      fault.add(exec, context);
    }
  }
  fault.put(exec);
  return fault.why;
}

/// The group of the context is at an op that is the interpreter's.
void Block::spread(RegionContext& context, const Op* at) {
  RegionGroup* left = context.group;
  const isa::Code& code = *grid_.kernel().code;
  struct Rest {
    LaneMask lanes;
    const Op* at;
  };
  std::vector<Rest> rests;
  for (std::uint64_t n = 0; n < context.rests; ++n) {
    rests.push_back({context.rest[n].lanes << left->first, context.ops + context.rest[n].op});
  }
  const LaneMask lanes_left = left != context.groups_end ? left->mask << left->first : 0;
  const std::uint32_t begin = context.begin;
  const std::uint32_t arrived = context.arrived;
  start_warps(/*keep_frames=*/true);
  for (RegionGroup& group : groups_) {
    HEDDLE_CHECK(
        group.warp->frame[static_cast<std::size_t>(group.first)] == group.frame,
        "a warp has another frame than compiled code knows"
    );
    const bool before = &group < left;
    const LaneMask lanes = group.mask << group.first;
    const std::uint32_t op = before ? arrived : begin & ~isa::region_from_slots;
    const Op* place = &group == left ? at : code.ops.data() + op;
    for (LaneMask m = lanes; m != 0; m &= m - 1) {
      group.warp->pc[static_cast<std::size_t>(std::countr_zero(m))] = place;
    }
    if (&group != left) {
      context.group = &group;
      context.spill = 1;
      context.rests = 0;
      (void)region_(context, before ? (arrived + 1) | isa::region_from_slots : begin);
    }
  }
  for (const Rest& rest : rests) {
    for (LaneMask m = rest.lanes & lanes_left; m != 0; m &= m - 1) {
      left->warp->pc[static_cast<std::size_t>(std::countr_zero(m))] = rest.at;
    }
  }
}

} // namespace heddle::machine
