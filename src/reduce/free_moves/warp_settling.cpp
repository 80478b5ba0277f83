// Implements warp_settling.h.
#include "reduce/free_moves/warp_settling.h"

#include "base/check.h"
#include "reduce/states/stepper_work.h"

#include <fmt/format.h>

#include <bit>

namespace heddle::reduce {

using isa::LaneMask;
using isa::Op;
using isa::Stop;

namespace {

// Instructions that a warp may execute in one go before it is asked whether it loops forever.
constexpr std::uint64_t patience = 1 << 16;
constexpr std::uint64_t warp_loop_rounds = 1 << 20;
constexpr int round_steps = 4096;

} // namespace

void note_acts(const Operation& operation, Recurrence& circle) {
  if (operation.step != StepKind::None) {
    circle.did(Recurrence::Steps);
  }
  if (operation.local) {
    circle.did(Recurrence::AccessesLocals);
  }
  if (operation.plain_read) {
    circle.did(Recurrence::ReadsPlain);
  }
}

void note_endless(const Lane& at, LaneMask lanes, const Recurrence& circle) {
  auto& loops = at.work->progress[at.cluster].loops[at.block][at.warp];
  const auto if_it = [&](Recurrence::Act act) { return circle.does(act) ? lanes : 0; };
  loops.endless |= lanes;
  loops.stepping |= if_it(Recurrence::Steps);
  loops.local |= if_it(Recurrence::AccessesLocals);
  loops.sleeping |= if_it(Recurrence::Sleeps);
}

WarpRules& WarpSettling::rules(const Lane& at) {
  return *at.work->clusters[at.cluster]->block(at.block).rules();
}

// --- Operations --------------------------------------------------------------------------------

LaneMask WarpSettling::acting(const Lane& at, const WarpRules::Next& next) {
  return WarpChoices::acting(warp_state(at).warp, at.lane, next);
}

Operation WarpSettling::classify(const Lane& at, LaneMask acting) {
  const isa::Warp& warp = warp_state(at).warp;
  const Op& op = *warp.pc[slot(at.lane)];
  const ptx::Instruction& i = warp.frame[slot(at.lane)]->code->function->body[op.instruction];
  Lane lane = at;
  lane.lane = std::countr_zero(acting);
  using Kind = ptx::Effect::Kind;
  const ptx::Effect& effect = ptx::effect_of(i);
  if (effect.is(Kind::Call) && acting != 0 && (op.flags & isa::Visible) != 0) {
    if (const Operation call = parts_.independence.operations().classify(lane);
        call.kind == OperationKind::Heap) {
      return call; // it cannot be taken back
    }
  }
  if (effect.is(Kind::Branch) || effect.is(Kind::BranchTable) || effect.is(Kind::Call)) {
    return {OperationKind::Access, StepKind::None, "the lanes part"};
  }
  Operation result = parts_.independence.operations().classify(lane);
  if (effect.is_access() &&
      !i.one_of(ptx::Category::Space)) { // a generic address may be a local one
    for (LaneMask m = acting & (acting - 1); m != 0 && result.kind == OperationKind::Silent;
         m &= m - 1) {
      lane.lane = std::countr_zero(m);
      result = parts_.independence.operations().classify(lane);
    }
  }
  return result;
}

/// Does the warp stand at something of which the explorer chooses when, or in which order, it
/// happens?
bool WarpSettling::is_move(const Lane& at, const WarpRules::Next& next) {
  const LaneMask lanes = acting(at, next);
  if (next.branch) {
    return !open_choices(at, next, {}).empty();
  }
  if ((next.op->flags & isa::Visible) == 0 || lanes == 0) {
    return false;
  }
  switch (const OperationKind kind = this->classify(at, lanes).kind) {
  case OperationKind::Plain:
    return rules(at).stale_reads() || (choices_.waiting(at) & lanes) != 0 ||
           choices_.is_choice(at, kind) || !open_choices(at, next, {}).empty();
  case OperationKind::Aligned: // the warp is there
    return choices_.is_choice(
        at,
        parts_.options.independence.turns ? OperationKind::Join : OperationKind::Access
    );
  default:
    return choices_.is_choice(at, kind);
  }
}

// --- Running warps -----------------------------------------------------------------------------

/// False: it failed.
bool WarpSettling::step(const Lane& at, const Pick& pick) {
  if (!runner_.look_at_clock(
          at,
          rules(at).next(parts_.machine.exec, at.warp).lanes,
          parts_.independence.operations().clocks().take_time()
      )) {
    return false;
  }
  const Stop stop = rules(at).step(parts_.machine.exec, at.warp, pick);
  if (stop != Stop::Fault && stop != Stop::Unsupported) {
    return true;
  }
  runner_.fail(at);
  return false;
}

bool WarpSettling::settle_warp(const Lane& where, bool* moved) {
  Lane at = where;
  parts_.machine.exec.enter_block(at.work->clusters[at.cluster]->block(at.block).exec_block());
  const auto& loops = at.work->progress[at.cluster].loops[at.block][at.warp];
  for (std::uint64_t steps = 0;; ++steps) {
    const WarpRules::Next next = rules(at).next(parts_.machine.exec, at.warp);
    if (next.lanes == 0) {
      return true;
    }
    at.lane = std::countr_zero(next.lanes);
    if ((loops.endless & next.lanes) != 0 || is_move(at, next)) {
      return true;
    }
    if (steps > patience) {
      return loops_for_ever(at);
    }
    *moved = true;
    if (!step(at, {})) {
      return false;
    }
  }
}

/// As loops_for_ever, for a warp.
bool WarpSettling::loops_for_ever(const Lane& where) {
  Lane at = where;
  WarpRules& rules = this->rules(at);
  auto& loops = at.work->progress[at.cluster].loops[at.block][at.warp];
  Recurrence circle(fingerprint(at));
  for (std::uint64_t round = 0; round < warp_loop_rounds; ++round) {
    const Op* before = nullptr; // a round ends where it goes back
    for (int steps = 0; steps < round_steps; ++steps) {
      const WarpRules::Next next = rules.next(parts_.machine.exec, at.warp);
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
        note_acts(this->classify(at, lanes), circle);
      }
      runner_.look_at_clock(at, lanes, Time::None);
      const Stop stop = rules.step(parts_.machine.exec, at.warp, {});
      if (stop == Stop::Fault || stop == Stop::Unsupported) {
        runner_.fail(at);
        return false;
      }
      if (stop == Stop::Yield) {
        circle.did(Recurrence::Sleeps);
      }
    }
    const Hash128 state = fingerprint(at);
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
  parts_.under_way.give_up(
      fmt::format(
          "a warp of {} ran through {} rounds of a loop without an operation that others can see",
          at.work->command->label,
          warp_loop_rounds
      )
  );
  return false;
}

// --- Moves -------------------------------------------------------------------------------------

bool WarpSettling::begin_move(const Move& move, Work& work) {
  Lane at{&work, move.cluster, move.block, move.warp, move.lane};
  parts_.machine.exec.enter_block(work.clusters[at.cluster]->block(at.block).exec_block());
  const bool made = work.progress[at.cluster].made;
  WarpRules::Next next = rules(at).next(parts_.machine.exec, at.warp);
  const Pick pick = move.pick != 0 ? work.images[at.cluster]->picks[move.pick - 1] : Pick{};
  const bool stale = rules(at).stale_reads();
  parts_.under_way.repeatable =
      parts_.under_way.repeatable && !stale; // what is read depends on more than that
  if (move.pick == 0 && this->classify(at, acting(at, next)).kind == OperationKind::Plain &&
      !stale && (!made || !parts_.options.independence.eager)) {
    // Plain accesses go together with the operation that follows them.
    bool moved = false;
    parts_.under_way.bundling = true;
    const bool fine = settle_warp(at, &moved);
    parts_.under_way.bundling = false;
    if (!fine) {
      return false;
    }
    next = rules(at).next(parts_.machine.exec, at.warp);
    if (next.lanes == 0) {
      return true;
    }
    at.lane = std::countr_zero(next.lanes);
    if (!is_move(at, next) || !open_choices(at, next, {}).empty()) {
      return true; // what follows is left open: a move of its own
    }
    const OperationKind kind = this->classify(at, acting(at, next)).kind;
    if (kind == OperationKind::Heap || kind == OperationKind::Clock) {
      return true; // that cannot be taken back, or shows more than one time: another one
    }
  }
  parts_.under_way.taken = this->classify(at, acting(at, next)).step;
  parts_.independence.operations().clocks().begin_look(at, move.time);
  return step(at, pick);
}

std::vector<WarpSettling::Pick> WarpSettling::open_choices(
    const Lane& at,
    const WarpRules::Next& next,
    std::span<const Hash128> like
) {
  Block& block = at.work->clusters[at.cluster]->block(at.block);
  return parts_.machine.warp_choices.picks(block, at.warp, at.lane, next, like);
}

/// For recognising that a warp loops; without what others may change.
Hash128 WarpSettling::fingerprint(const Lane& at) const {
  const isa::Warp& warp = warp_state(at).warp;
  Hasher hasher;
  hasher.value(rules(at).shape(at.warp));
  for (LaneMask m = warp.live; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    hasher.value(rules(at).place(at.warp, lane));
    Lane own = at;
    own.lane = lane;
    const Hash128 state = lane_state(parts_.machine.live, own);
    hasher.value(state.low);
    hasher.value(state.high);
  }
  return hasher.finish();
}

} // namespace heddle::reduce
