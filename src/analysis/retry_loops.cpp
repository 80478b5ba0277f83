// Implements retry_loops.h.
#include "analysis/retry_loops.h"

#include "analysis/liveness.h"
#include "analysis/same_place.h"
#include "analysis/value_flow.h"
#include "ptx/effect.h"

#include <algorithm>
#include <map>
#include <optional>

namespace heddle::analysis {

namespace {

bool is_register(const ptx::Operand& operand, std::uint32_t index) {
  return operand.kind == ptx::OperandKind::Register && operand.index == index;
}

int bits_of(const ptx::Instruction& i) {
  const std::optional<ptx::Mod> type = i.one_of(ptx::Category::Type);
  return type ? type_bits(*type) : 0;
}

/// By header, the blocks of the natural loops that begin there.
std::map<std::uint32_t, BitVector> natural_loops(const Cfg& cfg) {
  std::map<std::uint32_t, BitVector> loops;
  for (std::uint32_t from = 0; from < cfg.blocks().size(); ++from) {
    for (const std::uint32_t header : cfg.blocks()[from].successors) {
      if (header == cfg.exit() || !cfg.reachable(from) || !cfg.dominates(header, from)) {
        continue;
      }
      BitVector& blocks = loops.try_emplace(header, cfg.blocks().size()).first->second;
      blocks.set(header);
      std::vector<std::uint32_t> todo{from};
      while (!todo.empty()) {
        const std::uint32_t b = todo.back();
        todo.pop_back();
        if (!blocks.test(b)) {
          blocks.set(b);
          todo.insert(
              todo.end(),
              cfg.blocks()[b].predecessors.begin(),
              cfg.blocks()[b].predecessors.end()
          );
        }
      }
    }
  }
  return loops;
}

class Candidate {
public:
  Candidate(
      const ptx::Function& function,
      const Cfg& cfg,
      std::uint32_t header,
      const BitVector& blocks,
      std::uint32_t exchange
  )
      : body_(function.body),
        cfg_(cfg),
        header_(header),
        blocks_(blocks),
        exchange_(exchange),
        block_(cfg.block_of(exchange)),
        writes_(function.registers.size()) {}

  bool holds(const Liveness& live, bool any_guess) {
    return scalar() && only_effect() && each_round_exchanges() &&
           remembers_only_found(live.at_entry(header_)) && (any_guess || expects_found()) &&
           ends_with_success();
  }

  BitVector changed() const {
    BitVector result(writes_.size());
    for (std::uint32_t r = 0; r < writes_.size(); ++r) {
      if (!is_constant(r)) {
        result.set(r);
      }
    }
    return result;
  }

private:
  const ptx::Instruction& cas() const { return body_[exchange_]; }
  std::uint32_t found() const { return cas().operands[0].index; }
  std::uint32_t expected() const { return cas().operands[2].index; }

  bool scalar() const {
    const auto& operands = cas().operands;
    return !cas().guard && operands.size() == 4 && operands[0].kind == ptx::OperandKind::Register &&
           operands[2].kind == ptx::OperandKind::Register && address_of(cas()) != nullptr &&
           operands[0].index != operands[2].index && bits_of(cas()) <= 64;
  }

  /// Of all that is executed in the loop. Fills in writes_.
  bool only_effect() {
    bool fine = true;
    blocks_.each([&](std::size_t b) {
      const BasicBlock& block = cfg_.blocks()[b];
      for (std::uint32_t n = block.first; n < block.last; ++n) {
        bool has_destination = false;
        each_register(body_[n], [&](RegisterUse use) {
          if (use.write) {
            has_destination = true;
            writes_[use.index].push_back(n);
          }
        });
        fine = fine && (n == exchange_ || harmless(body_[n], has_destination));
      }
    });
    const ptx::Operand& base = address_of(cas())->elements[0];
    return fine && (base.kind != ptx::OperandKind::Register || is_constant(base.index));
  }

  /// The same in each round: compilers compute addresses again rather than keep them.
  bool is_constant(std::uint32_t r, int deep = 0) const {
    constexpr int deepest = 8;
    if (writes_[r].empty()) {
      return true;
    }
    const ptx::Instruction& i = body_[writes_[r][0]];
    if (writes_[r].size() > 1 || deep == deepest || i.guard || effect_of(i).reads()) {
      return false; // memory may have changed since the last round
    }
    bool result = writes_[r][0] != exchange_;
    each_register(i, [&](RegisterUse use) {
      result = result && (use.write || is_constant(use.index, deep + 1));
    });
    return result;
  }

  bool harmless(const ptx::Instruction& i, bool has_destination) const {
    for (const ptx::Operand& operand : i.operands) {
      if (operand.kind == ptx::OperandKind::Special) {
        return false; // a clock
      }
    }
    const ptx::Effect& effect = effect_of(i);
    switch (effect.kind) {
    case ptx::Effect::Kind::Branch:
      return true;
    case ptx::Effect::Kind::Fence:
    case ptx::Effect::Kind::Hint:
      return !i.guard;
    case ptx::Effect::Kind::Load:
      return !i.guard && (!effect.is_strong() || same_place(i, cas()));
    case ptx::Effect::Kind::Store:
      return false;
    default:
      return !i.guard && !i.has(ptx::Mod::Cc) && is_computation(i, has_destination);
    }
  }

  bool each_round_exchanges() const {
    const BasicBlock& header = cfg_.blocks()[header_];
    return std::ranges::all_of(header.predecessors, [&](std::uint32_t from) {
      return !blocks_.test(from) || cfg_.dominates(block_, from);
    });
  }

