// Implements region_builder.h: the code of a region.
#include "base/check.h"
#include "isa/ops_memory.h"
#include "jit/region_builder_impl.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace heddle::jit {

// --- Registers

LaneValue RegionBuilder::read(std::uint32_t index) {
  return {shape(index), b_.CreateLoad(type_of(index), variables_[index])};
}

/// A word that may be any NaN, as the NaN of PTX.
LaneValue RegionBuilder::with_ptx_nan(const LaneValue& value) {
  const bool one = value.shape.is_regular();
  llvm::Type* type = one ? b_.getFloatTy() : lanes_.widened(b_.getFloatTy());
  llvm::Value* number = b_.CreateBitCast(value.value, type);
  llvm::Value* is_number = b_.CreateFCmpORD(number, llvm::Constant::getNullValue(type));
  llvm::Constant* nan = llvm::ConstantInt::get(value.value->getType(), nan_word);
  return {value.shape, b_.CreateSelect(is_number, value.value, nan)};
}

/// As the interpreter has it.
LaneValue RegionBuilder::read_bits(std::uint32_t index) {
  return any_nan_->of(index) ? with_ptx_nan(read(index)) : read(index);
}

/// `chosen`: bits of the lanes that get the value; nullptr: the others' is of no interest.
void RegionBuilder::write(std::uint32_t index, const LaneValue& value, llvm::Value* chosen) {
  llvm::Value* all = lanes_.as(value, shape(index)).value;
  if (chosen != nullptr && !shape(index).is_regular()) {
    all = b_.CreateSelect(as_mask(chosen), all, read(index).value);
  }
  b_.CreateStore(all, variables_[index]);
}

llvm::Value* RegionBuilder::frame_place(std::uint32_t index) {
  const RegisterPlace& place = registers_.place(index);
  return frame_memory().place(place, b_.getInt64(place.offset));
}

/// From the frame, in a vector.
llvm::Value* RegionBuilder::load_lanes(std::uint32_t index) {
  const RegisterPlace& place = registers_.place(index);
  return frame_memory().load(place, b_.getInt64(place.offset));
}

/// To the frame, for these lanes.
void RegionBuilder::store_register(std::uint32_t index, llvm::Value* lanes) {
  const RegisterPlace& place = registers_.place(index);
  frame_memory().store(place, b_.getInt64(place.offset), lanes_.vector(read_bits(index)), lanes);
}

LaneValue RegionBuilder::special(std::uint32_t offset) {
  const Shape s = special_shape(offset);
  const std::uint32_t which = offset / isa::SpecialLayout::u32x32;
  const bool of_threads = which == isa::SpecialLayout::TidX || which == isa::SpecialLayout::TidY ||
                          which == isa::SpecialLayout::TidZ;
  const bool of_block = s.is_uniform() && !of_threads;
  llvm::Value* all = of_group(
      of_block ? offsetof(isa::RegionGroup, uniform) : offsetof(isa::RegionGroup, special),
      b_.getPtrTy()
  );
  if (!of_block) {
    all = b_.CreateGEP(b_.getInt8Ty(), all, b_.CreateMul(first_lane(), b_.getInt64(4)));
  }
  llvm::Value* from = at(all, offset);
  if (s.is_regular()) {
    return {s, b_.CreateLoad(b_.getInt32Ty(), from)};
  }
  return {s, b_.CreateAlignedLoad(lanes_.widened(b_.getInt32Ty()), from, llvm::Align(4))};
}

LaneValue RegionBuilder::input(isa::Ref ref, llvm::Type* word) {
  switch (ref.area()) {
  case isa::Area::Frame: {
    const std::uint32_t index = registers_.at(ref.offset());
    if (llvm::Constant* constant = uniformity_->constant(index)) {
      return {Shape::uniform(), constant};
    }
    const LaneValue value = read(index);
    if (!value.value->getType()->getScalarType()->isIntegerTy(1)) {
      return value;
    }
    llvm::Type* type = value.shape.is_regular() ? word : lanes_.widened(word);
    return {value.shape, b_.CreateZExt(value.value, type)};
  }
  case isa::Area::Special:
    return special(ref.offset());
  default:
    if (llvm::Constant* constant = constant_word(ref)) {
      return {Shape::uniform(), constant};
    }
    return {Shape::uniform(), b_.CreateLoad(word, at(constants_, ref.offset()))};
  }
}

