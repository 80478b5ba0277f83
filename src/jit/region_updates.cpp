// Atomic updates in a region: what a LaneFunction does between the load and the store of one place,
// for one lane after the other, as in the interpreter. Nobody else can look meanwhile, or the
// interpreter's handler is called (isa/ops_atomic_region.h).
//
// What depends on the place is computed lane by lane, in a loop over those that execute; everything
// else for all of them before it. If all update one place, it stays in a register; and if nobody
// wants to know what was there before, and the order does not matter (sums and the like of
// integers), all lanes' operands are one.
#include "base/check.h"
#include "jit/region_builder_impl.h"

#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <set>

namespace heddle::jit {

/// One for all lanes. With one worker nobody is there who could see its accesses in another order.
void RegionBuilder::emit_fence() {
  llvm::BasicBlock* others = block("others" + llvm::Twine(at_));
  llvm::BasicBlock* behind = block("fenced" + llvm::Twine(at_));
  b_.CreateCondBr(access_.alone, behind, others);
  b_.SetInsertPoint(others);
  b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  b_.CreateBr(behind);
  b_.SetInsertPoint(behind);
}

namespace {

/// The operand that is folded into the place, if that is an operation on integers for which neither
/// order nor grouping matters.
const llvm::Value* folded(const llvm::Value* result, const llvm::Value* old) {
  const auto* i = llvm::dyn_cast<llvm::Instruction>(result);
  if (i == nullptr || i->getNumOperands() < 2 || !i->getType()->isIntegerTy()) {
    return nullptr;
  }
  switch (i->getOpcode()) {
  case llvm::Instruction::Add:
  case llvm::Instruction::And:
  case llvm::Instruction::Or:
  case llvm::Instruction::Xor:
    break;
  default:
    if (!llvm::isa<llvm::MinMaxIntrinsic>(i)) {
      return nullptr;
    }
  }
  return i->getOperand(0) == old   ? i->getOperand(1)
         : i->getOperand(1) == old ? i->getOperand(0)
                                   : nullptr;
}

/// All lanes' words as one, by such an operation.
llvm::Value*
fold_lanes(llvm::IRBuilder<>& b, const llvm::Value* by, llvm::Value* all, llvm::Value* active) {
  const auto& i = *llvm::cast<llvm::Instruction>(by);
  const unsigned bits = i.getType()->getIntegerBitWidth();
  const auto of_others = [&](const llvm::APInt& neutral) {
    llvm::Value* others = llvm::ConstantInt::get(all->getType(), neutral);
    return b.CreateSelect(active, all, others);
  };
  switch (i.getOpcode()) {
  case llvm::Instruction::Add:
    return b.CreateAddReduce(of_others(llvm::APInt::getZero(bits)));
  case llvm::Instruction::And:
    return b.CreateAndReduce(of_others(llvm::APInt::getAllOnes(bits)));
  case llvm::Instruction::Or:
    return b.CreateOrReduce(of_others(llvm::APInt::getZero(bits)));
  case llvm::Instruction::Xor:
    return b.CreateXorReduce(of_others(llvm::APInt::getZero(bits)));
  default:
    break;
  }
  switch (llvm::cast<llvm::MinMaxIntrinsic>(i).getIntrinsicID()) {
  case llvm::Intrinsic::umin:
    return b.CreateIntMinReduce(
        of_others(llvm::APInt::getAllOnes(bits)),
        /*IsSigned=*/false
    );
  case llvm::Intrinsic::umax:
    return b.CreateIntMaxReduce(
        of_others(llvm::APInt::getZero(bits)),
        /*IsSigned=*/false
    );
  case llvm::Intrinsic::smin:
    return b.CreateIntMinReduce(
        of_others(llvm::APInt::getSignedMaxValue(bits)),
        /*IsSigned=*/true
    );
  default:
    return b.CreateIntMaxReduce(
        of_others(llvm::APInt::getSignedMinValue(bits)),
        /*IsSigned=*/true
    );
  }
}

/// What is known before the loop over lanes, in the loop.
class Outside {
public:
  Outside(
      llvm::IRBuilder<>& b,
      const LaneValue& value,
      llvm::AllocaInst* memory,
      LaneBuilder& lanes
  )
      : b_(b) {
    if (value.shape.is_uniform()) {
      one_ = value.value;
      return;
    }
    llvm::Value* all = lanes.vector(value);
    type_ = all->getType()->getScalarType();
    if (type_->isIntegerTy(1)) {
      bits_ = b.CreateBitCast(all, b.getIntNTy(lanes.lanes()));
      return;
    }
    memory_ = memory;
    b.CreateAlignedStore(all, memory, llvm::Align(64));
  }
  LaneValue of(llvm::Value* lane) const {
    llvm::Value* value = one_;
    if (bits_ != nullptr) {
      llvm::Value* shifted = b_.CreateLShr(bits_, b_.CreateTrunc(lane, bits_->getType()));
      value = b_.CreateTrunc(shifted, b_.getInt1Ty());
    } else if (memory_ != nullptr) {
      value = b_.CreateLoad(type_, b_.CreateInBoundsGEP(type_, memory_, lane));
    }
    return {Shape::uniform(), value};
  }

private:
  llvm::IRBuilder<>& b_;
  llvm::Value* one_ = nullptr;
  llvm::Value* bits_ = nullptr;
  llvm::AllocaInst* memory_ = nullptr;
  llvm::Type* type_ = nullptr;
};

LaneValue constant_of(const llvm::Constant& constant) {
  return {Shape::uniform(), const_cast<llvm::Constant*>(&constant)};
}

/// Without the function that is called.
std::vector<const llvm::Value*> operands_of(const llvm::Instruction& i) {
  std::vector<const llvm::Value*> all(i.op_begin(), i.op_end());
  if (llvm::isa<llvm::CallInst>(i)) {
    all.pop_back();
  }
  return all;
}

/// Known before the loop over lanes.
LaneValue known_value(const LaneValues& known, const llvm::Value* v) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(v);
  return constant != nullptr ? constant_of(*constant) : known.at(v);
}

} // namespace

