// Implements forgotten_answer.h.
#include "analysis/forgotten_answer.h"

#include "analysis/cfg.h"
#include "analysis/liveness.h"
#include "analysis/value_flow.h"
#include "ptx/effect.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::analysis {

namespace {

struct Registers {
  std::vector<std::uint32_t> read, written;
};

Registers registers_of(const ptx::Instruction& i) {
  Registers result;
  each_register(i, [&](RegisterUse use) {
    (use.write ? result.written : result.read).push_back(use.index);
  });
  return result;
}

/// Does it change nothing but its destinations?
bool only_computes(const ptx::Instruction& i, const Registers& registers) {
  return effect_of(i).is(ptx::Effect::Kind::Compute) && !registers.written.empty() &&
         !i.has(ptx::Mod::Cc);
}

/// What a register says of the answer.
enum class Says : std::uint8_t {
  Nothing,
  Yes, // 1 if it was yes, 0 if it was no
  No,  // the other way round
  Something
};

Says opposite(Says says) {
  return says == Says::Yes ? Says::No : says == Says::No ? Says::Yes : says;
}

Says either(Says a, Says b) {
  return a == Says::Nothing || a == b ? b : b == Says::Nothing ? a : Says::Something;
}

/// By register.
using State = std::vector<Says>;

bool is_integer(const ptx::Operand& operand, std::uint64_t value) {
  return operand.kind == ptx::OperandKind::Integer && operand.bits == value;
}

/// What the destination says of an instruction that reads a register which says something.
Says result_of(const ptx::Instruction& i, const State& state) {
  const auto& operands = i.operands;
  const auto of = [&](std::size_t n) {
    const bool plain = operands[n].kind == ptx::OperandKind::Register && !operands[n].negated;
    return plain ? state[operands[n].index] : Says::Something;
  };
  const auto type = i.type();
  if (i.guard || !type || is_float(*type) || operands.size() < 2 ||
      operands[0].kind != ptx::OperandKind::Register) {
    return Says::Something;
  }
  const auto other = i.type(1);
  using Makes = ptx::Effect::Makes;
  switch (effect_of(i).makes) {
  case Makes::Copy:
    return operands.size() == 2 ? of(1) : Says::Something;
  case Makes::Converted:
    return other && !is_float(*other) ? of(1) : Says::Something;
  case Makes::And:
    return operands[2].kind == ptx::OperandKind::Integer && (operands[2].bits & 1) != 0
               ? of(1)
               : Says::Something;
  case Makes::Choice:
    return is_integer(operands[1], 1) && is_integer(operands[2], 0)   ? of(3)
           : is_integer(operands[1], 0) && is_integer(operands[2], 1) ? opposite(of(3))
                                                                      : Says::Something;
  case Makes::Comparison: {
    const bool equal = i.has(ptx::Mod::Eq),
               zero = operands.size() == 3 && is_integer(operands[2], 0);
    if ((!equal && !i.has(ptx::Mod::Ne)) || (!zero && !is_integer(operands.back(), 1)) ||
        operands.size() != 3) {
      return Says::Something;
    }
    return equal == zero ? opposite(of(1)) : of(1);
  }
  case Makes::Anything:
  case Makes::Address:
  case Makes::Sum:
  case Makes::Difference:
  case Makes::ProductSum:
  case Makes::Extreme:
  case Makes::Or:
  case Makes::Xor:
  case Makes::Not:
  case Makes::ShiftedLeft:
  case Makes::ShiftedRight:
    break;
  }
  return Says::Something;
}

/// The answer to one question, followed through the function.
class Answer {
public:
  Answer(
      const ptx::Function& function,
      const Cfg& cfg,
      const Liveness& live,
      std::uint32_t question,
      ForgottenAnswers::Options options
  )
      : function_(function),
        cfg_(cfg),
        live_(live),
        question_(question),
        options_(options),
        at_entry_(cfg.blocks().size(), State(function.registers.size())),
        skipped_(function.body.size()) {}

  bool is_forgotten() {
    for (bool changed = true; changed && !remembered_;) {
      changed = false;
      for (std::uint32_t b = 0; b < cfg_.blocks().size(); ++b) {
        changed = pass(b) || changed;
      }
    }
    return !remembered_;
  }
  /// Questions that may not be asked because of it.
  const BitVector& skipped() const { return skipped_; }

private:
  /// True if something has been added to what is known where a block begins.
  bool pass(std::uint32_t b) {
    const BasicBlock& block = cfg_.blocks()[b];
    State state = at_entry_[b];
    bool changed = false;
    for (std::uint32_t n = block.first; n < block.last; ++n) {
      changed = step(n, state) || changed;
    }
    for (const std::uint32_t next : block.successors) {
      changed = flow(state, next) || changed;
    }
    return changed;
  }

