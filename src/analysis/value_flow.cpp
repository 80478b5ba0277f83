// Implements value_flow.h.
#include "analysis/value_flow.h"

#include "analysis/liveness.h"
#include "ptx/effect.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace heddle::analysis {

namespace {

enum class Use : std::uint8_t {
  Nothing, // makes no difference
  Result,  // goes into the destination
  Lanes,   // goes into the destinations of collectives
  Stored,  // to memory, and into the destination if there is one
  Placed,  // says where in memory
  Maybe,   // says whether it is stored
  Selects, // between the ways of a branch
  Decides
};

bool names(const ptx::Operand& operand, const BitVector& registers) {
  if (operand.kind == ptx::OperandKind::Register && registers.test(operand.index)) {
    return true;
  }
  for (const ptx::Operand& element : operand.elements) {
    if (names(element, registers)) {
      return true;
    }
  }
  return false;
}

bool address_names(const ptx::Instruction& i, const BitVector& registers) {
  for (const ptx::Operand& operand : i.operands) {
    if (operand.kind == ptx::OperandKind::Address && names(operand, registers)) {
      return true;
    }
  }
  return false;
}

/// What the instruction does with registers of the set, one of which it reads.
Use use_of(const ptx::Instruction& i, const BitVector& registers, bool has_destination) {
  const bool guard = i.guard && registers.size() != 0 && registers.test(i.guard->register_index);
  const ptx::Effect& effect = effect_of(i);
  switch (flow_of(effect.kind)) {
  case Flow::Nowhere:
    return Use::Nothing;
  case Flow::Result:
    return Use::Result;
  case Flow::Reads:
    return (guard || address_names(i, registers)) && effect.is_strong() ? Use::Decides
                                                                        : Use::Result;
  case Flow::Writes:
    if (i.has(ptx::Mod::Param) || ((guard || address_names(i, registers)) && effect.is_strong())) {
      return Use::Decides;
    }
    return guard ? Use::Maybe : address_names(i, registers) ? Use::Placed : Use::Stored;
  case Flow::Updates:
    return guard || address_names(i, registers) ? Use::Decides : Use::Stored;
  case Flow::Way:
    return Use::Selects;
  case Flow::Lanes: // the last operand is the membermask
    return guard || names(i.operands.back(), registers) ? Use::Decides : Use::Lanes;
  case Flow::Object:
    return guard || !has_destination || effect.is_async() ? Use::Decides : Use::Result;
  case Flow::Decides:
    break;
  }
  return Use::Decides;
}

} // namespace

bool is_computation(const ptx::Instruction& i, bool has_destination) {
  using Kind = ptx::Effect::Kind;
  const ptx::Effect& effect = effect_of(i);
  switch (effect.kind) {
  case Kind::Branch:
  case Kind::Hint:
    return true;
  case Kind::Load:
  case Kind::Store:
    return !effect.is_strong() && (effect.kind == Kind::Load || !i.has(ptx::Mod::Param));
  case Kind::Compute:
  case Kind::Object:
    return has_destination;
  default:
    return false;
  }
}

bool reads_special_register(const ptx::Instruction& i) {
  return std::ranges::any_of(i.operands, [](const ptx::Operand& operand) {
    return operand.kind == ptx::OperandKind::Special;
  });
}

/// What the two ways of a branch do depends on the registers; false if that is more than data.
bool ValueFlow::select(std::uint32_t branch, BitVector& registers, Reach& reach) {
  if (!function_.entry || !cfg_) {
    return false; // who calls it does not know
  }
  if (!retry_loops_) {
    retry_loops_ = retry_loops(function_, *cfg_, options_.any_guess);
  }
  const std::optional<std::uint32_t> meet = cfg_->reconvergence(branch);
  if (!meet) {
    return false;
  }
  const std::uint32_t end = cfg_->block_of(*meet);
  const std::uint32_t begin = cfg_->block_of(branch);
  const auto own = std::ranges::find_if(*retry_loops_, [&](const RetryLoop& loop) {
    return loop.blocks.test(begin);
  });
  const auto retries = [&](std::uint32_t block) {
    return own != retry_loops_->end() && own->blocks.test(block);
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
      const ptx::Instruction& i = function_.body[n];
      bool has_destination = false;
      each_register(i, [&](RegisterUse use) {
        has_destination = has_destination || use.write;
        if (use.write && (!retries(b) || own->changed.test(use.index))) {
          registers.set(use.index);
        }
      });
      if (!retries(b) && (!is_computation(i, has_destination) || i.has(ptx::Mod::Cc))) {
        return false;
      }
      if (effect_of(i).is(ptx::Effect::Kind::Store)) {
        reach.maybe.set(n);
      }
    }
  }
  return true;
}

/// What is known to come from the value.
struct ValueFlow::Reached {
  explicit Reached(std::size_t count) : registers(count) {}

  std::size_t size() const {
    return registers.count() + (carry ? 1 : 0) + (local ? 1 : 0) + handed_over.size();
  }

