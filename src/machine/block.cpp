// Implements block.h: warps' turns and what a block offers to its instructions.
#include "machine/block.h"

#include "base/environment.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

namespace heddle::machine {
namespace {

using isa::LaneMask;
using isa::Op;
using isa::Stop;

// A round of a warp, in taken backward branches (a poll counts 32): long enough that switching
// costs nothing, short enough that a spinning warp soon lets the thread it waits for go on.
constexpr std::int64_t round_fuel = 4096;
// Part of a round that a turn costs however short it was, so that a loop which parts and meets
// again without end uses its round up too.
constexpr std::int64_t turn_cost = 16;
// cudaLimitStackSize is per thread and its default only 1 KiB, but frames of compiled code are
// larger than ours; this much holds recursion that works on a real device.
constexpr std::uint64_t stack_bytes = 64 * 1024;

std::uint64_t round_up(std::uint64_t value, std::uint64_t align) {
  return (value + align - 1) / align * align;
}

LaneMask bit(int lane) {
  return LaneMask{1} << lane;
}
std::size_t slot(int lane) {
  return static_cast<std::size_t>(lane);
}

/// Written to be vectorised.
LaneMask lanes_at(const isa::Warp& warp, const isa::Frame* frame, const Op* pc) {
  LaneMask here = 0;
  for (int lane = 0; lane < isa::warp_size; ++lane) {
    const bool is_here = warp.frame[slot(lane)] == frame && warp.pc[slot(lane)] == pc;
    here |= static_cast<LaneMask>(is_here) << lane;
  }
  return here;
}

} // namespace

Block::Block(Cluster& cluster, Grid& grid, const MakeWarpRules& make_rules)
    : cluster_(cluster),
      grid_(grid),
      threads_(static_cast<std::uint32_t>(grid.config().block.count())),
      results_(grid.services().space()) {
  const std::size_t warps = (threads_ + isa::warp_size - 1) / isa::warp_size;
  warps_ = std::vector<WarpState>(warps);
  specials_.resize(warps * isa::SpecialLayout::bytes);
  shared_bytes_ = grid.shared_bytes();
  shared_.resize(round_up(shared_bytes_, 16) + memory::reserved_shared_bytes);
  const isa::Code& code = *grid.kernel().code;
  // An odd number of lines of the cache: what lanes have at the same place in their frames would
  // otherwise all belong to one set of it.
  const auto odd_lines = [](std::uint64_t bytes) { return round_up(bytes, 128) + 64; };
  const std::uint64_t bytes =
      grid.kernel().calls ? odd_lines(code.local_bytes + stack_bytes) : code.local_bytes;
  constexpr std::uint64_t large = 512;
  const std::uint64_t stride = !grid.kernel().calls && bytes >= large ? odd_lines(bytes) : bytes;
  local_bytes_ = round_up(stride * isa::warp_size * warps, 4096);
  if (local_bytes_ != 0) {
    void* p = ::mmap(
        nullptr,
        local_bytes_,
        PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
        -1,
        0
    );
    if (p == MAP_FAILED) {
      no_memory("the local memory of a block", local_bytes_);
    }
    local_ = static_cast<std::byte*>(p);
  }
  for (std::size_t w = 0; w < warps; ++w) {
    isa::Warp& warp = warps_[w].warp;
    warp.special = specials_.data() + w * isa::SpecialLayout::bytes;
    warp.local = local_ + w * isa::warp_size * stride;
    warp.local_stride = stride;
    warp.local_bytes = bytes;
    warp.created = created(w);
  }
  for (Barrier& barrier : barriers_) {
    barrier.waiting.assign(warps, 0);
    barrier.arrived.assign(warps, 0);
  }
  write_grid_specials();
  if (make_rules) {
    rules_ = make_rules(*this);
  }
  if (Monitor* monitor = grid.services().monitor()) {
    monitor_ = monitor->watch(*this);
  }
}

Block::~Block() {
  if (local_ != nullptr) {
    ::munmap(local_, local_bytes_);
  }
}

void Block::start(std::uint64_t cluster_index, std::uint32_t rank, bool compiled) {
  rank_ = rank;
  cluster_index_ = cluster_index;
  index_ = grid_.block_index(cluster_index, rank);
  live_ = threads_;
  launched_dependents_ = false;
  grids_before_over_ = true;
  divergence_.reset();
  std::ranges::fill(shared_, std::byte{0});
  goes_compiled_ = compiled && prepare_compiled();
  if (!goes_compiled_) {
    ended_compiled_ = false;
    start_warps(/*keep_frames=*/false);
  }
}

void Block::start_warps(bool keep_frames) {
  write_block_specials(cluster_index_, warps_.size());
  for (Barrier& barrier : barriers_) {
    std::ranges::fill(barrier.waiting, 0);
    std::ranges::fill(barrier.arrived, 0);
    barrier.expected = barrier.arrivals = barrier.popc = 0;
    barrier.all = true;
    barrier.any = barrier.in_use = false;
  }
  const isa::Code* code = grid_.kernel().code;
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    WarpState& state = warps_[w];
    const LaneMask lanes = created(w);
    isa::Warp& warp = state.warp;
    isa::Frame* frame = nullptr;
    if (keep_frames) {
      frame = &warp.only_frame(code, lanes);
      warp.blocked = 0;
      warp.pc.fill(nullptr);
      warp.frame.fill(nullptr);
    } else {
      warp.reset();
      frame = warp.push_frame(code, nullptr, nullptr, lanes);
    }
    warp.live = lanes;
    if (lanes == isa::all_lanes) {
      warp.pc.fill(code->ops.data());
      warp.frame.fill(frame);
    } else {
      for (LaneMask m = lanes; m != 0; m &= m - 1) {
        warp.pc[slot(std::countr_zero(m))] = code->ops.data();
        warp.frame[slot(std::countr_zero(m))] = frame;
      }
    }
    state.tired = state.ran = state.arrived = 0;
    state.fuel = round_fuel;
    state.cluster_arrived = state.cluster_waiting = state.cluster_passed = 0;
    state.grid_waiting = 0;
    state.red_popc = state.red_and = state.red_or = 0;
    state.warpgroup_ahead.clear();
    state.passed.clear();
  }
  if (rules_ != nullptr) {
    rules_->start();
  }
  if (monitor_ != nullptr) {
    monitor_->started();
  }
}

