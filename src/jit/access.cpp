// Implements access.h.
#include "jit/access.h"

#include "isa/ops_address.h"
#include "memory/address_space.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace heddle::jit {

void Access::go_on_if(llvm::Value* condition) {
  llvm::BasicBlock* on =
      llvm::BasicBlock::Create(b_.getContext(), "in", b_.GetInsertBlock()->getParent());
  b_.CreateCondBr(
      condition,
      on,
      fail_,
      llvm::MDBuilder(b_.getContext()).createLikelyBranchWeights()
  );
  b_.SetInsertPoint(on);
}

llvm::Value* Access::mask() {
  return b_.CreateBitCast(active_, llvm::FixedVectorType::get(b_.getInt1Ty(), lanes_.lanes()));
}

/// Do `span` bytes at an offset lie in memory of a size that is known at the start of the region,
/// and is the offset aligned? In one comparison: what is not aligned becomes large.
llvm::Value*
Access::fits(llvm::Value* offset, llvm::Value* span, llvm::Value* size, std::uint32_t align) {
  const auto shift = static_cast<std::uint64_t>(std::countr_zero(align));
  llvm::Value* places = nullptr; // at which the bytes may begin
  {
    const llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(b_.GetInsertBlock()->getParent()->getEntryBlock().getTerminator());
    places = b_.CreateAdd(b_.CreateLShr(b_.CreateSub(size, span), shift), b_.getInt64(1));
    places = b_.CreateSelect(b_.CreateICmpULE(span, size), places, b_.getInt64(0));
  }
  if (shift != 0) {
    llvm::Value* by = b_.getInt64(shift);
    offset = b_.CreateIntrinsic(llvm::Intrinsic::fshr, {b_.getInt64Ty()}, {offset, offset, by});
  }
  return b_.CreateICmpULT(offset, places);
}

/// The next groups' bytes lie behind this one's in most kernels. Too few instructions of groups
/// that follow each other are under way at once for the processor to see that.
void Access::fetch_ahead(bool store) {
  constexpr std::int64_t ahead = 2048;
  constexpr std::int64_t line = 64;
  const std::int64_t all = shape_.stride * static_cast<std::int64_t>(lanes_.lanes());
  for (std::int64_t n = 0; n < std::min<std::int64_t>(all, 4 * line); n += line) {
    b_.CreateIntrinsic(
        llvm::Intrinsic::prefetch,
        {b_.getPtrTy()},
        {at(ahead + n), b_.getInt32(store ? 1 : 0), b_.getInt32(3), b_.getInt32(1)}
    );
  }
}

void Access::reach(
    const LaneValue& address,
    std::uint32_t bytes,
    std::uint32_t how,
    const AccessContext& c
) {
  bytes_ = bytes;
  const auto space = static_cast<isa::Space>(how & 15);
  const bool store = how >= 16;
  const unsigned lanes = lanes_.lanes();
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Value* begin = b_.getInt64(0);
  llvm::Value* size = nullptr;
  llvm::Value* delta = nullptr; // host address of the range's byte 0
  llvm::Value* good = b_.getTrue();
  switch (space) {
  case isa::Space::Generic: {
    const auto field = [&](std::size_t offset, llvm::Type* type) {
      return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), c.range, offset));
    };
    begin = field(offsetof(memory::Range, base), i64);
    size = field(offsetof(memory::Range, size), i64);
    delta = field(offsetof(memory::Range, delta), i64);
    if (store) {
      good =
          b_.CreateICmpNE(field(offsetof(memory::Range, writable), b_.getInt8Ty()), b_.getInt8(0));
    }
    break;
  }
  case isa::Space::Shared:
    size = c.shared_bytes;
    delta = b_.CreatePtrToInt(c.shared, i64);
    break;
  case isa::Space::Param:
    size = c.param_bytes;
    delta = b_.CreatePtrToInt(c.param, i64);
    good = b_.getInt1(!store);
    break;
  case isa::Space::Local:
    size = c.local_stride;
    delta = b_.CreatePtrToInt(c.local, i64);
    break;
  }
  const bool aligned_always = space == isa::Space::Param; // the interpreter does not ask
  LaneValue a = address;
  if (a.shape.is_regular() && a.shape.stride % bytes != 0) {
    a = lanes_.as(a, Shape::vector());
  }
  if (a.shape.is_regular()) {
    const std::int64_t distance = a.shape.stride * static_cast<std::int64_t>(lanes - 1);
    llvm::Value* lowest =
        distance < 0 ? b_.CreateAdd(a.value, b_.getInt64(static_cast<std::uint64_t>(distance)))
                     : a.value;
    llvm::Value* span = b_.getInt64(static_cast<std::uint64_t>(std::abs(distance)) + bytes);
    if (space == isa::Space::Generic) {
      good = b_.CreateAnd(good, b_.CreateICmpULE(span, size));
      good = b_.CreateAnd(
          good,
          b_.CreateICmpULE(b_.CreateSub(lowest, begin), b_.CreateSub(size, span))
      );
      llvm::Value* low = b_.CreateAnd(a.value, b_.getInt64(bytes - 1));
      good = b_.CreateAnd(good, b_.CreateICmpEQ(low, b_.getInt64(0)));
    } else {
      good = b_.CreateAnd(good, fits(lowest, span, size, aligned_always ? 1 : bytes));
    }
    go_on_if(good);
    if (space != isa::Space::Local) {
      shape_ = a.shape;
      base_ = b_.CreateIntToPtr(b_.CreateAdd(a.value, delta), b_.getPtrTy());
      if (space == isa::Space::Generic && a.shape.stride == bytes) {
        fetch_ahead(store);
      }
      return;
    }
  } else {
    llvm::Value* all = a.value;
    good = b_.CreateAnd(good, b_.CreateICmpULE(b_.getInt64(bytes), size));
    llvm::Value* most = b_.CreateVectorSplat(lanes, b_.CreateSub(size, b_.getInt64(bytes)));
    llvm::Value* off = b_.CreateSub(all, b_.CreateVectorSplat(lanes, begin));
    llvm::Value* bad = b_.CreateICmpUGT(off, most);
    if (!aligned_always) {
      llvm::Value* low = b_.CreateAnd(all, b_.CreateVectorSplat(lanes, b_.getInt64(bytes - 1)));
      bad =
          b_.CreateOr(bad, b_.CreateICmpNE(low, llvm::ConstantAggregateZero::get(low->getType())));
    }
    llvm::Value* bits = b_.CreateBitCast(bad, b_.getIntNTy(lanes));
    bits = b_.CreateAnd(bits, active_);
    good = b_.CreateAnd(good, b_.CreateICmpEQ(bits, b_.getIntN(lanes, 0)));
    go_on_if(good);
  }
  shape_ = Shape::vector();
  llvm::Value* all = lanes_.vector(a);
  all = b_.CreateAdd(all, b_.CreateVectorSplat(lanes, delta));
  if (space == isa::Space::Local) {
    llvm::Value* lane = lanes_.vector({Shape::regular(1), b_.getInt64(0)});
    all = b_.CreateAdd(all, b_.CreateMul(lane, b_.CreateVectorSplat(lanes, c.local_stride)));
  }
  all_ = b_.CreateIntToPtr(all, llvm::FixedVectorType::get(b_.getPtrTy(), lanes));
}

