// Implements the part of stepper.h that is about warps whose lanes go by rules (lockstep): what a
// warp stands at, letting it run until it stands at something that is a choice, and which choices
// that are.
//
// A move is one instruction that others can see, executed by the lanes that the rules let go, and
// everything invisible after it. What the rules leave open ([SIMT-ORDER], [SIMT-ATOMIC],
// [SIMT-WRITE]) is a choice of its own, so that it depends on the lanes alone and never on memory:
// - at a divergent branch every order of its sides, at an indirect call which function is next;
// - at an atomic operation the orders of the lanes that update one place, as far as they can make a
//   difference: none if the results are not used and the updates commute; who is first if all do
//   the same and a second one changes nothing (a compare-and-swap of a lock); else every order, one
//   for lanes that are alike;
// - at a write of several values to one place, whose is there afterwards.
//
// May be wrong: where there are more than `most_orders` of them, only some are tried, and
// left_out_orders() says so. Lanes of other instructions that have an order (mbarrier, output) take
// the lowest first (misses).
#include "base/check.h"
#include "isa/ops_address.h"
#include "machine/recurrence.h"

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

constexpr std::size_t most_orders = 720; // of 6 lanes
// Instructions that a warp may execute in one go before it is asked whether it loops for ever.
constexpr std::uint64_t patience = 1 << 16;
constexpr std::uint64_t warp_loop_rounds = 1 << 20;
constexpr int round_steps = 4096;

using Lanes = std::vector<std::uint8_t>;

LaneMask bit(int lane) {
  return LaneMask{1} << lane;
}
std::size_t slot(int lane) {
  return static_cast<std::size_t>(lane);
}

bool same_value(const isa::Frame& frame, const ptx::Operand& operand, int a, int b) {
  if (operand.kind == OperandKind::Special) {
    return false;
  }
  if (operand.kind == OperandKind::Register) {
    const std::byte* values =
        frame.registers.data() + frame.code->registers[operand.index].offset();
    const ptx::Type type = frame.code->function->registers[operand.index].type;
    if (type == Mod::Pred) {
      LaneMask mask = 0;
      std::memcpy(&mask, values, sizeof mask);
      return (mask >> a & 1) == (mask >> b & 1);
    }
    const auto bytes = static_cast<std::size_t>(std::max(ptx::type_bits(type), 16)) / 8;
    return std::memcmp(values + slot(a) * bytes, values + slot(b) * bytes, bytes) == 0;
  }
  return std::ranges::all_of(operand.elements, [&](const ptx::Operand& element) {
    return same_value(frame, element, a, b);
  });
}

/// The lanes with different values, the lowest of each.
template <class Same> Lanes distinct(const Lanes& lanes, Same same) {
  Lanes result;
  for (const std::uint8_t lane : lanes) {
    if (std::ranges::none_of(result, [&](std::uint8_t known) { return same(known, lane); })) {
      result.push_back(lane);
    }
  }
  return result;
}

Lanes with_first(const Lanes& lanes, std::uint8_t first) {
  Lanes order{first};
  std::ranges::remove_copy(lanes, std::back_inserter(order), first);
  return order;
}
Lanes with_last(const Lanes& lanes, std::uint8_t last) {
  Lanes order;
  std::ranges::remove_copy(lanes, std::back_inserter(order), last);
  order.push_back(last);
  return order;
}

/// Every order of the lanes, but for those that are the same. False: there are more than that.
template <class Same>
bool add_orders(Lanes& begun, const Lanes& left, Same same, std::vector<Lanes>& result) {
  if (left.empty()) {
    result.push_back(begun);
    return result.size() <= most_orders;
  }
  for (const std::uint8_t next : distinct(left, same)) {
    Lanes rest;
    std::ranges::remove_copy(left, std::back_inserter(rest), next);
    begun.push_back(next);
    const bool fits = add_orders(begun, rest, same, result);
    begun.pop_back();
    if (!fits) {
      return false;
    }
  }
  return true;
}

/// What the order of updates of one place can do.
enum class Effect : std::uint8_t {
  None,  // nothing
  First, // it matters who is first
  Last,  // … last
  Whole
};

