// Implements region_builder.h.
#include "jit/region_builder.h"

#include "isa/region.h"
#include "jit/code_hash.h"
#include "jit/register_map.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Support/Error.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

namespace heddle::jit {
namespace {

using isa::RegionContext;
constexpr std::uint64_t op_bytes = sizeof(isa::Op);
constexpr std::uint64_t largest_slot = 16 * isa::warp_size;
constexpr std::uint32_t special_bytes = 4 * isa::warp_size;

/// Layout of isa/region_exec.h's Exec.
struct ExecLayout {
  static constexpr std::uint64_t slots = 0;
  static constexpr std::uint64_t list = 8;
  static constexpr std::uint64_t range = 16;
  static constexpr std::uint64_t shared = 24;
  static constexpr std::uint64_t shared_bytes = 32;
  static constexpr std::uint64_t param = 40;
  static constexpr std::uint64_t param_bytes = 48;
  static constexpr std::uint64_t local = 56;
  static constexpr std::uint64_t local_stride = 64;
  static constexpr std::uint64_t local_base = 72;
  static constexpr std::uint64_t bytes = 80;
};

enum class Kind : std::uint8_t {
  Leave,  // the interpreter's
  Branch, // bra
  Pure,   // the handler always succeeds and touches registers only
  Access  // the handler may fail
};

class Builder {
public:
  Builder(
      llvm::Module& module,
      const llvm::Module& bitcode,
      const Handlers& handlers,
      const isa::Code& code
  )
      : module_(module),
        bitcode_(bitcode),
        handlers_(handlers),
        code_(code),
        registers_(code),
        b_(module.getContext()) {}

  BuiltRegion build(const std::string& name);

private:
  // --- Which op is what
  // ----------------------------------------------------------------------------
  Kind classify(const isa::Op& op) const;
  bool known_operands(const isa::Op& op) const;
  bool may_fail(const llvm::Function& handler) const;
  std::vector<isa::Ref> refs(const isa::Op& op) const;
  std::vector<std::uint32_t> find_entries() const;

  // --- Parts of the function
  // -------------------------------------------------------------------------
  void emit_prologue(const std::vector<std::uint32_t>& entries);
  void emit_op(std::uint32_t k);
  void emit_branch(std::uint32_t k);
  void emit_handler(std::uint32_t k);
  void emit_exit(std::uint32_t k);
  void leave_if(llvm::Value* condition, std::uint32_t k);
  llvm::BasicBlock* exit_block(std::uint32_t k);
  void flush_executed();

  // --- Registers
  llvm::Type* vector_type(const RegisterPlace& place);
  llvm::Value* read(std::uint32_t index);
  void write(std::uint32_t index, llvm::Value* value);
  llvm::Value* frame_place(std::uint32_t index);
  void load_register(std::uint32_t index);  // from the frame
  void store_register(std::uint32_t index); // to the frame
  llvm::Value*
  blend(const RegisterPlace& place, llvm::Value* mask, llvm::Value* yes, llvm::Value* no);

