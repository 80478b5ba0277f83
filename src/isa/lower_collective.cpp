// Lowers shfl, vote, match, redux, activemask and elect, with .sync and in the old forms without
// (PTX ISA 9.0, 9.7.9.5, 9.7.9.6, 9.7.13.8 to 9.7.13.14).
//
// Each is written once over "the values of the lanes that take part"; these come from the registers
// when the lanes are converged (at_once) and from the Exchange when they met from different places.
#include "isa/lower_collective.h"

#include "isa/lane_count.h"
#include "isa/lower_collective_matrix.h"
#include "isa/ops_collective.h"

#include <fmt/format.h>

namespace heddle::isa {
namespace {

using ops::Shuffle;
using ptx::Mod;

// --- shfl: op.a value, op.b and op.c as in PTX, op.d result, op.e predicate or none

template <Shuffle Mode> struct Shfl {
  static constexpr CollectiveKind kind = CollectiveKind::Shfl;
  static constexpr bool by_lanes = true;

  static void contribute(Exec& exec, const Op& op, Exchange& exchange) {
    const auto* a = exec.in<std::uint32_t>(op.a);
    exec.each([&](int lane) { exchange.value[static_cast<std::size_t>(lane)] = a[lane]; });
  }
  /// `value(lane)`: of the one of `lanes` that is read.
  template <class V> static void shuffle(Exec& exec, const Op& op, V&& value, LaneMask lanes) {
    const auto* b = exec.in<std::uint32_t>(op.b);
    const auto* c = exec.in<std::uint32_t>(op.c);
    // Loops over all lanes, executing or not, that the compiler can vectorise.
    std::uint32_t from[lane_count];
    std::uint32_t in_range[lane_count];
    for (int lane = 0; lane < lane_count; ++lane) {
      const auto number = static_cast<int>(Exec::lane_number(lane));
      const ops::ShuffleSource source = ops::shuffle_source<Mode>(number, b[lane], c[lane]);
      from[lane] = static_cast<std::uint32_t>(source.lane) & (warp_size - 1);
      in_range[lane] = source.in_range ? 1 : 0;
    }
    if (!op.d.none()) {
      std::uint32_t result[lane_count];
      for (int lane = 0; lane < lane_count; ++lane) {
        const std::uint32_t v = value(from[lane]);
        result[lane] = (lanes >> from[lane] & 1) != 0 ? v : 0;
      }
      auto* d = exec.out<std::uint32_t>(op.d);
      exec.each([&](int lane) { d[lane] = result[lane]; });
    }
    if (!op.e.none()) {
      LaneMask mask = 0;
      for (int lane = 0; lane < lane_count; ++lane) {
        mask |= in_range[lane] << lane;
      }
      exec.set_predicate(op.e, mask);
    }
  }
  static void conclude(Exec& exec, const Op& op, const Exchange& exchange) {
    const auto value = [&](std::uint32_t lane) {
      return static_cast<std::uint32_t>(exchange.value[lane]);
    };
    shuffle(exec, op, value, exchange.lanes);
  }
  static void at_once(Exec& exec, const Op& op) {
    const auto* a = exec.in<std::uint32_t>(op.a);
    const auto value = [a](std::uint32_t lane) { return Exec::of_lane(a, lane); };
    shuffle(exec, op, value, exec.executing());
  }
};

// --- vote: op.a predicate (negated: op.imm), op.d result

enum class VoteMode : std::uint8_t {
  All,
  Any,
  Uni,
  Ballot
};

template <VoteMode Mode> struct Vote {
  static constexpr CollectiveKind kind = CollectiveKind::Vote;
  static constexpr bool by_lanes = true;

  static LaneMask own(Exec& exec, const Op& op) {
    const LaneMask p = exec.predicate(op.a);
    return op.imm != 0 ? ~p : p;
  }
  static void decide(Exec& exec, const Op& op, LaneMask votes, LaneMask lanes) {
    votes &= lanes;
    if constexpr (Mode == VoteMode::Ballot) {
      auto* d = exec.out<std::uint32_t>(op.d);
      exec.each([&](int lane) { d[lane] = votes; });
    } else {
      const bool result = Mode == VoteMode::All   ? votes == lanes
                          : Mode == VoteMode::Any ? votes != 0
                                                  : votes == lanes || votes == 0;
      exec.set_predicate(op.d, result ? all_lanes : 0);
    }
  }
  static void contribute(Exec& exec, const Op& op, Exchange& exchange) {
    const LaneMask votes = own(exec, op);
    exec.each([&](int lane) {
      exchange.value[static_cast<std::size_t>(lane)] = votes >> lane & 1;
    });
  }
  static void conclude(Exec& exec, const Op& op, const Exchange& exchange) {
    LaneMask votes = 0;
    for (LaneMask m = exchange.lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(m));
      votes |= static_cast<LaneMask>(exchange.value[lane] & 1) << lane;
    }
    decide(exec, op, votes, exchange.lanes);
  }
  static void at_once(Exec& exec, const Op& op) {
    decide(exec, op, exec.ballot(own(exec, op)), exec.executing());
  }
};

// --- match: op.a value of type T, op.d mask, op.e predicate (all) or none

template <class T, bool All> struct Match {
  static constexpr CollectiveKind kind = CollectiveKind::Match;
  static constexpr bool by_lanes = true;

  static void contribute(Exec& exec, const Op& op, Exchange& exchange) {
    const T* a = exec.in<T>(op.a);
    exec.each([&](int lane) { exchange.value[static_cast<std::size_t>(lane)] = a[lane]; });
  }
  /// same[lane]: those of `lanes` that have its value.
  static void answer(Exec& exec, const Op& op, const LaneMask* same, LaneMask lanes) {
    if (!op.d.none()) {
      auto* d = exec.out<std::uint32_t>(op.d);
      exec.each([&](int lane) { d[lane] = All && same[lane] != lanes ? 0 : same[lane]; });
    }
    if (All && !op.e.none()) {
      LaneMask all = 0;
      for (int lane = 0; lane < lane_count; ++lane) {
        all |= static_cast<LaneMask>(same[lane] == lanes ? 1 : 0) << lane;
      }
      exec.set_predicate(op.e, all);
    }
  }
  static void conclude(Exec& exec, const Op& op, const Exchange& exchange) {
    std::array<LaneMask, warp_size> same;
    ops::match_lanes(exchange.value.data(), exchange.lanes, same);
    answer(exec, op, same.data(), exchange.lanes);
  }
  static void at_once(Exec& exec, const Op& op) {
    const T* a = exec.in<T>(op.a);
    std::array<LaneMask, warp_size> same;
#if defined(HEDDLE_REGION_HANDLERS)
    same[0] = sizeof(T) == 8 ? heddle_region_same64(*a)
                             : heddle_region_same32(static_cast<std::uint32_t>(*a));
#else
    ops::match_lanes(a, exec.mask(), same);
#endif
    answer(exec, op, same.data(), exec.executing());
  }
};

// --- redux: op.a value, op.d result

template <auto F> struct Redux {
  static constexpr CollectiveKind kind = CollectiveKind::Redux;
  static constexpr bool by_lanes = ops::fold_of<F>().has_value();

  static void contribute(Exec& exec, const Op& op, Exchange& exchange) {
    const auto* a = exec.in<std::uint32_t>(op.a);
    exec.each([&](int lane) { exchange.value[static_cast<std::size_t>(lane)] = a[lane]; });
  }
  template <class V> static std::uint32_t total(const V* value, LaneMask lanes) {
    const int first = std::countr_zero(lanes);
    // f(x, x) first: the one value of a single lane is normalised too (|x|, NaN).
    auto result = static_cast<std::uint32_t>(value[first]);
    if constexpr (F != ops::reduce_add && F != ops::reduce_xor) {
      result = F(result, result);
    }
    for (LaneMask m = lanes & (lanes - 1); m != 0; m &= m - 1) {
      result = F(result, static_cast<std::uint32_t>(value[std::countr_zero(m)]));
    }
    return result;
  }
  static void answer(Exec& exec, const Op& op, std::uint32_t result) {
    auto* d = exec.out<std::uint32_t>(op.d);
    exec.each([&](int lane) { d[lane] = result; });
  }
  static void conclude(Exec& exec, const Op& op, const Exchange& exchange) {
    answer(exec, op, total(exchange.value.data(), exchange.lanes));
  }
  static void at_once(Exec& exec, const Op& op) {
    const auto* a = exec.in<std::uint32_t>(op.a);
#if defined(HEDDLE_REGION_HANDLERS)
    if constexpr (by_lanes) {
      answer(exec, op, heddle_region_fold(*a, static_cast<std::uint32_t>(*ops::fold_of<F>())));
    }
#else
    answer(exec, op, total(a, exec.mask()));
#endif
  }
};

// --- elect: op.d leader or none, op.e predicate

struct Elect {
  static constexpr CollectiveKind kind = CollectiveKind::Elect;

