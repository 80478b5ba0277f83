// Implements any_nan.h.
#include "jit/any_nan.h"

#include "jit/lane_talk.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <set>

namespace heddle::jit {
const llvm::Value* without_casts(const llvm::Value* v) {
  while (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(v)) {
    v = cast->getOperand(0);
  }
  return v;
}

namespace {

namespace match = llvm::PatternMatch;

constexpr std::uint32_t infinity_word = 0x7f80'0000;
constexpr std::uint32_t sign_word = 0x8000'0000;

/// A value that is executed twice, with two NaN in the place of one argument.
enum class Same : std::uint8_t {
  Always,
  OrNan, // or NaN both times
  No
};

/// A number that has at most its sign changed.
const llvm::Value* without_sign(const llvm::Value* v) {
  for (v = without_casts(v);; v = without_casts(v)) {
    const llvm::Value* operand = nullptr;
    if (!match::match(v, match::m_FNeg(match::m_Value(operand))) &&
        !match::match(v, match::m_FAbs(match::m_Value(operand)))) {
      return v;
    }
    v = operand;
  }
}

/// v, with subnormal numbers as zero of their sign (ops::flush); nullptr: it is something else.
const llvm::Value* flushed(const llvm::Value* v) {
  const llvm::Value* all = nullptr;
  const llvm::Value* of_exponent = nullptr;
  const llvm::Value* of_sign = nullptr;
  const bool is_flush = match::match(
      without_casts(v),
      match::m_Select(
          match::m_SpecificICmp(
              llvm::CmpInst::ICMP_EQ,
              match::m_And(match::m_Value(of_exponent), match::m_SpecificInt(infinity_word)),
              match::m_Zero()
          ),
          match::m_And(match::m_Value(of_sign), match::m_SpecificInt(sign_word)),
          match::m_Value(all)
      )
  );
  all = is_flush ? without_casts(all) : nullptr;
  return is_flush && without_casts(of_exponent) == all && without_casts(of_sign) == all ? all
                                                                                        : nullptr;
}

bool is_nan_word(const llvm::Value* v) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(v);
  if (const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant)) {
    return number->getType()->isFloatTy() &&
           number->getValueAPF().bitcastToAPInt().getZExtValue() == nan_word;
  }
  const auto* word = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
  return word != nullptr && word->getBitWidth() == 32 && word->getZExtValue() == nan_word;
}

bool is_word(const llvm::Type* type) {
  return type->isFloatTy() || type->isIntegerTy(32);
}

/// A number, or PTX's NaN.
bool is_settled(const llvm::Constant* constant) {
  if (const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant)) {
    return number->getType()->isFloatTy() && (!number->isNaN() || is_nan_word(number));
  }
  const auto* word = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
  if (word == nullptr) {
    return false;
  }
  const auto low = static_cast<std::uint32_t>(word->getZExtValue());
  return (low & ~sign_word) <= infinity_word || low == nan_word;
}

/// Is `value` a NaN exactly where `condition` does not hold?
bool is_number_if(const llvm::Value* value, const llvm::Value* condition) {
  const auto* compare = llvm::dyn_cast<llvm::FCmpInst>(condition);
  if (compare == nullptr) {
    return false;
  }
  const llvm::Value* asked = compare->getOperand(0);
  const llvm::Value* other = compare->getOperand(1);
  const bool of_one = other == asked || match::match(other, match::m_AnyZeroFP());
  if (!of_one) {
    return false;
  }
  if (compare->getPredicate() == llvm::CmpInst::FCMP_ORD) {
    const llvm::Value* number = flushed(value) != nullptr ? flushed(value) : value;
    return without_sign(number) == without_sign(asked);
  }
  const llvm::Value* of = nullptr; // sqrt
  return compare->getPredicate() == llvm::CmpInst::FCMP_OGE && other != asked &&
         match::match(
             without_casts(value),
             match::m_Intrinsic<llvm::Intrinsic::sqrt>(match::m_Value(of))
         ) &&
         of == asked;
}