  // --- Small things
  llvm::BasicBlock* block(const llvm::Twine& name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function_);
  }
  llvm::Value* at(llvm::Value* pointer, std::uint64_t offset) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), pointer, offset);
  }
  llvm::Value* context_field(std::uint64_t offset, llvm::Type* type) {
    return b_.CreateLoad(type, at(context_, offset));
  }
  llvm::AllocaInst* stack(std::uint64_t bytes, const llvm::Twine& name) {
    llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
    auto* result =
        entry.CreateAlloca(llvm::ArrayType::get(entry.getInt8Ty(), bytes), nullptr, name);
    result->setAlignment(llvm::Align(64));
    return result;
  }
  llvm::GlobalVariable* data(const void* bytes, std::size_t count, const llvm::Twine& name);
  llvm::Value* op_pointer(std::uint32_t k) { return at(ops_, k * op_bytes); }

  llvm::Module& module_;
  const llvm::Module& bitcode_;
  const Handlers& handlers_;
  const isa::Code& code_;
  RegisterMap registers_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  std::vector<Kind> kinds_;
  std::vector<llvm::BasicBlock*> bodies_;   // of ops, behind the look at joins
  std::vector<llvm::BasicBlock*> arrivals_; // of ops
  std::map<std::uint32_t, llvm::BasicBlock*> exits_;
  std::vector<llvm::AllocaInst*> variables_; // of registers
  std::map<std::uint32_t, llvm::GlobalVariable*> constants_;
  std::map<std::uint32_t, llvm::AllocaInst*> specials_;
  std::uint32_t pending_ = 0; // ops executed in this block that are not counted yet
  llvm::AllocaInst* fuel_ = nullptr;
  llvm::AllocaInst* executed_ = nullptr;
  // Fields of the context.
  llvm::Value* context_ = nullptr;
  llvm::Value* ops_ = nullptr;
  llvm::Value* frame_ = nullptr;
  llvm::Value* frame_constants_ = nullptr;
  llvm::Value* special_ = nullptr;
  llvm::Value* ranges_ = nullptr;
  std::map<std::uint64_t, llvm::Value*> exec_fields_; // by offset in ExecLayout
};

// --- Which op is what
// ------------------------------------------------------------------------------

std::vector<isa::Ref> Builder::refs(const isa::Op& op) const {
  std::vector<isa::Ref> result = {op.d, op.a, op.b, op.c, op.e};
  for (std::uint32_t n = 0; n < op.count; ++n) {
    result.push_back(code_.refs[op.list + n]);
  }
  return result;
}

bool Builder::known_operands(const isa::Op& op) const {
  const auto known = [this](isa::Ref ref) {
    if (ref.none() || ref.area() != isa::Area::Frame) {
      return true;
    }
    const std::uint32_t index = registers_.at(ref.offset());
    return index != registers_.count() && registers_.place(index).element_bytes <= 8;
  };
  return std::ranges::all_of(refs(op), known) &&
         ((op.flags & isa::Guarded) == 0 || known(op.guard));
}

bool Builder::may_fail(const llvm::Function& handler) const {
  // Handlers that succeed return &op + 1 and nothing else; the lazily read bitcode of the others
  // has a null pointer among what is returned.
  for (const llvm::BasicBlock& basic : handler) {
    for (const llvm::Instruction& i : basic) {
      for (const llvm::Value* operand : i.operands()) {
        const bool returned = llvm::isa<llvm::ReturnInst>(i) ||
                              (llvm::isa<llvm::PHINode>(i) && i.getType()->isPointerTy()) ||
                              (llvm::isa<llvm::SelectInst>(i) && i.getType()->isPointerTy());
        if (returned && llvm::isa<llvm::ConstantPointerNull>(operand)) {
          return true;
        }
      }
    }
  }
  return false;
}

Kind Builder::classify(const isa::Op& op) const {
  if (op.instruction >= code_.function->body.size()) {
    return Kind::Leave;
  }
  if (&op == &code_.ops.back()) {
    return Kind::Leave; // the end of the function
  }
  if (code_.function->body[op.instruction].opcode == ptx::Opcode::Bra) {
    return known_operands(op) ? Kind::Branch : Kind::Leave;
  }
  const std::string_view name = handlers_.name(op.execute);
  if (name.empty() || is_call(code_, op) || !known_operands(op)) {
    return Kind::Leave;
  }
  llvm::Function* handler = bitcode_.getFunction(llvm::StringRef(name));
  if (handler == nullptr || llvm::errorToBool(handler->materialize())) {
    return Kind::Leave;
  }
  return may_fail(*handler) ? Kind::Access : Kind::Pure;
}

std::vector<std::uint32_t> Builder::find_entries() const {
  std::vector<std::uint32_t> entries;
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    const isa::Op& op = code_.ops[k];
    const bool begins = k == 0 || (op.flags & isa::Join) != 0 || kinds_[k - 1] == Kind::Leave ||
                        kinds_[k - 1] == Kind::Branch;
    if (begins && kinds_[k] != Kind::Leave) {
      entries.push_back(k);
    }
  }
  return entries;
}

