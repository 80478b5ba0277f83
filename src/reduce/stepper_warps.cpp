// Implements the part of stepper.h that is about warps whose lanes go by rules (lockstep): what a
// warp stands at, letting it run until it stands at something that is a choice, and its moves.
//
// A move is one instruction that others can see, executed by the lanes that the rules let go, and
// everything invisible after it. What the rules leave open is a choice of its own
// (model/warp_choices.h).
//
// May be wrong: lanes of other instructions that have an order (mbarrier, output) take the lowest
// first (misses).
#include "base/check.h"
#include "isa/ops_address.h"
#include "machine/recurrence.h"
#include "reduce/lane.h"
#include "reduce/stepper_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;
using isa::Stop;
using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;

namespace {

// Instructions that a warp may execute in one go before it is asked whether it loops forever.
constexpr std::uint64_t patience = 1 << 16;
constexpr std::uint64_t warp_loop_rounds = 1 << 20;
constexpr int round_steps = 4096;

} // namespace

WarpRules& Stepper::rules(const Lane& at) {
  return *at.work->clusters[at.cluster]->block(at.block).rules();
}

// --- Operations --------------------------------------------------------------------------------

/// Those for whom the instruction's guard holds.
LaneMask Stepper::acting(const Lane& at, const WarpRules::Next& next) const {
  return WarpChoices::acting(warp_state(at).warp, at.lane, next);
}

/// What the instruction is for the warp: what it is for the lane that others see most of.
Operation Stepper::classify_warp(const Lane& at, LaneMask acting) {
  const isa::Warp& warp = warp_state(at).warp;
  const Op& op = *warp.pc[slot(at.lane)];
  const ptx::Instruction& i = warp.frame[slot(at.lane)]->code->function->body[op.instruction];
  Lane lane = at;
  lane.lane = std::countr_zero(acting);
  using Kind = ptx::Effect::Kind;
  const ptx::Effect& effect = ptx::effect_of(i);
  if (effect.is(Kind::Call) && acting != 0 && (op.flags & isa::Visible) != 0) {
    if (const Operation call = classify(lane); call.kind == OperationKind::Heap) {
      return call; // it cannot be taken back
    }
  }
  if (effect.is(Kind::Branch) || effect.is(Kind::BranchTable) || effect.is(Kind::Call)) {
    return {OperationKind::Access, StepKind::None, "the lanes part"};
  }
  Operation result = classify(lane);
  if (effect.is_access() &&
      !i.one_of(ptx::Category::Space)) { // a generic address may be a local one
    for (LaneMask m = acting & (acting - 1); m != 0 && result.kind == OperationKind::Silent;
         m &= m - 1) {
      lane.lane = std::countr_zero(m);
      result = classify(lane);
    }
  }
  return result;
}

/// Does the warp stand at something of which the explorer chooses when, or in which order, it
/// happens?
bool Stepper::is_move(const Lane& at, const WarpRules::Next& next) {
  const LaneMask lanes = acting(at, next);
  if (next.branch) {
    return !open_choices(at, next, {}).empty();
  }
  if ((next.op->flags & isa::Visible) == 0 || lanes == 0) {
    return false;
  }
  switch (const OperationKind kind = classify_warp(at, lanes).kind) {
  case OperationKind::Plain:
    return rules(at).stale_reads() || (waiting(at) & lanes) != 0 || is_choice(at, kind) ||
           !open_choices(at, next, {}).empty();
  case OperationKind::Aligned: // the warp is there
    return is_choice(at, options_.turns ? OperationKind::Join : OperationKind::Access);
  default:
    return is_choice(at, kind);
  }
}

// --- Running warps -----------------------------------------------------------------------------

/// False: it failed.
bool Stepper::step_warp(const Lane& at, const Pick& pick) {
  if (!look_at_clock(at, rules(at).next(exec_, at.warp).lanes, operations_.clocks().take_time())) {
    return false;
  }
  const Stop stop = rules(at).step(exec_, at.warp, pick);
  if (stop != Stop::Fault && stop != Stop::Unsupported) {
    return true;
  }
  fail(at);
  return false;
}

