// The branches of a region: who goes on, and who waits where (waiting.h); calls and returns
// (isa/region_calls.cpp).
#include "jit/region_builder_impl.h"

namespace heddle::jit {

/// Those that have waited here go on, too.
void RegionBuilder::emit_meeting(std::uint32_t k) {
  llvm::Value* all = mask_; // whom nobody waits behind
  if (uniformity_->waiting().some_at(k)) {
    all =
        b_.CreateOr(b_.CreateLoad(bits_type(), going_), b_.CreateLoad(bits_type(), waiting_.at(k)));
  }
  b_.CreateStore(all, going_);
  b_.CreateStore(no_lanes(), waiting_.at(k));
}

void RegionBuilder::wait_at(std::uint32_t place, llvm::Value* lanes) {
  llvm::AllocaInst* all = waiting_.at(place);
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(bits_type(), all), lanes), all);
}

/// The first of the places at which lanes wait: at one of them they do.
llvm::BasicBlock* RegionBuilder::first_of(const std::vector<std::uint32_t>& places) {
  if (places.size() == 1) {
    return arrivals_[places.front()];
  }
  llvm::BasicBlock*& look = looks_[places];
  if (look == nullptr) {
    look = block("look" + llvm::Twine(places.front()));
    const llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(look);
    llvm::Value* lanes = b_.CreateLoad(bits_type(), waiting_.at(places.front()));
    llvm::BasicBlock* others = first_of({places.begin() + 1, places.end()});
    b_.CreateCondBr(b_.CreateICmpEQ(lanes, no_lanes()), others, arrivals_[places.front()]);
  }
  return look;
}

/// All lanes that execute op k go on at `target`.
void RegionBuilder::go_to(std::uint32_t k, std::uint32_t target) {
  std::vector<std::uint32_t> first = uniformity_->waiting().before(k, target);
  if (first.empty()) {
    b_.CreateBr(arrivals_[target]);
    return;
  }
  wait_at(target, active_);
  b_.CreateStore(no_lanes(), going_);
  first.push_back(target);
  b_.CreateBr(first_of(first));
}

void RegionBuilder::emit_branch(std::uint32_t k) {
  const isa::Op& op = code_.ops[k];
  const std::uint32_t target = ops_[k].target;
  const bool back = target <= k;
  llvm::Value* stay = nullptr; // lanes
  llvm::Value* taken = nullptr;
  if ((op.flags & isa::Guarded) != 0) {
    const LaneValue guard = read(registers_.at(op.guard.offset()));
    llvm::Value* p = op.guard_negated ? b_.CreateNot(guard.value) : guard.value;
    llvm::BasicBlock* chosen = block("chosen" + llvm::Twine(k));
    if (guard.shape.is_regular()) {
      b_.CreateCondBr(p, chosen, arrivals_[k + 1]);
    } else {
      taken = b_.CreateAnd(as_bits(p), active_);
      stay = b_.CreateXor(taken, active_);
      b_.CreateCondBr(b_.CreateICmpEQ(taken, no_lanes()), arrivals_[k + 1], chosen);
    }
    b_.SetInsertPoint(chosen);
    if (stay != nullptr && is_watched()) {
      leave_if(b_.CreateICmpNE(stay, no_lanes()), k);
      stay = nullptr;
    }
  }
  if (waits_[k]) {
    b_.CreateBr(exit_block(k));
    return;
  }
  if (back) { // a taken backward branch costs one op of fuel
    spend(b_.getInt64(1), k);
  }
  count(1);
  if (stay != nullptr && !uniformity_->waiting().taken_waits(k)) {
    wait_at(k + 1, stay);
    b_.CreateStore(taken, going_);
  } else if (stay != nullptr) {
    llvm::BasicBlock* all = block("all" + llvm::Twine(k));
    llvm::BasicBlock* some = block("some" + llvm::Twine(k));
    b_.CreateCondBr(b_.CreateICmpEQ(stay, no_lanes()), all, some);
    b_.SetInsertPoint(some);
    wait_at(target, taken);
    b_.CreateStore(stay, going_);
    b_.CreateBr(arrivals_[k + 1]);
    b_.SetInsertPoint(all);
  }
  go_to(k, target);
}

