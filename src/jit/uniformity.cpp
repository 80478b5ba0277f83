// Implements uniformity.h: shapes only grow, so the fixed point is the same in whatever order.
#include "jit/uniformity.h"

#include "jit/lane_talk.h"

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <unordered_map>

namespace heddle::jit {

namespace {

/// Each lane has its own local memory, so equal addresses are different places; of those that
/// update one place, each finds what the one before it has left.
bool differs_in_lanes(const llvm::Instruction& reach) {
  return space_of(reach) == isa::Space::Local || is_update(reach);
}

} // namespace

bool reduces_block(const ptx::Instruction& i) {
  const ptx::Effect& effect = ptx::effect_of(i);
  return effect.is(ptx::Effect::Kind::Barrier) && effect.meets == ptx::Effect::Meets::Block &&
         i.has(ptx::Mod::Red);
}

bool Uniformity::is_reduction(std::uint32_t k) const {
  const std::uint32_t i = code_.ops[k].instruction;
  return i < code_.function->body.size() && reduces_block(code_.function->body[i]);
}

Place place_of(const llvm::Value* pointer) {
  Place place{pointer, 0};
  const llvm::DataLayout* layout = nullptr;
  while (const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(place.from)) {
    layout = &gep->getModule()->getDataLayout();
    llvm::APInt offset(64, 0);
    gep->accumulateConstantOffset(*layout, offset);
    place.offset += offset.getSExtValue();
    place.from = gep->getPointerOperand();
  }
  return place;
}

Uniformity::Uniformity(
    const isa::Code& code,
    const RegisterMap& registers,
    const std::vector<PlannedOp>& ops,
    std::function<Shape(std::uint32_t)> special,
    std::function<llvm::Constant*(isa::Ref)> constant,
    unsigned guess_lanes,
    bool stay_together
)
    : code_(code),
      registers_(registers),
      ops_(ops),
      special_(std::move(special)),
      constant_(std::move(constant)),
      guess_lanes_(guess_lanes),
      stay_together_(stay_together),
      cfg_(*code.function),
      writes_(cfg_.blocks().size()),
      followed_(ops.size()),
      shapes_(registers.count()),
      once_(registers.count()),
      constants_(registers.count()),
      waiting_(code, ops, cfg_),
      live_(ops.size()) {
  std::vector<bool> written(registers.count());
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    const std::uint32_t instruction = code.ops[k].instruction;
    for (const std::uint32_t index : registers.writes(k)) {
      written[index] = written[index] || ops[k].kind == Kind::Lanes || is_reduction(k);
      if (instruction < code.function->body.size()) {
        writes_[cfg_.block_of(instruction)].push_back(index);
      }
    }
  }
  for (std::uint32_t index = 0; index < registers.count(); ++index) {
    if (!written[index]) {
      shapes_[index] = Shape::vector(); // whatever it is, it comes from outside
    }
  }
  find_written_once();
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t k = 0; k < ops.size(); ++k) {
      again = step(k) || again;
    }
    const auto parts_at = [this](std::uint32_t k) { return !stay_together_ && parts(k); };
    again = waiting_.follow(parts_at) || again;
    again = follow_waiting() || again;
  }
}

/// Compilers put constants into registers: a shuffle has them for its distance and its mask.
void Uniformity::find_written_once() {
  std::vector<unsigned> writes(registers_.count());
  for (std::uint32_t k = 0; k < ops_.size(); ++k) {
    for (const std::uint32_t index : registers_.writes(k)) {
      ++writes[index];
    }
  }
  for (std::uint32_t index = 0; index < registers_.count(); ++index) {
    const RegisterPlace& place = registers_.place(index);
    const auto holds = [&](const auto& range) {
      return place.offset >= range.first && place.offset < range.first + range.second;
    };
    once_[index] =
        writes[index] == 1 && !place.predicate && std::ranges::none_of(code_.cleared, holds);
  }
}

bool Uniformity::wanted_by_waiting(std::uint32_t op, std::uint32_t index) const {
  return std::ranges::any_of(waiting_.at(op), [&](std::uint32_t place) {
    return live_[place][index];
  });
}

