// Implements frame_memory.h.
#include "jit/frame_memory.h"

#include "isa/region.h"
#include "jit/code_hash.h"

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

} // namespace heddle::jit