  bool flow(const State& state, std::uint32_t to) {
    bool changed = false;
    for (std::size_t r = 0; to != cfg_.exit() && r < state.size(); ++r) {
      if (state[r] == Says::Nothing || !live_.at_entry(to).test(r)) {
        continue;
      }
      Says& then = at_entry_[to][r];
      const Says now = either(then, state[r]);
      changed = changed || now != then;
      then = now;
    }
    return changed;
  }

  bool step(std::uint32_t n, State& state) {
    const ptx::Instruction& i = function_.body[n];
    const Registers registers = registers_of(i);
    const bool depends = std::ranges::any_of(registers.read, [&](std::uint32_t r) {
      return state[r] != Says::Nothing;
    });
    const auto kind = effect_of(i).kind;
    bool changed = false;
    if (kind == ptx::Effect::Kind::Branch && depends) {
      changed = part(n, state);
    } else if (depends && !only_computes(i, registers)) {
      remembered_ = true;
    } else if (kind == ptx::Effect::Kind::Call || (asks_for_phase(i) && !skipped_.test(n))) {
      expect_none_live_behind(n, registers, state);
    }
    const Says result = n == question_ ? (i.guard ? Says::Something : Says::Yes)
                        : depends      ? result_of(i, state)
                                       : Says::Nothing;
    for (const std::uint32_t r : registers.written) {
      state[r] = i.guard ? either(state[r], result) : result;
    }
    return changed;
  }

  void expect_none_live_behind(std::uint32_t n, const Registers& registers, const State& state) {
    const bool last = n + 1 == cfg_.blocks()[cfg_.block_of(n)].last;
    BitVector live = last ? live_.at_end(cfg_.block_of(n)) : live_.before(n + 1);
    for (const std::uint32_t r : registers.written) {
      if (!function_.body[n].guard) {
        live.reset(r);
      }
    }
    live.each([&](std::size_t r) { remembered_ = remembered_ || state[r] != Says::Nothing; });
  }

  /// A branch that depends on the answer: what its sides write says something where they meet.
  bool part(std::uint32_t branch, const State& state) {
    const std::uint32_t begin = cfg_.block_of(branch);
    const auto meet = cfg_.immediate_post_dominator(begin);
    if (!meet || *meet == cfg_.exit()) {
      remembered_ = true;
      return false;
    }
    State written(state.size());
    for (const std::uint32_t side : cfg_.blocks()[begin].successors) {
      const bool may_ask = if_no(branch, side, state);
      walk(begin, side, *meet, may_ask, written);
      remembered_ = remembered_ || !(comes_to(side, *meet) || options_.forgets_loops);
    }
    return !remembered_ && flow(written, *meet);
  }

  /// Is that side taken only if the answer was no?
  bool if_no(std::uint32_t branch, std::uint32_t side, const State& state) const {
    const auto& guard = function_.body[branch].guard;
    const std::uint32_t begin = cfg_.block_of(branch);
    if (!guard || cfg_.blocks()[begin].successors.size() != 2) {
      return false;
    }
    const Says says =
        guard->negated ? opposite(state[guard->register_index]) : state[guard->register_index];
    return says == (side == begin + 1 ? Says::Yes : Says::No);
  }

  void
  walk(std::uint32_t begin, std::uint32_t side, std::uint32_t meet, bool may_ask, State& written) {
    BitVector seen(cfg_.blocks().size());
    std::vector<std::uint32_t> todo{side};
    while (!todo.empty() && !remembered_) {
      const std::uint32_t b = todo.back();
      todo.pop_back();
      if (b == meet || (b != cfg_.exit() && seen.test(b))) {
        continue;
      }
      if (b == cfg_.exit() || b == begin) {
        remembered_ = true;
        return;
      }
      seen.set(b);
      const BasicBlock& block = cfg_.blocks()[b];
      for (std::uint32_t n = block.first; n < block.last; ++n) {
        take_between(n, may_ask || options_.either_side, written);
      }
      todo.insert(todo.end(), block.successors.begin(), block.successors.end());
    }
  }