/// Lets a warp run until it stands at a move, waits or has ended; false if it failed.
bool Stepper::settle_warp(const Lane& where, bool* moved) {
  Lane at = where;
  exec_.enter_block(at.work->clusters[at.cluster]->block(at.block).exec_block());
  const auto& loops = at.work->progress[at.cluster].loops[at.block][at.warp];
  for (std::uint64_t steps = 0;; ++steps) {
    const WarpRules::Next next = rules(at).next(exec_, at.warp);
    if (next.lanes == 0) {
      return true;
    }
    at.lane = std::countr_zero(next.lanes);
    if ((loops.endless & next.lanes) != 0 || is_move(at, next)) {
      return true;
    }
    if (steps > patience) {
      return warp_loops_for_ever(at);
    }
    *moved = true;
    if (!step_warp(at, {})) {
      return false;
    }
  }
}

/// As loops_for_ever, for a warp.
bool Stepper::warp_loops_for_ever(const Lane& where) {
  Lane at = where;
  WarpRules& rules = this->rules(at);
  auto& loops = at.work->progress[at.cluster].loops[at.block][at.warp];
  Recurrence circle(warp_fingerprint(at));
  for (std::uint64_t round = 0; round < warp_loop_rounds; ++round) {
    const Op* before = nullptr; // a round ends where it goes back
    for (int steps = 0; steps < round_steps; ++steps) {
      const WarpRules::Next next = rules.next(exec_, at.warp);
      if (next.lanes == 0) {
        return true;
      }
      at.lane = std::countr_zero(next.lanes);
      if (is_move(at, next)) {
        return true;
      }
      if (next.op < before) {
        break;
      }
      before = next.op;
      const LaneMask lanes = acting(at, next);
      if ((next.op->flags & isa::Visible) != 0 && lanes != 0) {
        note_acts(classify_warp(at, lanes), circle);
      }
      look_at_clock(at, lanes, Time::None);
      const Stop stop = rules.step(exec_, at.warp, {});
      if (stop == Stop::Fault || stop == Stop::Unsupported) {
        fail(at);
        return false;
      }
      if (stop == Stop::Yield) {
        circle.did(Recurrence::Sleeps);
      }
    }
    const Hash128 state = warp_fingerprint(at);
    if (circle.is_back(state)) {
      const LaneMask live = warp_state(at).warp.live;
      if (circle.does(Recurrence::ReadsPlain)) {
        loops.plain |= live; // others may write what it reads
        bool moved = false;
        return settle_warp(at, &moved);
      }
      note_endless(at, live, circle);
      return true;
    }
    circle.go_on(state);
  }
  under_way_.failure = Failure{};
  under_way_.failure->incomplete = fmt::format(
      "a warp of {} ran through {} rounds of a loop without an operation that others can see",
      at.work->command->label,
      warp_loop_rounds
  );
  return false;
}

// --- Moves -------------------------------------------------------------------------------------

