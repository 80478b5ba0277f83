// Implements lane_values.h.
#include "jit/lane_values.h"

#include "base/check.h"

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace heddle::jit {
namespace {

/// A stride of integers of so many bits, or a vector if it is too large to be of use.
Shape with_stride(std::int64_t stride, unsigned bits) {
  if (bits < 64) {
    const unsigned spare = 64 - bits;
    stride = static_cast<std::int64_t>(static_cast<std::uint64_t>(stride) << spare) >>
             static_cast<std::int64_t>(spare);
  }
  constexpr std::int64_t most = 1 << 20;
  return stride > -most && stride < most ? Shape::regular(stride) : Shape::vector();
}

std::int64_t product(std::int64_t stride, const llvm::Constant* factor) {
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(factor);
  constexpr std::int64_t too_large = std::numeric_limits<std::int64_t>::max();
  if (number == nullptr || number->getBitWidth() > 64) {
    return too_large;
  }
  const std::int64_t by = number->getSExtValue();
  return by > -(1 << 20) && by < 1 << 20 ? stride * by : too_large;
}

} // namespace

Shape shape(
    const llvm::Instruction& i,
    std::span<const Shape> operands,
    std::span<llvm::Constant* const> constants
) {
  if (std::ranges::any_of(operands, [](Shape s) { return s.kind == Shape::Kind::None; })) {
    return {};
  }
  if (std::ranges::all_of(operands, &Shape::is_uniform)) {
    return Shape::uniform();
  }
  if (!i.getType()->isIntegerTy() || i.getType()->getIntegerBitWidth() > 64 ||
      i.getType()->getIntegerBitWidth() < 8 || !std::ranges::all_of(operands, &Shape::is_regular)) {
    return Shape::vector();
  }
  const unsigned bits = i.getType()->getIntegerBitWidth();
  switch (i.getOpcode()) {
  case llvm::Instruction::Add:
    return with_stride(operands[0].stride + operands[1].stride, bits);
  case llvm::Instruction::Sub:
    return with_stride(operands[0].stride - operands[1].stride, bits);
  case llvm::Instruction::Or:
    return llvm::cast<llvm::PossiblyDisjointInst>(i).isDisjoint()
               ? with_stride(operands[0].stride + operands[1].stride, bits)
               : Shape::vector();
  case llvm::Instruction::Mul: {
    const bool first = operands[1].is_uniform();
    const std::int64_t stride = product(operands[first ? 0 : 1].stride, constants[first ? 1 : 0]);
    return stride != std::numeric_limits<std::int64_t>::max() ? with_stride(stride, bits)
                                                              : Shape::vector();
  }
  case llvm::Instruction::Shl: {
    const auto* by = llvm::dyn_cast_or_null<llvm::ConstantInt>(constants[1]);
    if (!operands[1].is_uniform() || by == nullptr || by->getZExtValue() >= 32) {
      return Shape::vector();
    }
    return with_stride(operands[0].stride << by->getZExtValue(), bits);
  }
  case llvm::Instruction::Select:
    if (const auto* chosen = llvm::dyn_cast_or_null<llvm::ConstantInt>(constants[0])) {
      return operands[chosen->isOne() ? 1 : 2];
    }
    return operands[0].is_uniform() && operands[1] == operands[2] ? operands[1] : Shape::vector();
  case llvm::Instruction::Trunc:
  case llvm::Instruction::Freeze:
    return with_stride(operands[0].stride, bits);
  case llvm::Instruction::SExt:
  case llvm::Instruction::ZExt:
    return i.getOperand(0)->getType()->getIntegerBitWidth() >= 32
               ? with_stride(operands[0].stride, bits)
               : Shape::vector();
  default:
    return Shape::vector();
  }
}

llvm::Type* LaneBuilder::widened(llvm::Type* type) const {
  if (auto* parts = llvm::dyn_cast<llvm::StructType>(type)) {
    std::vector<llvm::Type*> wide;
    for (llvm::Type* part : parts->elements()) {
      wide.push_back(widened(part));
    }
    return llvm::StructType::get(type->getContext(), wide);
  }
  return llvm::FixedVectorType::get(type, lanes_);
}

llvm::Value* LaneBuilder::vector(const LaneValue& v) {
  if (!v.shape.is_regular()) {
    return v.value;
  }
  llvm::Value* all = b_.CreateVectorSplat(lanes_, v.value);
  if (v.shape.stride == 0) {
    return all;
  }
  std::vector<llvm::Constant*> steps;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    steps.push_back(
        llvm::ConstantInt::getSigned(
            v.value->getType(),
            v.shape.stride * lane,
            /*ImplicitTrunc=*/true
        )
    );
  }
  return b_.CreateAdd(all, llvm::ConstantVector::get(steps));
}

LaneValue LaneBuilder::as(const LaneValue& v, Shape shape) {
  if (v.shape == shape) {
    return v;
  }
  HEDDLE_CHECK(shape.kind == Shape::Kind::Vector, "a value is less regular than was said");
  return {shape, vector(v)};
}

