// Implements lane_function.h.
#include "jit/lane_function.h"

#include "base/check.h"
#include "isa/region_reach.h"
#include "jit/code_hash.h"
#include "jit/lane_talk.h"
#include "jit/object.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/Error.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <cstring>

namespace heddle::jit {
namespace {

constexpr std::uint64_t op_bytes = sizeof(isa::Op);
constexpr std::uint64_t slot_bytes = 64;

/// Layout of isa/region_exec.h's Exec.
struct ExecLayout {
  static constexpr std::uint64_t slots = 0;
  static constexpr std::uint64_t list = 8;
  static constexpr std::uint64_t special = 16;
  static constexpr std::uint64_t local_base = 24;
  static constexpr std::uint64_t bytes = 32;
};

constexpr llvm::StringRef reach_name = "heddle_region_reach";

std::vector<isa::Ref> refs(const isa::Code& code, const isa::Op& op) {
  std::vector<isa::Ref> result = {op.d, op.a, op.b, op.c, op.e};
  for (std::uint32_t n = 0; n < op.count; ++n) {
    result.push_back(code.refs[op.list + n]);
  }
  return result;
}

bool is_scalar(const llvm::Type* type) {
  return type->isIntegerTy() || type->isFloatTy() || type->isDoubleTy() || type->isHalfTy();
}

/// Intrinsics whose types all follow from one: of the result, or of the first argument.
bool is_plain(llvm::Intrinsic::ID id) {
  return llvm::isTriviallyVectorizable(id) && id != llvm::Intrinsic::powi &&
         id != llvm::Intrinsic::ldexp && id != llvm::Intrinsic::lround &&
         id != llvm::Intrinsic::llround && id != llvm::Intrinsic::lrint &&
         id != llvm::Intrinsic::llrint && id != llvm::Intrinsic::sincos &&
         id != llvm::Intrinsic::modf && id != llvm::Intrinsic::frexp;
}

bool may_call_library(llvm::Intrinsic::ID id) {
  switch (id) {
  case llvm::Intrinsic::sin:
  case llvm::Intrinsic::cos:
  case llvm::Intrinsic::exp:
  case llvm::Intrinsic::exp2:
  case llvm::Intrinsic::log:
  case llvm::Intrinsic::log2:
  case llvm::Intrinsic::log10:
  case llvm::Intrinsic::pow:
    return true;
  default:
    return false;
  }
}

} // namespace

bool is_reach(const llvm::Instruction& i) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
  return call != nullptr && call->getCalledFunction() != nullptr &&
         call->getCalledFunction()->getName() == reach_name;
}

namespace {

std::uint64_t how(const llvm::Instruction& reach) {
  return llvm::cast<llvm::ConstantInt>(reach.getOperand(2))->getZExtValue();
}

} // namespace

isa::Space space_of(const llvm::Instruction& reach) {
  return static_cast<isa::Space>(how(reach) & isa::region_space);
}

std::uint32_t bytes_of(const llvm::Instruction& reach) {
  return static_cast<std::uint32_t>(
      llvm::cast<llvm::ConstantInt>(reach.getOperand(1))->getZExtValue()
  );
}

bool is_store(const llvm::Instruction& reach) {
  return (how(reach) & isa::region_store) != 0;
}

bool is_alone(const llvm::Instruction& reach) {
  return (how(reach) & isa::region_alone) != 0;
}

bool is_update(const llvm::Instruction& reach) {
  return (how(reach) & isa::region_update) != 0;
}

bool has_one_type(const llvm::Instruction& reach) {
  const llvm::Type* one = nullptr;
  std::uint32_t bytes = 0;
  std::vector<const llvm::Value*> pointers = {&reach};
  while (!pointers.empty()) {
    const llvm::Value* pointer = pointers.back();
    pointers.pop_back();
    for (const llvm::User* user : pointer->users()) {
      if (llvm::isa<llvm::GetElementPtrInst>(user)) {
        pointers.push_back(user);
        continue;
      }
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
      const llvm::Type* type =
          store != nullptr ? store->getValueOperand()->getType() : user->getType();
      const std::uint32_t size = type->getScalarSizeInBits() / 8;
      if ((one != nullptr && type != one) || size == 0 || bytes_of(reach) % size != 0) {
        return false;
      }
      one = type;
      bytes += size;
    }
  }
  return is_store(reach) ? one != nullptr && one->getScalarSizeInBits() == 8 * bytes_of(reach)
                         : bytes == bytes_of(reach);
}

