// Implements access.h.
#include "jit/access.h"

#include "isa/region.h"
#include "jit/access_functions.h"
#include "jit/code_hash.h"
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

/// Does the processor gather, scatter and store some lanes of a vector at the speed of memory?
bool has_masks() {
  return processor_level() == 4;
}

} // namespace

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

/// Are all words of a vector zero?
llvm::Value* Access::is_zero_in_all(llvm::Value* words) {
  llvm::Value* any = b_.CreateOrReduce(words);
  return b_.CreateICmpEQ(any, llvm::ConstantInt::get(any->getType(), 0));
}

Access::Memory Access::memory(isa::Space space, bool store) {
  llvm::Type* i64 = b_.getInt64Ty();
  Memory m;
  m.begin = b_.getInt64(0);
  m.good = b_.getTrue();
  switch (space) {
  case isa::Space::Generic: {
    const auto field = [&](std::size_t offset, llvm::Type* type) {
      return b_.CreateLoad(
          type,
          b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), context_.range, offset)
      );
    };
    m.begin = field(offsetof(memory::Range, base), i64);
    m.size = field(offsetof(memory::Range, size), i64);
    m.delta = field(offsetof(memory::Range, delta), i64);
    if (store) {
      llvm::Value* writable = field(offsetof(memory::Range, writable), b_.getInt8Ty());
      m.good = b_.CreateICmpNE(writable, b_.getInt8(0));
    }
    break;
  }
  case isa::Space::Shared:
    m.size = context_.shared_bytes;
    m.delta = b_.CreatePtrToInt(context_.shared, i64);
    break;
  case isa::Space::Param:
    m.size = context_.param_bytes;
    m.delta = b_.CreatePtrToInt(context_.param, i64);
    m.good = b_.getInt1(!store);
    m.aligned_always = true;
    break;
  case isa::Space::Local:
    m.size = context_.local_bytes;
    m.delta = b_.CreatePtrToInt(context_.local, i64);
    break;
  }
  return m;
}

void Access::reach(const LaneValue& address, std::uint32_t bytes, isa::Space space, bool store) {
  bytes_ = bytes;
  space_ = space;
  LaneValue a = address;
  if (a.shape.is_regular() && a.shape.stride % bytes != 0) {
    a = lanes_.as(a, Shape::vector());
  }
  if (functions_ != nullptr && !a.shape.is_regular() && space != isa::Space::Param) {
    called_with_ = a.value;
    return;
  }
  if (a.shape.is_regular()) {
    reach_regular(a, space, store);
  } else {
    reach_each(a.value, memory(space, store));
  }
  const bool each_its_own = space == isa::Space::Local;
  if (each_its_own && a.shape.is_regular() && functions_ != nullptr) {
    own_distance_ = b_.CreateAdd(
        context_.local_stride,
        b_.getInt64(static_cast<std::uint64_t>(a.shape.stride))
    );
    return;
  }
  if (each_its_own) {
    llvm::Value* lane = lanes_.vector({Shape::regular(1), b_.getInt64(0)});
    llvm::Value* stride = b_.CreateVectorSplat(lanes_.lanes(), context_.local_stride);
    offsets_ = b_.CreateAdd(offsets(), b_.CreateMul(lane, stride));
    shape_ = Shape::vector();
    all_in_ = b_.getFalse();
  }
}

/// Shared memory is touched by one worker at a time.
void Access::only_alone(isa::Space space) {
  if (space == isa::Space::Generic) {
    llvm::Value* where = b_.CreateConstInBoundsGEP1_64(
        b_.getInt8Ty(),
        context_.range,
        offsetof(memory::Range, of_devices)
    );
    llvm::Value* mine = b_.CreateICmpNE(b_.CreateLoad(b_.getInt8Ty(), where), b_.getInt8(0));
    go_on_if(b_.CreateAnd(context_.alone, mine));
  }
}

void Access::begin_places() {
  if (!shape_.is_regular()) {
    b_.CreateAlignedStore(offsets_, context_.words, llvm::Align(64));
  }
}

