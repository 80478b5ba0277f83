// Implements lane_values.h.
#include "jit/lane_values.h"

#include "base/check.h"

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cmath>
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

namespace {

const llvm::ConstantInt* number(const llvm::Constant* constant) {
  const auto* n = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
  return n != nullptr && n->getBitWidth() <= 64 ? n : nullptr;
}

/// Of i & mask.
Shape likely_masked(Shape operand, const llvm::ConstantInt* mask, unsigned lanes) {
  const std::optional<double> slope = operand.slope();
  if (!slope) {
    return Shape::vector();
  }
  const bool upward = operand.is_regular() && operand.stride > 0;
  if (mask == nullptr) { // i % n with an n that is a power of two
    return upward ? operand : Shape::vector();
  }
  const llvm::APInt& m = mask->getValue();
  const double wanted = std::fabs(*slope) * lanes;
  if (m.isMask()) {
    return upward && static_cast<double>(m.getZExtValue()) + 1 >= wanted ? operand
                                                                         : Shape::vector();
  }
  if (m.isNegatedPowerOf2()) {
    const std::uint64_t unit = std::uint64_t{1} << m.countr_zero();
    if (operand.is_regular() && operand.stride % static_cast<std::int64_t>(unit) == 0) {
      return operand;
    }
    return static_cast<double>(unit) >= wanted ? Shape::uniform() : Shape::vector();
  }
  return Shape::vector();
}

/// Of i / divisor, which is `by` if that is constant.
Shape likely_quotient(Shape operand, std::optional<double> by, unsigned lanes) {
  const std::optional<double> slope = operand.slope();
  if (!slope) {
    return Shape::vector();
  }
  if (!by) {
    return operand.is_regular() && operand.stride > 0 ? Shape::uniform() : Shape::vector();
  }
  const double result = *slope / *by;
  const double times = std::fabs(result) * lanes; // by how much a warp's values differ
  // Warps begin at multiples of their size, and so do rows of a multiple of that.
  const double warps = times == 0 ? 1 : 1 / times;
  const bool fits = std::fabs(warps - std::round(warps)) < 1e-4 && warps >= 0.9999;
  return fits || warps >= 10 ? Shape::uniform() : Shape::sloped(result);
}

/// Divisions of integers by way of floating-point numbers (isa/ops_integer.h).
Shape likely_number(
    const llvm::Instruction& i,
    std::span<const Shape> operands,
    std::span<llvm::Constant* const> constants
) {
  const std::optional<double> slope = operands.empty() ? std::nullopt : operands[0].slope();
  if (!slope) {
    return Shape::vector();
  }
  if (llvm::isa<llvm::UIToFPInst>(i) || llvm::isa<llvm::SIToFPInst>(i)) {
    return Shape::sloped(*slope);
  }
  if (i.getOpcode() != llvm::Instruction::FDiv || !operands[1].is_uniform()) {
    return Shape::vector();
  }
  const auto* by = llvm::dyn_cast_or_null<llvm::ConstantFP>(constants[1]);
  return Shape::sloped(by != nullptr ? *slope / by->getValueAPF().convertToDouble() : 0);
}

/// Which of both values is likely, if either is: a divisor is none of the numbers that it is
/// compared with.
std::optional<unsigned> likely_choice(const llvm::Instruction& select) {
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(select.getOperand(0));
  if (compare == nullptr || !compare->isEquality() ||
      !llvm::isa<llvm::ConstantInt>(compare->getOperand(1))) {
    return std::nullopt;
  }
  return compare->getPredicate() == llvm::CmpInst::ICMP_NE ? 1 : 2;
}

} // namespace