/// Of one function, for one argument.
class Comparison {
public:
  explicit Comparison(const llvm::Value* argument) : argument_(argument) {}

  Same of(const llvm::Value* v) {
    if (llvm::isa<llvm::Constant>(v) || numbers_.contains(without_casts(v))) {
      return Same::Always;
    }
    if (llvm::isa<llvm::Argument>(v)) {
      return v == argument_ ? Same::OrNan : Same::Always;
    }
    if (const auto it = known_.find(v); it != known_.end()) {
      return it->second;
    }
    const Same same = compute(llvm::cast<llvm::Instruction>(*v));
    known_[v] = same;
    return same;
  }

private:
  Same most(const llvm::Instruction& i, unsigned count) {
    Same result = Same::Always;
    for (unsigned n = 0; n < count; ++n) {
      result = std::max(result, of(i.getOperand(n)));
    }
    return result;
  }
  /// Of what is compared, or made an integer: NaN is NaN.
  Same without_bits(const llvm::Instruction& i, unsigned count) {
    return most(i, count) == Same::No ? Same::No : Same::Always;
  }

  Same compute(const llvm::Instruction& i) {
    if (const llvm::Value* number = flushed(&i); number != nullptr && of(number) != Same::No) {
      return of(number);
    }
    if (const auto talk = talk_of(i)) {
      if (*talk != Talk::Read || of(i.getOperand(1)) != Same::Always) {
        return without_talk(i);
      }
      Comparison of_all(argument_); // what is known of this lane's value is not of the other's
      return of_all.of(i.getOperand(0));
    }
    if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(&i)) {
      return of_select(*select);
    }
    if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) {
      return of_intrinsic(*call);
    }
    switch (i.getOpcode()) {
    case llvm::Instruction::BitCast:
      return is_word(i.getType()) && is_word(i.getOperand(0)->getType()) ? of(i.getOperand(0))
                                                                         : all_or_nothing(i);
    case llvm::Instruction::FNeg:
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
    case llvm::Instruction::FMul:
    case llvm::Instruction::FDiv:
    case llvm::Instruction::FPExt:
    case llvm::Instruction::FPTrunc:
      return most(i, i.getNumOperands());
    case llvm::Instruction::FCmp:
    case llvm::Instruction::FPToSI:
    case llvm::Instruction::FPToUI:
      return without_bits(i, i.getNumOperands());
    case llvm::Instruction::And: { // no more than the exponent, which all NaN share
      const auto* mask = llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1));
      if (mask != nullptr && mask->getBitWidth() == 32 &&
          (mask->getZExtValue() & ~std::uint64_t{infinity_word}) == 0) {
        return without_bits(i, 1);
      }
      return all_or_nothing(i);
    }
    default:
      return all_or_nothing(i);
    }
  }

  Same all_or_nothing(const llvm::Instruction& i) {
    return most(i, i.getNumOperands()) == Same::Always ? Same::Always : Same::No;
  }
  Same without_talk(const llvm::Instruction& i) {
    return most(i, i.getNumOperands() - 1) == Same::Always ? Same::Always : Same::No;
  }

  Same of_intrinsic(const llvm::IntrinsicInst& i) {
    switch (i.getIntrinsicID()) {
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::sqrt:
    case llvm::Intrinsic::fabs:
    case llvm::Intrinsic::minnum:
    case llvm::Intrinsic::maxnum:
    case llvm::Intrinsic::floor:
    case llvm::Intrinsic::ceil:
    case llvm::Intrinsic::trunc:
    case llvm::Intrinsic::rint:
    case llvm::Intrinsic::nearbyint:
    case llvm::Intrinsic::roundeven:
      return most(i, i.arg_size());
    case llvm::Intrinsic::copysign:
      return of(i.getArgOperand(1)) == Same::Always ? of(i.getArgOperand(0)) : Same::No;
    case llvm::Intrinsic::fptosi_sat:
    case llvm::Intrinsic::fptoui_sat:
      return without_bits(i, i.arg_size());
    default:
      return most(i, i.arg_size()) == Same::Always ? Same::Always : Same::No;
    }
  }

  /// What must be a number if a condition has this value.
  static void
  find_numbers(const llvm::Value* condition, bool holds, std::vector<const llvm::Value*>& numbers) {
    const llvm::Value* a = nullptr;
    const llvm::Value* b = nullptr;
    if (holds &&
        match::match(condition, match::m_LogicalAnd(match::m_Value(a), match::m_Value(b)))) {
      find_numbers(a, true, numbers);
      find_numbers(b, true, numbers);
      return;
    }
    if (!holds &&
        match::match(condition, match::m_LogicalOr(match::m_Value(a), match::m_Value(b)))) {
      find_numbers(a, false, numbers);
      find_numbers(b, false, numbers);
      return;
    }
    const auto* compare = llvm::dyn_cast<llvm::FCmpInst>(condition);
    if (compare == nullptr) {
      return;
    }
    const llvm::CmpInst::Predicate predicate =
        holds ? compare->getPredicate() : compare->getInversePredicate();
    if (llvm::CmpInst::isOrdered(predicate)) {
      numbers.insert(numbers.end(), {compare->getOperand(0), compare->getOperand(1)});
    }
  }

  Same of_select(const llvm::SelectInst& select) {
    if (of(select.getCondition()) != Same::Always) {
      return Same::No;
    }
    const auto arm = [&](const llvm::Value* value, bool holds) {
      std::vector<const llvm::Value*> numbers;
      find_numbers(select.getCondition(), holds, numbers);
      Comparison there(argument_);
      there.numbers_ = numbers_;
      bool more = false;
      for (const llvm::Value* number : numbers) {
        if (!llvm::isa<llvm::Constant>(number) && of(number) == Same::OrNan) {
          there.numbers_.insert(without_casts(number));
          there.numbers_.insert(without_sign(number));
          more = true;
        }
      }
      return more ? there.of(value) : of(value);
    };
    return std::max(arm(select.getTrueValue(), true), arm(select.getFalseValue(), false));
  }

  const llvm::Value* argument_;
  std::set<const llvm::Value*> numbers_; // that are none of the NaN
  std::map<const llvm::Value*, Same> known_;
};