bool Uniformity::follow_waiting() {
  bool grown = false;
  for (std::uint32_t k = 0; k < ops_.size(); ++k) {
    if (waiting_.is_place(k) && live_[k].empty()) {
      live_[k].resize(registers_.count());
      for (const std::uint32_t index : registers_.live(k)) {
        live_[k][index] = true;
      }
    }
  }
  for (std::uint32_t k = 0; k < ops_.size(); ++k) {
    if (!waiting_.some_at(k)) {
      continue;
    }
    for (const std::uint32_t index : registers_.writes(k)) {
      if (shapes_[index].is_regular() && wanted_by_waiting(k, index)) {
        grown = join(index, Shape::vector()) || grown;
      }
    }
  }
  return grown;
}

bool Uniformity::join(std::uint32_t index, Shape shape) {
  const Shape joined = shapes_[index].join(shape);
  const bool grown = !(joined == shapes_[index]);
  shapes_[index] = joined;
  return grown;
}

bool Uniformity::parts(std::uint32_t k) const {
  const isa::Op& op = code_.ops[k];
  if ((op.flags & isa::Guarded) == 0) {
    return ops_[k].kind != Kind::Branch; // indexed branches and the like
  }
  const Shape guard = shapes_[registers_.at(op.guard.offset())];
  return guard.kind != Shape::Kind::None && !guard.is_regular();
}

Uniformity::Known Uniformity::input(isa::Ref ref) const {
  switch (ref.area()) {
  case isa::Area::Frame: {
    const std::uint32_t index = registers_.at(ref.offset());
    return {shapes_[index], constants_[index]};
  }
  case isa::Area::Special:
    return {special_(ref.offset())};
  default:
    return {Shape::uniform(), constant_(ref)};
  }
}

std::vector<Uniformity::Known> Uniformity::results(const PlannedOp& op) const {
  const llvm::Function& f = *op.lane->function;
  std::unordered_map<const llvm::Value*, Known> known;
  for (unsigned n = 0; n < f.arg_size(); ++n) {
    known[f.getArg(n)] =
        n < op.operands.inputs.size() ? input(op.operands.inputs[n]) : Known{Shape::uniform()};
  }
  std::vector<Known> results(op.operands.outputs.size());
  for (const llvm::Instruction& i : f.getEntryBlock()) {
    if (const auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&i)) {
      llvm::Value* value = const_cast<llvm::Value*>(insert->getInsertedValueOperand());
      const auto it = known.find(value);
      results[insert->getIndices()[0]] =
          it != known.end() ? it->second
                            : Known{Shape::uniform(), llvm::dyn_cast<llvm::Constant>(value)};
      continue;
    }
    if (const auto* ret = llvm::dyn_cast<llvm::ReturnInst>(&i)) {
      if (llvm::isa<llvm::Constant>(ret->getReturnValue())) { // of no or constant results
        for (unsigned n = 0; n < results.size(); ++n) {
          const auto* constant = llvm::cast<llvm::Constant>(ret->getReturnValue());
          results[n] = {Shape::uniform(), constant->getAggregateElement(n)};
        }
      }
      continue;
    }
    if (llvm::isa<llvm::FenceInst>(i)) {
      continue;
    }
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i);
    if (load != nullptr || llvm::isa<llvm::StoreInst>(i) || llvm::isa<llvm::GetElementPtrInst>(i)) {
      if (load != nullptr) {
        const Place place = place_of(load->getPointerOperand());
        if (llvm::isa<llvm::Argument>(place.from)) {
          known[&i] = {special_(static_cast<std::uint32_t>(place.offset))};
        } else {
          const Shape p = known[place.from].shape;
          known[&i] = {
              p.kind == Shape::Kind::None ? p
              : p.is_uniform()            ? Shape::uniform()
                                          : Shape::vector()
          };
        }
      }
      continue;
    }
    std::vector<Shape> shapes;
    std::vector<llvm::Constant*> constants;
    const unsigned count =
        is_reach(i) ? 1 : i.getNumOperands() - (llvm::isa<llvm::CallInst>(i) ? 1 : 0);
    for (unsigned n = 0; n < count; ++n) {
      llvm::Value* operand = i.getOperand(n);
      if (auto* constant = llvm::dyn_cast<llvm::Constant>(operand)) {
        shapes.push_back(Shape::uniform());
        constants.push_back(constant);
      } else {
        shapes.push_back(known[operand].shape);
        constants.push_back(known[operand].constant);
      }
    }
    Known result;
    if (const auto talk = talk_of(i)) {
      const Shape party = op.members.none() ? Shape::uniform() : input(op.members).shape;
      result.shape = shape(*talk, shapes, party);
    } else if (is_reach(i)) {
      const bool differs = op.stack || differs_in_lanes(i);
      result.shape = shapes[0].is_regular() && differs ? Shape::vector() : shapes[0];
    } else {
      result.shape = shape(i, shapes, constants);
      if (result.shape.kind == Shape::Kind::Vector && guess_lanes_ != 0) {
        result.shape = likely_shape(i, shapes, constants, guess_lanes_);
      }
      if (std::ranges::none_of(constants, [](auto* c) { return c == nullptr; })) {
        result.constant = fold(i, constants, i.getModule()->getDataLayout());
      }
    }
    known[&i] = result;
  }
  return results;
}