// --- The function

void RegionBuilder::count(std::uint32_t ops) {
  llvm::Value* before = b_.CreateLoad(b_.getInt64Ty(), executed_);
  b_.CreateStore(b_.CreateAdd(before, b_.getInt64(ops)), executed_);
}

void RegionBuilder::finish(llvm::Value* answer) {
  b_.CreateStore(answer, answer_);
  b_.CreateBr(done_);
}

void RegionBuilder::emit_done() {
  b_.SetInsertPoint(done_);
  llvm::Type* i64 = b_.getInt64Ty();
  set_field(offsetof(RegionContext, fuel), b_.CreateLoad(i64, fuel_));
  llvm::Value* ops = b_.CreateMul(b_.CreateLoad(i64, executed_), lane_count());
  ops = b_.CreateAdd(ops, b_.CreateLoad(i64, total_));
  ops = b_.CreateAdd(ops, field(offsetof(RegionContext, executed), i64));
  set_field(offsetof(RegionContext, executed), ops);
  set_field(offsetof(RegionContext, group), b_.CreateLoad(b_.getPtrTy(), group_));
  set_field(offsetof(RegionContext, begin), b_.CreateLoad(b_.getInt32Ty(), begin_));
  set_field(offsetof(RegionContext, arrived), b_.CreateLoad(b_.getInt32Ty(), arrived_));
  b_.CreateRet(b_.CreateLoad(b_.getPtrTy(), answer_));
}

void RegionBuilder::emit_prologue() {
  b_.SetInsertPoint(&function_->getEntryBlock());
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Type* i32 = b_.getInt32Ty();
  llvm::Type* pointer = b_.getPtrTy();
  context_ = function_->getArg(0);
  for (llvm::AllocaInst** place : {&fuel_, &executed_, &total_, &barriers_, &counted_}) {
    *place = b_.CreateAlloca(i64);
  }
  answer_ = b_.CreateAlloca(pointer);
  group_ = b_.CreateAlloca(pointer);
  begin_ = b_.CreateAlloca(i32);
  arrived_ = b_.CreateAlloca(i32);
  constants_ = field(offsetof(RegionContext, constants), pointer);
  ranges_ = field(offsetof(RegionContext, ranges), pointer);
  behind_ = field(offsetof(RegionContext, behind), i64);
  access_.checks = launch_.checks;
  access_.shared = field(offsetof(RegionContext, shared), pointer);
  access_.shared_bytes = field(offsetof(RegionContext, shared_bytes), i64);
  access_.param = field(offsetof(RegionContext, param), pointer);
  access_.param_bytes = field(offsetof(RegionContext, param_bytes), i64);
  access_.alone = b_.CreateICmpNE(field(offsetof(RegionContext, alone), i64), b_.getInt64(0));
  access_.local_stride = field(offsetof(RegionContext, local_stride), i64);
  access_.local_bytes = field(offsetof(RegionContext, local_bytes), i64);
  local_base_ = b_.CreateTrunc(field(offsetof(RegionContext, local_base), i64), i32);
  whole_fuel_ = field(offsetof(RegionContext, fuel), i64);
  b_.CreateStore(b_.getInt64(0), total_);
  b_.CreateStore(b_.getInt64(0), counted_);
  b_.CreateStore(field(offsetof(RegionContext, barriers), i64), barriers_);
  b_.CreateStore(field(offsetof(RegionContext, group), pointer), group_);
  b_.CreateStore(function_->getArg(1), begin_);
  b_.CreateStore(b_.getInt32(~0U), arrived_);
  variables_.assign(registers_.count(), nullptr);
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    if (ops_[k].kind == Kind::Leave && !(is_barrier(k) && is_reduction(k))) {
      continue;
    }
    std::vector<isa::Ref> refs = registers_.refs(k);
    refs.push_back(membermask(k));
    for (const isa::Ref ref : refs) {
      const std::uint32_t index = registers_.frame_register(ref);
      if (index != registers_.count() && variables_[index] == nullptr) {
        variables_[index] = variable(type_of(index), "r" + llvm::Twine(index));
      }
    }
  }
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    if (ops_[k].kind != Kind::Leave && ops_[k].kind != Kind::Branch && polls(k)) {
      repeats_[k] = variable(b_.getInt64Ty(), "repeats" + llvm::Twine(k));
    }
  }
  entry_slots_ = variable(b_.getInt64Ty(), "slots");
  going_ = variable(bits_type(), "going");
  const auto memory = [&](std::uint64_t bytes, const char* name) {
    llvm::AllocaInst* all = variable(llvm::ArrayType::get(b_.getInt8Ty(), bytes), name);
    all->setAlignment(llvm::Align(64));
    return all;
  };
  access_.words = memory(std::uint64_t{8} * launch_.lanes, "words");
  access_.elements = memory(std::uint64_t{16} * launch_.lanes, "elements");
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    if (uniformity_->waiting().is_place(k)) {
      waiting_[k] = variable(bits_type(), "waiting" + llvm::Twine(k));
    }
  }
  head_ = block("head");
  next_ = block("next");
  ended_ = block("ended");
  done_ = block("done");
  stopped_ = block("stopped");
  b_.CreateBr(head_);
  emit_head();
}

