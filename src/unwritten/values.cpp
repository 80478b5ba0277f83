// Implements values.h.
#include "unwritten/values.h"

#include "analysis/liveness.h"
#include "ptx/effect.h"

#include <algorithm>
#include <array>
#include <bit>

namespace heddle::unwritten {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;

/// Of the inputs a, b, c in lop3's order.
constexpr std::uint8_t table_and = 0xf0 & 0xcc;
constexpr std::uint8_t table_or = 0xf0 | 0xcc;
constexpr std::uint8_t table_xor = 0xf0 ^ 0xcc;
constexpr std::uint8_t table_not = 0x0f;

std::uint64_t look_up(std::uint8_t table, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t result = 0;
  for (unsigned row = 0; row < 8; ++row) {
    if ((table >> row & 1) != 0) {
      result |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
    }
  }
  return result;
}

void add_source(Use& use, const ptx::Operand& operand) {
  switch (operand.kind) {
  case OperandKind::Register:
    use.sources.push_back({operand.index, operand.negated, 0});
    break;
  case OperandKind::Vector:
    for (const ptx::Operand& element : operand.elements) {
      add_source(use, element);
    }
    break;
  case OperandKind::Address:
    break;
  default:
    use.sources.push_back({Input::none, false, operand.bits});
    break;
  }
}

void add_result(Use& use, const ptx::Operand& operand) {
  if (operand.kind == OperandKind::Register) {
    use.results.push_back(operand.index);
  } else if (operand.kind == OperandKind::Sink) {
    use.results.push_back(Input::none);
  } else if (operand.kind == OperandKind::Vector || operand.kind == OperandKind::PredicatePair) {
    for (const ptx::Operand& element : operand.elements) {
      add_result(use, element);
    }
  }
}

void add_addresses(Use& use, const ptx::Instruction& i) {
  for (const ptx::Operand& operand : i.operands) {
    if (operand.kind == OperandKind::Address) {
      for (const ptx::Operand& element : operand.elements) {
        if (element.kind == OperandKind::Register) {
          use.address.push_back(element.index);
        }
      }
    }
  }
}

Kind move_kind(const ptx::Instruction& i) {
  if (i.operands[0].kind == OperandKind::Vector) {
    return i.operands[1].kind == OperandKind::Vector ? Kind::Opaque : Kind::Unpack;
  }
  return i.operands[1].kind == OperandKind::Vector ? Kind::Pack : Kind::Move;
}

bool is_integer(Mod type) {
  return type != Mod::Pred && !ptx::is_float(type);
}

/// What an instruction that does not only compute is here; none: it makes its result.
std::optional<Kind> kind_of_effect(const ptx::Instruction& i) {
  using What = ptx::Effect::Kind;
  const ptx::Effect& effect = ptx::effect_of(i);
  const bool scalar = !effect.is_async() && !i.has(Mod::Bulk); // done by itself, and at once
  switch (effect.kind) {
  case What::Load:
    return Kind::Load;
  case What::Store:
    return scalar ? Kind::Store : Kind::Writes;
  case What::Update:
    return scalar ? Kind::Update : Kind::Writes;
  case What::Branch:
  case What::BranchTable:
  case What::Barrier:
  case What::Exit:
  case What::Return:
  case What::Trap:
    return Kind::Decides;
  case What::Call:
    return Kind::Call;
  case What::Copy:
    return Kind::Writes;
  default:
    return effect.writes() ? std::optional(Kind::Writes) : std::nullopt;
  }
}

/// What it does to bits; Opaque if that is not known.
Kind kind_of(const ptx::Instruction& i, Use& use) {
  if (const auto known = kind_of_effect(i)) {
    return *known;
  }
  const Mod type = i.type().value_or(Mod::B32);
  switch (i.opcode) {
  case Opcode::Mov:
    return move_kind(i);
  case Opcode::Cvta:
    return Kind::Move;
  case Opcode::Cvt:
    use.source_bits = static_cast<std::uint8_t>(ptx::type_bits(i.type(1).value_or(type)));
    use.is_signed = ptx::is_signed(i.type(1).value_or(type));
    return is_integer(type) && is_integer(i.type(1).value_or(type)) && !i.has(Mod::Sat) &&
                   i.operands.size() == 2
               ? Kind::Convert
               : Kind::Opaque;
  case Opcode::And:
    use.table = table_and;
    return Kind::Bitwise;
  case Opcode::Or:
    use.table = table_or;
    return Kind::Bitwise;
  case Opcode::Xor:
    use.table = table_xor;
    return Kind::Bitwise;
  case Opcode::Not:
    use.table = table_not;
    return Kind::Bitwise;
  case Opcode::Lop3:
    if (i.operands.size() != 5 || use.results.size() != 1) {
      return Kind::Opaque;
    }
    use.table = static_cast<std::uint8_t>(i.operands[4].bits);
    return Kind::Bitwise;
  case Opcode::Shl:
    return Kind::ShiftLeft;
  case Opcode::Shr:
    return Kind::ShiftRight;
  case Opcode::Shf:
    return i.operands.size() == 4 ? Kind::Funnel : Kind::Opaque;
  case Opcode::Bfe:
    return Kind::Extract;
  case Opcode::Bfi:
    return Kind::Insert;
  case Opcode::Prmt: {
    const auto mode = i.modifiers;
    return mode.size() == 1 ? Kind::Permute : Kind::Opaque;
  }
  case Opcode::Selp:
    return Kind::Select;
  case Opcode::Setp:
  case Opcode::Set:
    return (i.has(Mod::Eq) || i.has(Mod::Ne)) &&
                   is_integer(i.type(i.opcode == Opcode::Set ? 1 : 0).value_or(type)) &&
                   i.operands.size() == 3 && use.results.size() == 1
               ? Kind::Equal
               : Kind::Opaque;
  case Opcode::Add:
  case Opcode::Sub:
    return is_integer(type) && !i.has(Mod::Sat) ? Kind::Sum : Kind::Opaque;
  case Opcode::Mul:
  case Opcode::Mad:
    return is_integer(type) && i.has(Mod::Lo) ? Kind::Sum : Kind::Opaque;
  case Opcode::Shfl:
    return Kind::Shuffle;
  default:
    return Kind::Opaque;
  }
}

Bits extended(Bits bits, unsigned width, bool sign) {
  bits &= ones(width);
  return sign && width < 64 && (bits >> (width - 1) & 1) != 0 ? bits | ~ones(width) : bits;
}

/// From the lowest one upwards.
Bits upwards(Bits bits) {
  return bits | (~bits + 1);
}

std::uint64_t bitwise(std::uint8_t table, std::span<const Source> s) {
  std::array<Source, 3> of{};
  std::ranges::copy(s.first(std::min<std::size_t>(s.size(), 3)), of.begin());
  const auto& [a, b, c] = of;
  const auto low = [](const Source& x) { return static_cast<std::uint64_t>(x.bits); };
  const std::uint64_t now = look_up(table, a.value, b.value, c.value);
  std::uint64_t result = 0;
  for (unsigned flip = 1; flip < 8; ++flip) {
    result |= now ^ look_up(
                        table,
                        a.value ^ ((flip & 1) != 0 ? low(a) : 0),
                        b.value ^ ((flip & 2) != 0 ? low(b) : 0),
                        c.value ^ ((flip & 4) != 0 ? low(c) : 0)
                    );
  }
  return result;
}

} // namespace