const llvm::Instruction* update_of(const llvm::Function& f) {
  const auto& all = llvm::instructions(f);
  const auto it = std::find_if(all.begin(), all.end(), [](const llvm::Instruction& i) {
    return is_reach(i) && is_update(i);
  });
  return it != all.end() ? &*it : nullptr;
}

namespace {

/// All of it is loaded by one instruction, and then stored by one.
bool is_one_update(const llvm::Instruction& reach) {
  unsigned loads = 0;
  unsigned stores = 0;
  for (const llvm::User* user : reach.users()) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (!llvm::isa<llvm::LoadInst>(user) && store == nullptr) {
      return false;
    }
    const llvm::Type* type =
        store != nullptr ? store->getValueOperand()->getType() : user->getType();
    if (type->getScalarSizeInBits() != 8 * bytes_of(reach)) {
      return false;
    }
    ++(store != nullptr ? stores : loads);
  }
  return loads <= 1 && stores == 1;
}

} // namespace

bool can_widen(const llvm::Instruction& i) {
  if (is_reach(i)) {
    return !is_update(i) || is_one_update(i);
  }
  if (talk_of(i) || llvm::isa<llvm::FenceInst>(i)) {
    return true;
  }
  if (llvm::isa<llvm::GetElementPtrInst>(i)) { // what is behind a pointer: constant distances
    return llvm::cast<llvm::GetElementPtrInst>(i).hasAllConstantIndices();
  }
  const auto pointer_is_known = [](const llvm::Value* p) {
    p = p->stripInBoundsConstantOffsets();
    while (const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(p)) {
      p = gep->getPointerOperand();
    }
    const auto* from = llvm::dyn_cast<llvm::Instruction>(p);
    return llvm::isa<llvm::Argument>(p) || (from != nullptr && is_reach(*from));
  };
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
    return is_scalar(load->getType()) && load->isSimple() &&
           pointer_is_known(load->getPointerOperand());
  }
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
    return is_scalar(store->getValueOperand()->getType()) && store->isSimple() &&
           pointer_is_known(store->getPointerOperand());
  }
  const auto all_scalar = [&] {
    return std::ranges::all_of(i.operands(), [](const llvm::Use& use) {
      return is_scalar(use->getType());
    });
  };
  if (llvm::isa<llvm::ExtractValueInst>(i)) {
    return llvm::isa<llvm::WithOverflowInst>(i.getOperand(0));
  }
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) {
    if (llvm::isa<llvm::WithOverflowInst>(i)) {
      return true;
    }
    return is_plain(call->getIntrinsicID()) && !may_call_library(call->getIntrinsicID()) &&
           is_scalar(i.getType());
  }
  if (i.isTerminator()) {
    return llvm::isa<llvm::ReturnInst>(i);
  }
  if (llvm::isa<llvm::InsertValueInst>(i)) { // of results
    return true;
  }
  return is_scalar(i.getType()) && all_scalar() &&
         (llvm::isa<llvm::BinaryOperator>(i) || llvm::isa<llvm::UnaryOperator>(i) ||
          llvm::isa<llvm::CastInst>(i) || llvm::isa<llvm::CmpInst>(i) ||
          llvm::isa<llvm::SelectInst>(i) || llvm::isa<llvm::FreezeInst>(i));
}

namespace {

/// What has branches cannot be widened. LLVM executes instructions in vain rather than a branch
/// that is often mispredicted; lanes part at most of them.
struct ExpectNothing : llvm::PassInfoMixin<ExpectNothing> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
    for (llvm::BasicBlock& block : f) {
      if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
          branch != nullptr && branch->isConditional()) {
        branch->setMetadata(
            llvm::LLVMContext::MD_unpredictable,
            llvm::MDNode::get(f.getContext(), {})
        );
      }
    }
    return llvm::PreservedAnalyses::all();
  }
};

} // namespace

struct LaneFunctions::Passes {
  std::unique_ptr<llvm::TargetMachine> machine; // knows what a misprediction costs
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::FunctionPassManager passes;

  explicit Passes(const llvm::Module& bitcode) {
    std::string why;
    machine = make_machine(bitcode, why);
    HEDDLE_CHECK(machine != nullptr, "no target machine: {}", why);
    llvm::PassBuilder builder(machine.get());
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    llvm::SimplifyCFGOptions flat;
    flat.bonusInstThreshold(8).speculateBlocks(true).speculateUnpredictables(true);
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(ExpectNothing());
    passes.addPass(llvm::SimplifyCFGPass(flat));
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(ExpectNothing());
    passes.addPass(llvm::SimplifyCFGPass(flat));
    passes.addPass(llvm::ADCEPass());
  }
};