// --- Registers
// ---------------------------------------------------------------------------------------

llvm::Type* Builder::vector_type(const RegisterPlace& place) {
  if (place.predicate) {
    return b_.getInt32Ty();
  }
  return llvm::FixedVectorType::get(b_.getIntNTy(place.element_bytes * 8), isa::warp_size);
}

llvm::Value* Builder::read(std::uint32_t index) {
  return b_
      .CreateAlignedLoad(vector_type(registers_.place(index)), variables_[index], llvm::Align(64));
}

void Builder::write(std::uint32_t index, llvm::Value* value) {
  b_.CreateAlignedStore(value, variables_[index], llvm::Align(64));
}

llvm::Value* Builder::frame_place(std::uint32_t index) {
  return at(frame_, registers_.place(index).offset);
}

void Builder::load_register(std::uint32_t index) {
  // Registers begin at lines of the cache: Lowering::allocate_register.
  write(
      index,
      b_.CreateAlignedLoad(
          vector_type(registers_.place(index)),
          frame_place(index),
          llvm::Align(64)
      )
  );
}

void Builder::store_register(std::uint32_t index) {
  b_.CreateAlignedStore(read(index), frame_place(index), llvm::Align(64));
}

llvm::Value*
Builder::blend(const RegisterPlace& place, llvm::Value* mask, llvm::Value* yes, llvm::Value* no) {
  if (place.predicate) {
    return b_.CreateOr(b_.CreateAnd(yes, mask), b_.CreateAnd(no, b_.CreateNot(mask)));
  }
  llvm::Type* bits = llvm::FixedVectorType::get(b_.getInt1Ty(), isa::warp_size);
  return b_.CreateSelect(b_.CreateBitCast(mask, bits), yes, no);
}

// --- The function
// ------------------------------------------------------------------------------------

llvm::GlobalVariable* Builder::data(const void* bytes, std::size_t count, const llvm::Twine& name) {
  llvm::Constant* value = llvm::ConstantDataArray::get(
      b_.getContext(),
      llvm::ArrayRef(static_cast<const std::uint8_t*>(bytes), count)
  );
  auto* result = new llvm::GlobalVariable(
      module_,
      value->getType(),
      /*isConstant=*/true,
      llvm::GlobalValue::PrivateLinkage,
      value,
      name
  );
  result->setAlignment(llvm::Align(64));
  return result;
}

void Builder::flush_executed() {
  if (pending_ == 0) {
    return;
  }
  llvm::Value* more = b_.getInt64(std::uint64_t{pending_} * isa::warp_size);
  llvm::Value* before = b_.CreateLoad(b_.getInt64Ty(), executed_);
  b_.CreateStore(b_.CreateAdd(before, more), executed_);
  pending_ = 0;
}

void Builder::emit_exit(std::uint32_t k) {
  for (const std::uint32_t index : registers_.live(k)) {
    if (variables_[index] != nullptr) {
      store_register(index);
    }
  }
  b_.CreateStore(
      b_.CreateLoad(b_.getInt64Ty(), fuel_),
      at(context_, offsetof(RegionContext, fuel))
  );
  b_.CreateStore(
      b_.CreateLoad(b_.getInt64Ty(), executed_),
      at(context_, offsetof(RegionContext, executed))
  );
  b_.CreateRet(op_pointer(k));
}

llvm::BasicBlock* Builder::exit_block(std::uint32_t k) {
  llvm::BasicBlock*& exit = exits_[k];
  if (exit == nullptr) {
    exit = block("exit" + llvm::Twine(k));
    const llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(exit);
    emit_exit(k);
  }
  return exit;
}

/// Goes on in a new block unless `condition` holds.
void Builder::leave_if(llvm::Value* condition, std::uint32_t k) {
  llvm::BasicBlock* on = block("on" + llvm::Twine(k));
  b_.CreateCondBr(
      condition,
      exit_block(k),
      on,
      llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights()
  );
  b_.SetInsertPoint(on);
}