std::optional<Use> use_of(const isa::Code& code, const isa::Op& op) {
  if (op.instruction >= code.function->body.size()) {
    return std::nullopt;
  }
  const ptx::Instruction& i = code.function->body[op.instruction];
  Use use;
  use.handler = op.execute;
  use.code = &code;
  use.op = &op;
  use.instruction = &i;
  const Mod type = i.type().value_or(Mod::B32);
  use.bits = static_cast<std::uint8_t>(std::min(ptx::type_bits(type), 128));
  use.source_bits = use.bits;
  use.is_signed = ptx::is_signed(type);
  bool writes = false;
  analysis::each_register(i, [&](analysis::RegisterUse r) { writes = writes || r.write; });
  if (writes && !i.operands.empty()) {
    add_result(use, i.operands[0]);
  }
  add_addresses(use, i);
  for (std::size_t o = writes ? 1 : 0; o < i.operands.size(); ++o) {
    add_source(use, i.operands[o]);
  }
  use.kind = kind_of(i, use);
  switch (use.kind) {
  case Kind::Load:
  case Kind::Store:
  case Kind::Update:
    use.element = static_cast<std::uint8_t>(std::max(1, ptx::type_bits(type) / 8));
    use.at_parameters = i.has(Mod::Param) || i.has(Mod::ParamEntry) || i.has(Mod::ParamFunc);
    use.in_shared = i.has(Mod::Shared) || i.has(Mod::SharedCta) || i.has(Mod::SharedCluster);
    use.in_local = i.has(Mod::Local);
    break;
  case Kind::Decides:
  case Kind::Call:
  case Kind::Writes:
    break;
  default:
    if (use.results.empty()) {
      return std::nullopt;
    }
    break;
  }
  return use;
}

