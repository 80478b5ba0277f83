#include "reduce/independence/any_value.h"

#include "analysis/liveness.h"
#include "reduce/independence/outcome_trees.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace heddle::reduce {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;

namespace {

/// A comparison is another one's opposite: true where that is false.
struct Opposite {
  Mod how, of;
};
constexpr Opposite of_whole_numbers[] = {
    {Mod::Ne, Mod::Eq},
    {Mod::Ge, Mod::Lt},
    {Mod::Gt, Mod::Le},
    {Mod::Hs, Mod::Lo},
    {Mod::Hi, Mod::Ls}
};
constexpr Opposite of_reals[] =
    { // one of each pair holds of what is no number
        {Mod::Neu, Mod::Eq},
        {Mod::Geu, Mod::Lt},
        {Mod::Gtu, Mod::Le},
        {Mod::Equ, Mod::Ne},
        {Mod::Ltu, Mod::Ge},
        {Mod::Leu, Mod::Gt}
};

class AnyValue {
public:
  AnyValue(Polls& polls, Trials& trials, Trial& trial, const Lane& at, const Polled& word)
      : polls_(polls),
        trials_(trials),
        trial_(trial),
        at_(at),
        word_(word),
        warp_(warp_state(at).warp),
        lane_(static_cast<std::size_t>(at.lane)),
        frame_(*warp_.frame[lane_]),
        function_(*frame_.code->function) {}

  /// Coming to these is to read again. They are all reads between which it goes round.
  bool all_alike(const TrialPlaces& reads) {
    for (const TrialPlace& place : reads) {
      trial_.back_to(place);
      reads_.push_back(trial_.state());
    }
    std::vector<OutcomeTrees::Node> trees;
    for (const TrialPlace& place : reads) {
      if (!add_tree(place, trees)) {
        return false;
      }
    }
    std::vector<OutcomeTrees::Node> of_extras;
    for (std::size_t n = 0; n < extras_.size(); ++n) { // there may come more
      extras_[n].notes = reads.front().notes;
      const TrialPlace place = extras_[n];
      if (!add_tree(place, of_extras)) {
        return false;
      }
      trees_.add_extra(of_extras.back());
    }
    if (!trees_.extras_end()) {
      return false;
    }
    trees.insert(trees.end(), of_extras.begin(), of_extras.end());
    const auto first = trees_.outcome(trees.front());
    return first && std::ranges::all_of(trees, [&](OutcomeTrees::Node tree) {
             return trees_.outcome(tree) == first;
           });
  }

private:
  struct Term {
    Hash128 value;
    bool negated = false; // of a predicate
  };
  using Terms = std::map<std::uint32_t, Term>; // by register
  using Node = OutcomeTrees::Node;
  static constexpr int most_instructions = 1 << 10;
  static constexpr std::size_t most_extras = 8;

  bool add_tree(const TrialPlace& place, std::vector<Node>& trees) {
    trial_.back_to(place);
    const std::optional<Node> tree = outcome();
    trees.push_back(tree.value_or(0));
    return tree.has_value();
  }

  /// What the read at which the thread stands leads to; nothing: it is not known.
  std::optional<Node> outcome() {
    left_ = most_instructions;
    const ptx::Instruction& read = function_.body[warp_.pc[lane_]->instruction];
    Hasher hasher;
    for (const Mod mod : read.modifiers) {
      hasher.value(mod);
    }
    Terms terms;
    const Term term{hasher.finish()};
    if (!execute()) {
      return std::nullopt;
    }
    analysis::each_register(read, [&](analysis::RegisterUse use) {
      if (use.write) {
        terms[use.index] = term;
      }
    });
    return follow(std::move(terms));
  }

  /// All ops of the instruction; false: the thread waits, ends, or calls.
  bool execute() {
    const std::uint32_t instruction = warp_.pc[lane_]->instruction;
    const isa::Op* last = nullptr;
    do {
      last = warp_.pc[lane_];
      trials_.rules.show_time(at_);
      Block& block = at_.work->clusters[at_.cluster]->block(at_.block);
      trials_.exec.enter_block(block.exec_block());
      const isa::Stop stop = trials_.exec.step(warp_, isa::LaneMask{1} << at_.lane);
      if (stop == isa::Stop::Fault || stop == isa::Stop::Unsupported || !trial_.is_there()) {
        return false;
      }
    } while (warp_.pc[lane_] == last + 1 && warp_.pc[lane_]->instruction == instruction);
    return true;
  }