void Builder::emit_prologue(const std::vector<std::uint32_t>& entries) {
  b_.SetInsertPoint(&function_->getEntryBlock());
  context_ = function_->getArg(0);
  fuel_ = b_.CreateAlloca(b_.getInt64Ty());
  executed_ = b_.CreateAlloca(b_.getInt64Ty());
  ops_ = context_field(offsetof(RegionContext, ops), b_.getPtrTy());
  frame_ = context_field(offsetof(RegionContext, registers), b_.getPtrTy());
  frame_constants_ = context_field(offsetof(RegionContext, constants), b_.getPtrTy());
  special_ = context_field(offsetof(RegionContext, special), b_.getPtrTy());
  ranges_ = context_field(offsetof(RegionContext, ranges), b_.getPtrTy());
  const auto field = [&](std::uint64_t in_exec, std::size_t in_context, llvm::Type* type) {
    exec_fields_[in_exec] = context_field(in_context, type);
  };
  field(ExecLayout::shared, offsetof(RegionContext, shared), b_.getPtrTy());
  field(ExecLayout::shared_bytes, offsetof(RegionContext, shared_bytes), b_.getInt64Ty());
  field(ExecLayout::param, offsetof(RegionContext, param), b_.getPtrTy());
  field(ExecLayout::param_bytes, offsetof(RegionContext, param_bytes), b_.getInt64Ty());
  field(ExecLayout::local, offsetof(RegionContext, local), b_.getPtrTy());
  field(ExecLayout::local_stride, offsetof(RegionContext, local_stride), b_.getInt64Ty());
  field(ExecLayout::local_base, offsetof(RegionContext, local_base), b_.getInt64Ty());
  b_.CreateStore(context_field(offsetof(RegionContext, fuel), b_.getInt64Ty()), fuel_);
  b_.CreateStore(b_.getInt64(0), executed_);
  variables_.assign(registers_.count(), nullptr);
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    if (kinds_[k] == Kind::Leave) {
      continue;
    }
    std::vector<isa::Ref> used = refs(code_.ops[k]);
    used.push_back(code_.ops[k].guard);
    for (const isa::Ref ref : used) {
      if (ref.none()) {
        continue;
      }
      if (ref.area() == isa::Area::Special && specials_[ref.offset()] == nullptr) {
        llvm::AllocaInst* value = stack(special_bytes, "special");
        b_.CreateMemCpy(
            value,
            llvm::Align(64),
            at(special_, ref.offset()),
            llvm::Align(4),
            special_bytes
        );
        specials_[ref.offset()] = value;
      } else if (ref.area() == isa::Area::Frame) {
        const std::uint32_t index = registers_.at(ref.offset());
        if (variables_[index] == nullptr) {
          const llvm::Twine name = "r" + llvm::Twine(index);
          variables_[index] = stack(std::max(64U, registers_.place(index).bytes()), name);
        }
      }
    }
  }
  llvm::BasicBlock* nowhere = block("nowhere");
  llvm::SwitchInst* to = b_.CreateSwitch(function_->getArg(1), nowhere);
  b_.SetInsertPoint(nowhere);
  b_.CreateUnreachable();
  for (const std::uint32_t k : entries) {
    llvm::BasicBlock* enter = block("enter" + llvm::Twine(k));
    b_.SetInsertPoint(enter);
    for (const std::uint32_t index : registers_.live(k)) {
      if (variables_[index] != nullptr) {
        load_register(index);
      }
    }
    b_.CreateBr(bodies_[k]);
    to->addCase(b_.getInt32(k), enter);
  }
}