/// What a LaneFunction does from the call of region_reach() on.
struct RegionBuilder::Update {
  const llvm::LoadInst* load = nullptr; // of the place; nullptr: nobody asks what was there
  const llvm::StoreInst* store = nullptr;
  std::vector<const llvm::Instruction*> steps; // depend on the place: for one lane after the other
  std::vector<const llvm::InsertValueInst*> outputs; // of them
};

/// All that the function does from `reach` on. `access` has reached the lanes' places.
void RegionBuilder::emit_update(
    const llvm::Instruction& reach,
    Access& access,
    LaneValues& known,
    std::vector<LaneValue>& results
) {
  const Update update = sort_update(reach, known, results);
  if (!fold_update(update, access, known)) {
    loop_update(update, access, known, results);
  }
}

/// Emits what does not depend on the place, for all lanes.
RegionBuilder::Update RegionBuilder::sort_update(
    const llvm::Instruction& reach,
    LaneValues& known,
    std::vector<LaneValue>& results
) {
  Update update;
  std::set<const llvm::Value*> own; // depends on the place
  for (const llvm::Instruction* i = reach.getNextNode(); !i->isTerminator(); i = i->getNextNode()) {
    const auto all = operands_of(*i);
    const bool depends =
        std::ranges::any_of(all, [&](const llvm::Value* v) { return own.contains(v); });
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(i)) {
      if (load->getPointerOperand() == &reach) {
        update.load = load;
        own.insert(load);
        continue;
      }
      const Place place = place_of(load->getPointerOperand());
      HEDDLE_CHECK(llvm::isa<llvm::Argument>(place.from), "an update that reads other places");
      known[load] = special(static_cast<std::uint32_t>(place.offset));
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(i)) {
      update.store = store;
    } else if (const auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(i)) {
      const llvm::Value* v = insert->getInsertedValueOperand();
      if (own.contains(v)) {
        update.outputs.push_back(insert);
      } else {
        results[insert->getIndices()[0]] = known_value(known, v);
      }
    } else if (depends) {
      own.insert(i);
      update.steps.push_back(i);
    } else {
      HEDDLE_CHECK(!i->mayReadOrWriteMemory(), "an update that accesses other places");
      std::vector<LaneValue> values;
      for (const llvm::Value* v : all) {
        values.push_back(known_value(known, v));
      }
      known[i] = lanes_.apply(*i, values);
    }
  }
  return update;
}

/// All lanes' operands as one, if that may be.
bool RegionBuilder::fold_update(const Update& update, Access& access, const LaneValues& known) {
  const llvm::Value* stored = update.store->getValueOperand();
  const llvm::Value* operand = access.is_one_place() && update.outputs.empty() &&
                                       update.load != nullptr && update.steps.size() == 1
                                   ? folded(stored, update.load)
                                   : nullptr;
  if (operand == nullptr) {
    return false;
  }
  llvm::Value* place = access.place(b_.getInt64(0));
  llvm::Value* all = lanes_.vector(known_value(known, operand));
  llvm::Value* one = fold_lanes(b_, stored, all, as_mask(active_));
  llvm::Value* old = b_.CreateAlignedLoad(update.load->getType(), place, llvm::Align(1));
  const LaneValue values[] = {{Shape::uniform(), old}, {Shape::uniform(), one}};
  b_.CreateAlignedStore(lanes_.apply(*update.steps[0], values).value, place, llvm::Align(1));
  return true;
}