isa::Exec::Block Block::exec_block() {
  return {
      this,
      shared_.data(),
      shared_bytes_,
      shared_.data() + round_up(shared_bytes_, 16),
      grid_.parameters(),
      grid_.parameter_bytes(),
      grid_.device(),
      monitor_ != nullptr ? monitor_->region_watch() : nullptr
  };
}

Dim3 Block::thread_index(std::size_t warp, int lane) const {
  const auto t = static_cast<std::uint32_t>(warp * isa::warp_size + slot(lane));
  const Dim3& b = grid_.config().block;
  return {t % b.x, t / b.x % b.y, t / b.x / b.y};
}

LaneMask Block::created(std::size_t warp) const {
  const std::uint64_t left = threads_ - warp * isa::warp_size;
  return left >= isa::warp_size ? isa::all_lanes : bit(static_cast<int>(left)) - 1;
}

std::size_t Block::index_of(const isa::Warp& warp) const {
  const auto distance = reinterpret_cast<const std::byte*>(&warp) -
                        reinterpret_cast<const std::byte*>(&warps_.front().warp);
  return static_cast<std::size_t>(distance) / sizeof(WarpState);
}

WaitKind Block::wait_of(const WarpState& state, int lane) {
  if ((state.warp.blocked & bit(lane)) == 0) {
    return WaitKind::None;
  }
  if ((state.cluster_waiting & bit(lane)) != 0) {
    return WaitKind::ClusterBarrier;
  }
  if ((state.grid_waiting & bit(lane)) != 0) {
    return WaitKind::Grids;
  }
  return (state.arrived & bit(lane)) != 0 ? WaitKind::Collective : WaitKind::Barrier;
}