  bool predicate(std::uint32_t index) const {
    isa::LaneMask mask = 0;
    std::memcpy(
        &mask,
        frame_.registers.data() + frame_.code->registers[index].offset(),
        sizeof mask
    );
    return (mask >> at_.lane & 1) != 0;
  }
  std::size_t bytes_of(std::uint32_t index) const {
    return static_cast<std::size_t>(std::max(ptx::type_bits(function_.registers[index].type), 16)) /
           8;
  }
  std::byte* value_of(std::uint32_t index) const {
    return frame_.registers.data() + frame_.code->registers[index].offset() +
           bytes_of(index) * lane_;
  }
  void hash(Hasher& hasher, const ptx::Operand& operand, const Terms& terms) const {
    hasher.value(operand.kind);
    hasher.value(operand.negated);
    hasher.value(operand.part);
    hasher.value(operand.offset);
    hasher.value(operand.bits);
    hasher.text(operand.name);
    if (operand.kind == OperandKind::Register) {
      const auto term = terms.find(operand.index);
      hasher.value(term != terms.end());
      if (term != terms.end()) {
        hasher.value(term->second.value);
        hasher.value(term->second.negated);
      } else if (function_.registers[operand.index].type == Mod::Pred) {
        hasher.value(predicate(operand.index));
      } else {
        hasher.bytes(value_of(operand.index), bytes_of(operand.index));
      }
    }
    for (const ptx::Operand& element : operand.elements) {
      hash(hasher, element, terms);
    }
  }

  /// Of the values that the instruction makes.
  Term term_of(const ptx::Instruction& i, const Terms& terms) const {
    const bool compares = i.opcode == Opcode::Setp && i.operands.size() == 3 && i.type() &&
                          i.operands[0].kind == OperandKind::Register;
    const bool real = compares && ptx::is_float(*i.type());
    Term result;
    bool equality = false;
    Hasher hasher;
    hasher.value(i.opcode);
    for (Mod mod : i.modifiers) {
      if (compares) {
        const auto opposites = real ? std::span<const Opposite>(of_reals) : of_whole_numbers;
        const auto known = std::ranges::find(opposites, mod, &Opposite::how);
        result.negated = result.negated || known != opposites.end();
        mod = known != opposites.end() ? known->of : mod;
        equality = equality || (!real && mod == Mod::Eq);
      }
      if (!equality || mod != *i.type()) {
        hasher.value(mod);
      }
    }
    hasher.value(equality ? ptx::type_bits(*i.type()) : 0); // whether with a sign or not
    for (std::size_t o = 1; o < i.operands.size(); ++o) {
      hash(hasher, i.operands[o], terms);
    }
    result.value = hasher.finish();
    return result;
  }

  /// The state in which the thread is now, as far as it can still matter.
  Node leaf(const Terms& terms) {
    const isa::Op& op = *warp_.pc[lane_];
    const auto& live = trials_.live.at(*frame_.code, op).registers;
    Hasher hasher;
    bool some = false;
    for (const auto& [index, term] : terms) {
      const std::uint32_t offset = frame_.code->registers[index].offset();
      if (std::ranges::find(live, offset, &LiveState::Register::offset) != live.end()) {
        hasher.value(index);
        hasher.value(term.value);
        hasher.value(term.negated);
        some = true;
      }
      if (function_.registers[index].type == Mod::Pred) {
        isa::LaneMask mask = 0;
        std::memcpy(&mask, frame_.registers.data() + offset, sizeof mask);
        mask &= ~(isa::LaneMask{1} << at_.lane);
        std::memcpy(frame_.registers.data() + offset, &mask, sizeof mask);
      } else {
        std::memset(value_of(index), 0, bytes_of(index));
      }
    }
    const Hash128 state = trial_.state();
    if (!some && std::ranges::find(reads_, state) != reads_.end()) {
      return trees_.reads();
    }
    if (!some && polls_.polled(at_) == word_) {
      const auto known = std::ranges::find(extra_states_, state);
      if (known != extra_states_.end()) {
        return trees_.extra(static_cast<std::size_t>(known - extra_states_.begin()));
      }
      if (extras_.size() < most_extras) {
        extras_.push_back(trial_.here());
        extra_states_.push_back(state);
        return trees_.extra(extras_.size() - 1);
      }
    }
    hasher.value(state);
    return trees_.state(hasher.finish());
  }

