// The part of a region that executes whole blocks (isa/region.h): how a group begins behind a
// barrier, what it leaves in its slots there, and what becomes of it when it has come to one.
#include "jit/region_builder_impl.h"

#include <algorithm>

namespace heddle::jit {

llvm::Value* RegionBuilder::slot_place(std::uint32_t index) {
  const auto place = slots_.try_emplace(index, static_cast<std::uint32_t>(slots_.size())).first;
  return at(group_slots_, std::uint64_t{place->second} * 8);
}

/// Vectors stay in the frame: the group's lanes are a vector of memory there.
void RegionBuilder::load_slot(std::uint32_t index) {
  if (!shape(index).is_regular() && !registers_.place(index).predicate) {
    b_.CreateStore(load_lanes(index), variables_[index]);
    return;
  }
  const bool bits = !shape(index).is_regular();
  llvm::Value* value = b_.CreateLoad(bits ? bits_type() : type_of(index), slot_place(index));
  b_.CreateStore(bits ? as_mask(value) : value, variables_[index]);
}

void RegionBuilder::store_slot(std::uint32_t index) {
  const RegisterPlace& place = registers_.place(index);
  llvm::Value* value = read(index).value;
  if (shape(index).is_regular()) {
    b_.CreateStore(value, slot_place(index));
  } else if (place.predicate) {
    b_.CreateStore(as_bits(value), slot_place(index));
  } else {
    const llvm::Align align(std::min(64U, place.element_bytes * launch_.lanes));
    b_.CreateAlignedStore(value, frame_place(index), align);
  }
}

/// Of a group that has come to a barrier with a result. In the frame it finds its predicate if it
/// has to come there once more, because the region is left before the barrier opens.
void RegionBuilder::count_threads(std::uint32_t k) {
  const std::uint32_t index = registers_.at(code_.ops[k].c.offset());
  store_register(index, mask_);
  llvm::Value* holds = as_bits(lanes_.vector(read(index)));
  if (instruction(k)->has(ptx::Mod::And)) {
    holds = b_.CreateNot(holds);
  }
  llvm::Value* count = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, b_.CreateAnd(holds, mask_));
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Value* all = b_.CreateAdd(b_.CreateLoad(i64, counted_), b_.CreateZExt(count, i64));
  b_.CreateStore(all, counted_);
}

/// Its result; in front of it still, what the frame has.
void RegionBuilder::take_count(std::uint32_t k) {
  const std::uint32_t index = registers_.at(code_.ops[k].d.offset());
  llvm::Value* count = field(offsetof(RegionContext, counted), b_.getInt64Ty());
  llvm::Value* result = nullptr;
  if (instruction(k)->has(ptx::Mod::Popc)) {
    result = b_.CreateTrunc(count, element(registers_.place(index)));
  } else {
    const bool all = instruction(k)->has(ptx::Mod::And);
    result =
        b_.CreateICmp(all ? llvm::CmpInst::ICMP_EQ : llvm::CmpInst::ICMP_NE, count, b_.getInt64(0));
  }
  const LaneValue one = lanes_.as({Shape::uniform(), result}, shape(index));
  llvm::Value* before = no_lanes();
  load_register(index, before);
  llvm::Value* in_front = b_.CreateICmpEQ(spill_, b_.getInt64(2));
  b_.CreateStore(
      b_.CreateSelect(in_front, b_.CreateLoad(type_of(index), variables_[index]), one.value),
      variables_[index]
  );
}

/// Where a group begins behind a barrier, or at the start.
void RegionBuilder::emit_slot_entry(std::uint32_t k) {
  llvm::BasicBlock* enter = block("behind" + llvm::Twine(k));
  b_.SetInsertPoint(enter);
  if (k != 0) {
    const bool reduction = is_reduction(k - 1);
    for (const std::uint32_t index : registers_.live(k)) {
      if (reduction && index == registers_.at(code_.ops[k - 1].d.offset())) {
        take_count(k - 1);
      } else if (variables_[index] != nullptr) {
        load_slot(index);
      }
    }
  }
  b_.CreateCondBr(
      b_.CreateICmpEQ(spill_, b_.getInt64(0)),
      arrivals_[k],
      exit_block(k),
      llvm::MDBuilder(b_.getContext()).createLikelyBranchWeights()
  );
  ways_in_->addCase(b_.getInt32(k | isa::region_from_slots), enter);
}