// --- Turns -------------------------------------------------------------------------------------

LaneMask Block::next_group(WarpState& state) {
  const isa::Warp& warp = state.warp;
  const LaneMask can_run = warp.live & ~warp.blocked;
  if (can_run == 0) {
    return 0;
  }
  if ((can_run & ~state.tired) == 0) {
    state.tired = 0;
  }
  const LaneMask candidates = can_run & ~state.tired;
  const auto first = slot(std::countr_zero(candidates));
  const isa::Frame* frame = warp.frame[first];
  const Op* pc = warp.pc[first];
  LaneMask group = candidates & lanes_at(warp, frame, pc);
  LaneMask left = candidates & ~group; // mostly nobody, or a few groups
  for (int groups = 0; left != 0; ++groups) {
    const int lane = std::countr_zero(left);
    const isa::Frame* f = warp.frame[slot(lane)];
    const Op* p = warp.pc[slot(lane)];
    constexpr int many = 4;
    const LaneMask there = groups < many ? left & lanes_at(warp, f, p) : bit(lane);
    left &= ~there;
    if (f == frame && p == pc) {
      group |= there;
    } else if (f->depth > frame->depth || (f->depth == frame->depth && p < pc)) {
      frame = f;
      pc = p;
      group = there;
    }
  }
  return group;
}

Stop Block::turn(isa::Exec& exec, std::size_t w) {
  exec.enter_block(exec_block());
  const Stop stop = rules_ != nullptr ? rules_->turn(exec, w) : own_turn(exec, w);
  return divergence_ ? Stop::Fault : stop;
}

Stop Block::own_turn(isa::Exec& exec, std::size_t w) {
  WarpState& state = warps_[w];
  // Not with a seed, which chooses among turns, nor with a monitor, which has compiled code give
  // the same ones.
  const bool gives_way = may_compile_ && monitor_ == nullptr;
  while (state.fuel > 0) {
    const LaneMask group = next_group(state);
    if (group == 0) {
      return state.warp.live == 0 ? Stop::Exited : Stop::Blocked;
    }
    isa::Exec::Turn turn;
    turn.fuel = state.fuel;
    turn.reconverge = state.tired == 0;
    turn.tires = gives_way;
    const Stop stop = exec.run(state.warp, group, turn);
    if (goes_compiled_) {
      return Stop::Fuel;
    }
    state.ran |= group;
    state.fuel = std::min(exec.fuel(), state.fuel - turn_cost);
    if (stop == Stop::Fault || stop == Stop::Unsupported) {
      return stop;
    }
    if (stop == Stop::Yield) {
      state.tired |= group;
      if (gives_way && (state.warp.live & ~state.warp.blocked & ~state.tired) == 0) {
        break; // all of the warp wait for somebody else
      }
    }
  }
  // The round is over: lanes that had no turn in it go first in the next one.
  state.tired |= state.ran;
  state.ran = 0;
  state.fuel = round_fuel;
  return Stop::Fuel;
}

// --- Block barriers ----------------------------------------------------------------------------

// [BAR-1] [BAR-2]: a barrier without a count waits for every thread of the block that has not
// ended; with a count for that many threads, where a warp all of whose live lanes have arrived
// counts as 32.
bool Block::complete(const Barrier& barrier) const {
  if (!barrier.in_use) {
    return false;
  }
  if (barrier.expected == 0) {
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      if ((warps_[w].warp.live & ~barrier.waiting[w]) != 0) {
        return false;
      }
    }
    return true;
  }
  std::uint32_t arrived = barrier.arrivals;
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const LaneMask here = barrier.waiting[w] | barrier.arrived[w];
    const auto lanes = static_cast<std::uint32_t>(
        std::popcount(barrier.waiting[w]) + std::popcount(barrier.arrived[w])
    );
    arrived += here != 0 && (warps_[w].warp.live & ~here) == 0 ? isa::warp_size : lanes;
  }
  return arrived >= barrier.expected;
}