llvm::Value* Access::place(llvm::Value* lane) {
  llvm::Value* offset = nullptr;
  if (shape_.is_regular()) {
    offset = b_.CreateMul(lane, b_.getInt64(static_cast<std::uint64_t>(shape_.stride)));
  } else {
    llvm::Type* word = offsets_->getType()->getScalarType();
    offset = b_.CreateLoad(word, b_.CreateInBoundsGEP(word, context_.words, lane));
    offset = b_.CreateZExt(offset, b_.getInt64Ty());
  }
  return b_.CreateGEP(b_.getInt8Ty(), at(0), offset);
}

llvm::Value* Access::is_good(
    llvm::Value* lowest,
    llvm::Value* span,
    std::uint32_t align,
    const Memory& m,
    isa::Space space
) {
  if (!context_.checks) { // but there is no pointer before the memory has been found once
    return b_.CreateAnd(m.good, b_.CreateICmpNE(m.size, b_.getInt64(0)));
  }
  if (space != isa::Space::Generic) {
    return b_.CreateAnd(m.good, fits(lowest, span, m.size, m.aligned_always ? 1 : align));
  }
  llvm::Value* good = b_.CreateAnd(m.good, b_.CreateICmpULE(span, m.size));
  good = b_.CreateAnd(
      good,
      b_.CreateICmpULE(b_.CreateSub(lowest, m.begin), b_.CreateSub(m.size, span))
  );
  llvm::Value* low = b_.CreateAnd(lowest, b_.getInt64(align - 1));
  return b_.CreateAnd(good, b_.CreateICmpEQ(low, b_.getInt64(0)));
}

std::pair<llvm::Value*, llvm::Value*> Access::reach_together(
    const LaneValue& address,
    std::int64_t begin,
    std::int64_t end,
    std::uint32_t align,
    isa::Space space,
    bool store
) {
  llvm::Type* i64 = b_.getInt64Ty();
  const std::int64_t distance =
      address.shape.stride * static_cast<std::int64_t>(lanes_.lanes() - 1);
  llvm::Value* lowest = b_.CreateAdd(
      address.value,
      llvm::ConstantInt::getSigned(
          address.value->getType(),
          begin + std::min<std::int64_t>(distance, 0)
      )
  );
  llvm::Value* span = b_.getInt64(static_cast<std::uint64_t>(end - begin + std::abs(distance)));
  const Memory m = memory(space, store);
  llvm::Value* good = is_good(b_.CreateZExt(lowest, i64), span, align, m, space);
  // An address of 32 bits that is in shared memory, less a distance, may be below zero.
  llvm::Value* pointer = b_.CreateAdd(b_.CreateSExt(address.value, i64), m.delta);
  return {good, b_.CreateIntToPtr(pointer, b_.getPtrTy())};
}

void Access::reach_regular(const LaneValue& a, isa::Space space, bool store) {
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* in = nullptr;
  if (good_ != nullptr) {
    llvm::Function* f = before->getParent();
    in = llvm::BasicBlock::Create(b_.getContext(), "in", f);
    llvm::BasicBlock* ask = llvm::BasicBlock::Create(b_.getContext(), "ask", f);
    b_.CreateCondBr(good_, in, ask, llvm::MDBuilder(b_.getContext()).createLikelyBranchWeights());
    b_.SetInsertPoint(ask);
  }
  const Memory m = memory(space, store);
  const std::int64_t distance = a.shape.stride * static_cast<std::int64_t>(lanes_.lanes() - 1);
  llvm::Value* lowest =
      distance < 0 ? b_.CreateAdd(a.value, b_.getInt64(static_cast<std::uint64_t>(distance)))
                   : a.value;
  llvm::Value* span = b_.getInt64(static_cast<std::uint64_t>(std::abs(distance)) + bytes_);
  go_on_if(is_good(lowest, span, bytes_, m, space));
  shape_ = a.shape;
  base_ = b_.CreateIntToPtr(b_.CreateAdd(a.value, m.delta), b_.getPtrTy());
  if (good_ != nullptr) {
    llvm::BasicBlock* asked = b_.GetInsertBlock();
    b_.CreateBr(in);
    b_.SetInsertPoint(in);
    llvm::PHINode* from = nullptr; // what is `good_offset_` behind it
    if (space == isa::Space::Generic) {
      from = b_.CreatePHI(b_.getPtrTy(), 2);
      from->addIncoming(good_pointer_, before);
      const llvm::IRBuilderBase::InsertPointGuard guard(b_);
      b_.SetInsertPoint(asked->getTerminator());
      from->addIncoming(at(-good_offset_), asked);
    }
    base_ = from != nullptr ? from : good_pointer_;
    base_ = at(good_offset_);
  }
  if (space == isa::Space::Generic && a.shape.stride == bytes_) {
    fetch_ahead(store);
  }
}