/// What differs from group to group.
void RegionBuilder::emit_head() {
  b_.SetInsertPoint(head_);
  llvm::Type* i32 = b_.getInt32Ty();
  llvm::Type* pointer = b_.getPtrTy();
  this_group_ = b_.CreateLoad(pointer, group_);
  group_slots_ = of_group(offsetof(isa::RegionGroup, slots), pointer);
  mask_ = b_.CreateTrunc(of_group(offsetof(isa::RegionGroup, mask), i32), bits_type());
  b_.CreateStore(mask_, going_);
  for (const auto& [place, lanes] : waiting_) {
    b_.CreateStore(no_lanes(), lanes);
  }
  access_.local = b_.CreateGEP(
      b_.getInt8Ty(),
      of_group(offsetof(isa::RegionGroup, local), pointer),
      b_.CreateMul(first_lane(), access_.local_stride)
  );
  for (const auto& [poll, repeats] : repeats_) {
    b_.CreateStore(b_.getInt64(0), repeats);
  }
  b_.CreateStore(whole_fuel_, fuel_);
  b_.CreateStore(b_.getInt64(0), executed_);
  for (llvm::AllocaInst* variable : variables_) {
    if (variable != nullptr) {
      // What is not live holds something, or LLVM may think anything of what is computed from it.
      b_.CreateStore(llvm::Constant::getNullValue(variable->getAllocatedType()), variable);
    }
  }
  llvm::Value* begin = b_.CreateLoad(i32, begin_);
  nowhere_ = block("nowhere");
  refuse_ = block("refuse");
  ways_in_ = b_.CreateSwitch(begin, nowhere_);
  b_.SetInsertPoint(refuse_);
  note_wrong_guess();
  b_.CreateBr(nowhere_);
  b_.SetInsertPoint(nowhere_);
  finish(op_pointer(begin));
}

void RegionBuilder::emit_entries(const std::vector<std::uint32_t>& entries) {
  const bool whole = whole_blocks();
  const auto behind_barrier = [&](std::uint32_t k) {
    return whole && (k == 0 || is_barrier(k - 1));
  };
  for (const std::uint32_t k : entries) {
    emit_entry(k, /*from_frame=*/true, behind_barrier(k));
  }
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    if (behind_barrier(k) && !std::ranges::binary_search(entries, k)) {
      emit_entry(k, /*from_frame=*/false, /*from_slots=*/true);
    }
  }
}

/// All of them, with all that jumps among them.
void RegionBuilder::emit_ops() {
  const Waiting& waiting = uniformity_->waiting();
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    b_.SetInsertPoint(arrivals_[k]);
    at_ = k;
    if (waiting.is_place(k)) {
      emit_meeting(k);
    }
    if (ops_[k].kind == Kind::Leave) {
      if (whole_blocks() && (is_end(k) || is_barrier(k))) {
        if (waiting.some_at(k)) {
          leave_if(b_.CreateICmpNE(b_.CreateLoad(bits_type(), going_), mask_), k);
        }
        emit_arrival(k);
      } else {
        b_.CreateBr(exit_block(k));
      }
      continue;
    }
    if (ops_[k].kind == Kind::Return) {
      emit_return(k);
      continue;
    }
    if ((code_.ops[k].flags & isa::Join) != 0 && joins_[k]) {
      llvm::BasicBlock* exit = exit_block(k);
      b_.CreateCondBr(b_.CreateICmpULE(behind_, b_.getInt64(k)), exit, bodies_[k], unlikely());
    } else {
      b_.CreateBr(bodies_[k]);
    }
    b_.SetInsertPoint(bodies_[k]);
    active_ = waiting.some_at(k) ? b_.CreateLoad(bits_type(), going_) : mask_;
    if (const auto* look = chains_.look_at(k); look != nullptr && !look->within) {
      look_for_nan(*look);
    }
    emit_check(k);
    if (ops_[k].kind == Kind::Branch) {
      emit_branch(k);
    } else {
      ops_[k].kind == Kind::Call ? emit_call(k) : emit_op(k);
      count(1);
      b_.CreateBr(arrivals_[k + 1]);
    }
  }
}