/// Is v one of some arguments, or a constant?
bool find_copied(const llvm::Value* v, std::vector<unsigned>& arguments) {
  v = without_casts(v);
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(v)) {
    arguments.push_back(argument->getArgNo());
    return true;
  }
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(v)) {
    return is_settled(constant);
  }
  const auto& i = llvm::cast<llvm::Instruction>(*v);
  if (talk_of(i) == Talk::Read) {
    return find_copied(i.getOperand(0), arguments);
  }
  switch (i.getOpcode()) {
  case llvm::Instruction::SIToFP:
  case llvm::Instruction::UIToFP:
    return i.getType()->isFloatTy();
  case llvm::Instruction::Trunc: // a constant's word has 64 bits
    return llvm::isa<llvm::Argument>(i.getOperand(0)) && find_copied(i.getOperand(0), arguments);
  case llvm::Instruction::Select:
    return find_copied(i.getOperand(1), arguments) && find_copied(i.getOperand(2), arguments);
  default:
    return false;
  }
}

NanFlow::Result flow_of(const llvm::Value* value) {
  NanFlow::Result result;
  const llvm::Value* v = without_casts(value);
  if (!is_word(v->getType())) {
    return result;
  }
  const auto* select = llvm::dyn_cast<llvm::SelectInst>(v);
  if (select != nullptr && is_nan_word(select->getFalseValue()) &&
      is_number_if(select->getTrueValue(), select->getCondition())) {
    result.any = select->getTrueValue();
    result.computed = true;
  } else if (find_copied(value, result.copied)) {
    result.any = value;
  }
  return result;
}

} // namespace

