// How a region is left and entered: registers between values of the function and the frame.
#include "jit/region_builder_impl.h"

#include <algorithm>

namespace heddle::jit {

llvm::GlobalVariable* RegionBuilder::table_of(const std::vector<Stored>& registers) {
  static_assert(sizeof(isa::RegionTable) == 8 && sizeof(isa::RegionRegister) == 24);
  std::vector<llvm::Constant*> table = {
      b_.getInt32(static_cast<std::uint32_t>(registers.size())),
      b_.getInt32(launch_.lanes)
  };
  for (const auto& [index, value] : registers) {
    const RegisterPlace& place = registers_.place(index);
    const bool regular = shape(index).is_regular();
    const std::int64_t stride = regular ? shape(index).stride : 0;
    const std::uint32_t flags = (regular ? isa::RegionRegister::regular : 0) |
                                (any_nan_->of(index) ? isa::RegionRegister::any_nan : 0);
    table.insert(
        table.end(),
        {b_.getInt32(place.offset),
         b_.getInt32(place.predicate ? 0 : place.element_bytes),
         b_.getInt32(static_cast<std::uint32_t>(value)),
         b_.getInt32(flags),
         b_.getInt64(static_cast<std::uint64_t>(stride))}
    );
  }
  llvm::Constant* data = llvm::ConstantStruct::getAnon(table);
  auto* result = new llvm::GlobalVariable(
      module_,
      data->getType(),
      /*isConstant=*/true,
      llvm::GlobalValue::PrivateLinkage,
      data,
      "registers"
  );
  result->setAlignment(llvm::Align(alignof(isa::RegionTable)));
  return result;
}

/// Values of registers as they are, in memory of the function, which is little code.
llvm::GlobalVariable* RegionBuilder::lay_down(const std::vector<std::uint32_t>& indices) {
  if (exit_values_ == nullptr) {
    exit_values_ = variable(b_.getInt8Ty(), "values");
    exit_values_->setAlignment(llvm::Align(64));
  }
  std::vector<Stored> stored;
  std::uint64_t end = 0;
  for (const std::uint32_t index : indices) {
    const RegisterPlace& place = registers_.place(index);
    const LaneValue value = read(index);
    llvm::Value* word = value.value;
    const bool vector = !value.shape.is_regular();
    if (place.predicate) {
      word = b_.CreateZExt(vector ? as_bits(word) : word, b_.getInt32Ty());
    }
    const std::uint64_t bytes =
        vector && !place.predicate ? std::uint64_t{place.element_bytes} * launch_.lanes : 8;
    const std::uint64_t align = std::min<std::uint64_t>(64, bytes);
    const std::uint64_t from = (end + align - 1) / align * align;
    end = from + bytes;
    b_.CreateAlignedStore(word, at(exit_values_, from), llvm::Align(align));
    stored.push_back({index, from});
  }
  exit_bytes_ = std::max(exit_bytes_, end);
  return table_of(stored);
}

/// To the frame, for all lanes of the group.
void RegionBuilder::write_registers(const std::vector<std::uint32_t>& indices) {
  if (indices.empty()) {
    return;
  }
  llvm::GlobalVariable* table = lay_down(indices);
  call_write(table, exit_values_);
}

/// isa::write_registers().
void RegionBuilder::call_write(llvm::GlobalVariable* table, llvm::Value* values) {
  llvm::Type* pointer = b_.getPtrTy();
  llvm::FunctionType* type = llvm::FunctionType::get(
      b_.getVoidTy(),
      {pointer, pointer, pointer, b_.getInt64Ty(), b_.getInt32Ty()},
      /*isVarArg=*/false
  );
  llvm::CallInst* call = b_.CreateCall(
      type,
      field(offsetof(RegionContext, write), pointer),
      {table, frame(), values, first_lane(), b_.CreateZExt(mask_, b_.getInt32Ty())}
  );
  call->addFnAttr(llvm::Attribute::Cold);
}

/// From the frame to slots, what does not stay in the frame: isa::read_registers(). Is one of them
/// not as regular as shape() says? nullptr: there is none.
llvm::Value*
RegionBuilder::read_registers(const std::vector<std::uint32_t>& indices, llvm::Value* to) {
  std::vector<Stored> stored;
  for (const std::uint32_t index : indices) {
    if (!stays_in_frame(index)) {
      stored.push_back({index, std::uint64_t{slot_of(index)} * 8});
    }
  }
  if (stored.empty()) {
    return nullptr;
  }
  llvm::Type* pointer = b_.getPtrTy();
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::FunctionType* type = llvm::FunctionType::get(
      i64,
      {pointer, pointer, pointer, i64, b_.getInt32Ty()},
      /*isVarArg=*/false
  );
  llvm::Value* irregular = b_.CreateCall(
      type,
      field(offsetof(RegionContext, read), pointer),
      {table_of(stored), frame(), to, first_lane(), b_.CreateZExt(mask_, b_.getInt32Ty())}
  );
  return b_.CreateICmpNE(irregular, b_.getInt64(0));
}

/// For lanes at op k, and lanes that wait at other places. The registers `written` are in the frame
/// already. `rest`: of the lanes at op k, those that are not elsewhere already; nullptr: all.
void RegionBuilder::emit_exit(
    std::uint32_t k,
    const std::vector<std::uint32_t>& waits,
    const std::vector<std::uint32_t>& written,
    llvm::Value* rest
) {
  std::vector<std::uint32_t> live = changed_and_live(k);
  for (const std::uint32_t place : waits) {
    for (const std::uint32_t index : changed_and_live(place)) {
      if (std::ranges::find(live, index) == live.end()) {
        live.push_back(index);
      }
    }
  }
  std::erase_if(live, [&](std::uint32_t index) {
    return variables_[index] == nullptr || std::ranges::find(written, index) != written.end();
  });
  write_registers(live);
  llvm::Value* count = b_.getInt64(0);
  const auto note = [&](std::uint32_t place, llvm::Value* lanes) {
    llvm::Value* to = b_.CreateGEP(
        b_.getInt8Ty(),
        at(context_, offsetof(RegionContext, rest)),
        b_.CreateMul(count, b_.getInt64(sizeof(RegionContext::Rest)))
    );
    b_.CreateStore(
        b_.CreateZExt(lanes, b_.getInt32Ty()),
        at(to, offsetof(RegionContext::Rest, lanes))
    );
    b_.CreateStore(b_.getInt32(place), at(to, offsetof(RegionContext::Rest, op)));
    llvm::Value* some = b_.CreateICmpNE(lanes, no_lanes());
    count = b_.CreateAdd(count, b_.CreateZExt(some, b_.getInt64Ty()));
  };
  for (const std::uint32_t place : waits) {
    note(place, b_.CreateLoad(bits_type(), waiting_.at(place)));
  }
  if (rest != nullptr) {
    note(k, rest);
  }
  if (!waits.empty() || rest != nullptr) {
    set_field(offsetof(RegionContext, rests), count);
  }
  finish(op_pointer(k));
}

llvm::BasicBlock* RegionBuilder::exit_block(std::uint32_t k) {
  llvm::BasicBlock*& exit = exits_[k];
  if (exit == nullptr) {
    exit = block("exit" + llvm::Twine(k));
    const llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(exit);
    emit_exit(k, uniformity_->waiting().at(k));
  }
  return exit;
}

/// Goes on in a new block unless `condition` holds.
void RegionBuilder::leave_if(llvm::Value* condition, std::uint32_t k) {
  llvm::BasicBlock* on = block("on" + llvm::Twine(k));
  b_.CreateCondBr(condition, exit_block(k), on, unlikely());
  b_.SetInsertPoint(on);
}

/// A guess is wrong at the op that is emitted.
llvm::BasicBlock* RegionBuilder::wrong_block() {
  llvm::BasicBlock*& wrong = wrong_[restart_[at_]];
  if (wrong == nullptr) {
    wrong = block("wrong" + llvm::Twine(at_));
    const llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(wrong);
    note_wrong_guess();
    b_.CreateBr(exit_block(restart_[at_]));
  }
  return wrong;
}

void RegionBuilder::leave_unless(llvm::Value* condition) {
  llvm::BasicBlock* on = block("right" + llvm::Twine(at_));
  b_.CreateCondBr(
      condition,
      on,
      wrong_block(),
      llvm::MDBuilder(b_.getContext()).createLikelyBranchWeights()
  );
  b_.SetInsertPoint(on);
}

/// Leaves the region if one of the results is NaN in a lane that executes.
void RegionBuilder::look_for_nan(const NanChains::Look& look) {
  std::vector<LaneValue> numbers;
  for (const std::uint32_t k : look.results) {
    numbers.push_back(computed_.at(k));
  }
  llvm::BasicBlock* seldom = block("nan" + llvm::Twine(at_));
  llvm::BasicBlock* on = block("numbers" + llvm::Twine(at_));
  b_.CreateCondBr(some_is_nan(numbers), seldom, on, unlikely());
  b_.SetInsertPoint(seldom);
  llvm::Value* lanes = no_lanes();
  for (const LaneValue& number : numbers) {
    llvm::Value* bad = b_.CreateFCmpUNO(number.value, number.value);
    bad = number.shape.is_regular() ? b_.CreateSExt(bad, bits_type()) : as_bits(bad);
    lanes = b_.CreateOr(lanes, bad);
  }
  lanes = b_.CreateAnd(lanes, active_);
  b_.CreateCondBr(b_.CreateICmpEQ(lanes, no_lanes()), on, wrong_block());
  b_.SetInsertPoint(on);
}

} // namespace heddle::jit