void RegionBuilder::emit_op(std::uint32_t k) {
  const isa::Op& op = code_.ops[k];
  llvm::BasicBlock* done = block("done" + llvm::Twine(k));
  llvm::Value* all = active_;
  // Who gets the results; nullptr: what the others get is of no interest.
  llvm::Value* chosen = uniformity_->waiting().some_at(k) ? active_ : nullptr;
  if ((op.flags & isa::Guarded) != 0) {
    const LaneValue guard = read(registers_.at(op.guard.offset()));
    llvm::Value* p = op.guard_negated ? b_.CreateNot(guard.value) : guard.value;
    llvm::BasicBlock* some = block("some" + llvm::Twine(k));
    if (guard.shape.is_regular()) {
      b_.CreateCondBr(p, some, done);
    } else {
      active_ = b_.CreateAnd(as_bits(p), all);
      chosen = active_;
      b_.CreateCondBr(b_.CreateICmpEQ(active_, no_lanes()), done, some);
    }
    b_.SetInsertPoint(some);
  }
  std::vector<llvm::Value*> answers;
  if (polls(k)) {
    answers = spend_on_poll(k);
  }
  const bool interpreted = ops_[k].kind == Kind::Interpret;
  llvm::BasicBlock* slow =
      interpreted || ops_[k].lane->reaches ? block("slow" + llvm::Twine(k)) : nullptr;
  if (interpreted) {
    b_.CreateBr(slow);
  } else {
    if (launch_.watch == LaunchShape::Watch::All && is_of_warps(k)) {
      leave_if(b_.CreateICmpNE(live(), b_.getInt32(~0U)), k); // what ended lanes have is unwritten
    }
    if (is_of_warps(k)) {
      party_ = leave_unless_in_parties(k);
      if (party_.shape.is_uniform()) {
        emit_whole_warp(k, chosen, slow, done);
      }
    }
    emit_lanes(k, chosen, slow);
    b_.CreateBr(done);
  }
  if (slow != nullptr) {
    b_.SetInsertPoint(slow);
    emit_slow(k, chosen);
    b_.CreateBr(done);
  }
  b_.SetInsertPoint(done);
  if (!answers.empty()) {
    note_poll(k, answers);
  }
  active_ = all;
}

/// A poll costs more and more while all lanes get the answer that they had before, for it mostly
/// asks in vain (Exec::spend_on_poll). Returns those answers; none: it always costs the same, as in
/// the interpreter with a monitor.
std::vector<llvm::Value*> RegionBuilder::spend_on_poll(std::uint32_t k) {
  std::vector<llvm::Value*> answers;
  if (is_watched() || (code_.ops[k].flags & isa::Guarded) != 0) {
    spend(b_.getInt64(isa::poll_cost), k);
    return answers;
  }
  llvm::Value* doubled = b_.CreateLoad(b_.getInt64Ty(), repeats_.at(k));
  spend(b_.CreateShl(b_.getInt64(isa::poll_cost), doubled), k);
  for (const isa::Ref ref : ops_[k].operands.outputs) {
    answers.push_back(read(registers_.at(ref.offset())).value);
  }
  return answers;
}

void RegionBuilder::note_poll(std::uint32_t k, const std::vector<llvm::Value*>& before) {
  llvm::Value* same = b_.getTrue();
  for (std::size_t n = 0; n < before.size(); ++n) {
    const LaneValue answer = read(registers_.at(ops_[k].operands.outputs[n].offset()));
    llvm::Value* differs = b_.CreateICmpNE(answer.value, before[n]);
    if (!answer.shape.is_regular()) {
      differs = b_.CreateICmpNE(b_.CreateAnd(as_bits(differs), active_), no_lanes());
    }
    same = b_.CreateAnd(same, b_.CreateNot(differs));
  }
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Value* more = b_.CreateAdd(b_.CreateLoad(i64, repeats_.at(k)), b_.getInt64(1));
  llvm::Value* most = field(offsetof(RegionContext, poll_doublings), i64);
  more = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, more, most);
  b_.CreateStore(b_.CreateSelect(same, more, b_.getInt64(0)), repeats_.at(k));
}