LaneFunctions::LaneFunctions(const Handlers& handlers, llvm::Module& bitcode)
    : handlers_(handlers),
      bitcode_(bitcode),
      passes_(std::make_unique<Passes>(bitcode)) {}
LaneFunctions::~LaneFunctions() = default;

LaneOperands LaneFunctions::operands(
    const isa::Code& code,
    std::uint32_t k,
    const RegisterMap& registers
) const {
  LaneOperands result;
  const auto add = [](std::vector<isa::Ref>& list, isa::Ref ref) {
    const auto same = [&](isa::Ref r) { return r.raw == ref.raw; };
    if (std::ranges::none_of(list, same)) {
      list.push_back(ref);
    }
  };
  for (const isa::Ref ref : refs(code, code.ops[k])) {
    if (ref.none()) {
      continue;
    }
    add(result.inputs, ref);
    if (ref.area() == isa::Area::Frame && registers.written(k, registers.at(ref.offset()))) {
      add(result.outputs, ref);
    }
  }
  return result;
}

void LaneFunctions::optimise(llvm::Function& f) {
  // Inline everything that has a body.
  for (bool again = true; again;) {
    again = false;
    for (llvm::Instruction& i : llvm::instructions(f)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
      llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
      if (callee == nullptr || callee->isIntrinsic() || llvm::errorToBool(callee->materialize()) ||
          callee->isDeclaration() || callee == &f) {
        continue;
      }
      llvm::InlineFunctionInfo info;
      if (llvm::InlineFunction(*call, info).isSuccess()) {
        again = true;
        break;
      }
    }
  }
  passes_->passes.run(f, passes_->functions);
}

LaneFunction LaneFunctions::build(
    const isa::Code& code,
    std::uint32_t k,
    const RegisterMap& registers,
    const LaneOperands& o
) {
  const isa::Op& op = code.ops[k];
  llvm::LLVMContext& context = bitcode_.getContext();
  llvm::IRBuilder<> b(context);
  const auto word = [&](isa::Ref ref) -> llvm::Type* {
    if (ref.area() == isa::Area::Frame) {
      const RegisterPlace& place = registers.place(registers.at(ref.offset()));
      return b.getIntNTy(place.predicate ? 32 : place.element_bytes * 8);
    }
    return ref.area() == isa::Area::Special ? b.getInt32Ty() : b.getInt64Ty();
  };
  std::vector<llvm::Type*> parameters;
  for (const isa::Ref ref : o.inputs) {
    parameters.push_back(word(ref));
  }
  parameters.insert(parameters.end(), {b.getInt32Ty(), b.getInt64Ty(), b.getPtrTy()});
  std::vector<llvm::Type*> results;
  for (const isa::Ref ref : o.outputs) {
    results.push_back(word(ref));
  }
  llvm::StructType* result_type = llvm::StructType::get(context, results);
  llvm::Function* f = llvm::Function::Create(
      llvm::FunctionType::get(result_type, parameters, /*isVarArg=*/false),
      llvm::GlobalValue::InternalLinkage,
      "lane",
      bitcode_
  );
  f->addFnAttr(llvm::Attribute::NoUnwind);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", f));
  const auto stack = [&](std::uint64_t bytes) {
    auto* place = b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), bytes));
    place->setAlignment(llvm::Align(64));
    return place;
  };
  const auto at = [&](llvm::Value* pointer, std::uint64_t offset) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), pointer, offset);
  };
  std::vector<llvm::GlobalVariable*> constants;
  const auto data = [&](const void* bytes, std::size_t count) {
    llvm::Constant* value = llvm::ConstantDataArray::get(
        context,
        llvm::ArrayRef(static_cast<const std::uint8_t*>(bytes), count)
    );
    constants.push_back(new llvm::GlobalVariable(
        bitcode_,
        value->getType(),
        /*isConstant=*/true,
        llvm::GlobalValue::PrivateLinkage,
        value
    ));
    constants.back()->setAlignment(llvm::Align(64));
    return constants.back();
  };
  llvm::AllocaInst* slots = stack(std::max<std::size_t>(1, o.inputs.size()) * slot_bytes);
  const auto slot_of = [&](isa::Ref ref) {
    const auto it = std::ranges::find(o.inputs, ref.raw, &isa::Ref::raw);
    return static_cast<std::uint32_t>(it - o.inputs.begin()) *
           static_cast<std::uint32_t>(slot_bytes);
  };
  for (std::size_t n = 0; n < o.inputs.size(); ++n) {
    b.CreateStore(f->getArg(static_cast<unsigned>(n)), at(slots, n * slot_bytes));
  }
  // The op with its operands in slots.
  isa::Op fake = op;
  const auto slot_ref = [&](isa::Ref ref) {
    return ref.none() ? ref : isa::Ref::at(isa::Area::Frame, slot_of(ref));
  };
  fake.execute = nullptr;
  fake.d = slot_ref(op.d);
  fake.a = slot_ref(op.a);
  fake.b = slot_ref(op.b);
  fake.c = slot_ref(op.c);
  fake.e = slot_ref(op.e);
  fake.guard = isa::Ref{};
  fake.flags = 0;
  fake.list = 0;
  std::byte bytes[op_bytes] = {};
  std::memcpy(bytes, &fake, op_bytes);
  llvm::AllocaInst* fake_op = stack(op_bytes);
  b.CreateMemCpy(fake_op, llvm::Align(64), data(bytes, op_bytes), llvm::Align(64), op_bytes);
  if (has_absolute_address(code, op)) {
    b.CreateStore(f->getArg(f->arg_size() - 2), at(fake_op, offsetof(isa::Op, imm)));
  }
  std::vector<isa::Ref> list;
  for (std::uint32_t n = 0; n < op.count; ++n) {
    list.push_back(slot_ref(code.refs[op.list + n]));
  }
  llvm::AllocaInst* exec = stack(ExecLayout::bytes);
  b.CreateStore(slots, at(exec, ExecLayout::slots));
  if (!list.empty()) {
    b.CreateStore(data(list.data(), list.size() * sizeof(isa::Ref)), at(exec, ExecLayout::list));
  }
  b.CreateStore(f->getArg(f->arg_size() - 1), at(exec, ExecLayout::special));
  b.CreateStore(f->getArg(f->arg_size() - 3), at(exec, ExecLayout::local_base));
  llvm::Function* handler = bitcode_.getFunction(llvm::StringRef(handlers_.name(op.execute)));
  b.CreateCall(handler, {exec, fake_op});
  llvm::Value* result = llvm::PoisonValue::get(result_type);
  for (std::size_t n = 0; n < o.outputs.size(); ++n) {
    llvm::Value* value = b.CreateLoad(results[n], at(slots, slot_of(o.outputs[n])));
    result = b.CreateInsertValue(result, value, static_cast<unsigned>(n));
  }
  b.CreateRet(result);
  optimise(*f);
  LaneFunction lane;
  lane.function = f;
  lane.straight = f->size() == 1 && std::ranges::all_of(f->getEntryBlock(), can_widen);
  for (const llvm::Instruction& i : llvm::instructions(*f)) {
    lane.reaches = lane.reaches || is_reach(i);
  }
  return lane;
}