Bits spread(const Use& use, std::span<const Source> s, bool& computes) {
  const bool any = std::ranges::any_of(s, [](const Source& x) { return x.bits != 0; });
  const Bits all = any ? ~Bits{0} : Bits{0};
  const unsigned width = use.bits;
  computes = false;
  switch (use.kind) {
  case Kind::Move:
    return s[0].bits;
  case Kind::Pack: {
    Bits result = 0;
    const auto each = static_cast<unsigned>(width / s.size());
    for (std::size_t n = 0; n < s.size(); ++n) {
      result |= (s[n].bits & ones(each)) << n * each;
    }
    return result;
  }
  case Kind::Convert:
    return extended(s[0].bits, use.source_bits, use.is_signed) & ones(width);
  case Kind::Bitwise:
    return bitwise(use.table, s) & ones(width);
  case Kind::ShiftLeft: // by bytes: several are put into one register
    computes = s[1].value % 8 != 0;
    return s[1].bits != 0 ? all : s[1].value >= width ? 0 : s[0].bits << s[1].value & ones(width);
  case Kind::ShiftRight: {
    if (s[1].bits != 0) {
      return all;
    }
    const Bits bits = extended(s[0].bits, width, use.is_signed);
    const std::uint64_t n = s[1].value;
    if (use.is_signed) {
      return static_cast<std::uint64_t>(
                 static_cast<std::int64_t>(bits) >> std::min<std::uint64_t>(n, 63)
             ) &
             ones(width);
    }
    return n >= width ? 0 : bits >> n;
  }
  case Kind::Funnel: {
    if (s[2].bits != 0) {
      return all;
    }
    const std::uint64_t n = use.instruction->has(Mod::Wrap)
                                ? s[2].value & 31
                                : std::min<std::uint64_t>(s[2].value & 0xffff'ffffU, 32);
    const Bits pair = (s[1].bits & ones(32)) << 32 | (s[0].bits & ones(32));
    if (use.instruction->has(Mod::R)) {
      return pair >> n & ones(32);
    }
    return n == 0 ? s[1].bits & ones(32) : pair >> (32 - n) & ones(32);
  }
  case Kind::Extract: {
    if (s[1].bits != 0 || s[2].bits != 0) {
      return all;
    }
    const std::uint64_t from = s[1].value & 255;
    const std::uint64_t count = s[2].value & 255;
    if (count == 0) {
      return 0;
    }
    const Bits field =
        from >= width ? 0 : (s[0].bits & ones(width)) >> from & ones(static_cast<unsigned>(count));
    const bool sign = use.is_signed &&
                      (s[0].bits >> std::min<std::uint64_t>(from + count - 1, width - 1) & 1) != 0;
    return (sign ? field | ~ones(static_cast<unsigned>(count)) : field) & ones(width);
  }
  case Kind::Insert: {
    if (s[2].bits != 0 || s[3].bits != 0) {
      return all;
    }
    const std::uint64_t to = s[2].value & 255;
    if (to >= width) {
      return s[1].bits;
    }
    const Bits field = ones(static_cast<unsigned>(s[3].value & 255)) << to & ones(width);
    return (s[1].bits & ~field) | (s[0].bits << to & field);
  }
  case Kind::Permute: {
    if (s[2].bits != 0) {
      return all;
    }
    const Bits pair = (s[1].bits & ones(32)) << 32 | (s[0].bits & ones(32));
    Bits result = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
      const std::uint64_t pick = s[2].value >> 4 * byte;
      const Bits one = pair >> 8 * (pick & 7) & 0xff;
      result |= ((pick & 8) == 0 ? one : (one & 0x80) != 0 ? 0xffU : 0U) << 8 * byte;
    }
    return result;
  }
  case Kind::Select:
    return s[2].bits != 0 ? ~Bits{0} : s[2].value != 0 ? s[0].bits : s[1].bits;
  case Kind::Equal: {
    const Bits open = s[0].bits | s[1].bits;
    computes = true;
    return ((s[0].value ^ s[1].value) & ~open & ones(use.source_bits)) != 0 ? 0 : all;
  }
  case Kind::Sum: {
    Bits bits = 0;
    for (const Source& x : s) {
      bits |= x.bits;
    }
    computes = true;
    return bits == 0 ? 0 : upwards(bits);
  }
  default:
    computes = true;
    return all;
  }
}

} // namespace heddle::unwritten