/// Of the lanes `chosen` that execute op k: nullptr if the others want nothing of the register.
llvm::Value*
RegionBuilder::who_gets(std::uint32_t k, std::uint32_t index, llvm::Value* chosen) const {
  const bool guarded = (code_.ops[k].flags & isa::Guarded) != 0;
  return guarded || uniformity_->wanted_by_waiting(k, index) ? chosen : nullptr;
}

/// A collective that names other lanes than those that execute it, ended ones included, is the
/// interpreter's.
void RegionBuilder::leave_unless_converged(std::uint32_t k) {
  const isa::Ref members = membermask(k);
  if (members.none()) {
    return;
  }
  const LaneValue named = input(members, b_.getInt32Ty());
  if (!named.shape.is_uniform()) {
    leave_if(b_.getTrue(), k);
    return;
  }
  llvm::Value* mask = b_.CreateTrunc(named.value, b_.getInt32Ty());
  llvm::Value* whole = b_.CreateICmpEQ(b_.CreateAnd(mask, created()), active_);
  leave_if(b_.CreateNot(whole), k);
}

/// Of a collective of the region's own: for each lane those that take part with it. Lanes may be
/// several parties, of which each has one mask that names who executes.
LaneValue RegionBuilder::leave_unless_in_parties(std::uint32_t k) {
  const isa::Ref members = membermask(k);
  const LaneValue named =
      members.none() ? LaneValue{Shape::uniform()} : input(members, b_.getInt32Ty());
  if (named.shape.is_uniform() || is_watched()) { // several parties: a turn ends there
    leave_unless_converged(k);
    return {Shape::uniform(), active_};
  }
  has_parties_ = true;
  llvm::Type* word = b_.getInt32Ty();
  llvm::Value* created_lanes = b_.CreateVectorSplat(launch_.lanes, created());
  llvm::Value* all = b_.CreateAnd(lanes_.vector(named), created_lanes);
  b_.CreateAlignedStore(all, access_.words, llvm::Align(64));
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* look = block("party" + llvm::Twine(k));
  llvm::BasicBlock* done = block("parties" + llvm::Twine(k));
  b_.CreateBr(look);
  b_.SetInsertPoint(look);
  llvm::PHINode* left = b_.CreatePHI(word, 2);
  left->addIncoming(active_, before);
  llvm::Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b_.getTrue());
  llvm::Value* party = b_.CreateLoad(word, b_.CreateInBoundsGEP(word, access_.words, first));
  llvm::Value* same = as_bits(b_.CreateICmpEQ(all, b_.CreateVectorSplat(launch_.lanes, party)));
  llvm::Value* others = b_.CreateAnd(party, b_.CreateNot(b_.CreateAnd(same, left)));
  llvm::Value* itself = b_.CreateAnd(b_.CreateLShr(party, first), b_.getInt32(1));
  leave_if(
      b_.CreateOr(b_.CreateICmpNE(others, b_.getInt32(0)), b_.CreateICmpEQ(itself, b_.getInt32(0))),
      k
  );
  llvm::Value* rest = b_.CreateAnd(left, b_.CreateNot(party));
  left->addIncoming(rest, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpEQ(rest, b_.getInt32(0)), done, look);
  b_.SetInsertPoint(done);
  return {Shape::vector(), all};
}

void RegionBuilder::spend(llvm::Value* amount, std::uint32_t k) {
  llvm::Value* fuel = b_.CreateLoad(b_.getInt64Ty(), fuel_);
  fuel = b_.CreateSub(fuel, amount);
  leave_if(b_.CreateICmpSLT(fuel, b_.getInt64(0)), k);
  b_.CreateStore(fuel, fuel_);
}

