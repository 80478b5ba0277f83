// Implements live_state.h.
#include "machine/live_state.h"

#include "analysis/dead_ends.h"
#include "analysis/object_stores.h"
#include "base/hash.h"
#include "machine/shuffle_lanes.h"
#include "ptx/effect.h"
#include "ptx/special_register.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace heddle::machine {

namespace {

using ptx::Opcode;
using ptx::OperandKind;
using Kind = ptx::Effect::Kind;

std::uint8_t identity_of(std::string_view special) {
  const auto known = ptx::find_special_register(special);
  switch (known ? known->asks : ptx::Asks::Nothing) {
  case ptx::Asks::Thread:
    return LiveState::Thread;
  case ptx::Asks::Lane:
    return LiveState::Place;
  case ptx::Asks::Block:
    return LiveState::Block;
  case ptx::Asks::Shared:
    return LiveState::Together;
  case ptx::Asks::Nothing:
  case ptx::Asks::Clock:
    break;
  }
  return LiveState::Nothing;
}

std::uint8_t identity_of(const ptx::Operand& operand) {
  std::uint8_t result = LiveState::Nothing;
  if (operand.kind == OperandKind::Special) {
    result = identity_of(operand.name);
  }
  for (const ptx::Operand& element : operand.elements) {
    result |= identity_of(element);
  }
  return result;
}

std::uint8_t identity_of(const ptx::Instruction& instruction) {
  std::uint8_t result = LiveState::Nothing;
  for (const ptx::Operand& operand : instruction.operands) {
    result |= identity_of(operand);
  }
  const ptx::Effect& effect = ptx::effect_of(instruction);
  if (effect.is(Kind::Call)) { // we do not look into it
    return ptx::library_function(instruction) != ptx::LibraryFunction::None
               ? result | LiveState::Together | LiveState::Owns
               : std::uint8_t{LiveState::Everything};
  }
  if (effect.is(Kind::Barrier) || effect.is(Kind::ActiveLanes) || effect.is_of_warp()) {
    return result | LiveState::Place | LiveState::Together; // warps arrive at barriers
  }
  if (effect.meets != ptx::Effect::Meets::Nobody || (effect.memory & ptx::Effect::Shared) != 0) {
    return result | LiveState::Together;
  }
  if (effect.is_access()) {
    if (const auto space = instruction.one_of(ptx::Category::Space)) {
      const bool shared = *space == ptx::Mod::Shared || *space == ptx::Mod::SharedCta ||
                          *space == ptx::Mod::SharedCluster;
      return shared ? result | LiveState::Together : result;
    }
    return result | LiveState::Generic;
  }
  return result;
}

ptx::Mod way_of(const ptx::Instruction& shfl) {
  return shfl.one_of(ptx::Category::Shuffle).value_or(ptx::Mod::Idx);
}

std::map<ptx::Mod, isa::LaneMask> handed_over_in(const ptx::Function& f) {
  constexpr isa::LaneMask all = ~isa::LaneMask{0};
  std::map<ptx::Mod, isa::LaneMask> result;
  const auto is_shuffle = [](const ptx::Instruction& i) { return i.opcode == Opcode::Shfl; };
  if (std::ranges::none_of(f.body, is_shuffle)) {
    return result;
  }
  const Numbers numbers(f);
  const bool calls =
      std::ranges::any_of(f.body, [](const auto& i) { return ptx::effect_of(i).is(Kind::Call); });
  for (const ptx::Instruction& i : f.body) {
    if (!is_shuffle(i)) {
      continue;
    }
    isa::LaneMask& lanes = result[way_of(i)];
    if (calls || !f.entry || !numbers.source(i, 0)) { // it may meet others elsewhere
      lanes = all;
      continue;
    }
    for (int lane = 0; lane < isa::warp_size; ++lane) {
      lanes |= isa::LaneMask{1} << *numbers.source(i, lane);
    }
  }
  return result;
}

/// The register that the shfl hands over, if nothing else is made of it from here on.
std::optional<std::uint32_t>
only_handed_over(const ptx::Instruction& shfl, const analysis::BitVector* behind) {
  const ptx::Operand& value = shfl.operands[1];
  if (value.kind != OperandKind::Register || shfl.guard || behind == nullptr) {
    return std::nullopt;
  }
  bool also_written = false;
  int reads = 0;
  analysis::each_register(shfl, [&](analysis::RegisterUse use) {
    also_written = also_written || (use.write && use.index == value.index);
    reads += !use.write && use.index == value.index ? 1 : 0;
  });
  return reads == 1 && (also_written || !behind->test(value.index)) ? std::optional(value.index)
                                                                    : std::nullopt;
}

} // namespace