/// Do the bytes of all lanes, executing or not, lie in the memory, aligned? A sign says what is
/// above or below, and memory begins at an aligned address.
llvm::Value* Access::all_fit(llvm::Value* offsets, const Memory& m) {
  llvm::Type* word = offsets->getType()->getScalarType();
  const std::uint64_t sign = std::uint64_t{1} << (word->getIntegerBitWidth() - 1);
  const std::uint64_t low = m.aligned_always ? 0 : bytes_ - 1;
  llvm::Value* most = b_.CreateSub(m.size, b_.getInt64(bytes_));
  most = b_.CreateTrunc(b_.CreateAnd(most, b_.getInt64(~low)), word);
  llvm::Value* left = b_.CreateSub(b_.CreateVectorSplat(lanes_.lanes(), most), offsets);
  llvm::Value* bad = b_.CreateOr(offsets, left);
  bad = b_.CreateAnd(bad, llvm::ConstantInt::get(bad->getType(), sign | low));
  llvm::Value* good = is_zero_in_all(bad);
  llvm::Value* begin = b_.CreateAnd(m.begin, b_.getInt64(low));
  return b_.CreateAnd(good, b_.CreateICmpEQ(begin, b_.getInt64(0)));
}

llvm::Value* Access::executing_fit(llvm::Value* offsets, const Memory& m) {
  const unsigned lanes = lanes_.lanes();
  llvm::Type* word = offsets->getType()->getScalarType();
  const auto of_all = [&](llvm::Value* one) {
    return b_.CreateVectorSplat(lanes, b_.CreateTrunc(one, word));
  };
  llvm::Value* bad = b_.CreateICmpUGT(offsets, of_all(b_.CreateSub(m.size, b_.getInt64(bytes_))));
  if (!m.aligned_always) {
    llvm::Value* addresses = b_.CreateAdd(offsets, of_all(m.begin));
    llvm::Value* low = b_.CreateAnd(addresses, of_all(b_.getInt64(bytes_ - 1)));
    bad = b_.CreateOr(bad, b_.CreateICmpNE(low, llvm::Constant::getNullValue(low->getType())));
  }
  llvm::Value* bits = b_.CreateBitCast(bad, b_.getIntNTy(lanes));
  return b_.CreateICmpEQ(b_.CreateAnd(bits, active_), b_.getIntN(lanes, 0));
}

llvm::Value* Access::all_execute() {
  return b_.CreateICmpEQ(active_, llvm::Constant::getAllOnesValue(active_->getType()));
}