Effect effect_of(const ptx::Instruction& i, bool same_operands, bool result_used) {
  const std::optional<Mod> operation = i.one_of(ptx::Category::Operation);
  const std::optional<ptx::Type> type = i.type();
  if (!operation || !type) {
    return Effect::Whole;
  }
  switch (*operation) {
  case Mod::Cas: // by equal lanes: the second one fails, or writes what is there
    return !same_operands ? Effect::Whole : result_used ? Effect::First : Effect::None;
  case Mod::Exch:
    return !result_used ? Effect::Last : same_operands ? Effect::First : Effect::Whole;
  case Mod::And:
  case Mod::Or:
  case Mod::Min:
  case Mod::Max:
    return !result_used ? Effect::None : same_operands ? Effect::First : Effect::Whole;
  case Mod::Xor:
    return result_used ? Effect::Whole : Effect::None;
  case Mod::Add: // sums of floating-point numbers depend on the order
    return !result_used && (same_operands || !ptx::is_float(*type)) ? Effect::None : Effect::Whole;
  case Mod::Inc:
  case Mod::Dec:
    return !result_used && same_operands ? Effect::None : Effect::Whole;
  default:
    return Effect::Whole;
  }
}

} // namespace

WarpRules& Stepper::rules(const Lane& at) {
  return *at.work->clusters[at.cluster]->block(at.block).rules();
}

// --- Operations --------------------------------------------------------------------------------

/// Those for whom the instruction's guard holds.
LaneMask Stepper::acting(const Lane& at, const WarpRules::Next& next) const {
  if ((next.op->flags & isa::Guarded) == 0) {
    return next.lanes;
  }
  const isa::Frame& frame = *warp_state(at).warp.frame[slot(at.lane)];
  LaneMask guard = 0;
  std::memcpy(&guard, frame.registers.data() + next.op->guard.offset(), sizeof guard);
  return next.lanes & (next.op->guard_negated ? ~guard : guard);
}