/// The part of a move that was chosen; false if it failed.
bool Stepper::begin_move(const Move& move) {
  Work& work = *works_[move.work];
  Lane at{&work, move.cluster, move.block, move.warp, move.lane};
  exec_.enter_block(work.clusters[at.cluster]->block(at.block).exec_block());
  const bool made = work.progress[at.cluster].made;
  WarpRules::Next next = rules(at).next(exec_, at.warp);
  const Pick pick = move.pick != 0 ? work.images[at.cluster]->picks[move.pick - 1] : Pick{};
  const bool stale = rules(at).stale_reads();
  under_way_.repeatable = under_way_.repeatable && !stale; // what is read depends on more than that
  if (move.pick == 0 && classify_warp(at, acting(at, next)).kind == OperationKind::Plain &&
      !stale && (!made || !options_.eager)) {
    // Plain accesses go together with the operation that follows them.
    bool moved = false;
    under_way_.bundling = true;
    const bool fine = settle_warp(at, &moved);
    under_way_.bundling = false;
    if (!fine) {
      return false;
    }
    next = rules(at).next(exec_, at.warp);
    if (next.lanes == 0) {
      return true;
    }
    at.lane = std::countr_zero(next.lanes);
    if (!is_move(at, next) || !open_choices(at, next, {}).empty()) {
      return true; // what follows is left open: a move of its own
    }
    const OperationKind kind = classify_warp(at, acting(at, next)).kind;
    if (kind == OperationKind::Heap || kind == OperationKind::Clock) {
      return true; // that cannot be taken back, or shows more than one time: another one
    }
  }
  under_way_.taken = classify_warp(at, acting(at, next)).step;
  operations_.clocks().begin_look(at, move.time);
  return step_warp(at, pick);
}

void Stepper::find_warp_moves(
    Work& work,
    std::size_t c,
    Image& image,
    std::span<const Hash128> lanes
) {
  Cluster& cluster = *work.clusters[c];
  std::size_t number = 0;
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    Block& block = cluster.block(b);
    const std::span<const Hash128> like = lanes.first(block.warps().size() * isa::warp_size);
    lanes = lanes.subspan(like.size());
    exec_.enter_block(block.exec_block());
    for (std::size_t w = 0; w < block.warps().size(); ++w, ++number) {
      Lane at{&work, c, b, w, 0};
      for (const WarpRules::Behind& behind : rules(at).behind(w)) {
        image.left.push_back(
            {static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(w), behind}
        );
      }
      const WarpRules::Next next = rules(at).next(exec_, w);
      if (next.lanes == 0) {
        continue;
      }
      at.lane = std::countr_zero(next.lanes);
      const ThreadClass who = image.threads[number];
      if (options_.symmetry &&
          std::ranges::find(image.ready, who, &Image::Ready::who) != image.ready.end()) {
        for (Image::Ready& known : image.ready) {
          known.count += known.who == who ? 1 : 0;
        }
        continue;
      }
      Image::Ready ready;
      ready.block = static_cast<std::uint32_t>(b);
      ready.warp = static_cast<std::uint32_t>(w);
      ready.lane = at.lane;
      ready.lanes = next.lanes;
      ready.endless = (work.progress[c].loops[b][w].endless & next.lanes) != 0;
      const LaneMask acts = acting(at, next);
      ready.operation =
          ready.endless ? loop_operation(at) : classify_warp(at, acts != 0 ? acts : next.lanes);
      ready.op = next.op;
      ready.code = next.code;
      ready.who = who;
      const std::vector<Pick> open =
          ready.endless ? std::vector<Pick>() : open_choices(at, next, like);
      for (const Pick& pick : open) {
        image.picks.push_back(pick);
        ready.pick = static_cast<std::uint32_t>(image.picks.size());
        image.ready.push_back(ready);
      }
      if (open.empty()) {
        if (!ready.endless && ready.operation.kind == OperationKind::Clock) {
          seen_.left_out_looks |=
              !image.add_soon(ready, work.progress[c].loops[b][w].soon[slot(at.lane)]);
        }
        image.ready.push_back(ready);
      }
    }
  }
}

// --- What states are called

/// For recognising that a warp loops; without what others may change.
Hash128 Stepper::warp_fingerprint(const Lane& at) const {
  const isa::Warp& warp = warp_state(at).warp;
  Hasher hasher;
  hasher.value(rules(at).shape(at.warp));
  for (LaneMask m = warp.live; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    hasher.value(rules(at).place(at.warp, lane));
    Lane own = at;
    own.lane = lane;
    const Hash128 state = lane_state(live_, own);
    hasher.value(state.low);
    hasher.value(state.high);
  }
  return hasher.finish();
}

} // namespace heddle::reduce