/// RegionContext::interpret_seldom: does the handler go on behind op k?
llvm::Value*
RegionBuilder::interpret_seldom(std::uint32_t k, const std::vector<std::uint32_t>& inputs) {
  note_group();
  if (inputs.empty()) {
    return call_interpreter(b_, context_, op_pointer(k), active_);
  }
  llvm::GlobalVariable* table = lay_down(inputs);
  llvm::Type* pointer = b_.getPtrTy();
  llvm::FunctionType* type = llvm::FunctionType::get(
      b_.getInt64Ty(),
      {pointer, pointer, b_.getInt32Ty(), pointer, pointer},
      /*isVarArg=*/false
  );
  llvm::CallInst* call = b_.CreateCall(
      type,
      field(offsetof(RegionContext, interpret_seldom), pointer),
      {context_, op_pointer(k), b_.CreateZExt(active_, b_.getInt32Ty()), table, exit_values_}
  );
  call->addFnAttr(llvm::Attribute::Cold);
  return b_.CreateICmpNE(call, b_.getInt64(0));
}

/// The interpreter's handler for the active lanes.
void RegionBuilder::emit_slow(std::uint32_t k, llvm::Value* chosen) {
  const ptx::Effect& effect = ptx::effect_of(*instruction(k));
  if (is_collective(effect)) {
    leave_unless_converged(k);
  } else if (is_matrix(k)) { // of all lanes
    leave_if(b_.CreateICmpNE(active_, live()), k);
  }
  std::vector<std::uint32_t> inputs;
  for (const isa::Ref ref : ops_[k].operands.inputs) {
    if (ref.area() == isa::Area::Frame) {
      inputs.push_back(registers_.at(ref.offset()));
    }
  }
  if ((code_.ops[k].flags & isa::Guarded) != 0) { // for reports: machine/fault_diagnostic.cpp
    inputs.push_back(registers_.at(code_.ops[k].guard.offset()));
  }
  std::erase_if(inputs, [&](std::uint32_t index) { return !changed_[k].test(index); });
  llvm::Value* goes_on = nullptr;
  if (ops_[k].kind == Kind::Interpret) {
    for (const std::uint32_t index : inputs) {
      store_register(index, active_);
    }
    note_group();
    goes_on = call_interpreter(b_, context_, op_pointer(k), active_);
  } else {
    goes_on = interpret_seldom(k, inputs);
  }
  // Such a handler goes on behind its op or has stopped with a fault, and then nobody asks for
  // registers any more.
  llvm::BasicBlock* again = block("again" + llvm::Twine(k));
  b_.CreateCondBr(goes_on, again, is_watched() ? unless_refused(k) : stopped_);
  b_.SetInsertPoint(again);
  take_outputs(k, chosen);
}

/// Where a handler has not gone on behind op k: the monitor may want the interpreter to execute it.
llvm::BasicBlock* RegionBuilder::unless_refused(std::uint32_t k) {
  llvm::BasicBlock* ask = block("ask" + llvm::Twine(k));
  llvm::BasicBlock* leave = block("refused" + llvm::Twine(k));
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  b_.SetInsertPoint(ask);
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Value* refused = field(offsetof(RegionContext, refused), i64);
  b_.CreateCondBr(b_.CreateICmpNE(refused, b_.getInt64(0)), leave, stopped_);
  b_.SetInsertPoint(leave);
  if (polls(k)) { // the interpreter counts it again
    b_.CreateStore(b_.CreateAdd(b_.CreateLoad(i64, fuel_), b_.getInt64(isa::poll_cost)), fuel_);
  }
  b_.CreateBr(exit_block(k));
  return ask;
}