void Block::open(Barrier& barrier) {
  if (monitor_ != nullptr) {
    monitor_->opened(
        static_cast<std::size_t>(&barrier - barriers_.data()),
        barrier.waiting,
        barrier.expected != 0
    );
  }
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    WarpState& state = warps_[w];
    const LaneMask waiting = std::exchange(barrier.waiting[w], 0);
    state.warp.blocked &= ~waiting;
    const LaneMask results = waiting & (state.red_popc | state.red_and | state.red_or);
    for (LaneMask m = results; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      const Op& op = state.warp.pc[slot(lane)][-1];
      results_.select(state.warp, *state.warp.frame[slot(lane)], bit(lane));
      if ((state.red_popc & bit(lane)) != 0) {
        results_.out<std::uint32_t>(op.d)[lane] = barrier.popc;
      } else {
        const bool value = (state.red_and & bit(lane)) != 0 ? barrier.all : barrier.any;
        results_.set_predicate(op.d, value ? isa::all_lanes : 0);
      }
    }
    state.red_popc &= ~results;
    state.red_and &= ~results;
    state.red_or &= ~results;
  }
  std::ranges::fill(barrier.arrived, 0);
  barrier.expected = barrier.arrivals = barrier.popc = 0;
  barrier.all = true;
  barrier.any = barrier.in_use = false;
  cluster_.note_progress();
}

void Block::open_if_complete() {
  for (Barrier& barrier : barriers_) {
    if (complete(barrier)) {
      open(barrier);
    }
  }
}