void Access::reach_each(llvm::Value* all, const Memory& m) {
  const auto* wide = llvm::dyn_cast<llvm::ZExtInst>(all);
  const bool shared = m.size == context_.shared_bytes; // smaller than 2 GiB
  if (wide != nullptr && shared && wide->getSrcTy()->getScalarSizeInBits() == 32) {
    all = wide->getOperand(0);
  } else {
    all = b_.CreateSub(all, b_.CreateVectorSplat(lanes_.lanes(), m.begin));
  }
  // What lanes that do not execute hold may be anything, but it must be one thing.
  offsets_ = b_.CreateFreeze(all);
  shape_ = Shape::vector();
  base_ = b_.CreateIntToPtr(b_.CreateAdd(m.begin, m.delta), b_.getPtrTy());
  llvm::Function* f = b_.GetInsertBlock()->getParent();
  llvm::BasicBlock* ask = llvm::BasicBlock::Create(b_.getContext(), "ask", f);
  llvm::BasicBlock* in = llvm::BasicBlock::Create(b_.getContext(), "in", f);
  llvm::MDNode* likely = llvm::MDBuilder(b_.getContext()).createLikelyBranchWeights();
  llvm::Value* good = b_.CreateAnd(m.good, b_.CreateICmpULE(b_.getInt64(bytes_), m.size));
  llvm::Value* quick = b_.CreateAnd(good, context_.checks ? all_fit(offsets_, m) : all_execute());
  llvm::BasicBlock* here = b_.GetInsertBlock();
  b_.CreateCondBr(quick, in, ask, likely);
  b_.SetInsertPoint(ask);
  if (context_.checks) {
    good = b_.CreateAnd(good, executing_fit(offsets_, m));
  }
  b_.CreateCondBr(good, in, fail_, likely);
  b_.SetInsertPoint(in);
  llvm::PHINode* all_in = b_.CreatePHI(b_.getInt1Ty(), 2);
  all_in->addIncoming(b_.getTrue(), here);
  all_in->addIncoming(b_.getFalse(), ask);
  all_in_ = all_in;
}

llvm::Value* Access::at(std::int64_t offset) {
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), base_, static_cast<std::uint64_t>(offset));
}

llvm::Value* Access::offsets() {
  return shape_.is_regular() ? lanes_.vector({shape_, b_.getInt64(0)}) : offsets_;
}

llvm::Value* Access::pointers(std::int64_t offset) {
  llvm::Value* all = b_.CreateZExt(offsets(), lanes_.widened(b_.getInt64Ty()));
  return b_.CreateGEP(b_.getInt8Ty(), at(offset), all);
}

std::vector<llvm::Value*> Access::firsts(std::int64_t offset) {
  std::vector<llvm::Value*> result;
  for (unsigned lane = 0; lane < lanes_.lanes(); lane += row) {
    llvm::Value* one = b_.CreateExtractElement(offsets_, lane);
    one = b_.CreateZExt(one, b_.getInt64Ty());
    result.push_back(b_.CreateGEP(b_.getInt8Ty(), at(offset), one));
  }
  return result;
}

/// Goes to one of the blocks of neighbours_. The first two addresses say what is worth a look, so
/// addresses without order cost little.
void Access::look_at_neighbours(std::int64_t size, bool store) {
  const unsigned lanes = lanes_.lanes();
  llvm::Function* f = b_.GetInsertBlock()->getParent();
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, f);
  };
  neighbours_ = {block("rows"), store ? nullptr : block("same"), block("any"), block("done")};
  llvm::Value* all = offsets_;
  llvm::Type* word = all->getType()->getScalarType();
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
      distances.push_back(
          llvm::ConstantInt::get(word, static_cast<std::uint64_t>(wanted) * (lane % row))
      );
    }
    llvm::Value* expected = b_.CreateAdd(first, llvm::ConstantVector::get(distances));
    b_.CreateCondBr(is_zero_in_all(b_.CreateXor(all, expected)), found, neighbours_.any);
    b_.SetInsertPoint(here);
    llvm::Value* as_wanted =
        b_.CreateICmpEQ(distance, llvm::ConstantInt::get(word, static_cast<std::uint64_t>(wanted)));
    b_.CreateCondBr(b_.CreateAnd(as_wanted, all_in_), verify, else_);
  };
  if (store) {
    all_in_ = b_.CreateAnd(all_in_, all_execute());
  }
  llvm::BasicBlock* others = store ? neighbours_.any : block("others");
  look(size, neighbours_.rows, others);
  if (!store) {
    b_.SetInsertPoint(others);
    look(0, neighbours_.same, neighbours_.any);
  }
}