  /// PTX leaves the choice open but for its being the same each time: the lowest lane.
  static void choose(Exec& exec, const Op& op, LaneMask lanes) {
    const int leader = std::countr_zero(lanes);
    if (!op.d.none()) {
      auto* d = exec.out<std::uint32_t>(op.d);
      exec.each([&](int lane) { d[lane] = static_cast<std::uint32_t>(leader); });
    }
    if (!op.e.none()) {
      exec.set_predicate(op.e, LaneMask{1} << leader);
    }
  }
  static void contribute(Exec&, const Op&, Exchange&) {}
  static void conclude(Exec& exec, const Op& op, const Exchange& exchange) {
    choose(exec, op, exchange.lanes);
  }
  static void at_once(Exec& exec, const Op& op) { choose(exec, op, exec.mask()); }
};

// --- Lowering

/// An op that is visible and whose membermask is operand `at`, if the instruction is a .sync one.
Op collective_op(Lowering& l, const ptx::Instruction& i, std::size_t at) {
  Op op = l.op(i);
  op.flags |= Visible;
  op.imm2 = i.has(Mod::Sync) ? l.source(i.operands.at(at), Mod::B32).raw : Ref::none_raw;
  return op;
}

/// d or d|p.
void destinations(Lowering& l, const ptx::Operand& operand, Op& op) {
  if (operand.kind == ptx::OperandKind::PredicatePair) {
    op.d = l.destination(operand.elements.at(0));
    op.e = l.destination(operand.elements.at(1));
  } else {
    op.d = l.destination(operand);
  }
}

Result<void> lower_shfl(Lowering& l, const ptx::Instruction& i) {
  Op op = collective_op(l, i, 4);
  destinations(l, i.operands.at(0), op);
  op.a = l.source(i.operands.at(1), Mod::B32);
  op.b = l.source(i.operands.at(2), Mod::B32);
  op.c = l.source(i.operands.at(3), Mod::B32);
  switch (i.one_of(ptx::Category::Shuffle).value_or(Mod::Idx)) {
  case Mod::Up:
    op.execute = collect<Shfl<Shuffle::Up>>;
    break;
  case Mod::Down:
    op.execute = collect<Shfl<Shuffle::Down>>;
    break;
  case Mod::Bfly:
    op.execute = collect<Shfl<Shuffle::Bfly>>;
    break;
  default:
    op.execute = collect<Shfl<Shuffle::Idx>>;
    break;
  }
  l.emit(op);
  return {};
}

Result<void> lower_vote(Lowering& l, const ptx::Instruction& i) {
  Op op = collective_op(l, i, 2);
  op.d = l.destination(i.operands.at(0));
  op.a = l.source(i.operands.at(1), Mod::Pred);
  op.imm = i.operands[1].negated ? 1 : 0;
  if (op.d.none()) {
    return unsupported("vote without a destination");
  }
  if (i.has(Mod::Ballot)) {
    op.execute = collect<Vote<VoteMode::Ballot>>;
  } else if (i.has(Mod::All)) {
    op.execute = collect<Vote<VoteMode::All>>;
  } else if (i.has(Mod::Any)) {
    op.execute = collect<Vote<VoteMode::Any>>;
  } else {
    op.execute = collect<Vote<VoteMode::Uni>>;
  }
  l.emit(op);
  return {};
}

Result<void> lower_match(Lowering& l, const ptx::Instruction& i) {
  Op op = collective_op(l, i, 2);
  destinations(l, i.operands.at(0), op);
  const ptx::Type type = i.type().value_or(Mod::B32);
  op.a = l.source(i.operands.at(1), type);
  const bool all = i.has(Mod::All);
  if (ptx::type_bits(type) == 64) {
    op.execute = all ? collect<Match<std::uint64_t, true>> : collect<Match<std::uint64_t, false>>;
  } else {
    op.execute = all ? collect<Match<std::uint32_t, true>> : collect<Match<std::uint32_t, false>>;
  }
  l.emit(op);
  return {};
}

template <bool Max> Handler select_redux_f32(bool abs, bool keep_nan) {
  if (abs) {
    return keep_nan ? collect<Redux<ops::reduce_f32<Max, true, true>>>
                    : collect<Redux<ops::reduce_f32<Max, true, false>>>;
  }
  return keep_nan ? collect<Redux<ops::reduce_f32<Max, false, true>>>
                  : collect<Redux<ops::reduce_f32<Max, false, false>>>;
}

Result<void> lower_redux(Lowering& l, const ptx::Instruction& i) {
  Op op = collective_op(l, i, 2);
  op.d = l.destination(i.operands.at(0));
  const ptx::Type type = i.type().value_or(Mod::B32);
  op.a = l.source(i.operands.at(1), type);
  const bool is_signed = ptx::is_signed(type);
  const bool is_float = type == Mod::F32;
  switch (i.one_of(ptx::Category::Operation).value_or(Mod::Cas)) {
  case Mod::Add:
    op.execute = collect<Redux<ops::reduce_add>>;
    break;
  case Mod::And:
    op.execute = collect<Redux<ops::reduce_and>>;
    break;
  case Mod::Or:
    op.execute = collect<Redux<ops::reduce_or>>;
    break;
  case Mod::Xor:
    op.execute = collect<Redux<ops::reduce_xor>>;
    break;
  case Mod::Min:
    op.execute = is_float    ? select_redux_f32<false>(i.has(Mod::Abs), i.has(Mod::NaN))
                 : is_signed ? collect<Redux<ops::reduce_min_s32>>
                             : collect<Redux<ops::reduce_min_u32>>;
    break;
  case Mod::Max:
    op.execute = is_float    ? select_redux_f32<true>(i.has(Mod::Abs), i.has(Mod::NaN))
                 : is_signed ? collect<Redux<ops::reduce_max_s32>>
                             : collect<Redux<ops::reduce_max_u32>>;
    break;
  default:
    break;
  }
  if (op.execute == nullptr || op.d.none()) {
    return unsupported("this form of redux");
  }
  l.emit(op);
  return {};
}

Result<void> lower_elect(Lowering& l, const ptx::Instruction& i) {
  Op op = collective_op(l, i, 1);
  destinations(l, i.operands.at(0), op);
  op.execute = collect<Elect>;
  l.emit(op);
  return {};
}

const Op* run_activemask(Exec& exec, const Op& op) {
  auto* d = exec.out<std::uint32_t>(op.d);
  exec.each([&](int lane) { d[lane] = exec.executing(); });
  return &op + 1;
}

/// Visible: the answer depends on which lanes have come this far.
Result<void> lower_activemask(Lowering& l, const ptx::Instruction& i) {
  Op op = l.op(i);
  op.flags |= Visible;
  op.d = l.destination(i.operands.at(0));
  if (op.d.none()) {
    return {};
  }
  op.execute = run_activemask;
  l.emit(op);
  return {};
}

} // namespace

const Op* check_membermask(Exec& exec, const Op& op, const std::uint32_t* membermask) {
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if ((membermask[lane] >> lane & 1U) == 0) {
      Fault fault;
      fault.kind = FaultKind::BarrierMisuse;
      fault.lane = lane;
      fault.text = fmt::format(
          "the mask {:#010x} of a warp's collective does not name lane {}, which executes it",
          membermask[lane],
          lane
      );
      return exec.stop_fault(std::move(fault));
    }
  }
  return &op;
}

void register_collective(LowerTable& table) {
  using ptx::Opcode;
  table[Opcode::Shfl] = lower_shfl;
  table[Opcode::Vote] = lower_vote;
  table[Opcode::Match] = lower_match;
  table[Opcode::Redux] = lower_redux;
  table[Opcode::Elect] = lower_elect;
  table[Opcode::Activemask] = lower_activemask;
  register_matrix(table);
  register_mma(table);
  register_wmma(table);
  register_wgmma(table);
}

} // namespace heddle::isa