  /// Written in the loop only behind the exchange, with what it found?
  bool becomes_found(std::uint32_t r) const {
    return std::ranges::all_of(writes_[r], [&](std::uint32_t n) {
      const ptx::Instruction& i = body_[n];
      return n > exchange_ && cfg_.block_of(n) == block_ && i.opcode == ptx::Opcode::Mov &&
             is_register(i.operands.back(), found());
    });
  }

  /// `live`: registers at the beginning of a round.
  bool remembers_only_found(const BitVector& live) {
    bool fine = true;
    live.each([&](std::size_t r) {
      const auto index = static_cast<std::uint32_t>(r);
      if (!writes_[r].empty()) {
        kept_.push_back(index);
        fine = fine && (index == found() || becomes_found(index));
      }
    });
    return fine && writes_[found()].size() == 1;
  }

  bool is_kept(std::uint32_t r) const { return std::ranges::find(kept_, r) != kept_.end(); }

  /// Is what it expects what the round before has found, or what is there now?
  bool expects_found() const {
    if (is_kept(expected())) {
      return true;
    }
    if (writes_[expected()].size() != 1) {
      return false; // always the same: who waits for a lock
    }
    const ptx::Instruction& i = body_[writes_[expected()][0]];
    if (i.opcode == ptx::Opcode::Ld) {
      return same_place(i, cas()) && bits_of(i) == bits_of(cas());
    }
    return i.opcode == ptx::Opcode::Mov && i.operands[1].kind == ptx::OperandKind::Register &&
           is_kept(i.operands[1].index);
  }

  bool ends_with_success() const {
    const BasicBlock& block = cfg_.blocks()[block_];
    const ptx::Instruction& last = body_[block.last - 1];
    if (last.opcode != ptx::Opcode::Bra || !last.guard || block.successors.size() != 2 ||
        writes_[last.guard->register_index].size() != 1) {
      return false;
    }
    const std::uint32_t compared = writes_[last.guard->register_index][0];
    const ptx::Instruction& test = body_[compared];
    const std::optional<ptx::Type> type = test.one_of(ptx::Category::Type);
    if (compared < exchange_ || cfg_.block_of(compared) != block_ ||
        test.opcode != ptx::Opcode::Setp || test.operands.size() != 3 ||
        !compares_with_found(test) || bits_of(test) != bits_of(cas()) || !type || is_float(*type) ||
        written_between(expected(), compared)) {
      return false;
    }
    const bool equal = test.has(ptx::Mod::Eq);
    if (!equal && !test.has(ptx::Mod::Ne)) {
      return false;
    }
    // The way of the label comes first.
    const bool jumps_if_equal = equal != last.guard->negated;
    const std::uint32_t success = block.successors[jumps_if_equal ? 0 : 1];
    const std::uint32_t failure = block.successors[jumps_if_equal ? 1 : 0];
    const bool left = success == cfg_.exit() || !blocks_.test(success);
    return left && failure != cfg_.exit() && blocks_.test(failure) && no_way_out(failure);
  }

  bool compares_with_found(const ptx::Instruction& test) const {
    const ptx::Operand& x = test.operands[1];
    const ptx::Operand& y = test.operands[2];
    return (is_register(x, found()) && is_register(y, expected())) ||
           (is_register(y, found()) && is_register(x, expected()));
  }

  bool written_between(std::uint32_t r, std::uint32_t end) const {
    return std::ranges::any_of(writes_[r], [&](std::uint32_t n) {
      return n > exchange_ && n < end;
    });
  }

  /// From a block behind the exchange to the next round.
  bool no_way_out(std::uint32_t from) const {
    for (std::size_t steps = 0; from != header_; ++steps) {
      const BasicBlock& block = cfg_.blocks()[from];
      if (block.successors.size() != 1 || steps > cfg_.blocks().size()) {
        return false;
      }
      from = block.successors[0];
    }
    return true;
  }

  const std::vector<ptx::Instruction>& body_;
  const Cfg& cfg_;
  std::uint32_t header_;
  const BitVector& blocks_;
  std::uint32_t exchange_, block_;
  std::vector<std::vector<std::uint32_t>> writes_; // by register, the instructions of the loop
  std::vector<std::uint32_t> kept_;                // registers, from one round to the next
};

} // namespace

std::vector<RetryLoop> retry_loops(const ptx::Function& function, const Cfg& cfg, bool any_guess) {
  std::vector<std::uint32_t> exchanges;
  for (std::uint32_t n = 0; n < function.body.size(); ++n) {
    const ptx::Instruction& i = function.body[n];
    if (i.opcode == ptx::Opcode::Atom && i.has(ptx::Mod::Cas)) {
      exchanges.push_back(n);
    }
  }
  if (exchanges.empty()) {
    return {};
  }
  const Liveness live(function, cfg);
  const std::map<std::uint32_t, BitVector> loops = natural_loops(cfg);
  std::vector<RetryLoop> result;
  for (const std::uint32_t exchange : exchanges) {
    const std::uint32_t block = cfg.block_of(exchange);
    const std::pair<const std::uint32_t, BitVector>* innermost = nullptr;
    for (const auto& loop : loops) {
      if (loop.second.test(block) &&
          (innermost == nullptr || loop.second.count() < innermost->second.count())) {
        innermost = &loop;
      }
    }
    if (innermost == nullptr) {
      continue;
    }
    Candidate loop(function, cfg, innermost->first, innermost->second, exchange);
    if (loop.holds(live, any_guess)) {
      result.push_back({exchange, innermost->second, loop.changed()});
    }
  }
  return result;
}

} // namespace heddle::analysis
