// The part of a region that executes whole blocks (isa/region.h): how a group begins behind a
// barrier, what it leaves in its slots there, and what becomes of it when it has come to one.
#include "jit/region_builder_impl.h"

#include <algorithm>

namespace heddle::jit {

/// Vectors stay in the frame: the group's lanes are a vector of memory there.
void RegionBuilder::load_slot(llvm::Value* slots, std::uint32_t index) {
  if (stays_in_frame(index)) {
    b_.CreateStore(load_lanes(index), variables_[index]);
    return;
  }
  const bool bits = !shape(index).is_regular();
  llvm::Value* value = b_.CreateLoad(bits ? bits_type() : type_of(index), slot_place(slots, index));
  b_.CreateStore(bits ? as_mask(value) : value, variables_[index]);
}

void RegionBuilder::store_slot(std::uint32_t index) {
  llvm::Value* value = stays_in_frame(index) ? read_bits(index).value : read(index).value;
  if (stays_in_frame(index)) {
    const llvm::Align align(std::min(64U, registers_.place(index).element_bytes * launch_.lanes));
    b_.CreateAlignedStore(value, frame_place(index), align);
    return;
  }
  const bool bits = !shape(index).is_regular();
  b_.CreateStore(bits ? as_bits(value) : value, slot_place(group_slots_, index));
}

/// What a group that is behind a barrier has in slots, to its frame. All else is there.
void RegionBuilder::write_slots(const std::vector<std::uint32_t>& indices) {
  std::vector<Stored> stored;
  for (const std::uint32_t index : indices) {
    if (!stays_in_frame(index)) {
      stored.push_back({index, std::uint64_t{slot_of(index)} * 8});
    }
  }
  if (!stored.empty()) {
    call_write(table_of(stored), group_slots_);
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

/// Its result, if it has opened.
void RegionBuilder::take_count(std::uint32_t k, llvm::Value* opened) {
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
  b_.CreateStore(b_.CreateSelect(opened, one.value, read(index).value), variables_[index]);
}

/// Where a group begins at op k: with what its frame has; or behind a barrier, or at the start,
/// where its slots have what does not stay in the frame.
void RegionBuilder::emit_entry(std::uint32_t k, bool from_frame, bool from_slots) {
  const bool leaves = ops_[k].kind == Kind::Leave || ops_[k].kind == Kind::Return;
  llvm::BasicBlock* goes_on = leaves ? arrivals_[k] : bodies_[k];
  const auto unless_spilled = [&](llvm::BasicBlock* on, llvm::BasicBlock* spilled) {
    b_.CreateCondBr(
        b_.CreateICmpEQ(spill(), b_.getInt64(0)),
        on,
        spilled,
        llvm::MDBuilder(b_.getContext()).createLikelyBranchWeights()
    );
  };
  const auto way_in = [&](const char* name, std::uint32_t number) {
    llvm::BasicBlock* enter = block(name + llvm::Twine(k));
    b_.SetInsertPoint(enter);
    ways_in_->addCase(b_.getInt32(number), enter);
    return enter;
  };
  if (from_slots && k == 0) { // no register has a value at the start
    way_in("start", isa::region_from_slots);
    b_.CreateBr(goes_on);
    from_slots = false;
  }
  if (!from_frame && !from_slots) {
    return;
  }
  std::vector<std::uint32_t> live = registers_.live(k);
  std::erase_if(live, [&](std::uint32_t index) { return variables_[index] == nullptr; });
  // The barrier's result is in no slot.
  const bool counts = from_slots && is_reduction(k - 1) &&
                      variables_[registers_.at(code_.ops[k - 1].d.offset())] != nullptr;
  llvm::BasicBlock* begin = block("begin" + llvm::Twine(k));
  llvm::PHINode* slots = llvm::PHINode::Create(b_.getPtrTy(), 2, "", begin);
  llvm::PHINode* opened = llvm::PHINode::Create(b_.getInt1Ty(), 2, "", begin);
  if (from_frame) {
    llvm::BasicBlock* enter = way_in("enter", k);
    // Behind the next barrier it finds there what has not changed until then.
    llvm::Value* of_block =
        b_.CreateICmpNE(first_group(), llvm::ConstantPointerNull::get(b_.getPtrTy()));
    llvm::Value* to = b_.CreateSelect(of_block, group_slots_, entry_slots_);
    if (llvm::Value* irregular = read_registers(live, to)) {
      b_.CreateCondBr(irregular, refuse_, begin, unlikely());
    } else {
      b_.CreateBr(begin);
    }
    slots->addIncoming(to, enter);
    opened->addIncoming(b_.getFalse(), enter);
  }
  if (from_slots) {
    llvm::BasicBlock* behind = way_in("behind", k | isa::region_from_slots);
    slots->addIncoming(group_slots_, behind);
    opened->addIncoming(b_.CreateICmpEQ(spill(), b_.getInt64(0)), behind);
    if (counts) {
      b_.CreateBr(begin);
    } else {
      llvm::BasicBlock* spilled = block("spilled" + llvm::Twine(k));
      unless_spilled(begin, spilled);
      b_.SetInsertPoint(spilled);
      write_slots(live);
      finish(op_pointer(k));
    }
  }
  b_.SetInsertPoint(begin);
  for (const std::uint32_t index : live) {
    load_slot(slots, index);
  }
  if (!counts) {
    b_.CreateBr(goes_on);
    return;
  }
  take_count(k - 1, opened);
  unless_spilled(goes_on, exit_block(k));
}

/// A group of a block has come to a barrier or its end: the next one has its turn.
void RegionBuilder::emit_arrival(std::uint32_t k) {
  llvm::Value* others = b_.CreateLoad(b_.getInt32Ty(), arrived_);
  llvm::BasicBlock* pass = block("pass" + llvm::Twine(k));
  llvm::BasicBlock* other = block("other" + llvm::Twine(k));
  llvm::BasicBlock* first = block("first" + llvm::Twine(k));
  b_.CreateCondBr(b_.CreateICmpEQ(others, b_.getInt32(k)), pass, other);
  b_.SetInsertPoint(other);
  llvm::Value* is_first = b_.CreateICmpEQ(others, b_.getInt32(~0U));
  llvm::Value* of_block =
      b_.CreateICmpNE(first_group(), llvm::ConstantPointerNull::get(b_.getPtrTy()));
  b_.CreateCondBr(b_.CreateAnd(is_first, of_block), first, exit_block(k));
  b_.SetInsertPoint(first);
  b_.CreateStore(b_.getInt32(k), arrived_);
  b_.CreateBr(pass);
  b_.SetInsertPoint(pass);
  if (is_end(k)) {
    b_.CreateBr(ended_);
    return;
  }
  if (is_reduction(k)) {
    count_threads(k);
  }
  for (const std::uint32_t index : registers_.live(k + 1)) {
    const bool lost = (stays_in_frame(index) ? changed_ : unsaved_)[k].test(index);
    if (variables_[index] != nullptr && lost) {
      store_slot(index);
    }
  }
  b_.CreateBr(next_);
}

/// Behind all arrivals.
void RegionBuilder::emit_next_group() {
  llvm::Type* i64 = b_.getInt64Ty();
  const auto next_or = [&](llvm::BasicBlock* all) {
    llvm::Value* executed = b_.CreateAdd(b_.CreateLoad(i64, executed_), b_.getInt64(1));
    executed = b_.CreateAdd(b_.CreateLoad(i64, total_), b_.CreateMul(executed, lane_count()));
    b_.CreateStore(executed, total_);
    b_.CreateStore(b_.getInt64(0), executed_);
    llvm::Value* next = at(b_.CreateLoad(b_.getPtrTy(), group_), sizeof(isa::RegionGroup));
    b_.CreateStore(next, group_);
    llvm::Value* groups_end = field(offsetof(RegionContext, groups_end), b_.getPtrTy());
    b_.CreateCondBr(b_.CreateICmpNE(next, groups_end), head_, all);
    b_.SetInsertPoint(all);
  };
  b_.SetInsertPoint(ended_);
  next_or(block("allended"));
  set_field(offsetof(RegionContext, ended), b_.getInt64(1));
  finish(llvm::ConstantPointerNull::get(b_.getPtrTy()));
  b_.SetInsertPoint(next_);
  next_or(block("all"));
  llvm::BasicBlock* open = block("open");
  llvm::BasicBlock* stay = block("stay");
  llvm::Value* left = b_.CreateSub(b_.CreateLoad(i64, barriers_), b_.getInt64(1));
  b_.CreateStore(left, barriers_);
  llvm::Value* barrier = b_.CreateLoad(b_.getInt32Ty(), arrived_);
  b_.CreateCondBr(b_.CreateICmpSLT(left, b_.getInt64(0)), stay, open, unlikely());
  b_.SetInsertPoint(stay);
  finish(op_pointer(barrier));
  b_.SetInsertPoint(open);
  set_field(offsetof(RegionContext, counted), b_.CreateLoad(i64, counted_));
  b_.CreateStore(b_.getInt64(0), counted_);
  b_.CreateStore(first_group(), group_);
  llvm::Value* behind = b_.CreateAdd(barrier, b_.getInt32(1));
  b_.CreateStore(b_.CreateOr(behind, b_.getInt32(isa::region_from_slots)), begin_);
  b_.CreateStore(b_.getInt32(~0U), arrived_);
  b_.CreateBr(head_);
}

} // namespace heddle::jit