LaneValue Access::load_each(llvm::Type* type, std::int64_t offset) {
  const llvm::Align unaligned(1);
  const unsigned lanes = lanes_.lanes();
  llvm::Type* wide = lanes_.widened(type);
  look_at_neighbours(type->getScalarSizeInBits() / 8, /*store=*/false);
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
  for (llvm::Value* from : firsts(offset)) {
    llvm::Type* part = llvm::FixedVectorType::get(type, row);
    parts.push_back(b_.CreateAlignedLoad(part, from, unaligned));
  }
  done(joined(parts));
  b_.SetInsertPoint(neighbours_.same);
  parts.clear();
  for (llvm::Value* from : firsts(offset)) {
    parts.push_back(b_.CreateVectorSplat(row, b_.CreateAlignedLoad(type, from, unaligned)));
  }
  done(joined(parts));
  b_.SetInsertPoint(neighbours_.any);
  done(gather(type, offset));
  b_.SetInsertPoint(neighbours_.done);
  return {Shape::vector(), result};
}

void Access::store_each(llvm::Value* all, std::int64_t offset) {
  const llvm::Align unaligned(1);
  look_at_neighbours(all->getType()->getScalarSizeInBits() / 8, /*store=*/true);
  b_.SetInsertPoint(neighbours_.rows);
  unsigned from = 0;
  for (llvm::Value* to : firsts(offset)) {
    llvm::Value* part =
        b_.CreateShuffleVector(all, indices(row, [from](unsigned lane) { return from + lane; }));
    b_.CreateAlignedStore(part, to, unaligned);
    from += row;
  }
  b_.CreateBr(neighbours_.done);
  b_.SetInsertPoint(neighbours_.any);
  scatter(all, offset);
  b_.CreateBr(neighbours_.done);
  b_.SetInsertPoint(neighbours_.done);
}

/// `count` elements of each executing lane, from where they are to the n-th vector of
/// context_.elements, or from there.
void Access::copy_each(llvm::Type* type, unsigned count, std::int64_t offset, bool store) {
  const llvm::Align unaligned(1);
  const std::uint64_t size = type->getScalarSizeInBits() / 8;
  begin_places();
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::Function* f = before->getParent();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(b_.getContext(), "lane", f);
  llvm::BasicBlock* behind = llvm::BasicBlock::Create(b_.getContext(), "lanes", f);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* bits = b_.CreatePHI(active_->getType(), 2);
  bits->addIncoming(active_, before);
  llvm::Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, b_.getTrue());
  lane = b_.CreateZExt(lane, b_.getInt64Ty());
  llvm::Value* place = this->place(lane);
  for (unsigned n = 0; n < count; ++n) {
    llvm::Value* memory =
        b_.CreateConstGEP1_64(b_.getInt8Ty(), place, static_cast<std::uint64_t>(offset) + n * size);
    llvm::Value* element = b_.CreateInBoundsGEP(type, elements(n, size), lane);
    if (store) {
      b_.CreateAlignedStore(b_.CreateAlignedLoad(type, element, unaligned), memory, unaligned);
    } else {
      b_.CreateAlignedStore(b_.CreateAlignedLoad(type, memory, unaligned), element, unaligned);
    }
  }
  llvm::Value* one = llvm::ConstantInt::get(bits->getType(), 1);
  llvm::Value* left = b_.CreateAnd(bits, b_.CreateSub(bits, one));
  bits->addIncoming(left, loop);
  b_.CreateCondBr(
      b_.CreateICmpEQ(left, llvm::Constant::getNullValue(left->getType())),
      behind,
      loop
  );
  b_.SetInsertPoint(behind);
}

llvm::Value* Access::elements(unsigned n, std::uint64_t size) {
  return b_
      .CreateConstInBoundsGEP1_64(b_.getInt8Ty(), context_.elements, n * size * lanes_.lanes());
}

