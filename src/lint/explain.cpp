// Explanations: the chain from what differs between threads to what they decide by it.
#include "lint/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace heddle::lint {
namespace {

constexpr std::size_t longest = 12; // steps

class Explainer {
public:
  explicit Explainer(const Entry& entry) : entry_(entry) {}

  void value(ValueId id) {
    id = entry_.flow.instruction(id) != nullptr ? id : entry_.flow.canonical(id);
    if (!seen_.insert(id).second || depth_ > 40) {
      return;
    }
    ++depth_;
    const Cause& cause = entry_.uniformity.cause(id);
    const Instruction* code = entry_.flow.instruction(id);
    switch (cause.kind) {
    case Cause::Kind::Source:
      if (code != nullptr) {
        add(code->spot, source_text(*code));
      }
      break;
    case Cause::Kind::Operand:
      value(cause.value);
      if (code != nullptr && (code->op == Op::Load || code->op == Op::CopyObject) &&
          entry_.flow.is_shared_load(id)) {
        add(code->spot, "so threads read different elements here");
      }
      break;
    case Cause::Kind::Branch:
      branch(cause.block);
      add(first_spot(id), "and it has different values for threads that came different ways");
      break;
    case Cause::Kind::Loop:
      loop(cause.block);
      value(cause.value);
      break;
    case Cause::Kind::Race: {
      const Instruction& store = entry_.graph.code[cause.value];
      add(store.spot,
          "this store may come between the loads of two threads: no barrier separates them");
      if (code != nullptr) {
        add(code->spot, "so threads may read different values here");
      }
      break;
    }
    case Cause::Kind::None:
      break;
    }
    if (const auto name = entry_.flow.names.find(id);
        name != entry_.flow.names.end() && !name->second.spot.in_system) {
      add(name->second.spot, fmt::format("stored in '{}'", name->second.name));
    }
    --depth_;
  }

  void branch(std::uint32_t block) {
    if (!branches_.insert(block).second) {
      return;
    }
    if (const ValueId condition = entry_.uniformity.condition(block); condition != no_value) {
      value(condition);
    }
    const Terminator& end = entry_.graph.blocks[block].end;
    const bool sure = entry_.uniformity.branch(block).definite > Level::Block;
    add(end.condition_spot.line != 0 ? end.condition_spot : end.statement,
        sure ? "threads of one block part at this condition"
             : "threads of one block may part at this condition");
  }

  std::vector<Note> take() {
    if (notes_.size() > longest) {
      notes_.erase(notes_.begin() + longest / 2, notes_.end() - longest / 2);
    }
    return std::move(notes_);
  }

private:
  void loop(std::uint32_t loop) {
    if (const std::uint32_t exit = entry_.uniformity.loop_cause(loop); exit != UINT32_MAX) {
      branch(exit);
      add(entry_.graph.blocks[exit].end.statement,
          "so they leave this loop after different numbers of trips");
    }
  }

  Spot first_spot(ValueId id) const {
    const auto name = entry_.flow.names.find(id);
    if (name != entry_.flow.names.end()) {
      return name->second.spot;
    }
    for (const ValueId operand : entry_.flow.values[id].operands) {
      const auto named = entry_.flow.names.find(operand);
      if (named != entry_.flow.names.end()) {
        return named->second.spot;
      }
    }
    return {};
  }

  static std::string source_text(const Instruction& code) {
    if (code.op == Op::Symbol) {
      const Level own = level(code.symbol);
      return own == Level::Warp
                 ? fmt::format("{} differs between the warps of a block", text(code.symbol))
                 : fmt::format(
                       "{} differs between the threads of a {}",
                       text(code.symbol),
                       own == Level::Thread  ? "block"
                       : own == Level::Block ? "grid"
                                             : "grid"
                   );
    }
    switch (code.effect) {
    case Effect::AtomicUpdate:
      return fmt::format("'{}' gives each thread a result of its own", code.name);
    case Effect::AtomicLoad:
      return fmt::format(
          "'{}' may give threads different values: others write in between",
          code.name
      );
    case Effect::WarpVote:
    case Effect::WarpReduce:
      return fmt::format("'{}' gives each warp a result of its own, not the block", code.name);
    case Effect::WarpShuffle:
    case Effect::WarpScan:
      return fmt::format("'{}' gives lanes or warps results of their own", code.name);
    case Effect::Unknown:
      return fmt::format(
          "nothing is known about the result of '{}': it has no body here",
          code.name
      );
    case Effect::Allocate:
      return fmt::format("'{}' gives each thread memory of its own", code.name);
    default:
      break;
    }
    if (code.op == Op::Load) {
      return "a volatile load: others may write between the loads of two threads";
    }
    return "this differs between threads";
  }

  void add(const Spot& where, std::string text) {
    if (where.line != 0 &&
        (notes_.empty() || notes_.back().where != where || notes_.back().text != text)) {
      notes_.push_back({where, std::move(text)});
    }
  }

  const Entry& entry_;
  std::vector<Note> notes_;
  std::set<ValueId> seen_;
  std::set<std::uint32_t> branches_;
  int depth_ = 0;
};

} // namespace

std::vector<Note> explain(const Entry& entry, ValueId value) {
  Explainer explainer(entry);
  explainer.value(value);
  return explainer.take();
}

std::vector<Note> explain_branch(const Entry& entry, std::uint32_t block) {
  Explainer explainer(entry);
  explainer.branch(block);
  return explainer.take();
}

} // namespace heddle::lint