/// What the instruction is for the warp: what it is for the lane that others see most of.
Stepper::Operation Stepper::classify_warp(const Lane& at, LaneMask acting) const {
  const isa::Warp& warp = warp_state(at).warp;
  const Op& op = *warp.pc[slot(at.lane)];
  const ptx::Instruction& i = warp.frame[slot(at.lane)]->code->function->body[op.instruction];
  Lane lane = at;
  lane.lane = std::countr_zero(acting);
  using Kind = ptx::Effect::Kind;
  const ptx::Effect& effect = ptx::effect_of(i);
  if (effect.is(Kind::Call) && acting != 0 && (op.flags & isa::Visible) != 0) {
    if (const Operation call = classify(lane); call.kind == Class::Heap) {
      return call; // it cannot be taken back
    }
  }
  if (effect.is(Kind::Branch) || effect.is(Kind::BranchTable) || effect.is(Kind::Call)) {
    return {Class::Access, StepKind::None, "the lanes part"};
  }
  Operation result = classify(lane);
  if (effect.is_access() &&
      !i.one_of(ptx::Category::Space)) { // a generic address may be a local one
    for (LaneMask m = acting & (acting - 1); m != 0 && result.kind == Class::Silent; m &= m - 1) {
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
    return !picks(at, next, {}).empty();
  }
  if ((next.op->flags & isa::Visible) == 0 || lanes == 0) {
    return false;
  }
  switch (const Class kind = classify_warp(at, lanes).kind) {
  case Class::Plain:
    return rules(at).stale_reads() || (waiting(at) & lanes) != 0 || is_choice(at, kind) ||
           !picks(at, next, {}).empty();
  case Class::Aligned: // the warp is there
    return is_choice(at, Class::Join);
  default:
    return is_choice(at, kind);
  }
}

// --- Choices -----------------------------------------------------------------------------------

/// What is left open at the instruction of next(); none: nothing. `like`: equal for lanes that are
/// alike; empty: no two are.
std::vector<Stepper::Pick>
Stepper::picks(const Lane& at, const WarpRules::Next& next, std::span<const Hash128> like) {
  std::vector<Pick> result;
  const LaneMask lanes = acting(at, next);
  const ptx::Instruction& i = next.code->function->body[next.op->instruction];
  if (next.branch) {
    if (i.opcode == Opcode::Bra && (lanes == 0 || lanes == next.lanes)) {
      return result;
    }
    const std::vector<LaneMask> sides = rules(at).sides(exec_, at.warp);
    if (i.opcode == Opcode::Call) { // who goes next is asked again when they have returned
      for (std::size_t side = 0; sides.size() > 1 && side < sides.size(); ++side) {
        result.push_back(
            {.sides = {static_cast<std::uint8_t>(side)}, .lanes = {}, .first = sides[side]}
        );
      }
      return result;
    }
    Lanes all(sides.size());
    std::iota(all.begin(), all.end(), std::uint8_t{0});
    std::vector<Lanes> orders;
    Lanes begun;
    if (sides.empty()) {
      return result;
    }
    if (!add_orders(begun, all, std::equal_to<>(), orders)) {
      left_out_orders_ = true;
    }
    for (const Lanes& order : orders) {
      Pick pick;
      pick.first = sides[order.front()];
      Lanes left = all; // a pick counts among those that are left
      for (const std::uint8_t side : order) {
        const auto where = std::ranges::find(left, side);
        pick.sides.push_back(static_cast<std::uint8_t>(where - left.begin()));
        left.erase(where);
      }
      result.push_back(std::move(pick));
    }
    return result;
  }
  const bool write = i.opcode == Opcode::St;
  if ((!write && i.opcode != Opcode::Atom && i.opcode != Opcode::Red) || std::popcount(lanes) < 2) {
    return result;
  }
  const isa::Frame& frame = *warp_state(at).warp.frame[slot(at.lane)];
  exec_.select(warp_state(at).warp, *warp_state(at).warp.frame[slot(at.lane)], lanes);
  std::uint64_t address[isa::warp_size];
  isa::addresses<isa::Space::Generic>(exec_, *next.op, address);
  std::map<std::uint64_t, Lanes> places;
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    places[address[lane]].push_back(static_cast<std::uint8_t>(lane));
  }
  if (places.size() == static_cast<std::size_t>(std::popcount(lanes))) {
    return result;
  }
  const std::size_t first_value = i.opcode == Opcode::Atom ? 2 : 1;
  const auto same_operands = [&](std::uint8_t a, std::uint8_t b) {
    return std::all_of(
        i.operands.begin() + static_cast<std::ptrdiff_t>(first_value),
        i.operands.end(),
        [&](const ptx::Operand& operand) { return same_value(frame, operand, a, b); }
    );
  };
  bool result_used = i.opcode == Opcode::Atom && i.operands[0].kind != OperandKind::Sink;
  if (result_used && i.operands[0].kind == OperandKind::Register) {
    const std::uint32_t offset = next.code->registers[i.operands[0].index].offset();
    result_used = std::ranges::any_of(
        live_.at(*next.code, next.op[1]).registers,
        [&](const LiveState::Register& r) { return r.offset == offset; }
    );
  }
  const auto alike = [&](std::uint8_t a, std::uint8_t b) {
    if (!result_used) {
      return same_operands(a, b);
    }
    const std::size_t warp = at.warp * isa::warp_size;
    return !like.empty() && like[warp + a] == like[warp + b];
  };

  std::vector<std::vector<Lanes>> orders; // of each place
  for (const auto& [where, own] : places) {
    auto& list = orders.emplace_back();
    const bool same = distinct(own, same_operands).size() == 1;
    const Effect effect =
        write ? (same ? Effect::None : Effect::Last) : effect_of(i, same, result_used);
    switch (own.size() == 1 ? Effect::None : effect) {
    case Effect::None:
      list.push_back(own);
      break;
    case Effect::First:
      for (const std::uint8_t first : distinct(own, alike)) {
        list.push_back(with_first(own, first));
      }
      break;
    case Effect::Last:
      for (const std::uint8_t last : distinct(own, same_operands)) {
        list.push_back(with_last(own, last));
      }
      break;
    case Effect::Whole: {
      Lanes begun;
      if (!add_orders(begun, own, alike, list)) {
        left_out_orders_ = true;
        list.clear();
        for (const std::uint8_t first : distinct(own, alike)) {
          list.push_back(with_first(own, first));
        }
      }
      break;
    }
    }
  }
  std::size_t count = 1;
  for (const auto& list : orders) {
    count *= list.size();
    if (count > most_orders) {
      left_out_orders_ = true;
      count = most_orders;
    }
  }
  for (std::size_t n = 0; count > 1 && n < count; ++n) {
    Pick pick;
    std::size_t rest = n;
    for (const auto& list : orders) {
      const Lanes& order = list[rest % list.size()];
      rest /= list.size();
      pick.lanes.insert(pick.lanes.end(), order.begin(), order.end());
      pick.first |= list.size() == 1 ? 0 : bit(write ? order.back() : order.front());
    }
    result.push_back(std::move(pick));
  }
  return result;
}

