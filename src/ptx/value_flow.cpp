// Implements value_flow.h.
#include "ptx/value_flow.h"

#include "ptx/effect.h"
#include "ptx/liveness.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace heddle::ptx {

namespace {

enum class Use : std::uint8_t {
  Nothing, // makes no difference
  Result,  // goes into the destination
  Stored,  // to memory, and into the destination if there is one
  Placed,  // says where in memory
  Maybe,   // says whether it is stored
  Selects, // between the ways of a branch
  Decides
};

bool names(const Operand& operand, const BitVector& registers) {
  if (operand.kind == OperandKind::Register && registers.test(operand.index)) {
    return true;
  }
  for (const Operand& element : operand.elements) {
    if (names(element, registers)) {
      return true;
    }
  }
  return false;
}

bool address_names(const Instruction& i, const BitVector& registers) {
  for (const Operand& operand : i.operands) {
    if (operand.kind == OperandKind::Address && names(operand, registers)) {
      return true;
    }
  }
  return false;
}

/// What the instruction does with registers of the set, one of which it reads.
Use use_of(const Instruction& i, const BitVector& registers, bool has_destination) {
  const bool guard = i.guard && registers.size() != 0 && registers.test(i.guard->register_index);
  using Kind = Effect::Kind;
  const Effect& effect = effect_of(i);
  switch (effect.kind) {
  case Kind::Hint:
    return Use::Nothing;
  case Kind::Compute:
    return Use::Result;
  case Kind::Load:
    return (guard || address_names(i, registers)) && effect.is_strong() ? Use::Decides
                                                                        : Use::Result;
  case Kind::Store:
    if (i.has(Mod::Param) || ((guard || address_names(i, registers)) && effect.is_strong())) {
      return Use::Decides;
    }
    return guard ? Use::Maybe : address_names(i, registers) ? Use::Placed : Use::Stored;
  case Kind::Update:
    return guard || address_names(i, registers) ? Use::Decides : Use::Stored;
  case Kind::Branch:
    return Use::Selects;
  case Kind::Collective: // the last operand is the membermask
    return guard || names(i.operands.back(), registers) ? Use::Decides : Use::Result;
  case Kind::Object:
  case Kind::WarpWide:
    return guard || !has_destination || effect.is_async() ? Use::Decides : Use::Result;
  case Kind::Stack:
  case Kind::BranchTable:
  case Kind::Call:
  case Kind::Return:
  case Kind::Exit:
  case Kind::Trap:
  case Kind::Fence:
  case Kind::Barrier: // a reducing barrier hands values to threads in other functions
  case Kind::ActiveLanes:
  case Kind::Mbarrier:
  case Kind::Copy:
  case Kind::Dependency:
  case Kind::Other:
    break;
  }
  return Use::Decides;
}

} // namespace

bool is_computation(const Instruction& i, bool has_destination) {
  using Kind = Effect::Kind;
  const Effect& effect = effect_of(i);
  switch (effect.kind) {
  case Kind::Branch:
    return true;
  case Kind::Load:
  case Kind::Store:
    return !effect.is_strong() && (effect.kind == Kind::Load || !i.has(Mod::Param));
  case Kind::Compute:
  case Kind::Object:
    return has_destination;
  default:
    return false;
  }
}

bool reads_special_register(const Instruction& i) {
  return std::ranges::any_of(i.operands, [](const Operand& operand) {
    return operand.kind == OperandKind::Special;
  });
}