/// Elements of one or two bytes, of which the processor gathers the aligned words around them. What
/// else is in a word is of no interest, and is no memory that could not be read: the host's pages
/// consist of aligned words.
llvm::Value* Access::gather_narrow(llvm::Type* type, std::int64_t offset) {
  llvm::Type* words = lanes_.widened(b_.getInt32Ty());
  llvm::Type* long_words = lanes_.widened(b_.getInt64Ty());
  const auto all_of = [&](std::uint64_t n) { return llvm::ConstantInt::get(long_words, n); };
  llvm::Value* addresses = b_.CreatePtrToInt(pointers(offset), long_words);
  llvm::Value* aligned = b_.CreateIntToPtr(
      b_.CreateAnd(addresses, all_of(~std::uint64_t{3})),
      lanes_.widened(b_.getPtrTy())
  );
  llvm::Value* all = b_.CreateMaskedGather(words, aligned, llvm::Align(4), mask());
  llvm::Value* by = b_.CreateShl(b_.CreateAnd(addresses, all_of(3)), all_of(3));
  all = b_.CreateLShr(all, b_.CreateTrunc(by, words));
  llvm::Type* narrow = b_.getIntNTy(type->getScalarSizeInBits());
  return b_.CreateBitCast(b_.CreateTrunc(all, lanes_.widened(narrow)), lanes_.widened(type));
}

llvm::Value* Access::gather(llvm::Type* type, std::int64_t offset) {
  llvm::Type* wide = lanes_.widened(type);
  const bool narrow = type->getScalarSizeInBits() < 32;
  if (has_masks() && narrow && space_ != isa::Space::Param) { // else they may be unaligned
    return gather_narrow(type, offset);
  }
  if (has_masks() && !narrow) {
    return b_.CreateMaskedGather(wide, pointers(offset), llvm::Align(1), mask());
  }
  copy_each(type, 1, offset, /*store=*/false);
  return b_.CreateAlignedLoad(wide, context_.elements, llvm::Align(64));
}

/// Where lanes store to one place, the last one's stays.
void Access::scatter(llvm::Value* all, std::int64_t offset) {
  if (has_masks() && all->getType()->getScalarSizeInBits() >= 32) { // LLVM makes 32 branches of it
    b_.CreateMaskedScatter(all, pointers(offset), llvm::Align(1), mask());
    return;
  }
  b_.CreateAlignedStore(all, context_.elements, llvm::Align(64));
  copy_each(all->getType()->getScalarType(), 1, offset, /*store=*/true);
}

/// All elements of the lanes' accesses at once, if they are several.
llvm::Value* Access::part(llvm::Type* type, std::int64_t offset) {
  const auto size = static_cast<std::int64_t>(type->getScalarSizeInBits() / 8);
  const bool gathers = has_masks() && (size >= 4 || space_ != isa::Space::Param);
  if (gathers || size == static_cast<std::int64_t>(bytes_) || offset % size != 0) {
    return gather(type, offset);
  }
  if (parts_.empty()) {
    const unsigned count = bytes_ / static_cast<unsigned>(size);
    copy_each(type, count, 0, /*store=*/false);
    for (unsigned n = 0; n < count; ++n) {
      llvm::Value* from = elements(n, static_cast<std::uint64_t>(size));
      parts_.push_back(b_.CreateAlignedLoad(lanes_.widened(type), from, llvm::Align(8)));
    }
  }
  const auto n = static_cast<std::size_t>(offset / size);
  return n < parts_.size() && parts_[n]->getType()->getScalarType() == type ? parts_[n]
                                                                            : gather(type, offset);
}

/// Lane n's bytes lie n × `distance` behind `place`, and have been checked.
void Access::reach_own(llvm::Value* place, llvm::Value* distance, std::uint32_t bytes) {
  bytes_ = bytes;
  space_ = isa::Space::Local;
  llvm::Value* lane = lanes_.vector({Shape::regular(1), b_.getInt64(0)});
  offsets_ = b_.CreateMul(lane, b_.CreateVectorSplat(lanes_.lanes(), distance));
  base_ = place;
  shape_ = Shape::vector();
  all_in_ = b_.getFalse();
}