Shape likely_shape(
    const llvm::Instruction& i,
    std::span<const Shape> operands,
    std::span<llvm::Constant* const> constants,
    unsigned lanes
) {
  const llvm::Type* type = i.getType();
  if (type->isDoubleTy()) {
    return likely_number(i, operands, constants);
  }
  if (!type->isIntegerTy() || type->getIntegerBitWidth() > 64 || type->getIntegerBitWidth() < 32 ||
      operands.empty()) {
    return Shape::vector();
  }
  const std::optional<double> slope = operands[0].slope();
  const auto* second = operands.size() > 1 ? number(constants[1]) : nullptr;
  switch (i.getOpcode()) {
  case llvm::Instruction::Trunc:
  case llvm::Instruction::Freeze:
  case llvm::Instruction::SExt:
  case llvm::Instruction::ZExt:
    return operands[0].kind == Shape::Kind::Sloped ? operands[0] : Shape::vector();
  case llvm::Instruction::FPToUI:
  case llvm::Instruction::FPToSI:
    return operands[0].kind == Shape::Kind::Sloped ? likely_quotient(operands[0], 1.0, lanes)
                                                   : Shape::vector();
  case llvm::Instruction::Select: {
    const std::optional<unsigned> choice = likely_choice(i);
    return choice && operands[0].is_uniform() && operands[1].is_regular() &&
                   operands[2].is_regular()
               ? operands[*choice]
               : Shape::vector();
  }
  case llvm::Instruction::Add:
  case llvm::Instruction::Sub: {
    const std::optional<double> other = operands[1].slope();
    if (!slope || !other) {
      return Shape::vector();
    }
    return Shape::sloped(
        i.getOpcode() == llvm::Instruction::Add ? *slope + *other : *slope - *other
    );
  }
  case llvm::Instruction::Mul: { // the first half of a division by a constant
    const unsigned n = operands[1].is_uniform() ? 0 : 1;
    const auto* by = number(constants[1 - n]);
    return operands[n].is_regular() && by != nullptr && type->getIntegerBitWidth() == 64
               ? Shape::sloped(
                     static_cast<double>(operands[n].stride) *
                     static_cast<double>(by->getSExtValue())
                 )
               : Shape::vector();
  }
  case llvm::Instruction::And: {
    const unsigned n = operands[1].is_uniform() ? 0 : 1;
    return operands[1 - n].is_uniform()
               ? likely_masked(operands[n], number(constants[1 - n]), lanes)
               : Shape::vector();
  }
  case llvm::Instruction::LShr:
  case llvm::Instruction::AShr: {
    if (second == nullptr || second->getZExtValue() >= type->getIntegerBitWidth()) {
      return Shape::vector();
    }
    const double unit = std::ldexp(1.0, static_cast<int>(second->getZExtValue()));
    if (operands[0].is_regular() && operands[0].stride > 0 &&
        std::fmod(static_cast<double>(operands[0].stride), unit) == 0) {
      return Shape::regular(
          static_cast<std::int64_t>(static_cast<double>(operands[0].stride) / unit)
      );
    }
    return likely_quotient(operands[0], unit, lanes);
  }
  case llvm::Instruction::UDiv:
  case llvm::Instruction::SDiv:
    if (!operands[1].is_uniform() || (second != nullptr && second->getSExtValue() <= 0)) {
      return Shape::vector();
    }
    return likely_quotient(
        operands[0],
        second != nullptr ? std::optional(static_cast<double>(second->getSExtValue()))
                          : std::nullopt,
        lanes
    );
  case llvm::Instruction::URem:
  case llvm::Instruction::SRem: {
    if (!operands[1].is_uniform() || !operands[0].is_regular() || operands[0].stride <= 0) {
      return Shape::vector();
    }
    const bool one_row =
        second == nullptr || static_cast<double>(second->getSExtValue()) >= *slope * lanes;
    return one_row ? operands[0] : Shape::vector();
  }
  default:
    return Shape::vector();
  }
}

