// Implements forgotten_result.h.
#include "analysis/forgotten_result.h"

#include "analysis/bit_vector.h"
#include "analysis/liveness.h"
#include "analysis/same_place.h"
#include "analysis/value_flow.h"
#include "ptx/effect.h"

#include <algorithm>
#include <vector>

namespace heddle::analysis {

namespace {

/// The instructions behind the operation and before the place where the ways from it meet.
class Between {
public:
  Between(const ptx::Function& function, std::uint32_t operation)
      : operation_(function.body[operation]),
        written_(function.registers.size()) {
    note_written(operation_);
  }

  /// False if it does more than compute and access the place.
  bool take(const ptx::Instruction& i) {
    const bool has_destination = note_written(i);
    const ptx::Effect& effect = effect_of(i);
    if (effect.is_access() && effect.is_strong()) {
      return same_place(i, operation_);
    }
    return !reads_special_register(i) && !effect.is_access() &&
           !effect.is(ptx::Effect::Kind::Object) && // which may fault
           !i.has(ptx::Mod::Cc) && is_computation(i, has_destination);
  }

  /// Is nothing of it read behind, and is the place the same all the time?
  bool is_forgotten(const BitVector& live) const {
    bool result = true;
    written_.each([&](std::size_t r) { result = result && !live.test(r); });
    const ptx::Operand* const address = address_of(operation_);
    return result && address != nullptr &&
           (address->elements[0].kind != ptx::OperandKind::Register ||
            !written_.test(address->elements[0].index));
  }

private:
  bool note_written(const ptx::Instruction& i) {
    bool some = false;
    each_register(i, [&](RegisterUse use) {
      if (use.write) {
        written_.set(use.index);
        some = true;
      }
    });
    return some;
  }

  const ptx::Instruction& operation_;
  BitVector written_;
};

/// The blocks behind the operation and before the place where the ways from it meet.
class Ways {
public:
  Ways(const ptx::Function& function, const Cfg& cfg, std::uint32_t begin, std::uint32_t meet)
      : function_(function),
        cfg_(cfg),
        blocks_(cfg.blocks().size()) {
    std::vector<std::uint32_t> todo = cfg.blocks()[begin].successors;
    while (!todo.empty()) {
      const std::uint32_t b = todo.back();
      todo.pop_back();
      if (b != meet && b != cfg.exit() && !blocks_.test(b)) {
        blocks_.set(b);
        const auto& next = cfg.blocks()[b].successors;
        todo.insert(todo.end(), next.begin(), next.end());
      }
    }
  }
  const BitVector& blocks() const { return blocks_; }

  /// Does each thread come to the end of them that does not wait for what others do at the place?
  bool end() const {
    bool result = true;
    std::vector<Seen> computing(blocks_.size(), Seen::No), opened(computing);
    blocks_.each([&](std::size_t b) {
      const auto block = static_cast<std::uint32_t>(b);
      if (!has(block, &ptx::Effect::reads)) {
        result = result && is_free_of_loops(block, /*waits=*/false, computing);
      }
      if (has(block, &ptx::Effect::writes)) {
        result = result && is_free_of_loops(block, /*waits=*/true, opened);
      }
    });
    return result;
  }

private:
  enum class Seen : std::uint8_t {
    No,
    UnderWay,
    Left
  };

  bool has(std::uint32_t block, bool (ptx::Effect::*accesses)() const) const {
    return std::any_of(
        function_.body.begin() + cfg_.blocks()[block].first,
        function_.body.begin() + cfg_.blocks()[block].last,
        [&](const ptx::Instruction& i) { return (effect_of(i).*accesses)(); }
    );
  }

  /// `waits`: blocks that read the place count, too.
  bool is_free_of_loops(std::uint32_t b, bool waits, std::vector<Seen>& seen) const {
    if (seen[b] != Seen::No) {
      return seen[b] == Seen::Left;
    }
    seen[b] = Seen::UnderWay;
    for (const std::uint32_t to : cfg_.blocks()[b].successors) {
      const bool counts =
          to != cfg_.exit() && blocks_.test(to) && (waits || !has(to, &ptx::Effect::reads));
      if (counts && !is_free_of_loops(to, waits, seen)) {
        return false;
      }
    }
    seen[b] = Seen::Left;
    return true;
  }

  const ptx::Function& function_;
  const Cfg& cfg_;
  BitVector blocks_;
};

} // namespace

bool forgets_result(const ptx::Function& function, const Cfg& cfg, std::uint32_t instruction) {
  const std::uint32_t begin = cfg.block_of(instruction);
  const auto meet = cfg.immediate_post_dominator(begin);
  if (!meet || *meet == cfg.exit()) {
    return false;
  }
  Between between(function, instruction);
  const auto take = [&](std::uint32_t first, std::uint32_t last) {
    return std::all_of(
        function.body.begin() + first,
        function.body.begin() + last,
        [&](const ptx::Instruction& i) { return between.take(i); }
    );
  };
  if (!take(instruction + 1, cfg.blocks()[begin].last)) {
    return false;
  }
  const Ways ways(function, cfg, begin, *meet);
  bool fine = !ways.blocks().test(begin);
  ways.blocks().each([&](std::size_t b) {
    const BasicBlock& block = cfg.blocks()[b];
    fine = fine && std::ranges::find(block.successors, cfg.exit()) == block.successors.end() &&
           take(block.first, block.last);
  });
  return fine && ways.end() && between.is_forgotten(Liveness(function, cfg).at_entry(*meet));
}

} // namespace heddle::analysis