bool Uniformity::step(std::uint32_t k) {
  const isa::Op& op = code_.ops[k];
  const PlannedOp& planned = ops_[k];
  const bool guarded = (op.flags & isa::Guarded) != 0;
  bool grown = false;
  if (planned.kind == Kind::Lanes) {
    const std::vector<Known> known = results(planned);
    const bool blended =
        guarded && shapes_[registers_.at(op.guard.offset())].kind == Shape::Kind::Vector;
    for (std::size_t n = 0; n < known.size(); ++n) {
      const std::uint32_t index = registers_.at(planned.operands.outputs[n].offset());
      grown = join(index, blended ? Shape::vector() : known[n].shape) || grown;
      if (once_[index] && !guarded && known[n].constant != nullptr &&
          llvm::isa<llvm::ConstantInt>(known[n].constant) && constants_[index] == nullptr) {
        constants_[index] = known[n].constant;
        grown = true;
      }
    }
    return grown;
  }
  if (planned.kind == Kind::Branch) {
    return stay_together_ && follow_branch(k); // else: follow_waiting()
  }
  const Shape written = is_reduction(k) && !guarded ? Shape::uniform() : Shape::vector();
  for (const std::uint32_t index : registers_.writes(k)) {
    grown = join(index, written) || grown;
  }
  return follow_branch(k) || grown;
}

// What is written before the lanes meet again, and read from there on, may differ between them.
bool Uniformity::follow_branch(std::uint32_t k) {
  const std::uint32_t instruction = code_.ops[k].instruction;
  if (followed_[k] || instruction >= code_.function->body.size() || !parts(k)) {
    return false;
  }
  const std::uint32_t from = cfg_.block_of(instruction);
  if (cfg_.blocks()[from].successors.size() < 2 || instruction + 1 != cfg_.blocks()[from].last) {
    return false; // whoever else ends the region does not part lanes
  }
  followed_[k] = true;
  const std::optional<std::uint32_t> meet = cfg_.immediate_post_dominator(from);
  if (!meet || *meet == cfg_.exit()) {
    return false;
  }
  const auto read_there = [&](std::uint32_t index) {
    return registers_.live_at_instruction(cfg_.blocks()[*meet].first, index);
  };
  std::vector<bool> seen(cfg_.blocks().size() + 1);
  std::vector<std::uint32_t> open = cfg_.blocks()[from].successors;
  bool grown = false;
  while (!open.empty()) {
    const std::uint32_t block = open.back();
    open.pop_back();
    if (block == *meet || block == cfg_.exit() || seen[block]) {
      continue;
    }
    seen[block] = true;
    for (const std::uint32_t index : writes_[block]) {
      if (read_there(index)) {
        grown = join(index, Shape::vector()) || grown;
      }
    }
    const auto& next = cfg_.blocks()[block].successors;
    open.insert(open.end(), next.begin(), next.end());
  }
  return grown;
}

} // namespace heddle::jit