void Builder::emit_branch(std::uint32_t k) {
  const isa::Op& op = code_.ops[k];
  llvm::BasicBlock* taken = block("taken" + llvm::Twine(k));
  if ((op.flags & isa::Guarded) != 0) {
    llvm::Value* p = read(registers_.at(op.guard.offset()));
    p = op.guard_negated ? b_.CreateNot(p) : p;
    flush_executed();
    llvm::BasicBlock* some = block("some" + llvm::Twine(k));
    b_.CreateCondBr(b_.CreateICmpEQ(p, b_.getInt32(0)), arrivals_[k + 1], some);
    b_.SetInsertPoint(some);
    leave_if(b_.CreateICmpNE(p, b_.getInt32(isa::all_lanes)), k);
  } else {
    flush_executed();
  }
  if (op.target <= k) { // a taken backward branch costs one op of fuel
    llvm::Value* fuel = b_.CreateSub(b_.CreateLoad(b_.getInt64Ty(), fuel_), b_.getInt64(1));
    leave_if(b_.CreateICmpSLT(fuel, b_.getInt64(0)), k);
    b_.CreateStore(fuel, fuel_);
  }
  b_.CreateBr(taken);
  b_.SetInsertPoint(taken);
  pending_ = 1;
  flush_executed();
  b_.CreateBr(arrivals_[op.target]);
}

