// Implements register_map.h.
#include "jit/register_map.h"

#include "ptx/cfg.h"
#include "ptx/liveness.h"

#include <algorithm>

namespace heddle::jit {

RegisterMap::RegisterMap(const isa::Code& code) : code_(code) {
  const ptx::Function& function = *code.function;
  const auto add = [this](RegisterPlace place) {
    by_offset_.emplace(place.offset, count());
    places_.push_back(place);
  };
  for (std::size_t i = 0; i < code.registers.size(); ++i) {
    RegisterPlace place;
    place.offset = code.registers[i].offset();
    place.predicate = function.registers[i].type == ptx::Mod::Pred;
    place.element_bytes =
        static_cast<std::uint32_t>(std::max(2, ptx::type_bits(function.registers[i].type) / 8));
    add(place);
  }
  for (const auto& [offset, bytes] : code.scratch) {
    add({offset, bytes, false});
  }
  if (!function.body.empty()) {
    const ptx::Cfg cfg(function);
    before_ = ptx::Liveness(function, cfg).before_each();
    for (const ptx::Instruction& i : function.body) {
      auto& writes = writes_.emplace_back();
      ptx::each_register(i, [&](ptx::RegisterUse use) {
        if (use.write) {
          writes.push_back(use.index);
        }
      });
    }
  }
}

std::uint32_t RegisterMap::at(std::uint32_t offset) const {
  const auto it = by_offset_.find(offset);
  return it != by_offset_.end() ? it->second : count();
}

std::vector<std::uint32_t> RegisterMap::live(std::uint32_t op) const {
  std::vector<std::uint32_t> result;
  const std::uint32_t instruction = code_.ops[op].instruction;
  // In the middle of an instruction: what is live before it, and what it may have written already.
  const bool inside = op != 0 && code_.ops[op - 1].instruction == instruction;
  for (std::uint32_t index = 0; index < count(); ++index) {
    const bool declared = index < code_.registers.size();
    if (!declared || before_[instruction].test(index) || (inside && written(op, index))) {
      result.push_back(index);
    }
  }
  return result;
}

bool RegisterMap::written(std::uint32_t op, std::uint32_t index) const {
  if (index >= code_.registers.size()) {
    return true;
  }
  const auto& writes = writes_[code_.ops[op].instruction];
  return std::ranges::find(writes, index) != writes.end();
}

} // namespace heddle::jit