  BitVector registers;
  bool carry = false;
  bool local = false;                // the local memory of the thread
  std::set<ptx::Opcode> handed_over; // what collectives of these opcodes hand over
};

ValueFlow::ValueFlow(const ptx::Function& function, Options options)
    : function_(function),
      options_(options),
      closed_(is_closed(function)) {
  has_local_ = std::ranges::any_of(
                   function.variables,
                   [](const ptx::Variable& v) { return v.space == ptx::Mod::Local; }
               ) ||
               std::ranges::any_of(function.body, [](const ptx::Instruction& i) {
                 return effect_of(i).is(ptx::Effect::Kind::Stack);
               });
}

void ValueFlow::find_faint() {
  if (!cfg_) {
    cfg_.emplace(function_);
    const Liveness live(function_, *cfg_, Liveness::Of::Effects);
    idle_ = live.idle();
    unused_ = live.unused();
  }
}

void ValueFlow::take_destination(std::uint32_t n, Reached& reached) const {
  const ptx::Instruction& i = function_.body[n];
  each_register(i, [&](RegisterUse use) {
    if (use.write && !unused_.test(n)) {
      reached.registers.set(use.index);
    }
  });
  reached.carry = reached.carry || i.has(ptx::Mod::Cc);
}

/// In a function that is closed.
bool ValueFlow::may_access_local(const ptx::Instruction& i) {
  if (const auto space = i.one_of(ptx::Category::Space)) {
    return *space == ptx::Mod::Local;
  }
  if (!has_local_) {
    return false;
  }
  if (!origins_) {
    origins_.emplace(function_);
  }
  return std::ranges::any_of(i.operands, [&](const ptx::Operand& operand) {
    return operand.kind == ptx::OperandKind::Address &&
           origins_->of(operand).kind != Origin::Kind::Object;
  });
}

/// Stores that write something else, elsewhere or not at all may do so to local memory.
void ValueFlow::pass_through_local(Reached& reached, Reach& reach) {
  if (reached.local || options_.forgets_local) {
    return;
  }
  for (const BitVector* stores : {&reach.stored, &reach.placed, &reach.maybe}) {
    stores->each([&](std::size_t n) {
      const ptx::Instruction& store = function_.body[n];
      if (!effect_of(store).writes()) {
        return;
      }
      if (!closed_) {
        reach.decides = reach.decides || store.has(ptx::Mod::Local);
      } else {
        reached.local = reached.local || may_access_local(store);
      }
    });
  }
}

/// Instruction n depends on the value: on a register, or on what lies in memory or comes from other
/// lanes.
void ValueFlow::pass_on(std::uint32_t n, Reached& reached, Reach& reach) {
  const ptx::Instruction& i = function_.body[n];
  bool reads = reached.carry && reads_carry(i);
  bool has_destination = false;
  each_register(i, [&](RegisterUse use) {
    reads = reads || (!use.write && reached.registers.test(use.index));
    has_destination = has_destination || use.write;
  });
  const ptx::Effect& effect = effect_of(i);
  if (reached.handed_over.contains(i.opcode) ||
      (reached.local && effect.is(ptx::Effect::Kind::Load) && may_access_local(i))) {
    take_destination(n, reached);
  }
  if (!reads || idle_.test(n)) {
    return;
  }
  switch (use_of(i, reached.registers, has_destination)) {
  case Use::Nothing:
    break;
  case Use::Stored:
    reach.stored.set(n);
    take_destination(n, reached);
    break;
  case Use::Placed:
    reach.placed.set(n);
    break;
  case Use::Maybe:
    reach.maybe.set(n);
    reach.decides = reach.decides || !function_.entry;
    break;
  case Use::Selects:
    reach.decides = !select(n, reached.registers, reach) || reach.decides;
    break;
  case Use::Lanes:
    reach.decides = reach.decides || !(closed_ || options_.forgets_lanes);
    if (!options_.forgets_lanes) {
      reached.handed_over.insert(i.opcode);
    }
    take_destination(n, reached);
    break;
  case Use::Result:
    if (flow_of(effect.kind) == Flow::Reads && address_names(i, reached.registers)) {
      reach.placed.set(n); // what it finds there, or whether that is in bounds
    }
    take_destination(n, reached);
    break;
  case Use::Decides:
    reach.decides = true;
    break;
  }
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
  find_faint();
  Reached reached(function_.registers.size());
  take_destination(instruction, reached);
  // Registers that are returned come first.
  std::size_t returned = 0;
  for (const ptx::Variable& variable : function_.returns) {
    returned += variable.space == ptx::Mod::Reg ? 1 : 0;
  }
  for (std::size_t before = ~std::size_t{0}; before != reached.size() && !reach.decides;) {
    before = reached.size();
    for (std::uint32_t n = 0; n < function_.body.size(); ++n) {
      pass_on(n, reached, reach);
    }
    pass_through_local(reached, reach);
    for (std::size_t r = 0; r < returned; ++r) {
      reach.decides = reach.decides || reached.registers.test(r);
    }
  }
  return reach;
}

} // namespace heddle::analysis