const Op* Block::barrier(isa::Exec& exec, const Op& op, BarrierOp what, bool aligned) {
  const std::size_t w = index_of(exec.warp());
  WarpState& state = warps_[w];
  const auto* id = exec.in<std::uint32_t>(op.a);
  const LaneMask arriving = exec.mask();
  const bool one_id = op.a.area() == isa::Area::Constant; // as nearly always
  for (LaneMask left = arriving; left != 0;) {
    const int first = std::countr_zero(left);
    LaneMask same = left;
    for (LaneMask m = one_id ? 0 : left; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      same &= id[lane] == id[first] ? isa::all_lanes : ~bit(lane);
    }
    left &= ~same;
    if (id[first] >= barriers_.size()) {
      isa::Fault fault;
      fault.kind = isa::FaultKind::BarrierMisuse;
      fault.lane = first;
      fault.text = fmt::format("barrier {} does not exist: a block has 16", id[first]);
      return exec.stop_fault(std::move(fault));
    }
    Barrier& barrier = barriers_[id[first]];
    const std::uint32_t count = op.b.none() ? 0 : exec.in<std::uint32_t>(op.b)[first];
    if (!op.b.none() && (count == 0 || count % isa::warp_size != 0)) {
      isa::Fault fault;
      fault.kind = isa::FaultKind::BarrierMisuse;
      fault.lane = first;
      fault.text =
          fmt::format("a barrier's thread count must be a multiple of 32 and not 0, not {}", count);
      return exec.stop_fault(std::move(fault));
    }
    if (barrier.in_use && barrier.expected != count) {
      isa::Fault fault;
      fault.kind = isa::FaultKind::BarrierMisuse;
      fault.lane = first;
      fault.text = fmt::format(
          "barrier {}: threads wait with count {}, this thread arrives with count {}",
          id[first],
          barrier.expected,
          count
      );
      return exec.stop_fault(std::move(fault));
    }
    const bool of_all = look_for_divergence_ && id[first] == 0 && count == 0 && !divergence_;
    if (of_all && barrier.in_use) {
      look_where_others_wait(barrier, exec.code(), op, w, same);
    }
    if (monitor_ != nullptr) {
      const bool waits = what != BarrierOp::Arrive;
      monitor_->arriving(
          id[first],
          w,
          same,
          {.counted = !op.b.none(), .waits = waits, .aligned = aligned}
      );
    }
    barrier.in_use = true;
    barrier.expected = count;
    if (what == BarrierOp::Arrive) {
      if (monitor_ != nullptr) {
        monitor_->arrived(id[first], w, same);
      }
      // [BAR-4]: lanes may come one after the other; all of them are a warp of 32.
      LaneMask& arrived = barrier.arrived[w];
      const bool whole = arrived == 0 && same == exec.warp().live; // the others have ended
      arrived |= same;
      if (whole || arrived == created(w)) {
        barrier.arrivals += isa::warp_size;
        arrived = 0;
      }
    } else {
      barrier.waiting[w] |= same;
    }
    if (what != BarrierOp::Sync && what != BarrierOp::Arrive) {
      const LaneMask holds = exec.predicate(op.c) & same;
      barrier.popc += static_cast<std::uint32_t>(std::popcount(holds));
      barrier.all = barrier.all && holds == same;
      barrier.any = barrier.any || holds != 0;
      for (LaneMask m = same; m != 0; m &= m - 1) {
        exec.warp().pc[slot(std::countr_zero(m))] = &op + 1; // where open() finds the op
      }
      LaneMask& red = what == BarrierOp::RedPopc  ? state.red_popc
                      : what == BarrierOp::RedAnd ? state.red_and
                                                  : state.red_or;
      red |= same;
    }
    if (complete(barrier)) {
      if (of_all && !divergence_) {
        look_who_went_around(exec.code(), op, w, std::countr_zero(same));
      }
      open(barrier);
    }
  }
  if (what == BarrierOp::Arrive) {
    return &op + 1;
  }
  LaneMask waiting = 0;
  for (const Barrier& barrier : barriers_) {
    waiting |= barrier.waiting[w];
  }
  waiting &= arriving;
  if (waiting == 0) {
    if (one_id && id[0] == 0 && op.b.none() && resume(exec, op)) {
      return exec.stop_at(Stop::Diverged, &op + 1);
    }
    return exec.group() == exec.warp().live ? &op + 1 : exec.stop_at(Stop::Diverged, &op + 1);
  }
  if (waiting != arriving) {
    exec.leave(arriving & ~waiting, &op + 1);
  }
  return exec.block(op, &op + 1);
}

// --- Cluster barrier ---------------------------------------------------------------------------

const Op*
Block::cluster_barrier(isa::Exec& exec, const Op& op, ClusterBarrierOp what, bool /*aligned*/) {
  const std::size_t w = index_of(exec.warp());
  WarpState& state = warps_[w];
  const LaneMask lanes = exec.mask();
  if (what == ClusterBarrierOp::Arrive) {
    // Whether the phase has completed meanwhile depends on others, the mistake does not.
    if (const LaneMask again = (state.cluster_arrived | state.cluster_passed) & lanes; again != 0) {
      isa::Fault fault;
      fault.kind = isa::FaultKind::BarrierMisuse;
      fault.lane = std::countr_zero(again);
      fault.text = "barrier.cluster.arrive twice without a wait in between";
      return exec.stop_fault(std::move(fault));
    }
    state.cluster_arrived |= lanes;
    if (monitor_ != nullptr) {
      const ptx::Instruction& i = exec.code().function->body[op.instruction];
      monitor_->cluster_arrived(w, lanes, !i.has(ptx::Mod::Relaxed));
    }
    cluster_.cluster_barrier_check();
    return &op + 1;
  }
  const LaneMask passed = state.cluster_passed & lanes;
  state.cluster_passed &= ~passed;
  if (monitor_ != nullptr && passed != 0) {
    monitor_->cluster_passed(w, passed);
  }
  const LaneMask waiting = lanes & ~passed;
  if (waiting == 0) {
    return &op + 1;
  }
  if ((waiting & ~state.cluster_arrived) != 0) {
    isa::Fault fault;
    fault.kind = isa::FaultKind::BarrierMisuse;
    fault.lane = std::countr_zero(waiting & ~state.cluster_arrived);
    fault.text = "barrier.cluster.wait without an arrive before it";
    return exec.stop_fault(std::move(fault));
  }
  state.cluster_waiting |= waiting;
  if (passed != 0) {
    exec.leave(passed, &op + 1);
  }
  return exec.block(op, &op + 1);
}

