// Implements election.h.
#include "analysis/election.h"

#include "analysis/bit_vector.h"
#include "analysis/liveness.h"
#include "ptx/effect.h"
#include "ptx/special_register.h"

#include <algorithm>
#include <vector>

namespace heddle::analysis {

namespace {

/// Does the operand differ from lane to lane?
bool asks_for_lane(const ptx::Operand& operand) {
  const std::string_view name = operand.name;
  return operand.kind == ptx::OperandKind::Special &&
         (name.starts_with("%tid") || name.starts_with("%lane"));
}

/// Registers that come from one thing, and the instructions that some threads only come to because
/// of it.
class Spread {
public:
  Spread(const ptx::Function& function, const Cfg& cfg)
      : function_(function),
        cfg_(cfg),
        registers_(function.registers.size()),
        behind_(function.body.size()) {}

  bool has(std::uint32_t index) const { return registers_.test(index); }
  bool is_behind(std::uint32_t n) const { return behind_.test(n); }
  void add(std::uint32_t index) { registers_.set(index); }

  /// `begins`: does it come from the instruction?
  template <class Begins> void run(Begins begins, bool with_ways) {
    for (std::size_t before = ~std::size_t{0}; before != registers_.count() + behind_.count();) {
      before = registers_.count() + behind_.count();
      for (std::uint32_t n = 0; n < function_.body.size(); ++n) {
        const ptx::Instruction& i = function_.body[n];
        bool comes = begins(i) || is_behind(n);
        each_register(i, [&](RegisterUse use) { comes = comes || (!use.write && has(use.index)); });
        if (!comes) {
          continue;
        }
        each_register(i, [&](RegisterUse use) {
          if (use.write) {
            add(use.index);
          }
        });
        if (with_ways && !is_behind(n)) {
          take_ways(n);
        }
      }
    }
  }

private:
  /// A branch by it: what lies between its ways.
  void take_ways(std::uint32_t n) {
    const BasicBlock& block = cfg_.blocks()[cfg_.block_of(n)];
    if (!effect_of(function_.body[n]).is(ptx::Effect::Kind::Branch) ||
        block.successors.size() < 2) {
      return;
    }
    const auto meet = cfg_.reconvergence(n);
    const std::uint32_t end = meet ? cfg_.block_of(*meet) : cfg_.exit();
    BitVector seen(cfg_.blocks().size());
    std::vector<std::uint32_t> todo = block.successors;
    while (!todo.empty()) {
      const std::uint32_t b = todo.back();
      todo.pop_back();
      if (b == end || b == cfg_.exit() || seen.test(b)) {
        continue;
      }
      seen.set(b);
      for (std::uint32_t m = cfg_.blocks()[b].first; m < cfg_.blocks()[b].last; ++m) {
        behind_.set(m);
      }
      todo.insert(
          todo.end(),
          cfg_.blocks()[b].successors.begin(),
          cfg_.blocks()[b].successors.end()
      );
    }
  }

  const ptx::Function& function_;
  const Cfg& cfg_;
  BitVector registers_, behind_;
};

/// Each lane may get another result, whatever it has given.
bool differs_by_lane(const ptx::Instruction& i) {
  const ptx::Effect& effect = effect_of(i);
  return std::ranges::any_of(i.operands, asks_for_lane) || effect.is(ptx::Effect::Kind::Update) ||
         effect.is(ptx::Effect::Kind::Call) ||
         (effect.is(ptx::Effect::Kind::Load) && i.has(ptx::Mod::Local)) ||
         (i.opcode == ptx::Opcode::Shfl && i.operands.size() > 2 &&
          i.operands[2].kind != ptx::OperandKind::Integer) ||
         i.opcode == ptx::Opcode::Match;
}

/// Does it give the numbers of the lanes that come to it, or for which something holds?
bool names_lanes(const ptx::Instruction& i) {
  return effect_of(i).is(ptx::Effect::Kind::ActiveLanes) ||
         (i.opcode == ptx::Opcode::Vote && i.has(ptx::Mod::Ballot));
}

} // namespace

bool election_matters(const ptx::Function& function, const Cfg& cfg, std::uint32_t n) {
  const ptx::Operand& both = function.body[n].operands.front();
  if (both.kind != ptx::OperandKind::PredicatePair) {
    return true;
  }
  const ptx::Operand &number = both.elements[0], &whether = both.elements[1];
  if (number.kind == ptx::OperandKind::Register) {
    Spread of_number(function, cfg);
    of_number.add(number.index);
    of_number.run([](const ptx::Instruction&) { return false; }, /*with_ways=*/false);
    for (const ptx::Instruction& i : function.body) {
      bool reads = false;
      each_register(i, [&](RegisterUse use) {
        reads = reads || (!use.write && of_number.has(use.index));
      });
      if (reads && !effect_of(i).is(ptx::Effect::Kind::Compute)) {
        return true;
      }
    }
  }
  if (whether.kind != ptx::OperandKind::Register) {
    return false;
  }
  Spread elected(function, cfg), lanes(function, cfg);
  elected.add(whether.index);
  elected.run([](const ptx::Instruction&) { return false; }, /*with_ways=*/true);
  lanes.run(differs_by_lane, /*with_ways=*/false);
  for (std::uint32_t m = 0; m < function.body.size(); ++m) {
    const ptx::Instruction& i = function.body[m];
    bool by_election = elected.is_behind(m), by_lane = differs_by_lane(i);
    each_register(i, [&](RegisterUse use) {
      by_election = by_election || (!use.write && elected.has(use.index));
      by_lane = by_lane || (!use.write && lanes.has(use.index) && !elected.has(use.index));
    });
    if (by_election && names_lanes(i)) {
      return true;
    }
    if (by_election && by_lane && !effect_of(i).is(ptx::Effect::Kind::Update)) {
      return true;
    }
  }
  return false;
}

} // namespace heddle::analysis
