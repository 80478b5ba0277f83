// Implements demanded_bits.h: from the end of the text to its start until nothing changes.
#include "analysis/demanded_bits.h"

#include "analysis/liveness.h"
#include "ptx/effect.h"

#include <bit>
#include <optional>
#include <utility>

namespace heddle::analysis {

namespace {

constexpr std::uint64_t all = ~std::uint64_t{0};
constexpr std::size_t most_words = 1 << 22; // of all blocks' sets

std::uint64_t ones(int bits) {
  return bits >= 64 ? all : (std::uint64_t{1} << bits) - 1;
}

/// x < 0, x >= 0, x > -1, x <= -1: the sign says it.
bool asks_for_sign(const ptx::Instruction& i) {
  const std::optional<ptx::Type> type = i.type();
  if (effect_of(i).makes != ptx::Effect::Makes::Comparison || i.operands.size() != 3 || !type ||
      !is_signed(*type) || i.operands[2].kind != ptx::OperandKind::Integer) {
    return false;
  }
  const auto with = static_cast<std::int64_t>(i.operands[2].bits);
  return with == 0 ? i.has(ptx::Mod::Lt) || i.has(ptx::Mod::Ge)
                   : with == -1 && (i.has(ptx::Mod::Gt) || i.has(ptx::Mod::Le));
}

/// Of operand `o` of an instruction whose result is of that width and has these bits demanded.
std::uint64_t demanded_of(const ptx::Instruction& i, std::size_t o, std::uint64_t result) {
  const std::optional<ptx::Type> type = i.type();
  if (!type || is_float(*type) || type_bits(*type) > 64) {
    return all;
  }
  const int width = type_bits(*type);
  const auto number = [&](std::size_t n) -> std::optional<std::uint64_t> {
    return n < i.operands.size() && i.operands[n].kind == ptx::OperandKind::Integer
               ? std::optional(i.operands[n].bits)
               : std::nullopt;
  };
  result &= ones(width);
  using Makes = ptx::Effect::Makes;
  switch (effect_of(i).makes) {
  case Makes::Copy:
  case Makes::Not:
  case Makes::Or:
  case Makes::Xor:
    return result;
  case Makes::And:
    return result & number(o == 1 ? 2 : 1).value_or(all);
  case Makes::Choice:
    return o == 3 ? all : result;
  case Makes::Sum:
  case Makes::Difference: // what carries into the highest of them
    return i.has(ptx::Mod::Cc) || i.has(ptx::Mod::Sat)
               ? all
               : ones(static_cast<int>(std::bit_width(result)));
  case Makes::ShiftedLeft: {
    const auto by = number(2);
    return o == 1 && by && *by < 64 ? result >> *by : all;
  }
  case Makes::ShiftedRight: {
    const auto by = number(2);
    if (o != 1 || !by || *by >= static_cast<std::uint64_t>(width)) {
      return all;
    }
    const bool sign = is_signed(*type) && (result >> (width - 1 - static_cast<int>(*by))) > 1;
    return ((result << *by) & ones(width)) | (sign ? std::uint64_t{1} << (width - 1) : 0);
  }
  case Makes::Comparison:
    return asks_for_sign(i) ? std::uint64_t{1} << (width - 1) : all;
  case Makes::Anything:
  case Makes::Address:
  case Makes::Converted:
  case Makes::ProductSum:
  case Makes::Extreme:
    break;
  }
  return all;
}

} // namespace

DemandedBits::DemandedBits(const ptx::Function& function, const Cfg& cfg)
    : function_(function),
      cfg_(cfg),
      too_large_(cfg.blocks().size() * function.registers.size() > most_words) {
  const Bits nothing(function.registers.size(), 0);
  if (too_large_) {
    return;
  }
  entry_.assign(cfg.blocks().size(), nothing);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = cfg.blocks().size(); b-- > 0;) {
      const BasicBlock& block = cfg.blocks()[b];
      Bits bits = at_end(block);
      for (std::uint32_t i = block.last; i-- > block.first;) {
        step_back(bits, function.body[i]);
      }
      if (bits != entry_[b]) {
        entry_[b] = std::move(bits);
        changed = true;
      }
    }
  }
}

DemandedBits::Bits DemandedBits::at_end(const BasicBlock& block) const {
  Bits bits(function_.registers.size(), 0);
  for (const std::uint32_t to : block.successors) {
    if (to != cfg_.exit()) {
      for (std::size_t r = 0; r < bits.size(); ++r) {
        bits[r] |= entry_[to][r];
      }
      continue;
    }
    // Return values in registers come first among the registers of a body; the caller reads them.
    std::size_t next = 0;
    for (const ptx::Variable& variable : function_.returns) {
      if (function_.defined && variable.space == ptx::Mod::Reg && next < bits.size()) {
        bits[next++] = all;
      }
    }
  }
  return bits;
}

void DemandedBits::step_back(Bits& bits, const ptx::Instruction& i) {
  const bool computes = !i.operands.empty() && i.operands[0].kind == ptx::OperandKind::Register &&
                        effect_of(i).is(ptx::Effect::Kind::Compute);
  if (!computes) {
    each_register(i, [&](RegisterUse use) {
      if (use.write && !i.guard) {
        bits[use.index] = 0;
      }
    });
    each_register(i, [&](RegisterUse use) {
      if (!use.write) {
        bits[use.index] = all;
      }
    });
    return;
  }
  std::uint64_t& destination = bits[i.operands[0].index];
  const std::uint64_t result = destination;
  if (i.guard) {
    bits[i.guard->register_index] = all;
  } else {
    destination = 0;
  }
  for (std::size_t o = 1; o < i.operands.size(); ++o) {
    const ptx::Operand& operand = i.operands[o];
    if (operand.kind == ptx::OperandKind::Register) {
      bits[operand.index] |= demanded_of(i, o, result);
    }
    for (const ptx::Operand& element : operand.elements) {
      if (element.kind == ptx::OperandKind::Register) {
        bits[element.index] = all;
      }
    }
  }
}

DemandedBits::Bits DemandedBits::before(std::uint32_t instruction) const {
  if (too_large_) {
    return Bits(function_.registers.size(), all);
  }
  const BasicBlock& block = cfg_.blocks()[cfg_.block_of(instruction)];
  Bits bits = at_end(block);
  for (std::uint32_t i = block.last; i-- > instruction;) {
    step_back(bits, function_.body[i]);
  }
  return bits;
}

} // namespace heddle::analysis
