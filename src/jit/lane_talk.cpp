// Implements lane_talk.h.
#include "jit/lane_talk.h"

#include "base/check.h"
#include "isa/ops_collective.h"

#include <vector>

namespace heddle::jit {

std::optional<Talk> talk_of(const llvm::Instruction& i) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
  if (call == nullptr || call->getCalledFunction() == nullptr) {
    return std::nullopt;
  }
  const llvm::StringRef name = call->getCalledFunction()->getName();
  return name == "heddle_region_lane"        ? std::optional(Talk::Lane)
         : name == "heddle_region_executing" ? std::optional(Talk::Executing)
         : name == "heddle_region_ballot"    ? std::optional(Talk::Ballot)
         : name == "heddle_region_read"      ? std::optional(Talk::Read)
         : name == "heddle_region_same32"    ? std::optional(Talk::Same)
         : name == "heddle_region_same64"    ? std::optional(Talk::Same)
         : name == "heddle_region_fold"      ? std::optional(Talk::Fold)
                                             : std::nullopt;
}

Shape shape(Talk talk, std::span<const Shape> operands, Shape party) {
  for (const Shape operand : operands) {
    if (operand.kind == Shape::Kind::None) {
      return {};
    }
  }
  switch (talk) {
  case Talk::Lane:
    return Shape::regular(1);
  case Talk::Executing:
  case Talk::Ballot:
  case Talk::Fold:
    return party.is_regular()                ? Shape::uniform()
           : party.kind == Shape::Kind::None ? party
                                             : Shape::vector();
  case Talk::Same:
    return operands[0].is_uniform() && party.is_regular() ? Shape::uniform()
           : party.kind == Shape::Kind::None              ? party
                                                          : Shape::vector();
  case Talk::Read:
    return operands[0].is_uniform() || operands[1].is_uniform() ? Shape::uniform()
                                                                : Shape::vector();
  }
  return Shape::vector();
}

namespace {

/// Lane n gets the value of lane from[n], by way of memory.
llvm::Value*
permuted(llvm::IRBuilder<>& b, llvm::Value* value, llvm::Value* from, const TalkContext& context) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements();
  llvm::Type* word = b.getInt32Ty();
  llvm::Type* i64 = b.getInt64Ty();
  const llvm::Align align(64);
  llvm::Value* results = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), context.elements, lanes * 4);
  b.CreateAlignedStore(value, context.elements, align);
  b.CreateAlignedStore(from, context.words, align);
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::Function* f = before->getParent();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(b.getContext(), "read", f);
  llvm::BasicBlock* behind = llvm::BasicBlock::Create(b.getContext(), "have_read", f);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode* lane = b.CreatePHI(i64, 2);
  lane->addIncoming(b.getInt64(0), before);
  llvm::Value* other = b.CreateLoad(word, b.CreateInBoundsGEP(word, context.words, lane));
  other = b.CreateAnd(b.CreateZExt(other, i64), b.getInt64(lanes - 1));
  llvm::Value* read = b.CreateLoad(word, b.CreateInBoundsGEP(word, context.elements, other));
  b.CreateStore(read, b.CreateInBoundsGEP(word, results, lane));
  llvm::Value* next = b.CreateAdd(lane, b.getInt64(1));
  lane->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpEQ(next, b.getInt64(lanes)), behind, loop);
  b.SetInsertPoint(behind);
  return b.CreateAlignedLoad(value->getType(), results, align);
}

LaneValue read(
    llvm::IRBuilder<>& b,
    LaneBuilder& lanes,
    const LaneValue& value,
    const LaneValue& from,
    const TalkContext& context
) {
  if (value.shape.is_uniform()) {
    return value;
  }
  llvm::Value* all = lanes.vector(value);
  if (from.shape.is_uniform()) {
    llvm::Value* lane = b.CreateAnd(from.value, b.getInt32(lanes.lanes() - 1));
    return {Shape::uniform(), b.CreateExtractElement(all, lane)};
  }
  llvm::Value* others = lanes.vector(from);
  if (const auto* known = llvm::dyn_cast<llvm::ConstantDataVector>(others)) {
    std::vector<int> order;
    order.reserve(lanes.lanes());
    for (unsigned lane = 0; lane < lanes.lanes(); ++lane) {
      const std::uint64_t other = known->getElementAsInteger(lane);
      order.push_back(static_cast<int>(other % lanes.lanes()));
    }
    return {Shape::vector(), b.CreateShuffleVector(all, order)};
  }
  return {Shape::vector(), permuted(b, all, others, context)};
}

/// One comparison with all lanes for each lane: none of them waits for another one.
LaneValue
same(llvm::IRBuilder<>& b, LaneBuilder& lanes, const LaneValue& value, const TalkContext& context) {
  if (value.shape.is_uniform()) {
    return context.party;
  }
  llvm::Value* all = lanes.vector(value);
  llvm::Type* element = all->getType()->getScalarType();
  llvm::Type* word = b.getInt32Ty();
  llvm::Type* i64 = b.getInt64Ty();
  const llvm::Align align(64);
  const bool one_party = context.party.shape.is_regular();
  llvm::Value* results = b.CreateConstInBoundsGEP1_64(
      b.getInt8Ty(),
      context.elements,
      std::uint64_t{8} * lanes.lanes()
  );
  b.CreateAlignedStore(all, context.elements, align);
  if (!one_party) {
    b.CreateAlignedStore(context.party.value, context.words, align);
  }
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::Function* f = before->getParent();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(b.getContext(), "same", f);
  llvm::BasicBlock* behind = llvm::BasicBlock::Create(b.getContext(), "have_same", f);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode* lane = b.CreatePHI(i64, 2);
  lane->addIncoming(b.getInt64(0), before);
  const auto at_lane = [&](llvm::Type* type, llvm::Value* from) {
    return b.CreateInBoundsGEP(type, from, lane);
  };
  llvm::Value* one = b.CreateLoad(element, at_lane(element, context.elements));
  llvm::Value* equal = b.CreateICmpEQ(all, b.CreateVectorSplat(lanes.lanes(), one));
  llvm::Value* party =
      one_party ? context.party.value : b.CreateLoad(word, at_lane(word, context.words));
  llvm::Value* those = b.CreateAnd(b.CreateBitCast(equal, word), party);
  b.CreateStore(those, at_lane(word, results));
  llvm::Value* next = b.CreateAdd(lane, b.getInt64(1));
  lane->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpEQ(next, b.getInt64(lanes.lanes())), behind, loop);
  b.SetInsertPoint(behind);
  llvm::Type* words = llvm::FixedVectorType::get(word, lanes.lanes());
  return {Shape::vector(), b.CreateAlignedLoad(words, results, align)};
}