  std::optional<Node> follow(Terms terms) {
    while (left_-- > 0) {
      const isa::Op& op = *warp_.pc[lane_];
      if (op.instruction >= function_.body.size()) {
        return std::nullopt;
      }
      const ptx::Instruction& i = function_.body[op.instruction];
      bool unknown = false;
      analysis::each_register(i, [&](analysis::RegisterUse use) {
        unknown = unknown || (!use.write && terms.contains(use.index));
      });
      const bool guarded_by_it = i.guard && terms.contains(i.guard->register_index);
      // What these do to the block would stay, as in Trial::go_on().
      if (i.opcode == Opcode::Griddepcontrol || i.opcode == Opcode::Mbarrier) {
        return leaf(terms);
      }
      if ((op.flags & isa::Visible) != 0 &&
          (unknown ||
           (stands_at_visible(at_) && trials_.rules.classify(at_).kind != OperationKind::Silent))) {
        return leaf(terms);
      }
      if (i.opcode == Opcode::Bra && guarded_by_it) {
        return both_ways(i, op, terms);
      }
      const bool runs =
          !i.guard || guarded_by_it || predicate(i.guard->register_index) != i.guard->negated;
      const bool computes = i.opcode <= Opcode::Mov || i.opcode == Opcode::Cvt ||
                            i.opcode == Opcode::Cvta || i.opcode == Opcode::Nanosleep;
      if (guarded_by_it || i.has(Mod::Cc) || (unknown && !computes) || i.opcode == Opcode::St ||
          i.opcode == Opcode::Call || i.opcode == Opcode::Brx) {
        return std::nullopt;
      }
      const Term term = unknown ? term_of(i, terms) : Term{};
      if (!execute()) {
        return std::nullopt;
      }
      std::uint64_t destination = 0;
      analysis::each_register(i, [&](analysis::RegisterUse use) {
        if (!use.write || !runs) {
          return;
        }
        if (unknown) {
          terms[use.index] = {
              combine(term.value.low, term.value.high, ++destination),
              term.negated
          };
        } else {
          terms.erase(use.index);
        }
      });
    }
    return std::nullopt;
  }

  std::optional<Node>
  both_ways(const ptx::Instruction& branch, const isa::Op& op, const Terms& terms) {
    const Term& question = terms.at(branch.guard->register_index);
    const Trial::Here here = trial_.here();
    warp_.pc[lane_] = &frame_.code->ops[op.target];
    const auto taken = follow(terms);
    trial_.back_to(here);
    warp_.pc[lane_] = &op + 1;
    const auto passed = follow(terms);
    if (!taken || !passed) {
      return std::nullopt;
    }
    const bool swapped = branch.guard->negated != question.negated;
    return trees_.question(question.value, swapped ? *passed : *taken, swapped ? *taken : *passed);
  }

  Polls& polls_;
  Trials& trials_;
  Trial& trial_;
  const Lane at_;
  const Polled word_;
  isa::Warp& warp_;
  std::size_t lane_;
  isa::Frame& frame_;
  const ptx::Function& function_;
  OutcomeTrees trees_;
  std::vector<Hash128> reads_, extra_states_;
  TrialPlaces extras_; // reads of the word to which it comes by other values alone
  int left_ = 0;
};

} // namespace

bool same_for_any_value(
    Polls& polls,
    Trials& trials,
    Trial& trial,
    const Lane& at,
    const Polled& word,
    const TrialPlaces& places
) {
  return AnyValue(polls, trials, trial, at, word).all_alike(places);
}

} // namespace heddle::reduce
