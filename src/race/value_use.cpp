// Implements value_use.h.
#include "race/value_use.h"

#include "analysis/bit_vector.h"
#include "analysis/liveness.h"
#include "ptx/effect.h"

#include <algorithm>
#include <array>

namespace heddle::race {

std::vector<bool> blocks_behind(const analysis::Cfg& cfg, std::uint32_t from) {
  std::vector<bool> seen(cfg.blocks().size() + 1);
  std::vector<std::uint32_t> open = cfg.blocks()[from].successors;
  while (!open.empty()) {
    const std::uint32_t block = open.back();
    open.pop_back();
    if (seen[block]) {
      continue;
    }
    seen[block] = true;
    if (block != cfg.exit()) {
      const auto& next = cfg.blocks()[block].successors;
      open.insert(open.end(), next.begin(), next.end());
    }
  }
  return seen;
}

/// Is it in a loop that another strong read may end or decide in? Then it is read again if that one
/// says so: who takes a snapshot, or waits.
bool ValueUse::in_waiting_loop(std::uint32_t instruction) {
  const std::uint32_t at = cfg_.block_of(instruction);
  const std::vector<bool> behind = blocks_behind(cfg_, at);
  if (!behind[at]) {
    return false;
  }
  for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
    const ptx::Effect& effect = ptx::effect_of(function_.body[i]);
    const std::uint32_t block = cfg_.block_of(i);
    if (!effect.is_access() || !effect.reads() || !effect.is_strong() || !behind[block]) {
      continue;
    }
    const bool same_loop = block == at || blocks_behind(cfg_, block)[at];
    if (same_loop && flow_.from(i).decides) {
      return true;
    }
  }
  return false;
}

/// Is it in a loop that does not change the address from which it reads?
bool ValueUse::polls(std::uint32_t instruction) const {
  const std::uint32_t at = cfg_.block_of(instruction);
  const std::vector<bool> behind = blocks_behind(cfg_, at);
  if (!behind[at]) {
    return false;
  }
  const auto address = std::ranges::find(
      function_.body[instruction].operands,
      ptx::OperandKind::Address,
      &ptx::Operand::kind
  );
  if (address == function_.body[instruction].operands.end() ||
      address->elements[0].kind != ptx::OperandKind::Register) {
    return true;
  }
  for (std::uint32_t b = 0; b < cfg_.blocks().size(); ++b) {
    if (!behind[b] || !blocks_behind(cfg_, b)[at]) {
      continue;
    }
    for (std::uint32_t i = cfg_.blocks()[b].first; i < cfg_.blocks()[b].last; ++i) {
      const auto& operands = function_.body[i].operands;
      if (!operands.empty() && operands[0].kind == ptx::OperandKind::Register &&
          operands[0].index == address->elements[0].index) {
        return false;
      }
    }
  }
  return true;
}

bool ValueUse::accesses_follow(std::uint32_t instruction) const {
  const std::uint32_t at = cfg_.block_of(instruction);
  std::vector<bool> behind = blocks_behind(cfg_, at);
  const bool again = behind[at];
  for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
    const std::uint32_t block = cfg_.block_of(i);
    const ptx::Instruction& other = function_.body[i];
    const ptx::Effect& effect = ptx::effect_of(other);
    const bool follows = block == at ? again || i > instruction : behind[block];
    const bool of_others = std::ranges::none_of(
        std::array{ptx::Mod::Shared, ptx::Mod::Local, ptx::Mod::Param, ptx::Mod::Const},
        [&](ptx::Mod space) { return other.has(space); }
    );
    if (follows && of_others &&
        (effect.kind == ptx::Effect::Kind::Load || effect.kind == ptx::Effect::Kind::Store ||
         effect.kind == ptx::Effect::Kind::Call) &&
        !effect.is_strong()) {
      return true;
    }
  }
  return false;
}

/// Does it make of a value one that is lost if another one takes its place? Not what is the same if
/// it is done twice (min, max, and, or): programs repeat those until nothing changes.
static bool counts(const ptx::Instruction& i) {
  static constexpr std::array counting = {
      ptx::Opcode::Add,
      ptx::Opcode::Sub,
      ptx::Opcode::Mul,
      ptx::Opcode::Mad,
      ptx::Opcode::Fma,
      ptx::Opcode::Xor
  };
  return std::ranges::find(counting, i.opcode) != counting.end();
}

/// nullptr: it has none.
static const ptx::Operand* address_of(const ptx::Instruction& i) {
  const auto it = std::ranges::find(i.operands, ptx::OperandKind::Address, &ptx::Operand::kind);
  return it == i.operands.end() || it->elements[0].kind != ptx::OperandKind::Register ? nullptr
                                                                                      : &*it;
}

bool ValueUse::updates(std::uint32_t instruction) const {
  const ptx::Instruction& read = function_.body[instruction];
  const ptx::Operand* from = address_of(read);
  if (from == nullptr || read.operands[0].kind != ptx::OperandKind::Register) {
    return false;
  }
  analysis::BitVector made(function_.registers.size());    // of what was read
  analysis::BitVector counted(function_.registers.size()); // … and computed with
  made.set(read.operands[0].index);
  for (bool changed = true; changed;) {
    changed = false;
    for (const ptx::Instruction& i : function_.body) {
      if (ptx::effect_of(i).is_access() || ptx::effect_of(i).is(ptx::Effect::Kind::Call)) {
        continue;
      }
      bool of_made = false;
      bool of_counted = false;
      analysis::each_register(i, [&](analysis::RegisterUse use) {
        if (!use.write) {
          of_made = of_made || made.test(use.index);
          of_counted = of_counted || counted.test(use.index);
        } else if (of_made) {
          changed = changed || !made.test(use.index);
          made.set(use.index);
          if ((of_counted || counts(i)) && !counted.test(use.index)) {
            counted.set(use.index);
            changed = true;
          }
        }
      });
    }
  }
  return std::ranges::any_of(function_.body, [&](const ptx::Instruction& i) {
    const ptx::Operand* to = address_of(i);
    return ptx::effect_of(i).is(ptx::Effect::Kind::Store) && to != nullptr &&
           to->elements[0].index == from->elements[0].index && to->offset == from->offset &&
           i.operands.size() > 1 && i.operands[1].kind == ptx::OperandKind::Register &&
           counted.test(i.operands[1].index);
  });
}

bool ValueUse::is_data(std::uint32_t instruction) {
  const analysis::ValueFlow::Reach& reach = flow_.from(instruction);
  bool places = false; // of stores
  reach.placed.each([&](std::size_t n) {
    places = places || ptx::effect_of(function_.body[n]).writes();
  });
  return !reach.decides && !reach.retries && !places && reach.maybe.count() == 0 &&
         reach.stored.count() != 0 && !in_waiting_loop(instruction);
}

} // namespace heddle::race