  /// Does each way come to the place, if the questions there are answered yes? (So far nothing else
  /// than computations, branches and questions has been found on these ways.)
  bool comes_to(std::uint32_t side, std::uint32_t meet) const {
    enum class Seen : std::uint8_t {
      No,
      UnderWay,
      Left
    };
    std::vector<Seen> seen(cfg_.blocks().size(), Seen::No);
    std::vector<std::pair<std::uint32_t, std::size_t>> way;
    const auto enter = [&](std::uint32_t b) {
      if (b == meet || seen[b] == Seen::Left) {
        return true;
      }
      const bool is_new = seen[b] == Seen::No;
      seen[b] = Seen::UnderWay;
      way.emplace_back(b, 0);
      return is_new;
    };
    bool comes = remembered_ || enter(side);
    while (comes && !remembered_ && !way.empty()) {
      auto& [b, next] = way.back();
      const auto& successors = cfg_.blocks()[b].successors;
      if (next == successors.size()) {
        seen[b] = Seen::Left;
        way.pop_back();
        continue;
      }
      const std::uint32_t from = b, to = successors[next++];
      comes = asks_again(from, to) || enter(to);
    }
    return comes;
  }

  /// Does the thread go from the one block to the other only if the last question of the first was
  /// answered no?
  bool asks_again(std::uint32_t from, std::uint32_t to) const {
    const BasicBlock& block = cfg_.blocks()[from];
    State says(function_.registers.size());
    bool asks = false;
    for (std::uint32_t n = block.first; n < block.last; ++n) {
      const ptx::Instruction& i = function_.body[n];
      const Registers registers = registers_of(i);
      const bool depends = std::ranges::any_of(registers.read, [&](std::uint32_t r) {
        return says[r] != Says::Nothing;
      });
      Says result = depends ? result_of(i, says) : Says::Nothing;
      if (asks_for_phase(i)) {
        std::ranges::replace_if(says, [](Says s) { return s != Says::Nothing; }, Says::Something);
        result = i.guard ? Says::Something : Says::Yes;
        asks = true;
      }
      for (const std::uint32_t r : registers.written) {
        says[r] = i.guard ? either(says[r], result) : result;
      }
    }
    return asks && if_no(block.last - 1, to, says);
  }

  void take_between(std::uint32_t n, bool may_ask, State& written) {
    const ptx::Instruction& i = function_.body[n];
    const Registers registers = registers_of(i);
    const ptx::Effect& effect = effect_of(i);
    if (asks_for_phase(i) && may_ask && n != question_) {
      skipped_.set(n);
    } else if (
        reads_special_register(i) ||
        !(only_computes(i, registers) || effect.is(ptx::Effect::Kind::Branch) ||
          effect.is(ptx::Effect::Kind::Hint))
    ) {
      remembered_ = true;
    }
    for (const std::uint32_t r : registers.written) {
      written[r] = Says::Something;
    }
  }

  const ptx::Function& function_;
  const Cfg& cfg_;
  const Liveness& live_;
  std::uint32_t question_;
  ForgottenAnswers::Options options_;
  std::vector<State> at_entry_; // of each block
  BitVector skipped_;
  bool remembered_ = false;
};

} // namespace

bool asks_for_phase(const ptx::Instruction& i) {
  return i.opcode == ptx::Opcode::Mbarrier &&
         (i.has(ptx::Mod::TestWait) || i.has(ptx::Mod::TryWait));
}

ForgottenAnswers::ForgottenAnswers(const ptx::Function& function, Options options)
    : forgotten_(function.body.size()),
      skipped_(function.body.size()) {
  const bool returns_registers = std::ranges::any_of(function.returns, [](const ptx::Variable& v) {
    return v.space == ptx::Mod::Reg;
  });
  if (returns_registers) { // which nobody here follows
    return;
  }
  std::optional<Cfg> cfg;
  std::optional<Liveness> live;
  for (std::uint32_t n = 0; n < function.body.size(); ++n) {
    if (!asks_for_phase(function.body[n])) {
      continue;
    }
    if (!cfg || !live) {
      cfg.emplace(function);
      live.emplace(function, *cfg);
    }
    Answer answer(function, *cfg, *live, n, options);
    if (answer.is_forgotten()) {
      forgotten_.set(n);
      skipped_.unite(answer.skipped());
    }
  }
}

} // namespace heddle::analysis