/// A group of a block has come to a barrier or its end: the next one has its turn.
void RegionBuilder::emit_arrival(std::uint32_t k) {
  llvm::Type* i32 = b_.getInt32Ty();
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::BasicBlock* exit = exit_block(k);
  llvm::BasicBlock* arrive = block("arrive" + llvm::Twine(k));
  llvm::BasicBlock* pass = block("pass" + llvm::Twine(k));
  llvm::BasicBlock* all = block("all" + llvm::Twine(k));
  b_.CreateCondBr(
      b_.CreateICmpEQ(first_group_, llvm::ConstantPointerNull::get(b_.getPtrTy())),
      exit,
      arrive
  );
  b_.SetInsertPoint(arrive);
  llvm::Value* others = b_.CreateLoad(i32, arrived_);
  llvm::Value* first = b_.CreateICmpEQ(others, b_.getInt32(~0U));
  llvm::Value* same = b_.CreateICmpEQ(others, b_.getInt32(k));
  b_.CreateCondBr(b_.CreateOr(first, same), pass, exit);
  b_.SetInsertPoint(pass);
  b_.CreateStore(b_.getInt32(k), arrived_);
  const bool reduction = !is_end(k) && is_reduction(k);
  if (reduction) {
    count_threads(k);
  }
  if (!is_end(k)) {
    for (const std::uint32_t index : registers_.live(k + 1)) {
      if (reduction && index == registers_.at(code_.ops[k].d.offset())) {
        continue; // take_count()
      }
      const bool in_frame = !changed_[k].test(index) && !shape(index).is_regular() &&
                            !registers_.place(index).predicate;
      if (variables_[index] != nullptr && !in_frame) {
        store_slot(index);
      }
    }
  }
  llvm::Value* executed = b_.CreateAdd(b_.CreateLoad(i64, executed_), b_.getInt64(1));
  executed = b_.CreateAdd(b_.CreateLoad(i64, total_), b_.CreateMul(executed, lane_count_));
  b_.CreateStore(executed, total_);
  b_.CreateStore(b_.getInt64(0), executed_);
  llvm::Value* next = at(b_.CreateLoad(b_.getPtrTy(), group_), sizeof(isa::RegionGroup));
  b_.CreateStore(next, group_);
  b_.CreateCondBr(b_.CreateICmpNE(next, groups_end_), head_, all);
  b_.SetInsertPoint(all);
  if (is_end(k)) {
    set_field(offsetof(RegionContext, ended), b_.getInt64(1));
    finish(llvm::ConstantPointerNull::get(b_.getPtrTy()));
    return;
  }
  llvm::BasicBlock* open = block("open" + llvm::Twine(k));
  llvm::BasicBlock* stay = block("stay" + llvm::Twine(k));
  llvm::Value* left = b_.CreateSub(b_.CreateLoad(i64, barriers_), b_.getInt64(1));
  b_.CreateStore(left, barriers_);
  b_.CreateCondBr(b_.CreateICmpSLT(left, b_.getInt64(0)), stay, open, unlikely());
  b_.SetInsertPoint(stay);
  finish(op_pointer(k));
  b_.SetInsertPoint(open);
  if (reduction) {
    set_field(offsetof(RegionContext, counted), b_.CreateLoad(i64, counted_));
    b_.CreateStore(b_.getInt64(0), counted_);
  }
  b_.CreateStore(first_group_, group_);
  b_.CreateStore(b_.getInt32((k + 1) | isa::region_from_slots), begin_);
  b_.CreateStore(b_.getInt32(~0U), arrived_);
  b_.CreateBr(head_);
}

} // namespace heddle::jit