NanFlow nan_flow(const LaneFunction& lane, std::size_t inputs, std::size_t outputs) {
  const llvm::Function& f = *lane.function;
  NanFlow flow;
  flow.results.resize(outputs);
  flow.observed.resize(inputs, !lane.straight);
  flow.copies.resize(inputs);
  if (!lane.straight) {
    return flow;
  }
  std::vector<const llvm::Value*> written(outputs);
  for (const llvm::Instruction& i : f.getEntryBlock()) {
    if (const auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&i)) {
      written[insert->getIndices()[0]] = insert->getInsertedValueOperand();
    }
    const auto* ret = llvm::dyn_cast<llvm::ReturnInst>(&i);
    const auto* constants =
        ret != nullptr ? llvm::dyn_cast<llvm::Constant>(ret->getReturnValue()) : nullptr;
    for (unsigned n = 0; constants != nullptr && n < outputs; ++n) {
      written[n] = constants->getAggregateElement(n);
    }
  }
  for (std::size_t n = 0; n < outputs; ++n) {
    if (written[n] != nullptr) {
      flow.results[n] = flow_of(written[n]);
    }
  }
  for (unsigned n = 0; n < inputs; ++n) {
    Comparison comparison(f.getArg(n));
    const auto differs = [&](const llvm::Value* v) { return comparison.of(v) != Same::Always; };
    bool observed = false;
    for (const llvm::Instruction& i : f.getEntryBlock()) {
      if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
        observed = observed || differs(store->getValueOperand());
      } else if (is_reach(i)) {
        observed = observed || differs(i.getOperand(0));
      }
    }
    for (unsigned m = 0; m < outputs; ++m) {
      const NanFlow::Result& result = flow.results[m];
      if (written[m] == nullptr) {
        continue;
      }
      if (result.any != nullptr && comparison.of(result.any) == Same::No) {
        observed = true;
      }
      if (!differs(written[m])) {
        continue;
      }
      if (result.any == written[m] && comparison.of(written[m]) == Same::OrNan) {
        flow.copies[n].push_back(m);
      } else {
        observed = true;
      }
    }
    flow.observed[n] = observed;
  }
  return flow;
}

std::map<const llvm::Instruction*, NanArm> find_nan_arms(const llvm::BasicBlock& block) {
  std::map<const llvm::Instruction*, NanArm> result;
  for (const llvm::Instruction& i : block) {
    const auto* select = llvm::dyn_cast<llvm::SelectInst>(&i);
    if (select == nullptr || llvm::isa<llvm::Constant>(select->getFalseValue()) ||
        !without_casts(select->getTrueValue())->getType()->isDoubleTy() ||
        !is_number_if(select->getTrueValue(), select->getCondition())) {
      continue;
    }
    NanArm arm;
    arm.number = without_casts(select->getTrueValue());
    std::set<const llvm::Value*> there = {select};
    for (auto it = std::next(select->getReverseIterator()); it != block.rend(); ++it) {
      const llvm::Value* used = select->getTrueValue(); // by the arm that is often taken
      const bool plain = !it->mayReadOrWriteMemory() && !talk_of(*it) && &*it != arm.number &&
                         &*it != used && !it->use_empty();
      if (plain && std::ranges::all_of(it->users(), [&](const llvm::User* user) {
            return there.contains(user);
          })) {
        there.insert(&*it);
        arm.only_there.insert(arm.only_there.begin(), &*it);
      }
    }
    result.emplace(select, std::move(arm));
  }
  return result;
}

