// Implements lane_talk.h.
#include "jit/lane_talk.h"

#include "base/check.h"

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
    return party.is_regular()                ? Shape::uniform()
           : party.kind == Shape::Kind::None ? party
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
  }
  return {};
}

} // namespace heddle::jit