const LaneFunction*
LaneFunctions::of(const isa::Code& code, std::uint32_t k, const RegisterMap& registers) {
  const isa::Op& op = code.ops[k];
  const std::string_view name = handlers_.name(op.execute);
  llvm::Function* handler = name.empty() ? nullptr : bitcode_.getFunction(llvm::StringRef(name));
  if (handler == nullptr || handler->isDeclaration() || !handler->hasExternalLinkage()) {
    return nullptr; // prepare_main.cpp keeps no bitcode of it
  }
  const LaneOperands o = operands(code, k, registers);
  // What the function depends on: everything but which registers these are.
  std::string key(name);
  const auto add = [&key](const auto& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto add_ref = [&](isa::Ref ref) {
    const auto it = std::ranges::find(o.inputs, ref.raw, &isa::Ref::raw);
    add(ref.none() ? 255 : static_cast<int>(it - o.inputs.begin()));
    const bool frame = !ref.none() && ref.area() == isa::Area::Frame;
    const RegisterPlace place =
        frame ? registers.place(registers.at(ref.offset())) : RegisterPlace{};
    add(place.predicate);
    add(place.element_bytes);
    add(ref.none() ? 0 : static_cast<int>(ref.area()));
    add(std::ranges::find(o.outputs, ref.raw, &isa::Ref::raw) - o.outputs.begin());
  };
  for (const isa::Ref ref : refs(code, op)) {
    add_ref(ref);
  }
  const bool absolute = has_absolute_address(code, op);
  add(absolute);
  add(absolute ? std::int64_t{0} : op.imm);
  add(op.imm2);
  add(op.count);
  const auto [it, is_new] = known_.try_emplace(key);
  if (is_new) {
    it->second = build(code, k, registers, o);
  }
  return &it->second;
}

} // namespace heddle::jit