llvm::Value* Access::at(std::int64_t offset) {
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), base_, static_cast<std::uint64_t>(offset));
}

llvm::Value* Access::pointers(std::int64_t offset) {
  const unsigned lanes = lanes_.lanes();
  if (all_ == nullptr) {
    llvm::Value* base = b_.CreatePtrToInt(base_, b_.getInt64Ty());
    all_ = b_.CreateIntToPtr(
        lanes_.vector({shape_, base}),
        llvm::FixedVectorType::get(b_.getPtrTy(), lanes)
    );
  }
  return offset == 0
             ? all_
             : b_.CreateGEP(b_.getInt8Ty(), all_, b_.getInt64(static_cast<std::uint64_t>(offset)));
}

LaneValue Access::load(llvm::Type* type, std::int64_t offset) {
  const llvm::Align unaligned(1);
  const std::int64_t size = type->getScalarSizeInBits() / 8;
  if (shape_.is_uniform()) {
    return {Shape::uniform(), b_.CreateAlignedLoad(type, at(offset), unaligned)};
  }
  llvm::Type* wide = lanes_.widened(type);
  if (shape_.is_regular() && shape_.stride == size) {
    return {Shape::vector(), b_.CreateAlignedLoad(wide, at(offset), unaligned)};
  }
  const std::int64_t elements = shape_.is_regular() ? shape_.stride / size : 0;
  if (elements >= 2 && elements <= 4 && static_cast<std::int64_t>(bytes_) == shape_.stride) {
    // Vectors behind each other: every n-th element.
    const auto count = static_cast<unsigned>(elements) * lanes_.lanes();
    llvm::Value* all =
        b_.CreateAlignedLoad(llvm::FixedVectorType::get(type, count), at(0), unaligned);
    std::vector<int> chosen;
    for (unsigned lane = 0; lane < lanes_.lanes(); ++lane) {
      chosen.push_back(
          static_cast<int>(lane * static_cast<unsigned>(elements)) + static_cast<int>(offset / size)
      );
    }
    return {Shape::vector(), b_.CreateShuffleVector(all, chosen)};
  }
  llvm::Value* loaded = b_.CreateMaskedGather(wide, pointers(offset), unaligned, mask());
  return {Shape::vector(), loaded};
}

void Access::store(const LaneValue& value, std::int64_t offset) {
  const llvm::Align unaligned(1);
  llvm::Type* type = value.value->getType()->getScalarType();
  const std::int64_t size = type->getScalarSizeInBits() / 8;
  if (shape_.is_uniform()) { // the last lane's stays
    llvm::Value* last = value.value;
    if (!value.shape.is_uniform()) {
      llvm::Value* zeros = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, active_, b_.getTrue());
      llvm::Value* index = b_.CreateSub(b_.getIntN(lanes_.lanes(), lanes_.lanes() - 1), zeros);
      last = b_.CreateExtractElement(lanes_.vector(value), index);
    }
    b_.CreateAlignedStore(last, at(offset), unaligned);
    return;
  }
  llvm::Value* all = lanes_.vector(value);
  if (shape_.is_regular() && shape_.stride == size) {
    b_.CreateMaskedStore(all, at(offset), unaligned, mask());
    return;
  }
  b_.CreateMaskedScatter(all, pointers(offset), unaligned, mask());
}

} // namespace heddle::jit