void Builder::emit_handler(std::uint32_t k) {
  const isa::Op& op = code_.ops[k];
  const std::string_view name = handlers_.name(op.execute);
  // The mask: lanes that execute; the guard alone decides what is kept of the old values.
  llvm::Value* guard = nullptr;
  llvm::Value* active = b_.getInt32(isa::all_lanes);
  llvm::BasicBlock* done = block("done" + llvm::Twine(k));
  if ((op.flags & isa::Guarded) != 0) {
    guard = read(registers_.at(op.guard.offset()));
    guard = op.guard_negated ? b_.CreateNot(guard) : guard;
    active = guard;
    flush_executed();
    llvm::BasicBlock* some = block("some" + llvm::Twine(k));
    b_.CreateCondBr(b_.CreateICmpEQ(active, b_.getInt32(0)), done, some);
    b_.SetInsertPoint(some);
    pending_ = 1;
    flush_executed();
  } else {
    ++pending_;
  }
  // Registers that it reads or writes, by their refs; equal refs share a slot.
  std::map<std::uint32_t, std::uint64_t> slot_of;
  std::vector<isa::Ref> used = refs(op);
  for (const isa::Ref ref : used) {
    if (!ref.none()) {
      slot_of.try_emplace(ref.raw, slot_of.size() * largest_slot);
    }
  }
  llvm::BasicBlock* slow = nullptr;
  if (kinds_[k] == Kind::Access) {
    flush_executed();
    slow = block("slow" + llvm::Twine(k));
    llvm::BasicBlock* fast = block("fast" + llvm::Twine(k));
    if (guard == nullptr) {
      b_.CreateBr(fast);
    } else {
      b_.CreateCondBr(b_.CreateICmpEQ(active, b_.getInt32(isa::all_lanes)), fast, slow);
    }
    b_.SetInsertPoint(fast);
  }
  llvm::AllocaInst* slots =
      stack(std::max<std::size_t>(1, slot_of.size()) * largest_slot, "slots" + llvm::Twine(k));
  for (const auto& [raw, offset] : slot_of) {
    const isa::Ref ref{raw};
    llvm::Value* slot = at(slots, offset);
    if (ref.area() == isa::Area::Frame) {
      const std::uint32_t index = registers_.at(ref.offset());
      b_.CreateAlignedStore(read(index), slot, llvm::Align(64));
    } else if (ref.area() == isa::Area::Special) {
      b_.CreateMemCpy(
          slot,
          llvm::Align(64),
          specials_.at(ref.offset()),
          llvm::Align(64),
          special_bytes
      );
    } else {
      const auto address = std::ranges::find(
          code_.addresses,
          ref.offset(),
          &std::pair<std::uint32_t, std::uint32_t>::first
      );
      const std::uint64_t bytes =
          std::min<std::uint64_t>(largest_slot, code_.constants.size() - ref.offset());
      llvm::Value* from = nullptr;
      if (address != code_.addresses.end()) {
        from = at(frame_constants_, ref.offset());
      } else {
        llvm::GlobalVariable*& constant = constants_[ref.offset()];
        if (constant == nullptr) {
          constant = data(code_.constants.data() + ref.offset(), bytes, "constant");
        }
        from = constant;
      }
      const bool moving = address != code_.addresses.end();
      b_.CreateMemCpy(
          slot,
          llvm::Align(64),
          from,
          llvm::Align(moving ? 4 : 64),
          moving ? address->second * isa::warp_size : bytes
      );
    }
  }
  // The op and its refs, with slots in the place of operands.
  isa::Op fake = op;
  fake.execute = nullptr;
  fake.flags = 0;
  fake.target = 0;
  const auto slot_ref = [&](isa::Ref ref) {
    return ref.none() ? ref : isa::Ref{static_cast<std::uint32_t>(slot_of.at(ref.raw))};
  };
  for (isa::Ref* ref : {&fake.d, &fake.a, &fake.b, &fake.c, &fake.e}) {
    *ref = slot_ref(*ref);
  }
  llvm::Value* fake_op = nullptr;
  if (has_absolute_address(code_, op)) {
    llvm::AllocaInst* copy = stack(op_bytes, "op" + llvm::Twine(k));
    b_.CreateMemCpy(copy, llvm::Align(8), data(&fake, op_bytes, "op"), llvm::Align(8), op_bytes);
    for (const std::size_t field : {offsetof(isa::Op, imm), offsetof(isa::Op, imm2)}) {
      llvm::Value* value = b_.CreateLoad(b_.getInt64Ty(), at(op_pointer(k), field));
      b_.CreateStore(value, at(copy, field));
    }
    fake_op = copy;
  } else {
    fake_op = data(&fake, op_bytes, "op");
  }
  std::vector<isa::Ref> list;
  for (std::uint32_t n = 0; n < op.count; ++n) {
    list.push_back(slot_ref(code_.refs[op.list + n]));
  }
  llvm::AllocaInst* exec = stack(ExecLayout::bytes, "exec" + llvm::Twine(k));
  b_.CreateStore(slots, at(exec, ExecLayout::slots));
  if (!list.empty()) {
    b_.CreateStore(
        data(list.data(), list.size() * sizeof(isa::Ref), "list"),
        at(exec, ExecLayout::list)
    );
  }
  if (kinds_[k] == Kind::Access) {
    llvm::Value* site = b_.CreateAdd(
        b_.CreateLShr(
            b_.CreatePtrToInt(ops_, b_.getInt64Ty()),
            static_cast<std::uint64_t>(std::countr_zero(op_bytes))
        ),
        b_.getInt64(k)
    );
    site = b_.CreateAnd(site, b_.getInt64(isa::range_sites - 1));
    b_.CreateStore(
        b_.CreateGEP(
            b_.getInt8Ty(),
            ranges_,
            b_.CreateMul(site, b_.getInt64(sizeof(memory::Range)))
        ),
        at(exec, ExecLayout::range)
    );
    for (const auto& [offset, value] : exec_fields_) {
      const bool narrow = offset == ExecLayout::local_base;
      b_.CreateStore(narrow ? b_.CreateTrunc(value, b_.getInt32Ty()) : value, at(exec, offset));
    }
  }
  const llvm::Function* handler = bitcode_.getFunction(llvm::StringRef(name));
  llvm::FunctionCallee callee =
      module_.getOrInsertFunction(llvm::StringRef(name), handler->getFunctionType());
  llvm::Value* next = b_.CreateCall(callee, {exec, fake_op});
  if (slow != nullptr) {
    llvm::BasicBlock* good = block("good" + llvm::Twine(k));
    b_.CreateCondBr(
        b_.CreateICmpEQ(next, llvm::ConstantPointerNull::get(b_.getPtrTy())),
        slow,
        good,
        llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights()
    );
    b_.SetInsertPoint(good);
  }
  for (const auto& [raw, offset] : slot_of) {
    const isa::Ref ref{raw};
    if (ref.area() != isa::Area::Frame) {
      continue;
    }
    const std::uint32_t index = registers_.at(ref.offset());
    if (!registers_.written(k, index)) {
      continue;
    }
    const RegisterPlace& place = registers_.place(index);
    llvm::Value* value =
        b_.CreateAlignedLoad(vector_type(place), at(slots, offset), llvm::Align(64));
    // An access with compiled code is executed by all lanes.
    const bool some = guard != nullptr && kinds_[k] != Kind::Access;
    write(index, some ? blend(place, guard, value, read(index)) : value);
  }
  b_.CreateBr(done);
  if (slow != nullptr) {
    b_.SetInsertPoint(slow);
    for (const auto& [raw, offset] : slot_of) {
      if (isa::Ref{raw}.area() == isa::Area::Frame) {
        store_register(registers_.at(isa::Ref{raw}.offset()));
      }
    }
    llvm::Value* interpret = context_field(offsetof(RegionContext, interpret), b_.getPtrTy());
    llvm::FunctionType* type = llvm::FunctionType::get(
        b_.getPtrTy(),
        {b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty()},
        /*isVarArg=*/false
    );
    llvm::Value* answer = b_.CreateCall(type, interpret, {context_, op_pointer(k), active});
    // Such a handler goes on behind its op or has stopped with a fault, and then nobody asks for
    // registers any more.
    llvm::BasicBlock* stopped = block("stopped" + llvm::Twine(k));
    llvm::BasicBlock* again = block("again" + llvm::Twine(k));
    b_.CreateCondBr(b_.CreateICmpEQ(answer, op_pointer(k + 1)), again, stopped);
    b_.SetInsertPoint(stopped);
    b_.CreateStore(
        b_.CreateLoad(b_.getInt64Ty(), fuel_),
        at(context_, offsetof(RegionContext, fuel))
    );
    b_.CreateStore(
        b_.CreateLoad(b_.getInt64Ty(), executed_),
        at(context_, offsetof(RegionContext, executed))
    );
    b_.CreateRet(answer);
    b_.SetInsertPoint(again);
    for (const auto& [raw, offset] : slot_of) {
      if (isa::Ref{raw}.area() == isa::Area::Frame) {
        const std::uint32_t index = registers_.at(isa::Ref{raw}.offset());
        if (registers_.written(k, index)) {
          load_register(index);
        }
      }
    }
    b_.CreateBr(done);
  }
  b_.SetInsertPoint(done);
}