// --- Collectives -------------------------------------------------------------------------------

bool Block::collective_complete(const WarpState& state, int lane) const {
  const LaneMask members = (state.membermask[slot(lane)] & state.warp.live) | bit(lane);
  for (LaneMask m = members; m != 0; m &= m - 1) {
    const int other = std::countr_zero(m);
    if ((state.arrived & bit(other)) == 0 ||
        state.membermask[slot(other)] != state.membermask[slot(lane)] ||
        state.collective[slot(other)].kind != state.collective[slot(lane)].kind) {
      return false;
    }
  }
  return true;
}

void Block::finish_collective(std::size_t w, LaneMask members) {
  WarpState& state = warps_[w];
  state.arrived &= ~members;
  state.warp.blocked &= ~members;
  state.exchange.lanes = members;
  if (monitor_ != nullptr &&
      state.collective[slot(std::countr_zero(members))].kind == isa::CollectiveKind::BarWarpSync) {
    monitor_->warp_synced(w, members);
  }
  for (LaneMask left = members; left != 0;) {
    const auto first = slot(std::countr_zero(left));
    LaneMask same = 0;
    for (LaneMask m = left; m != 0; m &= m - 1) {
      const auto lane = slot(std::countr_zero(m));
      if (state.collective_op[lane] == state.collective_op[first] &&
          state.warp.frame[lane] == state.warp.frame[first]) {
        same |= bit(static_cast<int>(lane));
      }
    }
    left &= ~same;
    const isa::Collective& collective = state.collective[first];
    if (collective.conclude != nullptr) {
      results_.enter_block(exec_block());
      results_.select(state.warp, *state.warp.frame[first], same);
      collective.conclude(results_, *state.collective_op[first], state.exchange);
    }
  }
  cluster_.note_progress();
}

const Op* Block::collective(
    isa::Exec& exec,
    const Op& op,
    const isa::Collective& collective,
    const std::uint32_t* membermask
) {
  const std::size_t w = index_of(exec.warp());
  WarpState& state = warps_[w];
  const LaneMask lanes = exec.mask();
  if (state.arrived == 0) {
    state.exchange.words.clear(); // of another collective
  }
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    state.membermask[slot(lane)] = membermask[lane];
    state.collective_op[slot(lane)] = &op;
    state.collective[slot(lane)] = collective;
    // Who hands over nothing leaves nothing behind: the explorer compares what is there.
    state.exchange.value[slot(lane)] = 0;
  }
  state.arrived |= lanes;
  if (collective.contribute != nullptr) {
    collective.contribute(exec, op, state.exchange);
  }
  for (LaneMask left = lanes; left != 0;) {
    const int lane = std::countr_zero(left);
    left &= ~bit(lane);
    if ((state.arrived & bit(lane)) != 0 && collective_complete(state, lane)) {
      if (look_for_divergence_ && !divergence_) {
        look_who_left_collective(w, lane);
      }
      finish_collective(w, (state.membermask[slot(lane)] & state.warp.live) | bit(lane));
    }
  }
  const LaneMask waiting = lanes & state.arrived;
  if (waiting == 0) {
    return exec.stop_at(Stop::Diverged, &op + 1); // meet the lanes that waited
  }
  if (waiting != lanes) {
    exec.leave(lanes & ~waiting, &op + 1);
  }
  return exec.block(op, &op + 1);
}

