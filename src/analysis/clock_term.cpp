// Implements clock_term.h.
#include "analysis/clock_term.h"

#include "base/hash.h"

#include <algorithm>

namespace heddle::analysis {

using Kind = ClockTerm::Kind;
using Without = ClockCondition;

bool is_clock(const ptx::Operand& operand) {
  const std::string_view name = operand.name;
  return operand.kind == ptx::OperandKind::Special &&
         (name.starts_with("%clock") || name.starts_with("%globaltimer"));
}

bool is_comparison(const ptx::Instruction& i) {
  return i.opcode == ptx::Opcode::Setp || i.opcode == ptx::Opcode::Set;
}

ClockTerm ClockTerm::shown(std::string_view clock, std::uint32_t reading) {
  ClockTerm term;
  term.kind = clock.ends_with("_hi")                           ? Kind::Made
              : clock == "%clock64" || clock == "%globaltimer" ? Kind::Time
                                                               : Kind::TimeLow;
  term.nanoseconds = clock.starts_with("%globaltimer");
  term.of = std::uint64_t{1} << reading % 64;
  return term;
}

namespace {

ClockTerm made(std::uint64_t of) {
  ClockTerm term;
  term.kind = of == 0 ? Kind::Nothing : Kind::Made;
  term.of = of;
  return term;
}

bool is_positive_constant(const ptx::Operand& operand, bool real) {
  if (real) {
    const bool negative =
        (operand.float_bits == 32 ? operand.bits >> 31 & 1 : operand.bits >> 63) != 0;
    return operand.kind == ptx::OperandKind::Float && !negative && operand.bits != 0;
  }
  return operand.kind == ptx::OperandKind::Integer && static_cast<std::int64_t>(operand.bits) > 0;
}

int bits_of(const ptx::Instruction& i, int type = 0) {
  const std::optional<ptx::Type> of = i.type(type);
  return of ? type_bits(*of) : 0;
}
bool is_real(const ptx::Instruction& i, int type = 0) {
  const std::optional<ptx::Type> of = i.type(type);
  return of && is_float(*of);
}
bool has_sign(const ptx::Instruction& i, int type = 0) {
  const auto t = i.type(type);
  return t &&
         (*t == ptx::Mod::S8 || *t == ptx::Mod::S16 || *t == ptx::Mod::S32 || *t == ptx::Mod::S64);
}

ClockTerm as(ClockTerm term, Kind kind) {
  term.kind = kind;
  return term;
}

ClockTerm converted(const ptx::Instruction& i, const ClockTerm& a, Without without) {
  const ClockTerm other = made(a.of);
  const int to = bits_of(i), from = bits_of(i, 1);
  if ((i.has(ptx::Mod::Sat) && without != Without::SaturatedPart) || from < 32) {
    return other;
  }
  if (is_real(i)) {
    if (is_real(i, 1)) {
      return a.kind == Kind::Real && to >= 32 ? a : other;
    }
    return a.kind == Kind::Passed && from == 64 && to >= 32 &&
                   (!a.moved || has_sign(i, 1) || without == Without::MovedPoint)
               ? as(a, Kind::Real)
               : other;
  }
  if (is_real(i, 1) || to < 32) {
    return other;
  }
  if (from == to) {
    return a;
  }
  if (to == 32) {
    switch (a.kind) {
    case Kind::Time:
    case Kind::TimeWide:
      return as(a, Kind::TimeLow);
    case Kind::Passed:
      return (a.moved || a.shape != 0) && without != Without::LowOfMade ? other
                                                                        : as(a, Kind::PassedLow);
    case Kind::PassedLow:
    case Kind::PassedWide:
      return as(a, Kind::PassedLow);
    default:
      return other;
    }
  }
  switch (a.kind) { // to 64
  case Kind::TimeLow:
    return has_sign(i, 1) ? as(a, Kind::TimeWide) : other;
  case Kind::PassedLow:
    return has_sign(i, 1) ? as(a, Kind::PassedWide) : a;
  default:
    return other;
  }
}

/// `sign`: -1 for a difference.
ClockTerm
sum(const ptx::Instruction& i, const ClockTerm& a, const ClockTerm& b, int sign, Without without) {
  const ClockTerm other = made(a.of | b.of);
  const int bits = bits_of(i);
  if (i.has(ptx::Mod::Cc) || (i.has(ptx::Mod::Sat) && without != Without::SaturatedSum)) {
    return other;
  }
  if (a.nothing() || b.nothing()) {
    const ClockTerm& term = a.nothing() ? b : a;
    const bool negated = a.nothing() && sign < 0 && without != Without::NegatedTime;
    if ((term.kind == Kind::Time && bits == 64 && !negated) ||
        (term.kind == Kind::TimeLow && bits == 32 && !negated)) {
      return term;
    }
    if ((term.kind == Kind::Passed && bits == 64) || (term.kind == Kind::Real && is_real(i))) {
      ClockTerm result = term;
      result.moved = true;
      return result;
    }
    return other;
  }
  if (sign > 0 && a.kind == Kind::Passed && b.kind == Kind::Passed && a.of == b.of &&
      a.since == b.since && bits == 64 &&
      ((!a.moved && !b.moved) || without == Without::MovedSum)) {
    return a; // both grow with what has passed
  }
  if (sign > 0 || a.kind != b.kind || !a.is_time() ||
      (a.nanoseconds != b.nanoseconds && without != Without::Units) || a.old == b.old ||
      bits != (a.kind == Kind::TimeLow ? 32 : 64)) {
    return other;
  }
  ClockTerm result;
  result.kind = a.kind == Kind::Time      ? Kind::Passed
                : a.kind == Kind::TimeLow ? Kind::PassedLow
                                          : Kind::Apart;
  result.moved = a.old || a.shape != 0 || b.shape != 0 ||
                 ((a.put_off || b.put_off) && without != Without::PutOff);
  result.of = a.of | b.of;
  result.since = a.old ? a.of : b.of;
  const bool turned = a.old || a.shape != 0 || b.shape != 0;
  return turned && result.kind != Kind::Passed && without != Without::TurnedHalf ? other : result;
}

} // namespace

ClockTerm join(const ClockTerm& a, const ClockTerm& b) {
  if (a == b || b.kind == Kind::Unset) {
    return a;
  }
  if (a.kind == Kind::Unset) {
    return b;
  }
  if (a.is_time() && b.is_time() && a.old != b.old) {
    return a.old ? join(a, b.behind_reading()) : join(a.behind_reading(), b);
  }
  ClockTerm both = a;
  both.of |= b.of;
  both.since |= b.since;
  both.old = a.old || b.old;
  both.put_off = a.put_off || b.put_off;
  both.moved = a.moved || b.moved;
  both.varies = a.varies || b.varies || a.shape != b.shape;
  both.shape = a.shape | b.shape;
  return a.kind == b.kind && a.nanoseconds == b.nanoseconds ? both : made(both.of);
}

ClockTerm ClockTerm::behind_reading() const {
  if (!is_time()) {
    return *this;
  }
  if (old && shape != 0) { // an earlier time that has been put off
    return made(of);
  }
  ClockTerm result = *this;
  result.put_off = put_off || shape != 0;
  result.old = true;
  result.varies = false;
  result.shape = 0;
  return result;
}

namespace {

ClockTerm
kind_made_of(const ptx::Instruction& i, const std::vector<ClockTerm>& from, Without without) {
  std::uint64_t of = 0;
  for (const ClockTerm& term : from) {
    of |= term.of;
  }
  const ClockTerm nothing = made(0), other = made(of);
  const auto source = [&](std::size_t n) -> const ClockTerm& {
    return n - 1 < from.size() ? from[n - 1] : nothing;
  };
  const ClockTerm &a = source(1), &b = source(2);
  if (of == 0) {
    return nothing;
  }
  switch (i.opcode) {
  case ptx::Opcode::Mov:
    return i.operands.size() == 2 && i.operands[0].kind == ptx::OperandKind::Register ? a : other;
  case ptx::Opcode::Cvt:
    return converted(i, a, without);
  case ptx::Opcode::Add:
    return sum(i, a, b, 1, without);
  case ptx::Opcode::Sub:
    return sum(i, a, b, -1, without);
  case ptx::Opcode::And: {
    constexpr std::uint64_t low = 0xffffffff;
    const bool cut =
        (i.operands[1].kind == ptx::OperandKind::Integer && i.operands[1].bits == low) ||
        (i.operands[2].kind == ptx::OperandKind::Integer && i.operands[2].bits == low);
    const ClockTerm& term = a.nothing() ? b : a;
    const bool whole = (!term.moved && term.shape == 0) || without == Without::MaskOfMade;
    return cut && bits_of(i) == 64 && whole &&
                   (term.kind == Kind::Passed || term.kind == Kind::PassedWide ||
                    term.kind == Kind::PassedLow)
               ? as(term, Kind::PassedLow)
               : other;
  }
  case ptx::Opcode::Shr: // of what is not negative
  case ptx::Opcode::Div:
    if (a.kind == Kind::Passed && (!a.moved || without == Without::MovedShift) &&
        bits_of(i) == 64 && is_positive_constant(i.operands[2], false)) {
      return a;
    }
    return a.kind == Kind::Real && is_real(i) && is_positive_constant(i.operands[2], true) ? a
                                                                                           : other;
  case ptx::Opcode::Mul: {
    if (a.kind == Kind::Passed && (!a.moved || without == Without::MovedProduct) &&
        bits_of(i) == 64 && i.has(ptx::Mod::Hi) &&
        i.operands[2].kind == ptx::OperandKind::Integer &&
        (!has_sign(i) || is_positive_constant(i.operands[2], false))) {
      return a; // of a division by a constant
    }
    const bool second = is_positive_constant(i.operands[2], true) || without == Without::Factor;
    const ClockTerm& term = second ? a : b;
    return is_real(i) && term.kind == Kind::Real &&
                   (second || is_positive_constant(i.operands[1], true))
               ? term
               : other;
  }
  case ptx::Opcode::Selp:
    return a.nothing() || b.nothing() ? other : join(a, b);
  default:
    return other;
  }
}

} // namespace

ClockTerm made_of(
    const ptx::Instruction& i,
    const std::vector<ClockTerm>& from,
    const std::function<bool(const ptx::Operand&)>& stays,
    ClockCondition without
) {
  ClockTerm result = kind_made_of(i, from, without);
  if (result.nothing() || result.kind == Kind::Made || i.opcode == ptx::Opcode::Mov ||
      i.opcode == ptx::Opcode::Selp) {
    return result;
  }
  // The difference of two times, and a half of a time or of a difference, have a kind of their own.
  const bool plain =
      (i.opcode == ptx::Opcode::Sub && !from[0].nothing() && !from[1].nothing()) ||
      (i.opcode == ptx::Opcode::Cvt && !is_real(i) && (bits_of(i) == 32 || result.is_time()));
  Hasher shape;
  bool some = !plain, varies = false;
  shape.value(i.opcode);
  for (const ptx::Mod mod : i.modifiers) {
    shape.value(mod);
  }
  for (std::size_t n = 0; n < from.size(); ++n) {
    const ptx::Operand& operand = i.operands[n + 1];
    some = some || from[n].shape != 0;
    varies = varies || from[n].varies || (from[n].nothing() && !stays(operand));
    shape.value(from[n].shape);
    shape.value(operand.kind);
    shape.value(from[n].nothing() ? operand.bits : 0);
    shape.value(from[n].nothing() ? operand.index : 0);
  }
  result.shape = some ? shape.finish().low | 1 : 0;
  result.varies = varies;
  return result;
}

std::optional<ClockTest>
test_of(const ptx::Instruction& i, const ClockTerm& a, const ClockTerm& b, ClockCondition without) {
  using Way = ClockTest::Way;
  const std::optional<ptx::Mod> how = i.one_of(ptx::Category::Compare);
  const int type = i.opcode == ptx::Opcode::Set ? 1 : 0;
  if (!how || i.operands.size() < 3) {
    return std::nullopt;
  }
  const auto is = [&](std::initializer_list<ptx::Mod> mods) {
    return std::ranges::count(mods, *how) != 0;
  };
  const bool less =
      is({ptx::Mod::Lt, ptx::Mod::Ge, ptx::Mod::Lo, ptx::Mod::Hs, ptx::Mod::Ltu, ptx::Mod::Geu});
  const bool more =
      is({ptx::Mod::Gt, ptx::Mod::Le, ptx::Mod::Hi, ptx::Mod::Ls, ptx::Mod::Gtu, ptx::Mod::Leu});
  const bool sign =
      has_sign(i, type) && !is({ptx::Mod::Lo, ptx::Mod::Hs, ptx::Mod::Hi, ptx::Mod::Ls});
  const int bits = bits_of(i, type);
  ClockTest test;
  test.of = a.of | b.of;
  Hasher shapes;
  shapes.value(a.shape);
  shapes.value(b.shape);
  test.shape = shapes.finish().low;
  test.whole_numbers = !is_real(i, type);
  if ((a.varies || b.varies) && without != Without::Varies) {
    return std::nullopt;
  }
  if (!a.nothing() && !b.nothing()) { // two times
    if ((!less && !more && without != Without::EqualTimes) || !a.is_time() || a.kind != b.kind ||
        (a.nanoseconds != b.nanoseconds && without != Without::Units) || a.old == b.old) {
      return std::nullopt;
    }
    test.since = a.old ? a.of : b.of;
    test.strict = less == a.old; // earlier < now, or now > earlier
    if (a.kind == Kind::Time && bits == 64) {
      test.way = Way::Whole;
    } else if (a.kind == Kind::TimeLow && bits == 32) {
      test.way = sign ? Way::OrderSigned : Way::OrderUnsigned;
    } else if (a.kind == Kind::TimeWide && bits == 64 && (sign || without == Without::WideOrder)) {
      test.way = Way::OrderSigned;
    } else {
      return std::nullopt;
    }
    return test;
  }
  const bool second = a.nothing();
  const ClockTerm& term = second ? b : a;
  const ptx::Operand& limit = i.operands[second ? 1 : 2];
  test.limit = &limit;
  test.since = term.since;
  test.strict = more != second; // limit < passed
  if (!less && !more) {         // "none has passed" is the only equality that is like a limit
    test.strict = true;
    const bool none = !term.moved && limit.kind == ptx::OperandKind::Integer && limit.bits == 0;
    return term.kind == Kind::Passed && is({ptx::Mod::Eq, ptx::Mod::Ne}) && bits == 64 &&
                   (none || without == Without::Equality)
               ? std::optional(test)
               : std::nullopt;
  }
  switch (term.kind) {
  case Kind::Time:
    test.way = Way::Moment;
    return bits == 64 ? std::optional(test) : std::nullopt;
  case Kind::Passed:
    return bits == 64 && !is_real(i, type) && (sign || !term.moved || without == Without::Unsigned)
               ? std::optional(test)
               : std::nullopt;
  case Kind::Real:
    return is_real(i, type) ? std::optional(test) : std::nullopt;
  case Kind::PassedLow:
    test.way = bits == 32 && sign && without != Without::Way ? Way::LowSigned : Way::LowUnsigned;
    return test;
  case Kind::PassedWide:
    test.way = sign && without != Without::Way ? Way::LowSigned : Way::LowUnsigned;
    return bits == 64 ? std::optional(test) : std::nullopt;
  case Kind::Apart:
    test.way = Way::Apart;
    return bits == 64 && (sign || without == Without::ApartOrder) ? std::optional(test)
                                                                  : std::nullopt;
  default:
    return std::nullopt;
  }
}

} // namespace heddle::analysis