void Builder::emit_op(std::uint32_t k) {
  b_.SetInsertPoint(arrivals_[k]);
  if (kinds_[k] == Kind::Leave) {
    b_.CreateBr(exit_block(k));
    return;
  }
  b_.CreateBr(bodies_[k]);
  b_.SetInsertPoint(bodies_[k]);
  if (kinds_[k] == Kind::Branch) {
    emit_branch(k);
    return;
  }
  emit_handler(k);
  flush_executed();
  b_.CreateBr(arrivals_[k + 1]);
}

BuiltRegion Builder::build(const std::string& name) {
  BuiltRegion result;
  result.name = name;
  for (const isa::Op& op : code_.ops) {
    kinds_.push_back(classify(op));
    if (kinds_.back() == Kind::Leave) {
      result.left.push_back(static_cast<std::uint32_t>(kinds_.size() - 1));
    }
  }
  result.entries = find_entries();
  if (result.entries.empty()) {
    return result;
  }
  llvm::FunctionType* type = llvm::FunctionType::get(
      b_.getPtrTy(),
      {b_.getPtrTy(), b_.getInt32Ty()},
      /*isVarArg=*/false
  );
  function_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module_);
  function_->setVisibility(llvm::GlobalValue::HiddenVisibility);
  function_->setDSOLocal(true);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  block("entry");
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    arrivals_.push_back(block("op" + llvm::Twine(k)));
    bodies_.push_back(block("body" + llvm::Twine(k)));
  }
  emit_prologue(result.entries);
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    emit_op(k);
  }
  for (llvm::BasicBlock* unused : bodies_) {
    if (unused->empty()) {
      unused->eraseFromParent();
    }
  }
  return result;
}

} // namespace

BuiltRegion build_region(
    llvm::Module& module,
    const llvm::Module& bitcode,
    const Handlers& handlers,
    const isa::Code& code,
    const std::string& name
) {
  return Builder(module, bitcode, handlers, code).build(name);
}

} // namespace heddle::jit
