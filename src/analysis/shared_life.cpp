// Implements shared_life.h: two problems of data flow against the direction of the edges, one for
// some way and one for all ways.
#include "analysis/shared_life.h"

#include "analysis/origins.h"
#include "ptx/effect.h"

#include <algorithm>

namespace heddle::analysis {

namespace {

using Kind = ptx::Effect::Kind;
constexpr std::uint64_t all = ~std::uint64_t{0};

struct Does {
  bool meets = false; // the barrier
  std::uint64_t reads = 0, writes = 0;
};

const ptx::Operand* address_of(const ptx::Instruction& i) {
  const auto address =
      std::ranges::find(i.operands, ptx::OperandKind::Address, &ptx::Operand::kind);
  return address != i.operands.end() ? &*address : nullptr;
}

/// All threads of the block that have not ended execute it together.
bool is_barrier_of_all(const ptx::Instruction& i) {
  const ptx::Effect& effect = effect_of(i);
  return effect.is(Kind::Barrier) && effect.meets == ptx::Effect::Meets::Block && !i.guard &&
         !i.has(ptx::Mod::Arrive) && i.operands.size() == 1 &&
         i.operands[0].kind == ptx::OperandKind::Integer && i.operands[0].bits == 0;
}

class Reader {
public:
  Reader(const ptx::Function& function, std::span<const SharedName> variables)
      : origins_(function),
        variables_(variables) {}

  Does what(const ptx::Instruction& i) const {
    const ptx::Effect& effect = effect_of(i);
    if (is_barrier_of_all(i)) {
      return {.meets = true};
    }
    if (!effect.is_access()) {
      const bool harmless = effect.is(Kind::Compute) || effect.is(Kind::Hint) ||
                            effect.is(Kind::Branch) || effect.is(Kind::BranchTable) ||
                            effect.is(Kind::Exit) || effect.is(Kind::Return) ||
                            effect.is(Kind::Trap) || effect.is(Kind::Fence) ||
                            effect.is(Kind::Barrier) || effect.is(Kind::Collective) ||
                            effect.is(Kind::ActiveLanes) || effect.is(Kind::Dependency);
      return {.reads = harmless ? 0 : all};
    }
    const auto space = i.one_of(ptx::Category::Space);
    const bool elsewhere = space == ptx::Mod::Global || space == ptx::Mod::Local ||
                           space == ptx::Mod::Param || space == ptx::Mod::Const;
    const ptx::Operand* address = address_of(i);
    if (elsewhere) {
      return {};
    }
    const Origin origin = address != nullptr ? origins_.of(*address) : Origin{};
    const bool known = origin.kind == Origin::Kind::Object;
    const auto variable = std::ranges::find(variables_, origin.object, &SharedName::name);
    if (known && variable == variables_.end()) {
      return {}; // another object
    }
    const std::uint64_t which = !known ? all : std::uint64_t{1} << (variable - variables_.begin());
    Does does{.reads = effect.is(Kind::Store) ? 0 : which};
    if (known && effect.is(Kind::Store) && !i.guard && is_all_of(i, *address, *variable)) {
      does.writes = which;
    }
    return does;
  }

private:
  static bool
  is_all_of(const ptx::Instruction& i, const ptx::Operand& address, const SharedName& variable) {
    const auto type = i.type();
    return address.offset == 0 && address.elements.size() == 1 &&
           address.elements[0].kind == ptx::OperandKind::Symbol &&
           address.elements[0].offset == 0 && type && !i.has(ptx::Mod::V2) &&
           !i.has(ptx::Mod::V4) &&
           static_cast<std::uint64_t>(type_bits(*type)) == 8 * variable.bytes;
  }

  Origins origins_;
  std::span<const SharedName> variables_;
};

} // namespace

SharedLife::SharedLife(
    const ptx::Function& function,
    const Cfg& cfg,
    std::span<const SharedName> variables
)
    : read_(function.body.size(), 0),
      written_(function.body.size(), all) {
  const Reader reader(function, variables);
  std::vector<Does> does;
  does.reserve(function.body.size());
  for (const ptx::Instruction& i : function.body) {
    does.push_back(reader.what(i));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = cfg.blocks().size(); b-- > 0;) {
      const BasicBlock& block = cfg.blocks()[b];
      std::uint64_t read = 0, written = all;
      for (const std::uint32_t to : block.successors) {
        const bool ends = to == cfg.exit() || cfg.blocks()[to].first == cfg.blocks()[to].last;
        read |= ends ? 0 : read_[cfg.blocks()[to].first];
        written &= ends ? 0 : written_[cfg.blocks()[to].first];
      }
      if (block.successors.empty()) {
        written = 0;
      }
      for (std::uint32_t n = block.last; n-- > block.first;) {
        read = does[n].meets ? 0 : read | does[n].reads;
        // What it reads first is not what it writes later.
        written = does[n].meets ? 0 : (written | does[n].writes);
        if (function.body[n].guard && effect_of(function.body[n]).is(Kind::Exit)) {
          written = 0; // it may end here
        }
        changed = changed || read != read_[n] || written != written_[n];
        read_[n] = read;
        written_[n] = written;
      }
    }
  }
}

} // namespace heddle::analysis