/// RegionContext::call. A call costs an op of fuel, as a backward branch does: recursion is a loop.
void RegionBuilder::emit_call(std::uint32_t k) {
  const isa::Op& op = code_.ops[k];
  llvm::BasicBlock* done = block("done" + llvm::Twine(k));
  llvm::Value* others = nullptr; // lanes that do not call, and wait behind it
  std::vector<std::uint32_t> inputs;
  if ((op.flags & isa::Guarded) != 0) {
    inputs.push_back(registers_.at(op.guard.offset()));
    const LaneValue guard = read(inputs.back());
    llvm::Value* p = op.guard_negated ? b_.CreateNot(guard.value) : guard.value;
    llvm::BasicBlock* some = block("some" + llvm::Twine(k));
    if (guard.shape.is_regular()) {
      b_.CreateCondBr(p, some, done);
    } else {
      llvm::Value* calling = b_.CreateAnd(as_bits(p), active_);
      others = b_.CreateXor(calling, active_);
      active_ = calling;
      b_.CreateCondBr(b_.CreateICmpEQ(active_, no_lanes()), done, some);
    }
    b_.SetInsertPoint(some);
  }
  spend(b_.getInt64(1), k);
  if (!op.a.none() && op.a.area() == isa::Area::Frame) {
    inputs.push_back(registers_.at(op.a.offset()));
    for (const std::uint32_t index : inputs) { // some lanes may have to call once more
      if (changed_[k].test(index)) {
        store_register(index, active_);
      }
    }
  }
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Type* pointer = b_.getPtrTy();
  set_field(offsetof(RegionContext, fuel), b_.CreateLoad(i64, fuel_));
  note_group();
  llvm::Value* answer = b_.CreateCall(
      llvm::FunctionType::get(i64, {pointer, pointer, b_.getInt32Ty()}, /*isVarArg=*/false),
      field(offsetof(RegionContext, call), pointer),
      {context_, op_pointer(k), b_.CreateZExt(active_, b_.getInt32Ty())}
  );
  llvm::Value* fuel = field(offsetof(RegionContext, fuel), i64);
  b_.CreateStore(fuel, fuel_);
  const auto number = [this](isa::RegionCall call) {
    return b_.getInt64(static_cast<std::uint64_t>(call));
  };
  llvm::BasicBlock* refused = block("refused" + llvm::Twine(k));
  llvm::BasicBlock* left = block("left" + llvm::Twine(k));
  llvm::SwitchInst* ways = b_.CreateSwitch(answer, left, 2);
  ways->addCase(number(isa::RegionCall::Returned), done);
  ways->addCase(number(isa::RegionCall::Refused), refused);
  b_.SetInsertPoint(refused);
  b_.CreateStore(b_.CreateAdd(fuel, b_.getInt64(1)), fuel_); // the interpreter asks for none
  b_.CreateBr(exit_block(k));
  b_.SetInsertPoint(left);
  count(1);
  emit_exit(k + 1, uniformity_->waiting().at(k), {}, others);
  b_.SetInsertPoint(done);
  calls_ = true;
}

/// All lanes of a called group are here, or the interpreter executes the op.
void RegionBuilder::emit_return(std::uint32_t k) {
  if (uniformity_->waiting().some_at(k)) { // behind it
    leave_if(b_.CreateICmpNE(b_.CreateLoad(bits_type(), going_), mask_), k);
  }
  llvm::BasicBlock* returns = block("returns" + llvm::Twine(k));
  llvm::Value* called = field(offsetof(RegionContext, called), b_.getInt64Ty());
  b_.CreateCondBr(b_.CreateICmpNE(called, b_.getInt64(0)), returns, exit_block(k));
  b_.SetInsertPoint(returns);
  set_field(offsetof(RegionContext, returned), b_.getInt64(1));
  count(1);
  finish(op_pointer(k));
}

} // namespace heddle::jit