llvm::Constant* fold(
    const llvm::Instruction& i,
    std::span<llvm::Constant* const> operands,
    const llvm::DataLayout& layout
) {
  if (llvm::isa<llvm::FreezeInst>(i)) {
    return nullptr;
  }
  auto* instruction = const_cast<llvm::Instruction*>(&i);
  const llvm::ArrayRef<llvm::Constant*> all(operands.data(), operands.size());
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(instruction)) {
    return i.getType()->isIntegerTy() &&
                   llvm::canConstantFoldCallTo(call, call->getCalledFunction())
               ? llvm::ConstantFoldCall(call, call->getCalledFunction(), all)
               : nullptr;
  }
  return llvm::ConstantFoldInstOperands(instruction, all, layout);
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
  if (shape.is_regular() && guesses_) {
    return checked(vector(v), shape); // when more was known of the operands, less was likely
  }
  HEDDLE_CHECK(!shape.is_regular(), "a value is less regular than was said");
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
  if (constants.size() == values.size()) {
    const llvm::DataLayout& layout = b_.GetInsertBlock()->getModule()->getDataLayout();
    if (llvm::Constant* folded = fold(i, constants, layout)) {
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

/// What is regular only if all lanes have such values.
LaneValue LaneBuilder::checked(llvm::Value* all, Shape likely) {
  llvm::Value* base = b_.CreateExtractElement(all, std::uint64_t{0});
  llvm::Value* differs = b_.CreateICmpNE(all, vector({likely, base}));
  llvm::Type* bits = b_.getIntNTy(lanes_);
  leave_unless_(
      b_.CreateICmpEQ(b_.CreateBitCast(differs, bits), llvm::Constant::getNullValue(bits))
  );
  return {likely, base};
}

/// Where the operand is regular, the first and the last lane tell about all of them.
LaneValue
LaneBuilder::guess(const llvm::Instruction& i, std::span<const LaneValue> operands, Shape likely) {
  if (llvm::isa<llvm::SelectInst>(i)) {
    const unsigned choice = *likely_choice(i);
    llvm::Value* first = operands[0].value;
    leave_unless_(choice == 1 ? first : b_.CreateNot(first));
    return operands[choice];
  }
  const unsigned n = operands[0].shape.is_uniform() ? 1 : 0; // that with a stride
  const auto regular = [](const LaneValue& v) { return v.shape.is_regular(); };
  if (!std::ranges::all_of(operands, regular) || operands[n].shape.stride < 0) {
    return checked(wide(i, operands), likely);
  }
  llvm::Value* base = operands[n].value;
  llvm::Value* distance = llvm::ConstantInt::getSigned(
      base->getType(),
      operands[n].shape.stride * static_cast<std::int64_t>(lanes_ - 1),
      /*ImplicitTrunc=*/true
  );
  llvm::Value* last = b_.CreateAdd(base, distance);
  const bool is_signed = i.getOpcode() == llvm::Instruction::AShr ||
                         i.getOpcode() == llvm::Instruction::SDiv ||
                         i.getOpcode() == llvm::Instruction::SRem;
  llvm::Value* good = is_signed ? b_.CreateICmpSGE(last, base) : b_.CreateICmpUGE(last, base);
  std::vector<LaneValue> at_last(operands.begin(), operands.end());
  at_last[n].value = last;
  if (i.getOpcode() == llvm::Instruction::SDiv) { // the last lane's quotient may not exist
    llvm::Value* by = operands[1].value;
    llvm::Value* positive = b_.CreateICmpSGT(by, llvm::Constant::getNullValue(by->getType()));
    at_last[1].value = b_.CreateSelect(positive, by, llvm::ConstantInt::get(by->getType(), 1));
  }
  llvm::Value* result = scalar(i, operands);
  switch (i.getOpcode()) {
  case llvm::Instruction::And: {
    llvm::Value* mask = operands[1 - n].value;
    if (likely.is_uniform()) {
      break;
    }
    // Of a mask 0…01…1 what is added must not leave it; nor may it change anything below 1…10…0.
    llvm::Value* above = b_.CreateAdd(mask, llvm::ConstantInt::get(mask->getType(), 1));
    llvm::Value* low =
        b_.CreateICmpEQ(b_.CreateAnd(mask, above), llvm::Constant::getNullValue(mask->getType()));
    llvm::Value* inside = b_.CreateICmpULE(distance, b_.CreateSub(mask, result));
    llvm::Value* below = b_.CreateAnd(
        b_.CreateNot(mask),
        llvm::ConstantInt::getSigned(
            mask->getType(),
            operands[n].shape.stride,
            /*ImplicitTrunc=*/true
        )
    );
    llvm::Value* high = b_.CreateICmpEQ(
        b_.CreateAnd(
            b_.CreateNot(mask),
            b_.CreateSub(llvm::Constant::getNullValue(mask->getType()), mask)
        ),
        llvm::Constant::getNullValue(mask->getType())
    );
    high =
        b_.CreateAnd(high, b_.CreateICmpEQ(below, llvm::Constant::getNullValue(mask->getType())));
    leave_unless_(b_.CreateOr(b_.CreateAnd(low, inside), high));
    return {likely, result};
  }
  case llvm::Instruction::LShr:
  case llvm::Instruction::AShr:
    if (!likely.is_uniform()) {
      leave_unless_(good); // what is shifted out is the same in all lanes
      return {likely, result};
    }
    break;
  case llvm::Instruction::URem:
  case llvm::Instruction::SRem: {
    llvm::Value* left = b_.CreateSub(operands[1].value, result);
    good = b_.CreateAnd(good, b_.CreateICmpUGT(left, distance));
    if (is_signed) {
      llvm::Value* zero = llvm::Constant::getNullValue(base->getType());
      good = b_.CreateAnd(good, b_.CreateICmpSGE(base, zero));
      good = b_.CreateAnd(good, b_.CreateICmpSGT(operands[1].value, zero));
    }
    leave_unless_(good);
    return {likely, result};
  }
  default:
    break;
  }
  HEDDLE_CHECK(likely.is_uniform(), "a guess that nobody can check");
  // These do not fall while the operand grows.
  good = b_.CreateAnd(good, b_.CreateICmpEQ(result, scalar(i, at_last)));
  if (i.getOpcode() == llvm::Instruction::SDiv) {
    llvm::Value* zero = llvm::Constant::getNullValue(base->getType());
    good = b_.CreateAnd(good, b_.CreateICmpSGT(operands[1].value, zero));
  }
  leave_unless_(good);
  return {likely, result};
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
    const Shape likely = guesses_ ? likely_shape(i, shapes, constants, lanes_) : Shape::vector();
    return likely.is_regular() ? guess(i, operands, likely) : LaneValue{likely, wide(i, operands)};
  }
  if (checked && result.stride != 0 &&
      (i.getOpcode() == llvm::Instruction::SExt || i.getOpcode() == llvm::Instruction::ZExt)) {
    check_widening(i, operands[0]);
  }
  return {result, scalar(i, operands)};
}

} // namespace heddle::jit
