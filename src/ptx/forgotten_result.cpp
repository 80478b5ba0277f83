// Implements forgotten_result.h.
#include "ptx/forgotten_result.h"

#include "ptx/bit_vector.h"
#include "ptx/effect.h"
#include "ptx/liveness.h"
#include "ptx/same_place.h"
#include "ptx/value_flow.h"

#include <algorithm>
#include <vector>

namespace heddle::ptx {

namespace {

/// The instructions behind the operation and before the place where the ways from it meet.
class Between {
public:
  Between(const Function& function, std::uint32_t operation)
      : operation_(function.body[operation]),
        written_(function.registers.size()) {
    note_written(operation_);
  }

  /// False if it does more than compute and access the place.
  bool take(const Instruction& i) {
    const bool has_destination = note_written(i);
    const Effect& effect = effect_of(i);
    if (effect.is_access() && effect.is_strong()) {
      return same_place(i, operation_);
    }
    return !reads_special_register(i) && !effect.is_access() && !i.has(Mod::Cc) &&
           is_computation(i, has_destination);
  }

  /// Is nothing of it read behind, and is the place the same all the time?
  bool is_forgotten(const BitVector& live) const {
    bool result = true;
    written_.each([&](std::size_t r) { result = result && !live.test(r); });
    const Operand* const address = address_of(operation_);
    return result && address != nullptr &&
           (address->elements[0].kind != OperandKind::Register ||
            !written_.test(address->elements[0].index));
  }

private:
  bool note_written(const Instruction& i) {
    bool some = false;
    each_register(i, [&](RegisterUse use) {
      if (use.write) {
        written_.set(use.index);
        some = true;
      }
    });
    return some;
  }

  const Instruction& operation_;
  BitVector written_;
};

} // namespace

bool forgets_result(const Function& function, const Cfg& cfg, std::uint32_t instruction) {
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
        [&](const Instruction& i) { return between.take(i); }
    );
  };
  if (!take(instruction + 1, cfg.blocks()[begin].last)) {
    return false;
  }
  BitVector seen(cfg.blocks().size());
  std::vector<std::uint32_t> todo = cfg.blocks()[begin].successors;
  while (!todo.empty()) {
    const std::uint32_t b = todo.back();
    todo.pop_back();
    if (b == *meet) {
      continue;
    }
    if (b == begin || b == cfg.exit()) {
      return false;
    }
    if (seen.test(b)) {
      continue;
    }
    seen.set(b);
    const BasicBlock& block = cfg.blocks()[b];
    if (!take(block.first, block.last)) {
      return false;
    }
    todo.insert(todo.end(), block.successors.begin(), block.successors.end());
  }
  return between.is_forgotten(Liveness(function, cfg).at_entry(*meet));
}

} // namespace heddle::ptx