LaneValue fold(
    llvm::IRBuilder<>& b,
    LaneBuilder& lanes,
    const LaneValue& value,
    isa::ops::Fold how,
    const TalkContext& context
) {
  struct Way {
    llvm::Intrinsic::ID intrinsic;
    std::uint32_t neutral;
  };
  const auto way = [how]() -> Way {
    using isa::ops::Fold;
    switch (how) {
    case Fold::Add:
      return {llvm::Intrinsic::vector_reduce_add, 0};
    case Fold::And:
      return {llvm::Intrinsic::vector_reduce_and, ~0U};
    case Fold::Or:
      return {llvm::Intrinsic::vector_reduce_or, 0};
    case Fold::Xor:
      return {llvm::Intrinsic::vector_reduce_xor, 0};
    case Fold::MinU32:
      return {llvm::Intrinsic::vector_reduce_umin, ~0U};
    case Fold::MaxU32:
      return {llvm::Intrinsic::vector_reduce_umax, 0};
    case Fold::MinS32:
      return {llvm::Intrinsic::vector_reduce_smin, 0x7fff'ffff};
    case Fold::MaxS32:
      return {llvm::Intrinsic::vector_reduce_smax, 0x8000'0000};
    }
    HEDDLE_CHECK(false, "a reduction that is none");
    return {};
  }();
  llvm::Value* all = lanes.vector(value);
  llvm::Value* neutral = b.CreateVectorSplat(lanes.lanes(), b.getInt32(way.neutral));
  llvm::Type* mask = llvm::FixedVectorType::get(b.getInt1Ty(), lanes.lanes());
  const auto of = [&](llvm::Value* party) {
    llvm::Value* values = b.CreateSelect(b.CreateBitCast(party, mask), all, neutral);
    return b.CreateUnaryIntrinsic(way.intrinsic, values);
  };
  if (context.party.shape.is_regular()) {
    return {Shape::uniform(), of(context.party.value)};
  }
  // One party after the other; what a lane that does not execute takes for its party may be
  // anything.
  llvm::Type* word = b.getInt32Ty();
  b.CreateAlignedStore(context.party.value, context.words, llvm::Align(64));
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::Function* f = before->getParent();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(b.getContext(), "fold", f);
  llvm::BasicBlock* behind = llvm::BasicBlock::Create(b.getContext(), "folded", f);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode* left = b.CreatePHI(word, 2);
  llvm::PHINode* so_far = b.CreatePHI(all->getType(), 2);
  left->addIncoming(b.getInt32(~0U), before);
  so_far->addIncoming(llvm::Constant::getNullValue(all->getType()), before);
  llvm::Value* first = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b.getTrue());
  llvm::Value* party = b.CreateLoad(word, b.CreateInBoundsGEP(word, context.words, first));
  llvm::Value* result = b.CreateSelect(
      b.CreateBitCast(party, mask),
      b.CreateVectorSplat(lanes.lanes(), of(party)),
      so_far
  );
  llvm::Value* itself = b.CreateShl(b.getInt32(1), first);
  llvm::Value* rest = b.CreateAnd(left, b.CreateNot(b.CreateOr(party, itself)));
  left->addIncoming(rest, loop);
  so_far->addIncoming(result, loop);
  b.CreateCondBr(b.CreateICmpEQ(rest, b.getInt32(0)), behind, loop);
  b.SetInsertPoint(behind);
  return {Shape::vector(), result};
}

} // namespace

LaneValue emit_talk(
    llvm::IRBuilder<>& b,
    LaneBuilder& lanes,
    Talk talk,
    std::span<const LaneValue> operands,
    const TalkContext& context
) {
  HEDDLE_CHECK(lanes.lanes() == 32, "lanes of a part of a warp tell each other something");
  switch (talk) {
  case Talk::Lane:
    return {Shape::regular(1), b.getInt32(0)};
  case Talk::Executing:
    return context.party;
  case Talk::Ballot: {
    const LaneValue& vote = operands[0];
    llvm::Value* bits = vote.shape.is_uniform() ? b.CreateSExt(vote.value, b.getInt32Ty())
                                                : b.CreateBitCast(vote.value, b.getInt32Ty());
    const Shape shape = context.party.shape;
    return {
        shape,
        b.CreateAnd(lanes.as({Shape::uniform(), bits}, shape).value, context.party.value)
    };
  }
  case Talk::Read:
    return read(b, lanes, operands[0], operands[1], context);
  case Talk::Same:
    return same(b, lanes, operands[0], context);
  case Talk::Fold: {
    const auto how = llvm::cast<llvm::ConstantInt>(operands[1].value)->getZExtValue();
    return fold(b, lanes, operands[0], static_cast<isa::ops::Fold>(how), context);
  }
  }
  return {};
}

} // namespace heddle::jit