/// One lane after the other.
void RegionBuilder::loop_update(
    const Update& update,
    Access& access,
    const LaneValues& known,
    std::vector<LaneValue>& results
) {
  const llvm::Value* stored = update.store->getValueOperand();
  const auto is_step = [&](const llvm::Value* v) {
    return v == update.load || std::ranges::find(update.steps, v) != update.steps.end();
  };
  std::unordered_map<const llvm::Value*, Outside> outside;
  std::size_t memories = 0;
  const auto note = [&](const llvm::Value* v) {
    if (!is_step(v) && !llvm::isa<llvm::Constant>(v) && !outside.contains(v)) {
      const LaneValue value = known.at(v);
      const bool in_memory = !value.shape.is_uniform();
      outside.try_emplace(v, b_, value, in_memory ? part_memory(memories++) : nullptr, lanes_);
    }
  };
  for (const llvm::Instruction* step : update.steps) {
    std::ranges::for_each(operands_of(*step), note);
  }
  note(stored);
  std::unordered_map<const llvm::Value*, llvm::AllocaInst*> of_lanes;
  for (const llvm::InsertValueInst* insert : update.outputs) {
    llvm::AllocaInst*& memory = of_lanes[insert->getInsertedValueOperand()];
    memory = memory == nullptr ? part_memory(memories++) : memory;
  }
  access.begin_places();
  llvm::Type* type = stored->getType();
  llvm::Value* one_place = access.is_one_place() ? access.place(b_.getInt64(0)) : nullptr;
  llvm::Value* first_old =
      one_place != nullptr ? b_.CreateAlignedLoad(type, one_place, llvm::Align(1)) : nullptr;
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* loop = block("update" + llvm::Twine(at_));
  llvm::BasicBlock* behind = block("updated" + llvm::Twine(at_));
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* bits = b_.CreatePHI(bits_type(), 2);
  bits->addIncoming(active_, before);
  llvm::PHINode* value = one_place != nullptr ? b_.CreatePHI(type, 2) : nullptr;
  llvm::Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b_.getTrue());
  lane = b_.CreateZExt(lane, b_.getInt64Ty());
  llvm::Value* place = one_place != nullptr ? one_place : access.place(lane);
  std::unordered_map<const llvm::Value*, LaneValue> in_loop;
  if (update.load != nullptr) {
    llvm::Value* old = value;
    if (old == nullptr) {
      old = b_.CreateAlignedLoad(update.load->getType(), place, llvm::Align(1));
    } else if (old->getType() != update.load->getType()) {
      old = b_.CreateBitCast(old, update.load->getType());
    }
    in_loop[update.load] = {Shape::uniform(), old};
  }
  const auto value_of = [&](const llvm::Value* v) -> LaneValue {
    if (const auto* constant = llvm::dyn_cast<llvm::Constant>(v)) {
      return constant_of(*constant);
    }
    const auto it = in_loop.find(v);
    return it != in_loop.end() ? it->second : outside.at(v).of(lane);
  };
  for (const llvm::Instruction* step : update.steps) {
    std::vector<LaneValue> values;
    for (const llvm::Value* v : operands_of(*step)) {
      values.push_back(value_of(v));
    }
    in_loop[step] = lanes_.apply(*step, values);
  }
  llvm::Value* next = value_of(stored).value;
  if (value != nullptr) {
    value->addIncoming(first_old, before);
    value->addIncoming(next, b_.GetInsertBlock());
  } else {
    b_.CreateAlignedStore(next, place, llvm::Align(1));
  }
  for (const llvm::InsertValueInst* insert : update.outputs) {
    const llvm::Value* v = insert->getInsertedValueOperand();
    b_.CreateStore(in_loop.at(v).value, b_.CreateInBoundsGEP(v->getType(), of_lanes.at(v), lane));
  }
  llvm::Value* left =
      b_.CreateAnd(bits, b_.CreateSub(bits, llvm::ConstantInt::get(bits_type(), 1)));
  bits->addIncoming(left, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpEQ(left, no_lanes()), behind, loop);
  b_.SetInsertPoint(behind);
  if (one_place != nullptr) {
    b_.CreateAlignedStore(next, one_place, llvm::Align(1));
  }
  for (const llvm::InsertValueInst* insert : update.outputs) {
    const llvm::Value* v = insert->getInsertedValueOperand();
    results[insert->getIndices()[0]] = {
        Shape::vector(),
        b_.CreateAlignedLoad(lanes_.widened(v->getType()), of_lanes.at(v), llvm::Align(64))
    };
  }
}

} // namespace heddle::jit