AnyNan::AnyNan(
    const RegisterMap& registers,
    const std::vector<PlannedOp>& ops,
    const std::function<llvm::Constant*(isa::Ref)>& constant,
    const std::function<double(std::uint32_t)>& weight,
    const std::function<bool(std::uint32_t)>& is_barrier
)
    : registers_(registers),
      ops_(ops),
      constant_(constant),
      any_(registers.count()) {
  std::vector<std::vector<std::uint32_t>> writers(registers.count());
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    const PlannedOp& op = ops[k];
    if (op.kind == Kind::Lanes) {
      const auto [it, is_new] = flows_.try_emplace(op.lane);
      if (is_new) {
        it->second = nan_flow(*op.lane, op.operands.inputs.size(), op.operands.outputs.size());
      }
    }
    for (const std::uint32_t index : registers.writes(k)) {
      writers[index].push_back(k);
    }
  }
  for (std::uint32_t index = 0; index < registers.count(); ++index) {
    const RegisterPlace& place = registers.place(index);
    any_[index] = !place.predicate && place.element_bytes == 4 && !writers[index].empty();
  }
  std::vector<double> at_barriers(registers.count());
  for (std::uint32_t k = 0; k + 1 < ops.size(); ++k) {
    if (is_barrier(k)) {
      for (const std::uint32_t index : registers.live(k + 1)) {
        at_barriers[index] += weight(k);
      }
    }
  }
  for (bool again = true; again;) {
    again = false;
    std::vector<double> costs = at_barriers; // of PTX's NaN where bits are looked at
    for (std::uint32_t k = 0; k < ops.size(); ++k) {
      for (std::size_t n = 0; ops[k].kind == Kind::Lanes && n < ops[k].operands.inputs.size();
           ++n) {
        const std::uint32_t index = registers.frame_register(ops[k].operands.inputs[n]);
        if (index != registers.count() && any_[index] && observes(k, n)) {
          costs[index] += weight(k);
        }
      }
    }
    for (std::uint32_t index = 0; index < registers.count(); ++index) {
      if (!any_[index]) {
        continue;
      }
      double saved = 0;
      for (const std::uint32_t k : writers[index]) {
        if (ops[k].kind == Kind::Lanes) {
          for (std::size_t n = 0; n < ops[k].operands.outputs.size(); ++n) {
            const bool here = registers.at(ops[k].operands.outputs[n].offset()) == index;
            saved += here && flow(k).results[n].computed ? weight(k) : 0;
          }
        }
      }
      if (!may_hold(index, writers[index]) || (costs[index] >= saved && costs[index] > 0)) {
        any_[index] = false;
        again = true;
      }
    }
  }
}

bool AnyNan::may_hold(std::uint32_t index, const std::vector<std::uint32_t>& writers) const {
  return std::ranges::all_of(writers, [&](std::uint32_t k) { return writes_allow(k, index); });
}

bool AnyNan::writes_allow(std::uint32_t k, std::uint32_t index) const {
  const PlannedOp& op = ops_[k];
  if (op.kind != Kind::Lanes || update_of(*op.lane->function) != nullptr) {
    return false;
  }
  for (std::size_t n = 0; n < op.operands.outputs.size(); ++n) {
    if (registers_.at(op.operands.outputs[n].offset()) != index) {
      continue;
    }
    const NanFlow::Result& result = flow(k).results[n];
    return result.any != nullptr && std::ranges::all_of(result.copied, [&](unsigned argument) {
             return argument < op.operands.inputs.size() && is_number(op.operands.inputs[argument]);
           });
  }
  return false;
}

/// A number or PTX's NaN, or a register that stands for one.
bool AnyNan::is_number(isa::Ref ref) const {
  if (ref.none()) {
    return false;
  }
  if (ref.area() == isa::Area::Frame) {
    const std::uint32_t index = registers_.frame_register(ref);
    return index != registers_.count() && any_[index];
  }
  return ref.area() == isa::Area::Constant && is_settled(constant_(ref));
}

bool AnyNan::observes(std::uint32_t k, std::size_t n) const {
  const NanFlow& flow = this->flow(k);
  return flow.observed[n] || std::ranges::any_of(flow.copies[n], [&](unsigned m) {
           return !any_[registers_.at(ops_[k].operands.outputs[m].offset())];
         });
}

} // namespace heddle::jit