// --- The rest ----------------------------------------------------------------------------------

void Block::exited(isa::Exec& exec, LaneMask ended) {
  const std::size_t w = index_of(exec.warp());
  WarpState& state = warps_[w];
  live_ -= static_cast<std::uint32_t>(std::popcount(ended));
  cluster_.note_progress();
  look_who_left_warpgroup(w, std::countr_zero(ended));
  if (look_for_divergence_ && !divergence_ && barriers_[0].expected == 0 &&
      complete(barriers_[0])) {
    for (std::size_t other = 0; other < warps_.size(); ++other) {
      if (barriers_[0].waiting[other] != 0) {
        const int lane = std::countr_zero(barriers_[0].waiting[other]);
        const isa::Warp& warp = warps_[other].warp;
        look_who_went_around(*warp.frame[slot(lane)]->code, warp.pc[slot(lane)][-1], other, lane);
        break;
      }
    }
  }
  open_if_complete(); // [BAR-3]: an ended thread holds up nobody
  for (LaneMask left = state.arrived; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if ((state.arrived & bit(lane)) != 0 && collective_complete(state, lane)) {
      if (look_for_divergence_ && !divergence_) {
        look_who_left_collective(w, lane);
      }
      finish_collective(w, (state.membermask[slot(lane)] & state.warp.live) | bit(lane));
    }
  }
  cluster_.cluster_barrier_check();
}

std::uint64_t Block::clock() {
  const std::uint64_t ns = globaltimer();
  return stopped_time_ ? stopped_clock_ : ns * cycles_per_ns;
}

std::uint64_t Block::globaltimer() {
  time_was_read_ = true;
  return stopped_time_ ? *stopped_time_ : grid_.services().now();
}

const Op* Block::nanosleep(isa::Exec& exec, const Op& op, std::uint32_t /*nanoseconds*/) {
  // PTX allows any duration from 0 to twice the argument.
  return exec.stop_at(Stop::Yield, &op + 1);
}

std::byte* Block::shared_of(std::uint32_t rank, std::uint64_t* bytes) {
  if (rank >= cluster_.size() || cluster_.block(rank).ended()) {
    return nullptr; // the shared memory of a block ends with it
  }
  if (monitor_ != nullptr && rank != rank_) {
    monitor_->neighbour_accessed(rank);
  }
  *bytes = cluster_.block(rank).shared_bytes();
  return cluster_.block(rank).shared();
}

// [DEP-EARLY]: one thread is enough.
void Block::launch_dependents() {
  launched_dependents_ = true;
}

// [DEP-WAIT]
const Op* Block::grid_dependency_wait(isa::Exec& exec, const Op& op) {
  if (monitor_ != nullptr) {
    monitor_->dependency_waited();
  }
  if (grids_before_over_) {
    return &op + 1;
  }
  warps_[index_of(exec.warp())].grid_waiting |= exec.mask();
  return exec.block(op, &op + 1);
}

void Block::grids_before_are_over() {
  grids_before_over_ = true;
  for (WarpState& state : warps_) {
    state.warp.blocked &= ~std::exchange(state.grid_waiting, 0);
  }
}

memory::Address Block::device_malloc(std::uint64_t bytes) {
  return heap_ != nullptr ? heap_->allocate(bytes)
                          : grid_.services().heap_allocate(grid_.device(), bytes);
}

bool Block::device_free(memory::Address p) {
  return heap_ != nullptr ? heap_->release(p) : grid_.services().heap_free(p);
}

const isa::Code* Block::function_at(memory::Address address) {
  const auto& functions = grid_.kernel().functions;
  const auto it = functions.find(address);
  return it != functions.end() && !it->second->ops.empty() ? it->second : nullptr;
}

} // namespace heddle::machine
