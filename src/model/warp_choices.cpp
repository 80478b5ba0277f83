// Implements warp_choices.h.
#include "model/warp_choices.h"

#include "isa/ops_address.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace heddle::model {

using isa::LaneMask;
using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;
using Pick = WarpRules::Pick;

namespace {

constexpr std::size_t most_orders = 720; // of 6 lanes

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

LaneMask WarpChoices::acting(const isa::Warp& warp, int any, const WarpRules::Next& next) {
  if ((next.op->flags & isa::Guarded) == 0) {
    return next.lanes;
  }
  const isa::Frame& frame = *warp.frame[slot(any)];
  LaneMask guard = 0;
  std::memcpy(&guard, frame.registers.data() + next.op->guard.offset(), sizeof guard);
  return next.lanes & (next.op->guard_negated ? ~guard : guard);
}

std::vector<Pick> WarpChoices::picks(
    Block& block,
    std::size_t w,
    int any,
    const WarpRules::Next& next,
    std::span<const Hash128> like
) {
  isa::Warp& warp = block.warps()[w].warp;
  std::vector<Pick> result;
  const LaneMask lanes = acting(warp, any, next);
  const ptx::Instruction& i = next.code->function->body[next.op->instruction];
  if (next.branch) {
    if (i.opcode == Opcode::Bra && (lanes == 0 || lanes == next.lanes)) {
      return result;
    }
    const std::vector<LaneMask> sides = block.rules()->sides(exec_, w);
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
      left_out_ = true;
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
  const isa::Frame& frame = *warp.frame[slot(any)];
  exec_.select(warp, *warp.frame[slot(any)], lanes);
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
    const std::size_t warp = w * isa::warp_size;
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
        left_out_ = true;
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
      left_out_ = true;
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

} // namespace heddle::model
