// Implements nan_chains.h.
#include "jit/nan_chains.h"

#include "jit/any_nan.h"

#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

namespace heddle::jit {
namespace {

/// Is v NaN whenever the argument is?
bool is_nan_with(const llvm::Value* v, const llvm::Value* argument) {
  v = without_casts(v);
  const auto* i = llvm::dyn_cast<llvm::Instruction>(v);
  if (i == nullptr) {
    return v == argument;
  }
  const auto any_of = [&](unsigned count) {
    for (unsigned n = 0; n < count; ++n) {
      if (is_nan_with(i->getOperand(n), argument)) {
        return true;
      }
    }
    return false;
  };
  switch (i->getOpcode()) {
  case llvm::Instruction::FNeg:
  case llvm::Instruction::FAdd:
  case llvm::Instruction::FSub:
  case llvm::Instruction::FMul:
  case llvm::Instruction::FDiv:
    return any_of(i->getNumOperands());
  case llvm::Instruction::Call:
    if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(i)) {
      switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::fma:
      case llvm::Intrinsic::sqrt:
      case llvm::Intrinsic::fabs:
        return any_of(call->arg_size());
      default:
        return false;
      }
    }
    return false;
  default:
    return false;
  }
}

} // namespace

/// Its one result is a select with a NanArm, and it does nothing else.
std::optional<NanChains::Operation> NanChains::operation(const PlannedOp& op) {
  if (op.kind != Kind::Lanes || op.lane->reaches || op.operands.outputs.size() != 1) {
    return std::nullopt;
  }
  const llvm::BasicBlock& block = op.lane->function->getEntryBlock();
  const llvm::Value* result = nullptr;
  for (const llvm::Instruction& i : block) {
    if (i.mayReadOrWriteMemory()) {
      return std::nullopt;
    }
    if (const auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&i)) {
      result = without_casts(insert->getInsertedValueOperand());
    }
  }
  const std::map<const llvm::Instruction*, NanArm> arms = find_nan_arms(block);
  if (arms.size() != 1 || arms.begin()->first != result) {
    return std::nullopt;
  }
  Operation found;
  for (unsigned n = 0; n < op.operands.inputs.size(); ++n) {
    found.hands_on.push_back(
        is_nan_with(arms.begin()->second.number, op.lane->function->getArg(n))
    );
  }
  return found;
}

/// The chain that is open, from op to op.
class NanChains::Walk {
public:
  Walk(NanChains& chains, const RegisterMap& registers) : chains_(chains), registers_(registers) {}

  bool is_open() const { return !members_.empty(); }

  /// May the address of an access depend on the bits of a result of the chain?
  bool may_address() const { return used_; }

  /// Notes whether the op uses a result of the chain and does not hand its NaN on.
  void note_uses(const PlannedOp& op, const std::optional<Operation>& operation) {
    for (std::size_t n = 0; n < op.operands.inputs.size(); ++n) {
      const bool hands_on = operation && operation->hands_on[n];
      used_ = used_ || (!hands_on && written_by(op.operands.inputs[n]) != nullptr);
    }
  }

  void add(std::uint32_t k, const PlannedOp& op, const Operation& operation) {
    for (std::size_t n = 0; n < op.operands.inputs.size(); ++n) {
      if (const std::uint32_t* by = written_by(op.operands.inputs[n]);
          by != nullptr && operation.hands_on[n]) {
        std::erase(unasked_, *by);
      }
    }
    members_.push_back(k);
    unasked_.push_back(k);
  }

  /// A register that another op has written, perhaps only for some lanes, does not show any more
  /// that the result it has held is a number.
  void note_writes(std::uint32_t k, const PlannedOp& op, bool is_member) {
    for (const isa::Ref ref : op.operands.outputs) {
      const std::uint32_t index = registers_.frame_register(ref);
      if (is_member) {
        writer_[index] = k;
      } else {
        used_ = writer_.erase(index) != 0 || used_;
      }
    }
  }

  void end(std::uint32_t k, bool within) {
    // A look takes about as much code as the arm of one operation, and more where the region has
    // no other way out.
    constexpr std::size_t worth_it = 2;
    if (members_.size() >= worth_it) {
      for (const std::uint32_t member : members_) {
        chains_.defers_[member] = true;
      }
      chains_.looks_[k] = {unasked_, within};
    }
    members_.clear();
    unasked_.clear();
    writer_.clear();
    used_ = false;
  }

private:
  const std::uint32_t* written_by(isa::Ref ref) const {
    const auto it = writer_.find(registers_.frame_register(ref));
    return it != writer_.end() ? &it->second : nullptr;
  }

  NanChains& chains_;
  const RegisterMap& registers_;
  std::vector<std::uint32_t> members_;
  std::vector<std::uint32_t> unasked_;            // members whose results no other one hands on
  std::map<std::uint32_t, std::uint32_t> writer_; // by register that has a result: the member
  bool used_ = false;                             // in other ways than by handing NaN on
};

NanChains::NanChains(
    const RegisterMap& registers,
    const std::vector<PlannedOp>& ops,
    const std::vector<std::uint32_t>& restart,
    const std::function<bool(std::uint32_t)>& may_defer
)
    : defers_(ops.size(), false) {
  std::map<const LaneFunction*, std::optional<Operation>> known;
  Walk walk(*this, registers);
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    const PlannedOp& op = ops[k];
    std::optional<Operation> operation;
    if (may_defer(k)) {
      const auto [it, is_new] = known.try_emplace(op.lane);
      if (is_new) {
        it->second = NanChains::operation(op);
      }
      operation = it->second;
    }
    const bool last = k + 1 == ops.size() || restart[k + 1] != restart[k];
    const bool reaches = op.lane != nullptr && op.lane->reaches;
    if (walk.is_open() && ((last && !operation) || (reaches && walk.may_address()))) {
      walk.end(k, /*within=*/false);
    }
    walk.note_uses(op, operation);
    if (operation) {
      walk.add(k, op, *operation);
    }
    if (last && walk.is_open()) {
      walk.end(k, /*within=*/true);
    }
    walk.note_writes(k, op, walk.is_open() && operation.has_value());
  }
}

} // namespace heddle::jit