/// What the two ways of a branch do depends on the registers; false if that is more than data.
bool ValueFlow::select(std::uint32_t branch, BitVector& registers, Reach& reach) {
  if (!function_.entry) {
    return false; // who calls it does not know
  }
  if (!cfg_) {
    cfg_.emplace(function_);
    retry_loops_ = retry_loops(function_, *cfg_, any_guess_);
  }
  const std::optional<std::uint32_t> meet = cfg_->reconvergence(branch);
  if (!meet) {
    return false;
  }
  const std::uint32_t end = cfg_->block_of(*meet);
  const std::uint32_t begin = cfg_->block_of(branch);
  const auto own = std::ranges::find_if(retry_loops_, [&](const RetryLoop& loop) {
    return loop.blocks.test(begin);
  });
  const auto retries = [&](std::uint32_t block) {
    return own != retry_loops_.end() && own->blocks.test(block);
  };
  // Blocks in between, which must not be a loop, but for a retry loop that the branch is part of.
  enum : std::uint8_t {
    Unseen,
    Open,
    Closed
  };
  std::vector<std::uint8_t> seen(cfg_->blocks().size(), Unseen);
  std::vector<std::pair<std::uint32_t, std::size_t>> path{{begin, 0}};
  while (!path.empty()) {
    auto& [b, next] = path.back();
    const BasicBlock& block = cfg_->blocks()[b];
    seen[b] = Open;
    if (next == block.successors.size()) {
      seen[b] = Closed;
      path.pop_back();
      continue;
    }
    const std::uint32_t to = block.successors[next++];
    if (to == end) {
      continue;
    }
    if (to == cfg_->exit() || (seen[to] == Open && !(retries(b) && retries(to)))) {
      return false;
    }
    if (seen[to] == Unseen) {
      path.emplace_back(to, 0);
    }
  }
  reach.retries = reach.retries || retries(begin);
  if (!retries(begin)) {
    seen[begin] = Unseen;
  }
  for (std::uint32_t b = 0; b < seen.size(); ++b) {
    const BasicBlock& block = cfg_->blocks()[b];
    for (std::uint32_t n = block.first; seen[b] == Closed && n < block.last; ++n) {
      const Instruction& i = function_.body[n];
      bool has_destination = false;
      each_register(i, [&](RegisterUse use) {
        has_destination = has_destination || use.write;
        if (use.write && (!retries(b) || own->changed.test(use.index))) {
          registers.set(use.index);
        }
      });
      if (!retries(b) && (!is_computation(i, has_destination) || i.has(Mod::Cc))) {
        return false;
      }
      if (effect_of(i).is(Effect::Kind::Store)) {
        reach.maybe.set(n);
      }
    }
  }
  return true;
}

const ValueFlow::Reach& ValueFlow::from(std::uint32_t instruction) {
  const auto [at, is_new] = known_.try_emplace(instruction);
  Reach& reach = at->second;
  if (!is_new) {
    return reach;
  }
  reach.stored = BitVector(function_.body.size());
  reach.placed = BitVector(function_.body.size());
  reach.maybe = BitVector(function_.body.size());
  BitVector registers(function_.registers.size());
  bool carry = false;
  const auto take_destination = [&](const Instruction& i) {
    each_register(i, [&](RegisterUse use) {
      if (use.write) {
        registers.set(use.index);
      }
    });
    carry = carry || i.has(Mod::Cc);
  };
  take_destination(function_.body[instruction]);
  // Registers that are returned come first.
  std::size_t returned = 0;
  for (const Variable& variable : function_.returns) {
    returned += variable.space == Mod::Reg ? 1 : 0;
  }
  for (std::size_t before = ~std::size_t{0}, carried = 0;
       before != registers.count() + carried && !reach.decides;) {
    before = registers.count() + carried;
    for (std::uint32_t n = 0; n < function_.body.size(); ++n) {
      const Instruction& i = function_.body[n];
      bool reads = carry && reads_carry(i);
      bool has_destination = false;
      each_register(i, [&](RegisterUse use) {
        reads = reads || (!use.write && registers.test(use.index));
        has_destination = has_destination || use.write;
      });
      if (!reads) {
        continue;
      }
      switch (use_of(i, registers, has_destination)) {
      case Use::Nothing:
        break;
      case Use::Stored:
        reach.stored.set(n);
        take_destination(i);
        break;
      case Use::Placed:
        reach.placed.set(n);
        break;
      case Use::Maybe:
        reach.maybe.set(n);
        reach.decides = reach.decides || !function_.entry;
        break;
      case Use::Selects:
        reach.decides = !select(n, registers, reach) || reach.decides;
        break;
      case Use::Result:
        take_destination(i);
        break;
      case Use::Decides:
        reach.decides = true;
        break;
      }
    }
    carried = carry ? 1 : 0;
    for (std::size_t r = 0; r < returned; ++r) {
      reach.decides = reach.decides || registers.test(r);
    }
  }
  return reach;
}

} // namespace heddle::ptx