// --- Running warps -----------------------------------------------------------------------------

/// False: it failed.
bool Stepper::step_warp(const Lane& at, const Pick& pick) {
  if (!look_at_clock(at, rules(at).next(exec_, at.warp).lanes, std::exchange(time_, Time::None))) {
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
  failure_ = Failure{};
  failure_->incomplete = fmt::format(
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
  repeatable_ = repeatable_ && !stale; // what is read depends on more than that
  if (move.pick == 0 && classify_warp(at, acting(at, next)).kind == Class::Plain && !stale &&
      (!made || !options_.eager)) {
    // Plain accesses go together with the operation that follows them.
    bool moved = false;
    bundling_ = true;
    const bool fine = settle_warp(at, &moved);
    bundling_ = false;
    if (!fine) {
      return false;
    }
    next = rules(at).next(exec_, at.warp);
    if (next.lanes == 0) {
      return true;
    }
    at.lane = std::countr_zero(next.lanes);
    if (!is_move(at, next) || !picks(at, next, {}).empty()) {
      return true; // what follows is left open: a move of its own
    }
    const Class kind = classify_warp(at, acting(at, next)).kind;
    if (kind == Class::Heap || kind == Class::Clock) {
      return true; // that cannot be taken back, or shows more than one time: another one
    }
  }
  taken_ = classify_warp(at, acting(at, next)).step;
  begin_look(at, move.time);
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
      const std::vector<Pick> open = ready.endless ? std::vector<Pick>() : picks(at, next, like);
      for (const Pick& pick : open) {
        image.picks.push_back(pick);
        ready.pick = static_cast<std::uint32_t>(image.picks.size());
        image.ready.push_back(ready);
      }
      if (open.empty()) {
        if (!ready.endless && ready.operation.kind == Class::Clock) {
          left_out_looks_ |=
              !image.add_soon(ready, work.progress[c].loops[b][w].soon[slot(at.lane)]);
        }
        image.ready.push_back(ready);
      }
    }
  }
}

// --- What states are called
// ----------------------------------------------------------------------

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
    const Hash128 state = lane_state(own);
    hasher.value(state.low);
    hasher.value(state.high);
  }
  return hasher.finish();
}

/// One hash for each warp, of its lanes taken together; 0, 0: it has ended. `sum` becomes that of
/// the warps.
std::vector<Hash128>
Stepper::name_warps(Cluster& cluster, std::span<const Hash128> lanes, HashSum& sum) const {
  std::vector<Hash128> result;
  sum = {};
  for (std::size_t b = 0; b < cluster.size(); ++b) {
    Block& block = cluster.block(b);
    for (std::size_t w = 0; w < block.warps().size(); ++w) {
      HashSum own;
      for (LaneMask m = block.warps()[w].warp.live; m != 0; m &= m - 1) {
        own.add(lanes[result.size() * isa::warp_size + slot(std::countr_zero(m))]);
      }
      Hash128 name;
      if (block.warps()[w].warp.live != 0) {
        Hasher hasher;
        hasher.value(own.low);
        hasher.value(own.high);
        hasher.value(block.rules()->shape(w));
        name = hasher.finish();
        sum.add(name);
      }
      result.push_back(name);
    }
  }
  return result;
}

} // namespace heddle::reduce