const LiveState::Function& LiveState::function(const ptx::Function& f) {
  const auto known = functions_.find(&f);
  if (known != functions_.end()) {
    return known->second;
  }
  Function& facts = functions_[&f];
  const analysis::Cfg& cfg = facts.cfg.emplace(f);
  facts.live = analysis::Liveness(f, cfg, of_).before_each();
  if (of_ == analysis::Liveness::Of::Effects) {
    facts.demanded.emplace(f, cfg);
  }
  facts.before_dead_ends = analysis::reads_before_dead_ends(f, cfg);
  const auto stores = analysis::stores_like(f, facts.before_dead_ends);
  facts.before_dead_ends.insert(facts.before_dead_ends.end(), stores.begin(), stores.end());
  std::ranges::sort(facts.before_dead_ends);
  facts.handed_over = handed_over_in(f);
  facts.calls = std::ranges::any_of(f.body, [](const ptx::Instruction& i) {
    return ptx::effect_of(i).is(Kind::Call) &&
           ptx::library_function(i) == ptx::LibraryFunction::None;
  });
  if (analysis::reads_clock(f)) {
    facts.clocks.emplace(f, cfg, options_.clocks_without);
  }
  facts.identity = identities(f, cfg, nullptr);
  if (options_.by_decisions) {
    find_decisions(f, cfg, facts);
  } else {
    facts.asked = facts.identity;
  }
  return facts;
}

/// Which registers, questions and accesses nothing is decided by ([RED-CONE]).
void LiveState::find_decisions(
    const ptx::Function& f,
    const analysis::Cfg& cfg,
    Function& facts
) const {
  analysis::BitVector stores = analysis::stores_into_known_objects(f);
  facts.only_data = stores;
  stores.each([&](std::size_t n) {
    if (options_.decisive_store && options_.decisive_store(f, static_cast<std::uint32_t>(n))) {
      facts.only_data.reset(n);
    }
  });
  const analysis::Liveness decisive(f, cfg, facts.only_data);
  facts.decisive = decisive.before_each();
  const analysis::BitVector idle = decisive.idle();
  facts.asked = identities(f, cfg, &idle);
  if (const auto known = shared_.find(&f); known != shared_.end()) {
    facts.shared.emplace(f, *facts.cfg, known->second);
  }
  idle.each([&](std::size_t n) {
    if (ptx::effect_of(f.body[n]).is(Kind::Load)) {
      facts.only_data.set(n);
    }
  });
}

void LiveState::know(const isa::Kernel& kernel) {
  constexpr std::size_t most = 64; // the bits of a word
  const auto [names, is_new] = shared_.try_emplace(kernel.function);
  for (const isa::SharedVariable& variable : kernel.shared_variables) {
    if (is_new && names->second.size() < most) {
      names->second.push_back({variable.name, variable.bytes});
    }
  }
}

/// What can be asked on some way from an instruction to the end, by instruction. What is asked by
/// `idle` ones does not count.
std::vector<std::uint8_t> LiveState::identities(
    const ptx::Function& f,
    const analysis::Cfg& cfg,
    const analysis::BitVector* idle
) const {
  constexpr int number = Thread | Place | Block;            // asked for by special registers
  std::vector<std::uint8_t> result(f.body.size(), Nothing); // against the direction of the edges
  std::vector<std::uint8_t> entry(cfg.blocks().size(), Nothing);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = cfg.blocks().size(); b-- > 0;) {
      const analysis::BasicBlock& block = cfg.blocks()[b];
      std::uint8_t identity = Nothing;
      for (const std::uint32_t next : block.successors) {
        if (next < entry.size()) { // else the end
          identity |= entry[next];
        }
      }
      for (std::uint32_t i = block.last; i-- > block.first;) {
        const bool is_idle = idle != nullptr && idle->test(i);
        identity |= identity_of(f.body[i]) & (is_idle ? ~number : ~0);
        identity |= options_.owns && options_.owns(f, i) ? Owns : Nothing;
        result[i] = identity;
      }
      changed = changed || identity != entry[b];
      entry[b] = identity;
    }
  }
  return result;
}

void LiveState::find_clocks(const Function& facts, At& at) {
  const auto [calls, is_new] = calls_clocks_.try_emplace(at.code->module, false);
  if (is_new && at.code->module != nullptr) {
    calls->second = std::ranges::any_of(at.code->module->functions, [](const auto& f) {
      return !f->entry && analysis::reads_clock(*f);
    });
  }
  // A kernel that calls nothing is by itself; callers and what they call are not followed.
  const ptx::Function& function = *at.code->function;
  const bool called = calls->second && (!function.entry || facts.calls) &&
                      options_.clocks_without != analysis::ClockCondition::Called;
  at.holds_time = called;
  if (facts.clocks) {
    const analysis::ClockFlow& flow = *facts.clocks;
    const std::uint32_t here = at.op->instruction;
    at.clock = flow.reading(here);
    at.absolute_times = called || flow.absolute();
    at.holds_time = at.absolute_times || flow.held_before(here) || options_.holds_all_times;
    if (at.clock == analysis::ClockFlow::Reading::Decides) {
      at.follows_time = !called && flow.follows(here);
      at.writes_time = flow.stores(here);
      at.times_known = at.follows_time && !at.absolute_times;
    }
    if (const auto* time = flow.time_at(here); time != nullptr && at.times_known) {
      const int bits = ptx::type_bits(at.code->function->registers[time->index].type);
      at.time = {
          {.offset = at.code->registers[time->index].offset(),
           .bytes = static_cast<std::uint8_t>(bits / 8)},
          time->soon,
          time->late
      };
    }
    for (std::uint32_t n = here; n < at.code->function->body.size(); ++n) {
      at.data_reading += flow.reading(n) == analysis::ClockFlow::Reading::Data ? 1 : 0;
    }
  }
}

