// Implements access.h.
#include "jit/access.h"

#include "isa/ops_address.h"
#include "isa/region.h"
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

namespace {

constexpr unsigned row = 8; // lanes: the smallest group of them
static_assert(isa::fewest_region_lanes == row);

std::vector<int> indices(unsigned count, auto&& index) {
  std::vector<int> result;
  for (unsigned n = 0; n < count; ++n) {
    result.push_back(static_cast<int>(index(n)));
  }
  return result;
}

} // namespace

std::vector<llvm::Value*> Access::firsts(llvm::Value* pointers) {
  std::vector<llvm::Value*> result;
  for (unsigned lane = 0; lane < lanes_.lanes(); lane += row) {
    result.push_back(b_.CreateExtractElement(pointers, lane));
  }
  return result;
}

std::vector<llvm::Value*> Access::masks() {
  std::vector<llvm::Value*> result;
  for (unsigned lane = 0; lane < lanes_.lanes(); lane += row) {
    llvm::Value* bits = b_.CreateTrunc(b_.CreateLShr(active_, lane), b_.getIntNTy(row));
    result.push_back(b_.CreateBitCast(bits, llvm::FixedVectorType::get(b_.getInt1Ty(), row)));
  }
  return result;
}

/// Goes to one of the blocks of neighbours_. The first two addresses say what is worth a look, so
/// addresses without order cost little.
void Access::look_at_neighbours(llvm::Value* pointers, std::int64_t size, bool store) {
  const unsigned lanes = lanes_.lanes();
  llvm::Function* f = b_.GetInsertBlock()->getParent();
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, f);
  };
  neighbours_ = {block("rows"), store ? nullptr : block("same"), block("any"), block("done")};
  llvm::Type* wide = llvm::FixedVectorType::get(b_.getInt64Ty(), lanes);
  // What lanes that do not execute hold may be anything, but it must be one thing.
  llvm::Value* all = b_.CreateFreeze(b_.CreatePtrToInt(pointers, wide));
  llvm::Value* first =
      b_.CreateShuffleVector(all, indices(lanes, [](unsigned lane) { return lane / row * row; }));
  llvm::Value* distance = b_.CreateSub(
      b_.CreateExtractElement(all, std::uint64_t{1}),
      b_.CreateExtractElement(all, std::uint64_t{0})
  );
  const auto look = [&](std::int64_t wanted, llvm::BasicBlock* found, llvm::BasicBlock* else_) {
    llvm::BasicBlock* here = b_.GetInsertBlock();
    llvm::BasicBlock* verify = block("verify");
    b_.SetInsertPoint(verify);
    std::vector<llvm::Constant*> distances;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      distances.push_back(b_.getInt64(static_cast<std::uint64_t>(wanted) * (lane % row)));
    }
    llvm::Value* differs =
        b_.CreateICmpNE(b_.CreateSub(all, first), llvm::ConstantVector::get(distances));
    llvm::Value* good =
        b_.CreateICmpEQ(b_.CreateBitCast(differs, b_.getIntNTy(lanes)), b_.getIntN(lanes, 0));
    if (wanted == 0) { // nobody knows that memory of lanes that do not execute may be read
      for (unsigned lane = 0; lanes > row && lane < lanes; lane += row) {
        llvm::Value* some = b_.CreateTrunc(b_.CreateLShr(active_, lane), b_.getIntNTy(row));
        good = b_.CreateAnd(good, b_.CreateICmpNE(some, b_.getIntN(row, 0)));
      }
    }
    b_.CreateCondBr(good, found, neighbours_.any);
    b_.SetInsertPoint(here);
    b_.CreateCondBr(
        b_.CreateICmpEQ(distance, b_.getInt64(static_cast<std::uint64_t>(wanted))),
        verify,
        else_
    );
  };
  llvm::BasicBlock* others = store ? neighbours_.any : block("others");
  look(size, neighbours_.rows, others);
  if (!store) {
    b_.SetInsertPoint(others);
    look(0, neighbours_.same, neighbours_.any);
  }
}

LaneValue Access::load_each(llvm::Type* type, llvm::Value* pointers) {
  const llvm::Align unaligned(1);
  const unsigned lanes = lanes_.lanes();
  llvm::Type* wide = lanes_.widened(type);
  look_at_neighbours(pointers, type->getScalarSizeInBits() / 8, /*store=*/false);
  llvm::PHINode* result = llvm::PHINode::Create(wide, 3, "loaded", neighbours_.done);
  const auto done = [&](llvm::Value* value) {
    result->addIncoming(value, b_.GetInsertBlock());
    b_.CreateBr(neighbours_.done);
  };
  /// Vectors of 8 lanes, or scalars for 8 lanes each, as one vector.
  const auto joined = [&](std::vector<llvm::Value*> parts) {
    while (parts.size() > 1) {
      std::vector<llvm::Value*> pairs;
      for (std::size_t n = 0; n < parts.size(); n += 2) {
        const unsigned count = 2 * lanes / static_cast<unsigned>(parts.size());
        pairs.push_back(
            b_.CreateShuffleVector(parts[n], parts[n + 1], indices(count, [](unsigned lane) {
                                     return lane;
                                   }))
        );
      }
      parts = std::move(pairs);
    }
    return parts.front();
  };
  b_.SetInsertPoint(neighbours_.rows);
  std::vector<llvm::Value*> parts;
  const std::vector<llvm::Value*> executing = masks();
  for (llvm::Value* from : firsts(pointers)) {
    llvm::Type* part = llvm::FixedVectorType::get(type, row);
    parts.push_back(b_.CreateMaskedLoad(part, from, unaligned, executing[parts.size()]));
  }
  done(joined(parts));
  b_.SetInsertPoint(neighbours_.same);
  parts.clear();
  for (llvm::Value* from : firsts(pointers)) {
    parts.push_back(b_.CreateVectorSplat(row, b_.CreateAlignedLoad(type, from, unaligned)));
  }
  done(joined(parts));
  b_.SetInsertPoint(neighbours_.any);
  done(b_.CreateMaskedGather(wide, pointers, unaligned, mask()));
  b_.SetInsertPoint(neighbours_.done);
  return {Shape::vector(), result};
}

void Access::store_each(llvm::Value* all, llvm::Value* pointers) {
  const llvm::Align unaligned(1);
  look_at_neighbours(pointers, all->getType()->getScalarSizeInBits() / 8, /*store=*/true);
  b_.SetInsertPoint(neighbours_.rows);
  const std::vector<llvm::Value*> executing = masks();
  unsigned n = 0;
  for (llvm::Value* to : firsts(pointers)) {
    const unsigned from = n * row;
    llvm::Value* part =
        b_.CreateShuffleVector(all, indices(row, [from](unsigned lane) { return from + lane; }));
    b_.CreateMaskedStore(part, to, unaligned, executing[n++]);
  }
  b_.CreateBr(neighbours_.done);
  b_.SetInsertPoint(neighbours_.any);
  b_.CreateMaskedScatter(all, pointers, unaligned, mask());
  b_.CreateBr(neighbours_.done);
  b_.SetInsertPoint(neighbours_.done);
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
  if (!shape_.is_regular() && static_cast<std::int64_t>(bytes_) == size) {
    return load_each(type, pointers(offset));
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
  if (!shape_.is_regular() && static_cast<std::int64_t>(bytes_) == size) {
    store_each(all, pointers(offset));
    return;
  }
  b_.CreateMaskedScatter(all, pointers(offset), unaligned, mask());
}

} // namespace heddle::jit
