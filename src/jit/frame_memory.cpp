// Implements frame_memory.h.
#include "jit/frame_memory.h"

#include "base/check.h"
#include "isa/region.h"
#include "jit/code_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace heddle::jit {

llvm::Value* FrameMemory::place(const RegisterPlace& place, llvm::Value* offset) {
  llvm::Value* all = b_.CreateInBoundsGEP(b_.getInt8Ty(), frame_, offset);
  return place.predicate ? all
                         : b_.CreateGEP(
                               b_.getInt8Ty(),
                               all,
                               b_.CreateMul(first_lane_, b_.getInt64(place.element_bytes))
                           );
}

llvm::Value* FrameMemory::load(const RegisterPlace& place, llvm::Value* offset) {
  llvm::Value* from = this->place(place, offset);
  if (place.predicate) {
    llvm::Value* all = b_.CreateLoad(b_.getInt32Ty(), from);
    all = b_.CreateLShr(all, b_.CreateTrunc(first_lane_, b_.getInt32Ty()));
    return as_mask(b_.CreateTrunc(all, bits()));
  }
  // Registers begin at lines of the cache: Lowering::allocate_register.
  const llvm::Align align(std::min(64U, place.element_bytes * lanes_.lanes()));
  return b_.CreateAlignedLoad(lanes_.widened(b_.getIntNTy(place.element_bytes * 8)), from, align);
}

void FrameMemory::store(
    const RegisterPlace& place,
    llvm::Value* offset,
    llvm::Value* all,
    llvm::Value* lanes
) {
  llvm::Value* to = this->place(place, offset);
  if (place.predicate) {
    llvm::Type* i32 = b_.getInt32Ty();
    llvm::Value* by = b_.CreateTrunc(first_lane_, i32);
    llvm::Value* changed = b_.CreateShl(b_.CreateZExt(lanes, i32), by);
    llvm::Value* value = b_.CreateShl(b_.CreateZExt(b_.CreateBitCast(all, bits()), i32), by);
    llvm::Value* old = b_.CreateLoad(i32, to);
    old = b_.CreateAnd(old, b_.CreateNot(changed));
    b_.CreateStore(b_.CreateOr(old, b_.CreateAnd(value, changed)), to);
    return;
  }
  const llvm::Align align(std::min(64U, place.element_bytes * lanes_.lanes()));
  if (place.element_bytes >= 4 && processor_level() == 4) { // slow elsewhere
    b_.CreateMaskedStore(all, to, align, as_mask(lanes));
    return;
  }
  llvm::Value* old = b_.CreateAlignedLoad(all->getType(), to, align);
  b_.CreateAlignedStore(b_.CreateSelect(as_mask(lanes), all, old), to, align);
}

llvm::Value*
call_interpreter(llvm::IRBuilder<>& b, llvm::Value* context, llvm::Value* op, llvm::Value* lanes) {
  llvm::Type* pointer = b.getPtrTy();
  llvm::FunctionType* type =
      llvm::FunctionType::get(pointer, {pointer, pointer, b.getInt32Ty()}, /*isVarArg=*/false);
  const auto behind = [&](llvm::Value* from, std::uint64_t bytes) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), from, bytes);
  };
  llvm::Value* interpret =
      b.CreateLoad(pointer, behind(context, offsetof(isa::RegionContext, interpret)));
  llvm::Value* answer =
      b.CreateCall(type, interpret, {context, op, b.CreateZExt(lanes, b.getInt32Ty())});
  return b.CreateICmpEQ(answer, behind(op, sizeof(isa::Op)));
}

llvm::Value* SlowPaths::call(
    llvm::IRBuilder<>& b,
    const Group& group,
    llvm::Value* op,
    llvm::Value* lanes,
    const std::vector<Input>& inputs,
    const std::vector<RegisterPlace>& outputs
) {
  std::vector<llvm::Value*> arguments = {group.context, group.frame, group.first_lane, op, lanes};
  std::string key;
  for (const Input& input : inputs) {
    const bool regular = input.value.shape.is_regular();
    key += fmt::format("{}{}{}.", input.place.element_bytes, input.place.predicate, regular);
    arguments.push_back(b.getInt64(input.place.offset));
    arguments.push_back(input.value.value);
    if (regular) {
      arguments.push_back(b.getInt64(static_cast<std::uint64_t>(input.value.shape.stride)));
    }
  }
  key += "/";
  std::vector<llvm::Type*> results;
  for (const RegisterPlace& output : outputs) {
    key += fmt::format("{}{}.", output.element_bytes, output.predicate);
    arguments.push_back(b.getInt64(output.offset));
    llvm::Type* element = output.predicate ? b.getInt1Ty() : b.getIntNTy(output.element_bytes * 8);
    results.push_back(llvm::FixedVectorType::get(element, lanes_));
  }
  results.push_back(b.getInt1Ty());
  llvm::Function*& f = known_[key];
  if (f == nullptr) {
    std::vector<llvm::Type*> types;
    for (llvm::Value* argument : arguments) {
      types.push_back(argument->getType());
    }
    f = llvm::Function::Create(
        llvm::FunctionType::get(
            llvm::StructType::get(b.getContext(), results),
            types,
            /*isVarArg=*/false
        ),
        llvm::GlobalValue::InternalLinkage,
        "slow",
        module_
    );
    f->addFnAttr(llvm::Attribute::NoUnwind);
    f->addFnAttr(llvm::Attribute::Cold);
    f->addFnAttr("prefer-vector-width", "512");
    build(*f, inputs, outputs);
  }
  return b.CreateCall(f, arguments);
}

void SlowPaths::build(
    llvm::Function& f,
    const std::vector<Input>& inputs,
    const std::vector<RegisterPlace>& outputs
) {
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module_.getContext(), "entry", &f));
  LaneBuilder lanes(b, lanes_, /*guesses=*/false, [](llvm::Value*) {
    HEDDLE_CHECK(false, "a guess without a region");
  });
  FrameMemory memory(b, lanes, f.getArg(1), f.getArg(2));
  llvm::Value* op = f.getArg(3);
  llvm::Value* executing = f.getArg(4);
  unsigned n = 5;
  for (const Input& input : inputs) {
    llvm::Value* offset = f.getArg(n++);
    llvm::Value* all = f.getArg(n++);
    if (input.value.shape.is_regular()) {
      llvm::Type* element = all->getType();
      all = b.CreateVectorSplat(lanes_, all);
      llvm::Value* stride = f.getArg(n++);
      if (!input.place.predicate) {
        stride = b.CreateVectorSplat(lanes_, b.CreateTrunc(stride, element));
        const LaneValue lane = {Shape::regular(1), llvm::ConstantInt::get(element, 0)};
        all = b.CreateAdd(all, b.CreateMul(lanes.vector(lane), stride));
      }
    }
    memory.store(input.place, offset, all, executing);
  }
  llvm::Value* answer = call_interpreter(b, f.getArg(0), op, executing);
  llvm::Value* result = llvm::PoisonValue::get(f.getReturnType());
  for (unsigned output = 0; output < outputs.size(); ++output) {
    llvm::Value* all = memory.load(outputs[output], f.getArg(n++));
    result = b.CreateInsertValue(result, all, output);
  }
  b.CreateRet(b.CreateInsertValue(result, answer, static_cast<unsigned>(outputs.size())));
}

} // namespace heddle::jit