/// An instruction of several ops keeps what the first ones have computed in registers that the text
/// does not have: a lane that stands at a later one of them still needs these.
void LiveState::add_scratch(At& at) {
  const isa::Op* const first = at.code->ops.data();
  for (const isa::Op* before = at.op;
       before != first && (before - 1)->instruction == at.op->instruction;) {
    --before;
    const auto& scratch = at.code->scratch;
    const auto made = std::ranges::find_if(scratch, [before](const auto& known) {
      return !before->d.none() && before->d.area() == isa::Area::Frame &&
             before->d.offset() == known.first;
    });
    if (made != scratch.end()) {
      at.registers.push_back(
          {made->first,
           static_cast<std::uint8_t>(made->second),
           ~isa::LaneMask{0},
           ~std::uint64_t{0},
           /*data=*/false}
      );
    }
  }
}

const LiveState::At& LiveState::at(const isa::Code& code, const isa::Op& op) {
  const auto known = at_.find(&op);
  if (known != at_.end()) {
    return known->second;
  }
  const Function& facts = function(*code.function);
  At& at = at_[&op];
  at.code = &code;
  at.op = &op;
  Hasher name;
  name.text(code.function->name);
  name.text(code.kernel != nullptr ? code.kernel->name : "");
  name.value(code.module != nullptr ? code.module->content : std::uint64_t{0});
  name.value(&op - code.ops.data());
  name.value(code.device); // each has a copy of the code, and which is met first is no one's choice
  at.name = name.finish().low;
  while (!by_name_.try_emplace(at.name, &at).second) { // the same text, loaded twice
    ++at.name;
  }
  if (op.instruction >= facts.live.size()) {
    return at; // behind the last instruction
  }
  at.identity = facts.identity[op.instruction];
  at.asked = facts.asked[op.instruction];
  at.only_data = facts.decisive && facts.only_data.test(op.instruction);
  if (facts.shared) {
    at.reads_shared = facts.shared->may_read(op.instruction);
    at.writes_shared = facts.shared->certainly_writes(op.instruction);
  }
  find_clocks(facts, at);
  at.repeats = facts.cfg->repeats(facts.cfg->block_of(op.instruction));
  at.before_dead_end = std::ranges::binary_search(facts.before_dead_ends, op.instruction);
  const analysis::BitVector& live = facts.live[op.instruction];
  const ptx::Instruction& instruction = code.function->body[op.instruction];
  std::optional<std::uint32_t> handed_over;
  if (instruction.opcode == Opcode::Shfl) {
    const std::size_t next = op.instruction + 1;
    at.handed_over = facts.handed_over.at(way_of(instruction));
    handed_over =
        only_handed_over(instruction, next < facts.live.size() ? &facts.live[next] : nullptr);
  }
  const auto& registers = code.function->registers;
  const auto demanded = facts.demanded
                            ? facts.demanded->before(op.instruction)
                            : analysis::DemandedBits::Bits(registers.size(), ~std::uint64_t{0});
  for (std::size_t r = 0; r < registers.size(); ++r) {
    if (!live.test(r)) {
      continue;
    }
    const bool predicate = registers[r].type == ptx::Mod::Pred;
    const int bits = std::max(ptx::type_bits(registers[r].type), 16);
    at.registers.push_back(
        {code.registers[r].offset(),
         static_cast<std::uint8_t>(predicate ? 0 : bits / 8),
         handed_over == r ? at.handed_over : ~isa::LaneMask{0},
         options_.forgets_low_bit ? demanded[r] & ~std::uint64_t{1} : demanded[r],
         facts.decisive && !(*facts.decisive)[op.instruction].test(r)}
    );
  }
  add_scratch(at);
  if (options_.forgets_first_register) {
    const auto first = std::ranges::find(at.registers, 4, &Register::bytes);
    at.registers.erase(first, first == at.registers.end() ? first : first + 1);
  }
  return at;
}

bool LiveState::is_result_used(const isa::Code& code, const isa::Op& op) {
  const ptx::Instruction& i = code.function->body[op.instruction];
  if (i.opcode != Opcode::Atom || i.operands[0].kind == OperandKind::Sink) {
    return i.opcode != Opcode::Atom && i.opcode != Opcode::Red;
  }
  if (i.operands[0].kind != OperandKind::Register) {
    return true;
  }
  const std::uint32_t result = code.registers[i.operands[0].index].offset();
  return std::ranges::any_of(at(code, *(&op + 1)).registers, [result](const Register& r) {
    return r.offset == result;
  });
}

} // namespace heddle::machine
