// Which op of a code becomes what in its region: entries, detours, and what is known of operands.
#include "jit/region_builder_impl.h"

#include <algorithm>
#include <cstring>

namespace heddle::jit {

// --- Which op is what

bool RegionBuilder::known_operands(std::uint32_t k) const {
  return std::ranges::all_of(registers_.refs(k), [this](isa::Ref ref) {
    if (ref.none() || ref.area() != isa::Area::Frame) {
      return true;
    }
    const std::uint32_t index = registers_.at(ref.offset());
    return index != registers_.count() && registers_.place(index).element_bytes <= 8;
  });
}

PlannedOp RegionBuilder::plan(std::uint32_t k) const {
  const isa::Op& op = code_.ops[k];
  PlannedOp result;
  if (op.instruction >= code_.function->body.size() || &op == &code_.ops.back() ||
      !known_operands(k)) {
    return result;
  }
  if (code_.function->body[op.instruction].opcode == ptx::Opcode::Bra) {
    result.kind = Kind::Branch;
    return result;
  }
  if (is_call(code_, op)) {
    return result;
  }
  result.lane = functions_.of(code_, k, registers_);
  if (result.lane != nullptr) {
    result.operands = functions_.operands(code_, k, registers_);
    result.kind = result.lane->straight ? Kind::Lanes : Kind::Interpret;
  } else if (may_interpret(k)) {
    result.operands = functions_.operands(code_, k, registers_);
    result.kind = Kind::Interpret;
  }
  return result;
}

/// Ops without bitcode whose handlers go on behind them, or stop with a fault: strong accesses,
/// fences, and warp collectives of converged lanes. Whole warps execute them, as in the
/// interpreter.
bool RegionBuilder::may_interpret(std::uint32_t k) const {
  const isa::Op& op = code_.ops[k];
  if (launch_.lanes != isa::warp_size) {
    return false;
  }
  const ptx::Effect& effect = ptx::effect_of(*instruction(k));
  if (is_collective(effect)) {
    const isa::Ref members{static_cast<std::uint32_t>(op.imm2)};
    return (op.flags & isa::Visible) != 0 &&
           (members.none() ||
            (members.area() == isa::Area::Constant && constant_word(members) != nullptr));
  }
  return effect.is(ptx::Effect::Kind::Fence) || effect.is(ptx::Effect::Kind::ActiveLanes) ||
         (effect.is_access() && !effect.is_async());
}

/// bar.sync 0 of all threads, by all lanes.
bool RegionBuilder::is_barrier(std::uint32_t k) const {
  const isa::Op& op = code_.ops[k];
  const ptx::Instruction* i = instruction(k);
  if (i == nullptr || (op.flags & isa::Guarded) != 0 || op.a.none() || !op.b.none() ||
      op.a.area() != isa::Area::Constant || i->has(ptx::Mod::Red) || i->has(ptx::Mod::Arrive)) {
    return false;
  }
  const ptx::Effect& effect = ptx::effect_of(*i);
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant_word(op.a));
  return effect.is(ptx::Effect::Kind::Barrier) && effect.meets == ptx::Effect::Meets::Block &&
         number != nullptr && (number->getZExtValue() & 0xffff'ffffU) == 0;
}

/// The end of the kernel for all lanes.
bool RegionBuilder::is_end(std::uint32_t k) const {
  if ((code_.ops[k].flags & isa::Guarded) != 0 || !code_.function->entry) {
    return false;
  }
  const ptx::Instruction* i = instruction(k);
  return i == nullptr || ptx::effect_of(*i).is(ptx::Effect::Kind::Return) ||
         ptx::effect_of(*i).is(ptx::Effect::Kind::Exit);
}

/// Blocks of which each warp has its own special values only when its warps have turns: handlers
/// must not ask for them.
bool RegionBuilder::whole_blocks() const {
  const auto special = [](isa::Ref ref) { return ref.area() == isa::Area::Special; };
  for (const PlannedOp& op : ops_) {
    const bool calls = op.kind == Kind::Interpret || (op.lane != nullptr && op.lane->reaches);
    if (calls && std::ranges::any_of(op.operands.inputs, special)) {
      return false;
    }
  }
  return code_.function->entry;
}

Shape RegionBuilder::special_shape(std::uint32_t offset) const {
  using Layout = isa::SpecialLayout;
  switch (offset / Layout::u32x32) {
  case Layout::TidX:
    return launch_.rows ? Shape::regular(1) : Shape::vector();
  case Layout::TidY:
  case Layout::TidZ:
    return launch_.rows ? Shape::uniform() : Shape::vector();
  case Layout::LaneId:
    return Shape::regular(1);
  case Layout::LanemaskEq:
  case Layout::LanemaskLe:
  case Layout::LanemaskLt:
  case Layout::LanemaskGe:
  case Layout::LanemaskGt:
    return Shape::vector();
  case Layout::WarpId: // what is the same for the warps of a block has one place: special()
    return Shape::vector();
  default:
    return Shape::uniform(); // of the block or the grid
  }
}

llvm::Constant* RegionBuilder::constant_word(isa::Ref ref) const {
  const auto differs = [&](const auto& place) {
    return ref.offset() >= place.first &&
           ref.offset() < place.first + place.second * isa::warp_size;
  };
  if (std::ranges::any_of(code_.addresses, differs)) {
    return nullptr;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, code_.constants.data() + ref.offset(), sizeof word);
  return llvm::ConstantInt::get(llvm::Type::getInt64Ty(module_.getContext()), word);
}

std::vector<std::uint32_t> RegionBuilder::find_entries() const {
  std::vector<std::uint32_t> entries;
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    const bool after_branch = k != 0 && ops_[k - 1].kind == Kind::Branch &&
                              uniformity_->parts(k - 1) && !detours_.contains(k - 1);
    const bool begins = k == 0 || (code_.ops[k].flags & isa::Join) != 0 || after_branch ||
                        ops_[k - 1].kind == Kind::Leave;
    if (begins && ops_[k].kind != Kind::Leave && !in_detour_[k]) {
      entries.push_back(k);
    }
  }
  return entries;
}

