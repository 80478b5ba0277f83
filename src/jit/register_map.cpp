// Implements register_map.h.
#include "jit/register_map.h"

#include "analysis/cfg.h"
#include "analysis/liveness.h"
#include "jit/code_hash.h"

#include <algorithm>
#include <set>

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
    add({offset, bytes, /*predicate=*/bytes == 0});
  }
  std::vector<std::uint32_t> user(places_.size(), ~0U);
  kept_.resize(places_.size());
  for (std::uint32_t k = 0; k < code.ops.size(); ++k) {
    for (const isa::Ref ref : refs(k)) {
      const std::uint32_t index = frame_register(ref);
      if (index != count()) {
        std::uint32_t& first = user[index];
        kept_[index] = kept_[index] || (first != ~0U && first != code.ops[k].instruction);
        first = code.ops[k].instruction;
      }
    }
  }
  if (!function.body.empty()) {
    const analysis::Cfg cfg(function);
    before_ = analysis::Liveness(function, cfg).before_each();
    for (const ptx::Instruction& i : function.body) {
      auto& writes = writes_.emplace_back();
      auto& uses = uses_.emplace_back();
      analysis::each_register(i, [&](analysis::RegisterUse use) {
        uses.push_back(use.index);
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
    const bool live = declared ? before_[instruction].test(index) : kept_[index];
    if (live || (inside && written(op, index))) {
      result.push_back(index);
    }
  }
  return result;
}

std::vector<isa::Ref> RegisterMap::refs(std::uint32_t k) const {
  const isa::Op& op = code_.ops[k];
  std::vector<isa::Ref> result = {op.d, op.a, op.b, op.c, op.e};
  const std::uint32_t listed = is_call(code_, op) ? 0 : op.count; // those of calls are numbers
  for (std::uint32_t n = 0; n < listed; ++n) {
    if (op.list + n < code_.refs.size()) {
      result.push_back(code_.refs[op.list + n]);
    }
  }
  if ((op.flags & isa::Guarded) != 0) {
    result.push_back(op.guard);
  }
  return result;
}

bool RegisterMap::names_all(std::uint32_t op, isa::Ref also) const {
  const std::uint32_t instruction = code_.ops[op].instruction;
  std::set<std::uint32_t> named{frame_register(also)};
  const auto add_ops = [&](std::uint32_t k, auto next) {
    for (; k < code_.ops.size() && code_.ops[k].instruction == instruction; k = next(k)) {
      for (const isa::Ref ref : refs(k)) {
        named.insert(frame_register(ref));
      }
    }
  };
  add_ops(op, [](std::uint32_t k) { return k + 1; });
  add_ops(op, [](std::uint32_t k) { return k - 1; }); // before the first: no op
  return std::ranges::all_of(uses_[instruction], [&](std::uint32_t index) {
    return named.contains(index) || code_.registers[index].none();
  });
}

std::uint32_t RegisterMap::frame_register(isa::Ref ref) const {
  return ref.none() || ref.area() != isa::Area::Frame ? count() : at(ref.offset());
}

std::vector<std::uint32_t> RegisterMap::writes(std::uint32_t op) const {
  std::vector<std::uint32_t> result;
  const auto add = [&](std::uint32_t index) {
    if (std::ranges::find(result, index) == result.end()) {
      result.push_back(index);
    }
  };
  for (const isa::Ref ref : refs(op)) {
    const std::uint32_t index = frame_register(ref);
    if (index != count() && written(op, index)) {
      add(index);
    }
  }
  if (code_.ops[op].instruction < writes_.size()) {
    std::ranges::for_each(writes_[code_.ops[op].instruction], add);
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