/// What an AccessFunction has loaded; nullptr: it has stored.
llvm::Value* Access::call(llvm::Type* element, llvm::Value* stored) {
  EachAccess access;
  access.space = space_;
  access.element = b_.getIntNTy(element->getScalarSizeInBits());
  access.elements = bytes_ * 8 / element->getScalarSizeInBits();
  access.store = stored != nullptr;
  llvm::Value* addresses = called_with_;
  if (const auto* wide = llvm::dyn_cast_or_null<llvm::ZExtInst>(addresses);
      wide != nullptr && space_ == isa::Space::Shared &&
      wide->getSrcTy()->getScalarSizeInBits() == 32) {
    addresses = wide->getOperand(0);
    access.narrow = true;
  }
  llvm::Value* where = context_.range;
  llvm::Value* size = b_.getInt64(0);
  if (own_distance_ != nullptr) {
    access.checked = true;
    where = base_;
    size = own_distance_;
  } else if (space_ == isa::Space::Shared) {
    where = context_.shared;
    size = context_.shared_bytes;
  } else if (space_ == isa::Space::Local) {
    where = context_.local;
    size = context_.local_bytes;
  }
  llvm::Value* stride = context_.local_stride != nullptr ? context_.local_stride : b_.getInt64(0);
  std::vector<llvm::Value*> arguments =
      {where, size, context_.words, context_.elements, active_, stride};
  if (!access.checked) {
    // What lanes that do not execute hold may be anything, but it must be one thing.
    arguments.push_back(b_.CreateFreeze(addresses));
  }
  if (stored != nullptr) {
    arguments.push_back(b_.CreateBitCast(stored, lanes_.widened(access.element)));
  }
  llvm::CallInst* result = b_.CreateCall(functions_->of(access), arguments);
  if (inlined_) {
    result->addFnAttr(llvm::Attribute::AlwaysInline);
  }
  if (!access.checked) {
    go_on_if(b_.CreateExtractValue(result, access.store ? 0 : access.elements));
  }
  return access.store ? nullptr : result;
}

LaneValue Access::load(llvm::Type* type, std::int64_t offset) {
  if (called_with_ != nullptr || own_distance_ != nullptr) {
    if (loaded_ == nullptr) {
      loaded_ = call(type, nullptr);
    }
    const auto n = static_cast<unsigned>(offset / (type->getScalarSizeInBits() / 8));
    llvm::Value* one = b_.CreateExtractValue(loaded_, n);
    return {Shape::vector(), b_.CreateBitCast(one, lanes_.widened(type))};
  }
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
  if (!shape_.is_regular() && static_cast<std::int64_t>(bytes_) == size &&
      all_in_ != b_.getFalse()) {
    return load_each(type, offset);
  }
  return {Shape::vector(), part(type, offset)};
}

/// Of lanes whose elements lie behind each other.
void Access::store_vector(llvm::Value* all, std::int64_t offset) {
  const llvm::Align unaligned(1);
  if (has_masks()) {
    b_.CreateMaskedStore(all, at(offset), unaligned, mask());
    return;
  }
  llvm::Function* f = b_.GetInsertBlock()->getParent();
  llvm::BasicBlock* whole = llvm::BasicBlock::Create(b_.getContext(), "whole", f);
  llvm::BasicBlock* some = llvm::BasicBlock::Create(b_.getContext(), "some", f);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(b_.getContext(), "stored", f);
  b_.CreateCondBr(
      b_.CreateICmpEQ(active_, llvm::Constant::getAllOnesValue(active_->getType())),
      whole,
      some
  );
  b_.SetInsertPoint(whole);
  b_.CreateAlignedStore(all, at(offset), unaligned);
  b_.CreateBr(done);
  b_.SetInsertPoint(some);
  scatter(all, offset);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

void Access::store(const LaneValue& value, std::int64_t offset) {
  const llvm::Align unaligned(1);
  llvm::Type* type = value.value->getType()->getScalarType();
  const std::int64_t size = type->getScalarSizeInBits() / 8;
  if (called_with_ != nullptr || own_distance_ != nullptr) {
    call(type, lanes_.vector(value));
    return;
  }
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
    store_vector(all, offset);
  } else if (
      !shape_.is_regular() && static_cast<std::int64_t>(bytes_) == size && all_in_ != b_.getFalse()
  ) {
    store_each(all, offset);
  } else {
    scatter(all, offset);
  }
}

} // namespace heddle::jit
