// Implements shuffle_lanes.h.
#include "machine/shuffle_lanes.h"

#include "analysis/liveness.h"
#include "isa/ops_collective.h"
#include "ptx/effect.h"

#include <bit>
#include <set>

namespace heddle::machine {
namespace {

using isa::LaneMask;
using ptx::Opcode;
using Kind = ptx::Effect::Kind;

/// By register: the lanes in which it holds what a lane that had ended has given.
class Undefined {
public:
  Undefined(const Numbers& numbers, LaneMask lanes) : numbers_(&numbers), lanes_(lanes) {}

  /// `from` of the lanes have got such a value by this shfl.
  void begin(const ptx::Instruction& shfl, LaneMask from) {
    analysis::each_register(shfl, [&](analysis::RegisterUse use) {
      if (use.write && holds_.empty()) { // the other one says whether a lane was in range
        holds_[use.index] = {.lanes = from, .computed = false};
      }
    });
  }

  /// True: it stores such a value, computes an address from it, or decides by it.
  bool is_used_by(const ptx::Instruction& i) {
    const LaneMask given = read_by(i);
    const Kind kind = ptx::effect_of(i).kind;
    const bool computes = kind == Kind::Compute || kind == Kind::Collective;
    if (given != 0 && !computes) {
      return !i.guard || matters(given);
    }
    // What a condition chooses may be another value.
    const bool chosen = i.guard || i.opcode == Opcode::Selp;
    set(i,
        chosen                                   ? 0
        : i.opcode == Opcode::Shfl               ? handed_over(i, given)
        : kind == Kind::Collective && given != 0 ? lanes_
                                                 : given);
    return false;
  }

  /// Other lanes may go elsewhere from here on.
  bool is_left() const {
    for (const auto& [index, held] : holds_) {
      if (held.computed && matters(held.lanes)) {
        return true;
      }
    }
    return false;
  }

private:
  struct Held {
    LaneMask lanes = 0;
    bool computed = false; // and not what the shfl has given as it is
  };

  bool matters(LaneMask lanes) const {
    return (lanes >> std::countr_zero(lanes_) & 1) != 0 || lanes == lanes_;
  }

  LaneMask read_by(const ptx::Instruction& i) const {
    LaneMask lanes = 0;
    analysis::each_register(i, [&](analysis::RegisterUse use) {
      const auto held = holds_.find(use.index);
      if (!use.write && held != holds_.end()) {
        lanes |= held->second.lanes;
      }
    });
    return lanes;
  }

  LaneMask handed_over(const ptx::Instruction& shfl, LaneMask given) const {
    LaneMask lanes = 0;
    for (LaneMask left = lanes_; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const auto from = numbers_->source(shfl, lane);
      lanes |= from && (given >> *from & 1) != 0 ? LaneMask{1} << lane : 0;
    }
    return lanes;
  }

  void set(const ptx::Instruction& i, LaneMask lanes) {
    analysis::each_register(i, [&](analysis::RegisterUse use) {
      if (use.write && !i.guard) {
        holds_[use.index] = {.lanes = lanes, .computed = i.opcode != Opcode::Mov};
      }
    });
  }

  const Numbers* numbers_;
  LaneMask lanes_;
  std::map<std::uint32_t, Held> holds_;
};

/// Instructions behind which the lanes may no longer be together.
bool parts_lanes(Kind kind) {
  return kind == Kind::Branch || kind == Kind::BranchTable || kind == Kind::Call ||
         kind == Kind::Return || kind == Kind::Exit || kind == Kind::Barrier;
}

bool is_used(
    const ptx::Function& function,
    const Numbers& numbers,
    std::uint32_t shfl,
    LaneMask lanes,
    LaneMask given
) {
  Undefined undefined(numbers, lanes);
  undefined.begin(function.body[shfl], given);
  for (std::size_t n = shfl + 1; n < function.body.size(); ++n) {
    const ptx::Instruction& i = function.body[n];
    if (undefined.is_used_by(i)) {
      return true;
    }
    if (parts_lanes(ptx::effect_of(i).kind)) {
      return undefined.is_left();
    }
  }
  return false;
}

} // namespace

Numbers::Numbers(const ptx::Function& function) {
  std::set<std::uint32_t> written;
  for (const ptx::Instruction& i : function.body) {
    analysis::each_register(i, [&](analysis::RegisterUse use) {
      if (!use.write) {
        return;
      }
      values_.erase(use.index);
      if (written.insert(use.index).second && i.opcode == Opcode::Mov && !i.guard &&
          i.operands[1].kind == ptx::OperandKind::Integer) {
        values_[use.index] = static_cast<std::uint32_t>(i.operands[1].bits);
      }
    });
  }
}

std::optional<std::uint32_t> Numbers::of(const ptx::Operand& operand) const {
  if (operand.kind == ptx::OperandKind::Integer) {
    return static_cast<std::uint32_t>(operand.bits);
  }
  const auto known = values_.find(operand.index);
  return operand.kind == ptx::OperandKind::Register && known != values_.end()
             ? std::optional(known->second)
             : std::nullopt;
}

std::optional<int> Numbers::source(const ptx::Instruction& shfl, int lane) const {
  const auto b = of(shfl.operands[2]);
  const auto c = of(shfl.operands[3]);
  if (!b || !c) {
    return std::nullopt;
  }
  return isa::ops::shuffle_source(shfl, lane, *b, *c).lane & (isa::warp_size - 1);
}

std::optional<int>
read_from_ended(const ptx::Function& function, std::uint32_t shfl, LaneMask lanes, LaneMask ended) {
  const ptx::Instruction& instruction = function.body[shfl];
  if (instruction.opcode != Opcode::Shfl || instruction.guard) {
    return std::nullopt;
  }
  const Numbers numbers(function);
  LaneMask readers = 0;
  std::optional<int> first;
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const auto from = numbers.source(instruction, lane);
    if (from && (ended >> *from & 1) != 0) {
      readers |= LaneMask{1} << lane;
      first = first.value_or(*from);
    }
  }
  return readers != 0 && is_used(function, numbers, shfl, lanes, readers) ? first : std::nullopt;
}

} // namespace heddle::machine
