// The branches of a region: who goes on, and who waits where (waiting.h).
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
  const bool back = op.target <= k;
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
    wait_at(op.target, taken);
    b_.CreateStore(stay, going_);
    b_.CreateBr(arrivals_[k + 1]);
    b_.SetInsertPoint(all);
  }
  go_to(k, op.target);
}

} // namespace heddle::jit