/// A lane's value in the wider type is base + lane × stride only if none wraps around.
void LaneBuilder::check_widening(const llvm::Instruction& i, const LaneValue& operand) {
  const auto op = static_cast<llvm::Instruction::CastOps>(i.getOpcode());
  llvm::Type* narrow = operand.value->getType();
  if (narrow->getIntegerBitWidth() > 32) {
    return;
  }
  llvm::Value* distance =
      b_.getInt64(static_cast<std::uint64_t>(operand.shape.stride * (lanes_ - 1)));
  llvm::Value* last = b_.CreateAdd(b_.CreateCast(op, operand.value, b_.getInt64Ty()), distance);
  llvm::Value* again = b_.CreateCast(op, b_.CreateTrunc(last, narrow), b_.getInt64Ty());
  leave_unless_(b_.CreateICmpEQ(last, again));
}

namespace {

/// The instruction with other operands, of types that are the same or vectors of them.
llvm::Value* rebuild(
    llvm::IRBuilder<>& b,
    const llvm::Instruction& i,
    const std::vector<llvm::Value*>& v,
    llvm::Type* type
) {
  if (const auto* op = llvm::dyn_cast<llvm::BinaryOperator>(&i)) {
    return b.CreateBinOp(op->getOpcode(), v[0], v[1]);
  }
  if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&i)) {
    return b.CreateCast(cast->getOpcode(), v[0], type);
  }
  if (const auto* compare = llvm::dyn_cast<llvm::CmpInst>(&i)) {
    return b.CreateCmp(compare->getPredicate(), v[0], v[1]);
  }
  switch (i.getOpcode()) {
  case llvm::Instruction::Select:
    return b.CreateSelect(v[0], v[1], v[2]);
  case llvm::Instruction::FNeg:
    return b.CreateFNeg(v[0]);
  case llvm::Instruction::Freeze:
    return b.CreateFreeze(v[0]);
  case llvm::Instruction::ExtractValue:
    return b.CreateExtractValue(v[0], llvm::cast<llvm::ExtractValueInst>(i).getIndices());
  default:
    break;
  }
  const auto& call = llvm::cast<llvm::IntrinsicInst>(i);
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  std::vector<llvm::Type*> overloads;
  if (id == llvm::Intrinsic::fptosi_sat || id == llvm::Intrinsic::fptoui_sat ||
      id == llvm::Intrinsic::scmp || id == llvm::Intrinsic::ucmp) {
    overloads = {type, v[0]->getType()};
  } else if (llvm::isa<llvm::WithOverflowInst>(i) || id == llvm::Intrinsic::is_fpclass) {
    overloads = {v[0]->getType()};
  } else {
    overloads = {type};
  }
  llvm::Module* module = b.GetInsertBlock()->getModule();
  return b.CreateCall(llvm::Intrinsic::getOrInsertDeclaration(module, id, overloads), v);
}

/// Arguments of intrinsics that stay scalars: flags.
bool is_flag(const llvm::Instruction& i, unsigned n) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  return call != nullptr && call->paramHasAttr(n, llvm::Attribute::ImmArg);
}

} // namespace

llvm::Value* LaneBuilder::scalar(const llvm::Instruction& i, std::span<const LaneValue> operands) {
  std::vector<llvm::Value*> values;
  std::vector<llvm::Constant*> constants;
  for (const LaneValue& operand : operands) {
    values.push_back(operand.value);
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(operand.value)) {
      constants.push_back(constant);
    }
  }
  if (constants.size() == values.size() && !llvm::isa<llvm::FreezeInst>(i)) {
    const llvm::DataLayout& layout = b_.GetInsertBlock()->getModule()->getDataLayout();
    if (llvm::Constant* folded =
            llvm::ConstantFoldInstOperands(const_cast<llvm::Instruction*>(&i), constants, layout)) {
      return folded;
    }
  }
  return rebuild(b_, i, values, i.getType());
}

llvm::Value* LaneBuilder::wide(const llvm::Instruction& i, std::span<const LaneValue> operands) {
  std::vector<llvm::Value*> values;
  for (unsigned n = 0; n < operands.size(); ++n) {
    const bool stays = is_flag(i, n) ||
                       (n == 0 && llvm::isa<llvm::SelectInst>(i) && operands[0].shape.is_uniform());
    values.push_back(stays ? operands[n].value : vector(operands[n]));
  }
  return rebuild(b_, i, values, widened(i.getType()));
}

LaneValue
LaneBuilder::apply(const llvm::Instruction& i, std::span<const LaneValue> operands, bool checked) {
  std::vector<Shape> shapes;
  std::vector<llvm::Constant*> constants;
  for (const LaneValue& operand : operands) {
    shapes.push_back(operand.shape);
    constants.push_back(
        operand.shape.is_uniform() ? llvm::dyn_cast<llvm::Constant>(operand.value) : nullptr
    );
  }
  const Shape result = shape(i, shapes, constants);
  if (llvm::isa<llvm::SelectInst>(i) && constants[0] != nullptr &&
      llvm::isa<llvm::ConstantInt>(constants[0])) {
    return operands[llvm::cast<llvm::ConstantInt>(constants[0])->isOne() ? 1 : 2];
  }
  if (!result.is_regular()) {
    return {Shape::vector(), wide(i, operands)};
  }
  if (checked && result.stride != 0 &&
      (i.getOpcode() == llvm::Instruction::SExt || i.getOpcode() == llvm::Instruction::ZExt)) {
    check_widening(i, operands[0]);
  }
  return {result, scalar(i, operands)};
}

} // namespace heddle::jit