/// What the interpreter has computed.
void RegionBuilder::take_outputs(std::uint32_t k, llvm::Value* chosen) {
  std::vector<std::uint32_t> regular;
  llvm::Value* differs = no_lanes();
  for (const isa::Ref ref : ops_[k].operands.outputs) {
    const std::uint32_t index = registers_.at(ref.offset());
    llvm::Value* all = load_lanes(index);
    if (!shape(index).is_regular()) {
      write(index, {Shape::vector(), all}, who_gets(k, index, chosen));
      continue;
    }
    // Loaded from one address, and the same for all unless that is each lane's own memory, or
    // others write there.
    HEDDLE_CHECK(shape(index).is_uniform(), "a loaded value with a stride");
    llvm::Value* some = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, active_, b_.getTrue());
    llvm::Value* one = b_.CreateExtractElement(all, some);
    b_.CreateStore(one, variables_[index]);
    llvm::Value* other = b_.CreateICmpNE(all, lanes_.vector({Shape::uniform(), one}));
    differs = b_.CreateOr(differs, as_bits(other));
    regular.push_back(index);
  }
  if (regular.empty()) {
    return;
  }
  llvm::BasicBlock* same = block("same" + llvm::Twine(k));
  differs = b_.CreateAnd(differs, active_);
  llvm::Value* all_same = b_.CreateICmpEQ(differs, no_lanes());
  const std::vector<std::uint32_t> before = registers_.live(restart_[k]);
  const bool repeats =
      may_repeat(k) && std::ranges::none_of(registers_.writes(k), [&](std::uint32_t index) {
        return std::ranges::find(before, index) != before.end(); // the frame has the new value
      });
  if (repeats) {
    b_.CreateCondBr(all_same, same, exit_block(restart_[k]));
    b_.SetInsertPoint(same);
    return;
  }
  llvm::BasicBlock* leave = block("differ" + llvm::Twine(k));
  b_.CreateCondBr(all_same, same, leave);
  b_.SetInsertPoint(leave);
  count(1);
  emit_exit(k + 1, uniformity_->waiting().at(k), regular);
  b_.SetInsertPoint(same);
}

BuiltRegion RegionBuilder::build(const std::string& name, std::size_t most) {
  BuiltRegion result;
  result.name = name;
  plan_ops(result);
  uniformity_.emplace(
      code_,
      registers_,
      ops_,
      [this](std::uint32_t offset) { return special_shape(offset); },
      [this](isa::Ref ref) { return constant_word(ref); },
      launch_.guesses ? launch_.lanes : 0,
      is_watched()
  );
  find_joins();
  find_changed();
  find_unsaved();
  find_inlined();
  find_any_nan();
  result.entries = find_entries();
  find_checks(result.entries);
  find_restarts(result.entries);
  find_chains();
  result.size = code_.ops.size();
  for (const std::uint32_t k : result.entries) {
    result.size += registers_.live(k).size();
  }
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    const bool leaves = ops_[k].kind == Kind::Leave || ops_[k].kind == Kind::Call;
    result.size += leaves ? registers_.live(k).size() : 0;
  }
  result.built = result.size <= most && (!result.entries.empty() || is_callable());
  if (!result.built) {
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
  function_->addFnAttr("prefer-vector-width", "512");
  block("entry");
  for (std::uint32_t k = 0; k < code_.ops.size(); ++k) {
    arrivals_.push_back(block("op" + llvm::Twine(k)));
    bodies_.push_back(block("body" + llvm::Twine(k)));
  }
  emit_prologue();
  std::vector<std::uint32_t> entries = result.entries;
  if (is_callable() && (entries.empty() || entries.front() != 0)) {
    entries.insert(entries.begin(), 0);
  }
  emit_entries(entries);
  emit_ops();
  emit_next_group();
  b_.SetInsertPoint(stopped_);
  finish(llvm::ConstantPointerNull::get(b_.getPtrTy()));
  emit_done();
  if (exit_values_ != nullptr) {
    exit_values_->setAllocatedType(llvm::ArrayType::get(b_.getInt8Ty(), exit_bytes_));
  }
  entry_slots_->setAllocatedType(llvm::ArrayType::get(b_.getInt64Ty(), slots_.size()));
  const std::uint32_t flags =
      launch_.lanes | (launch_.rows ? isa::RegionWords::rows : 0) |
      (whole_blocks() ? isa::RegionWords::block : 0) |
      (waiting_.empty() && !has_parties_ && !calls_ ? isa::RegionWords::turns : 0) |
      (is_callable() ? isa::RegionWords::callable : 0) |
      (is_watched() ? isa::RegionWords::watch : 0);
  llvm::Constant* words[] = {
      b_.getInt32(static_cast<std::uint32_t>(slots_.size())),
      b_.getInt32(flags)
  };
  function_->setPrefixData(llvm::ConstantStruct::getAnon(words));
  for (llvm::BasicBlock& unused : *function_) {
    if (unused.empty()) {
      new llvm::UnreachableInst(b_.getContext(), &unused);
    }
  }
  return result;
}

BuiltRegion build_region(
    llvm::Module& module,
    RegionFunctions& functions,
    const isa::Code& code,
    const LaunchShape& shape,
    const std::string& name,
    std::size_t most
) {
  return RegionBuilder(module, functions, code, shape).build(name, most);
}

} // namespace heddle::jit