/// May lanes that have parted at `from` execute the ops [first, last) under a mask? 0: no; else how
/// many masks there are then.
std::size_t
RegionBuilder::can_detour(std::uint32_t first, std::uint32_t last, std::uint32_t from) const {
  std::size_t depth = 1;
  for (std::uint32_t k = first; k < last; ++k) {
    if (ops_[k].kind == Kind::Leave) {
      return 0;
    }
    if (ops_[k].kind == Kind::Branch) {
      const auto inner = detours_.find(k);
      const bool ends_side = inner == detours_.end() && is_end_of_side(k);
      if (!ends_side && (inner == detours_.end() || inner->second.end > last)) {
        return 0;
      }
      depth = ends_side ? depth : std::max(depth, inner->second.depth + 1);
    }
  }
  // Nobody else comes there.
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    const bool outside = k < first || k >= last;
    const bool jumps = ops_[k].kind == Kind::Branch && k != from;
    if (jumps && outside && code_.ops[k].target >= first && code_.ops[k].target < last) {
      return 0;
    }
    if (ops_[k].kind == Kind::Leave && outside && code_.ops[k].target >= first &&
        code_.ops[k].target < last && code_.ops[k].target != 0) {
      return 0; // a branch of a kind that is the interpreter's
    }
  }
  return depth <= RegionContext::most_rests ? depth : 0;
}

/// The branch behind the first side of a detour with two.
bool RegionBuilder::is_end_of_side(std::uint32_t k) const {
  return std::ranges::any_of(detours_, [k](const auto& detour) {
    return detour.second.otherwise != detour.second.end && detour.second.otherwise - 1 == k;
  });
}

std::optional<RegionBuilder::Detour> RegionBuilder::detour_at(std::uint32_t k) const {
  const isa::Op& op = code_.ops[k];
  if ((op.flags & isa::Guarded) == 0 || op.target <= k + 1 || !uniformity_->parts(k)) {
    return std::nullopt;
  }
  const std::uint32_t target = op.target;
  // @p bra ELSE; …; bra END; ELSE: …; END:
  const isa::Op& last = code_.ops[target - 1];
  if (ops_[target - 1].kind == Kind::Branch && (last.flags & isa::Guarded) == 0 && target - 1 > k &&
      last.target > target) {
    const std::size_t first = can_detour(k + 1, target - 1, k);
    const std::size_t second = can_detour(target, last.target, k);
    if (first != 0 && second != 0) {
      return Detour{target, last.target, std::max(first, second)};
    }
    return std::nullopt;
  }
  if (const std::size_t depth = can_detour(k + 1, target, k)) {
    return Detour{target, target, depth};
  }
  return std::nullopt;
}

/// Branches over code that has no end of the region and no way in or out but its own: from the last
/// one, so that those within others are known.
void RegionBuilder::find_detours() {
  in_detour_.assign(code_.ops.size(), false);
  for (auto k = static_cast<std::uint32_t>(code_.ops.size()); k-- > 0;) {
    if (ops_[k].kind != Kind::Branch) {
      continue;
    }
    if (const auto detour = detour_at(k)) {
      detours_.emplace(k, *detour);
      for (std::uint32_t inside = k + 1; inside < detour->end; ++inside) {
        in_detour_[inside] = true;
      }
    }
  }
}

} // namespace heddle::jit
