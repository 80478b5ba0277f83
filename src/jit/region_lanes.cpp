// What an op does in a region, for all lanes: its LaneFunction.
//
// Most are executed for all lanes at once. Long ones (a sine or a logarithm, whose series are of
// numbers of 64 bits) need more registers then than a processor has. They are loops over parts of
// the group, which is no slower, and a third of the code.
#include "base/check.h"
#include "isa/stored_value.h"
#include "jit/region_builder_impl.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace heddle::jit {

namespace {

/// Is the result the address of an access that fails if a lane's wraps around: in the first 4 GiB?
bool finds_wrapping(const llvm::Instruction& i) {
  return llvm::isa<llvm::ZExtInst>(i) && std::ranges::all_of(i.users(), [](const llvm::User* user) {
           const auto* use = llvm::dyn_cast<llvm::Instruction>(user);
           return use != nullptr && is_reach(*use) && space_of(*use) == isa::Space::Shared;
         });
}

} // namespace

LaneValues RegionBuilder::arguments(std::uint32_t k) {
  const PlannedOp& planned = ops_[k];
  const llvm::Function& f = *planned.lane->function;
  LaneValues known;
  const auto arguments = static_cast<unsigned>(planned.operands.inputs.size());
  for (unsigned n = 0; n < arguments; ++n) {
    if (!f.getArg(n)->use_empty()) {
      const LaneValue value = input(planned.operands.inputs[n], f.getArg(n)->getType());
      known[f.getArg(n)] = takes_any_nan(k, n) ? with_ptx_nan(value) : value;
    }
  }
  known[f.getArg(arguments)] = {Shape::uniform(), local_base_};
  if (!f.getArg(arguments + 1)->use_empty()) {
    known[f.getArg(arguments + 1)] = {
        Shape::uniform(),
        b_.CreateLoad(b_.getInt64Ty(), at(op_pointer(k), offsetof(isa::Op, imm)))
    };
  }
  return known;
}

/// Is the n-th input of op k a register that may hold any NaN, where that matters?
bool RegionBuilder::takes_any_nan(std::uint32_t k, std::size_t n) const {
  const std::uint32_t index = registers_.frame_register(ops_[k].operands.inputs[n]);
  return index != registers_.count() && any_nan_->of(index) &&
         uniformity_->constant(index) == nullptr && any_nan_->observes(k, n);
}

/// What becomes of a result of op k: with any NaN, if its register may hold that.
const llvm::Value*
RegionBuilder::result_of(std::uint32_t k, const llvm::InsertValueInst& insert) const {
  const unsigned n = insert.getIndices()[0];
  const std::uint32_t index = registers_.at(ops_[k].operands.outputs[n].offset());
  return any_nan_->of(index) ? any_nan_->result(k, n) : insert.getInsertedValueOperand();
}

/// Registers are integers.
LaneValue RegionBuilder::as_word(const LaneValue& value) {
  llvm::Type* type = value.value->getType();
  if (!type->getScalarType()->isFloatTy()) {
    return value;
  }
  llvm::Type* word = type->getWithNewType(b_.getInt32Ty());
  return {value.shape, b_.CreateBitCast(value.value, word)};
}

/// Is one of the numbers NaN, in whatever lane? One comparison looks at two of them.
llvm::Value* RegionBuilder::some_is_nan(const std::vector<LaneValue>& numbers) {
  const unsigned at_once = std::min(lanes_.lanes(), processor_level() == 4 ? 8U : 4U);
  std::vector<llvm::Value*> vectors;
  std::vector<llvm::Value*> scalars;
  for (const LaneValue& number : numbers) {
    if (number.shape.is_regular()) {
      scalars.push_back(number.value);
      continue;
    }
    for (unsigned first = 0; first < lanes_.lanes(); first += at_once) {
      std::vector<int> chosen(at_once);
      std::iota(chosen.begin(), chosen.end(), static_cast<int>(first));
      vectors.push_back(b_.CreateShuffleVector(number.value, chosen));
    }
  }
  const auto look = [this](const std::vector<llvm::Value*>& values) {
    llvm::Value* bad = nullptr;
    for (std::size_t n = 0; n < values.size(); n += 2) {
      llvm::Value* either = b_.CreateFCmpUNO(values[n], values[std::min(n + 1, values.size() - 1)]);
      bad = bad == nullptr ? either : b_.CreateOr(bad, either);
    }
    return bad;
  };
  llvm::Value* one = look(scalars);
  llvm::Value* bad = look(vectors);
  if (bad != nullptr) {
    bad = b_.CreateBitCast(bad, b_.getIntNTy(at_once));
    bad = b_.CreateICmpNE(bad, b_.getIntN(at_once, 0));
  }
  return bad == nullptr ? one : one == nullptr ? bad : b_.CreateOr(bad, one);
}

AccessContext RegionBuilder::access_context(std::uint32_t k) {
  AccessContext context = access_;
  context.range = at(ranges_, k % isa::range_sites * sizeof(memory::Range));
  return context;
}

/// The op's LaneFunction, instruction by instruction.
void RegionBuilder::emit_lanes(std::uint32_t k, llvm::Value* chosen, llvm::BasicBlock* slow) {
  if (goes_in_parts(k)) {
    write_results(k, emit_in_parts(k), chosen);
    return;
  }
  const PlannedOp& planned = ops_[k];
  const llvm::Function& f = *planned.lane->function;
  LaneValues known = arguments(k);
  const auto value_of = [&](const llvm::Value* v) -> LaneValue {
    if (const auto* constant = llvm::dyn_cast<llvm::Constant>(v)) {
      return {Shape::uniform(), const_cast<llvm::Constant*>(constant)};
    }
    return known.at(v);
  };
  const auto execute = [&](const llvm::Instruction& i) {
    std::vector<LaneValue> operands;
    const unsigned count = i.getNumOperands() - (llvm::isa<llvm::CallInst>(i) ? 1 : 0);
    for (unsigned n = 0; n < count; ++n) {
      operands.push_back(value_of(i.getOperand(n)));
    }
    if (const auto talk = talk_of(i)) {
      known[&i] = emit_talk(b_, lanes_, *talk, operands, {party_, access_.words, access_.elements});
      return;
    }
    known[&i] = lanes_.apply(i, operands, !finds_wrapping(i));
  };
  const std::map<const llvm::Instruction*, NanArm> arms =
      update_of(f) == nullptr ? find_nan_arms(f.getEntryBlock())
                              : std::map<const llvm::Instruction*, NanArm>();
  std::set<const llvm::Instruction*> later;
  for (const auto& [select, arm] : arms) {
    later.insert(arm.only_there.begin(), arm.only_there.end());
  }
  const auto execute_with_arm = [&](const llvm::Instruction& select, const NanArm& arm) {
    const LaneValue number = value_of(arm.number);
    if (chains_.defers(k)) {
      computed_[k] = number;
      known[&select] = value_of(select.getOperand(1));
      return;
    }
    const auto execute_all = [&] {
      std::ranges::for_each(arm.only_there, [&](const auto* i) { execute(*i); });
      execute(select);
    };
    if (number.shape.is_regular()) {
      execute_all();
      return;
    }
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* seldom = block("nan" + llvm::Twine(k));
    llvm::BasicBlock* behind = block("numbers" + llvm::Twine(k));
    llvm::Value* often = lanes_.vector(value_of(select.getOperand(1)));
    b_.CreateCondBr(some_is_nan({number}), seldom, behind, unlikely());
    b_.SetInsertPoint(seldom);
    execute_all();
    llvm::Value* result = lanes_.vector(known.at(&select));
    seldom = b_.GetInsertBlock();
    b_.CreateBr(behind);
    b_.SetInsertPoint(behind);
    llvm::PHINode* either = b_.CreatePHI(result->getType(), 2);
    either->addIncoming(often, before);
    either->addIncoming(result, seldom);
    known[&select] = {Shape::vector(), either};
  };
  std::unordered_map<const llvm::Value*, Access> reached;
  std::vector<LaneValue> results(planned.operands.outputs.size());
  std::optional<LaneValue> loaded_from;
  for (const llvm::Instruction& i : f.getEntryBlock()) {
    if (later.contains(&i)) {
      continue;
    }
    if (const auto arm = arms.find(&i); arm != arms.end()) {
      execute_with_arm(i, arm->second);
      continue;
    }
    if (is_reach(i)) {
      const AccessContext context = access_context(k);
      Access& access = reached.try_emplace(&i, b_, lanes_, active_, slow, context).first->second;
      const LaneValue address = value_of(i.getOperand(0));
      if (is_alone(i)) {
        access.only_alone(space_of(i));
      }
      const bool told_before = planned.watched && is_store(i); // of what it looks at itself
      if (has_one_type(i) && !is_update(i) && !told_before) {
        access.through(functions_.accesses, inlined_[k]);
      }
      if (const CommonCheck* check = check_of_[k]) {
        access.checked_if(check->good, check->pointer, offset_in_check_[k]);
      }
      if (planned.stack) {
        llvm::Type* type = address.value->getType();
        llvm::Value* window = llvm::ConstantInt::get(type, memory::local_window);
        const LaneValue offset{address.shape, b_.CreateSub(address.value, window)};
        access.reach(offset, bytes_of(i), isa::Space::Local, is_store(i));
      } else {
        access.reach(address, bytes_of(i), space_of(i), is_store(i));
      }
      if (told_before) {
        emit_watch(k, address);
      } else if (planned.watched) {
        loaded_from = address;
      }
      const bool apart = address.shape.is_regular() && address.shape.stride != 0 &&
                         address.shape.stride % static_cast<std::int64_t>(bytes_of(i)) == 0;
      if (is_update(i) && !apart) {
        emit_update(i, access, known, results);
        break;
      }
      continue;
    }
    if (llvm::isa<llvm::FenceInst>(i)) {
      emit_fence();
      continue;
    }
    if (llvm::isa<llvm::GetElementPtrInst>(i)) {
      continue; // place_of() looks through it
    }
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
      const Place place = place_of(load->getPointerOperand());
      known[&i] = llvm::isa<llvm::Argument>(place.from)
                      ? special(static_cast<std::uint32_t>(place.offset))
                      : reached.at(place.from).load(load->getType(), place.offset);
      continue;
    }
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
      const Place place = place_of(store->getPointerOperand());
      reached.at(place.from).store(value_of(store->getValueOperand()), place.offset);
      continue;
    }
    if (const auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&i)) {
      results[insert->getIndices()[0]] = as_word(value_of(result_of(k, *insert)));
      continue;
    }
    if (const auto* ret = llvm::dyn_cast<llvm::ReturnInst>(&i)) {
      if (auto* constant = llvm::dyn_cast<llvm::Constant>(ret->getReturnValue())) {
        for (unsigned n = 0; n < results.size(); ++n) {
          results[n] = {Shape::uniform(), constant->getAggregateElement(n)};
        }
      }
      continue;
    }
    execute(i);
  }
  if (loaded_from) {
    emit_watch(k, *loaded_from);
  }
  if (const auto* look = chains_.look_at(k); look != nullptr && look->within) {
    look_for_nan(*look);
  }
  write_results(k, results, chosen);
}

namespace {

/// Registers of the frame that hold what a store stores, one for each element.
std::vector<std::uint32_t> stored_by(
    const isa::Op& op,
    const ptx::Instruction& i,
    const isa::Code& code,
    const RegisterMap& registers
) {
  std::vector<std::uint32_t> result;
  if (ptx::effect_of(i).is(ptx::Effect::Kind::Store)) {
    for (const isa::Ref element : isa::stored_elements(code, op)) {
      result.push_back(registers.frame_register(element));
    }
    std::erase(result, registers.count()); // constants
  }
  return result;
}

} // namespace

/// Tells the monitor of an access by the active lanes. It may compare what is stored with what is
/// there: the value is in the frame then.
void RegionBuilder::emit_watch(std::uint32_t k, const LaneValue& address) {
  for (const std::uint32_t stored : stored_by(code_.ops[k], *instruction(k), code_, registers_)) {
    if (changed_[k].test(stored)) {
      store_register(stored, active_);
    }
  }
  llvm::Type* pointer = b_.getPtrTy();
  llvm::Type* i64 = b_.getInt64Ty();
  const bool regular = address.shape.is_regular();
  llvm::Value* each = llvm::ConstantPointerNull::get(b_.getPtrTy());
  if (!regular) {
    // What lanes that do not execute hold may be anything, but it must be one thing.
    b_.CreateAlignedStore(b_.CreateFreeze(address.value), access_.words, llvm::Align(64));
    each = access_.words;
  }
  llvm::FunctionType* type = llvm::FunctionType::get(
      i64,
      {pointer, pointer, b_.getInt32Ty(), pointer, i64, i64},
      /*isVarArg=*/false
  );
  llvm::Value* noted = b_.CreateCall(
      type,
      field(offsetof(RegionContext, watch), pointer),
      {context_,
       op_pointer(k),
       b_.CreateZExt(active_, b_.getInt32Ty()),
       each,
       regular ? address.value : b_.getInt64(0),
       b_.getInt64(static_cast<std::uint64_t>(regular ? address.shape.stride : 0))}
  );
  leave_if(b_.CreateICmpEQ(noted, b_.getInt64(0)), k);
}

/// What lanes tell each other if all 32 execute: then it is known who reads from whom, and reading
/// is mixing vectors. Goes on where it is not so.
void RegionBuilder::emit_whole_warp(
    std::uint32_t k,
    llvm::Value* chosen,
    llvm::BasicBlock* slow,
    llvm::BasicBlock* done
) {
  llvm::BasicBlock* all = block("warp" + llvm::Twine(k));
  llvm::BasicBlock* some = block("lanes" + llvm::Twine(k));
  llvm::Constant* ones = llvm::Constant::getAllOnesValue(bits_type());
  b_.CreateCondBr(
      b_.CreateICmpEQ(active_, ones),
      all,
      some,
      llvm::MDBuilder(b_.getContext()).createLikelyBranchWeights()
  );
  b_.SetInsertPoint(all);
  const LaneValue party = std::exchange(party_, {Shape::uniform(), ones});
  llvm::Value* active = std::exchange(active_, ones);
  emit_lanes(k, chosen != nullptr ? ones : nullptr, slow);
  b_.CreateBr(done);
  party_ = party;
  active_ = active;
  b_.SetInsertPoint(some);
}

void RegionBuilder::write_results(
    std::uint32_t k,
    const std::vector<LaneValue>& results,
    llvm::Value* chosen
) {
  const PlannedOp& planned = ops_[k];
  for (std::size_t n = 0; n < results.size(); ++n) {
    const std::uint32_t index = registers_.at(planned.operands.outputs[n].offset());
    LaneValue value = results[n];
    if (value.value == nullptr) { // an InsertValue of a constant aggregate
      value = {Shape::uniform(), llvm::Constant::getNullValue(element(registers_.place(index)))};
    }
    if (registers_.place(index).predicate) {
      llvm::Type* bit = b_.getInt1Ty();
      value.value =
          b_.CreateTrunc(value.value, value.shape.is_regular() ? bit : lanes_.widened(bit));
    }
    write(index, value, who_gets(k, index, chosen));
  }
}

namespace {

/// Lanes of a part: as many as vectors of 32 or 64 bits have in one or two registers.
unsigned part_lanes() {
  return processor_level() == 4 ? 16 : 8;
}

} // namespace

bool RegionBuilder::goes_in_parts(std::uint32_t k) const {
  constexpr unsigned long_enough = 20; // instructions; those of 64 bits count twice
  const PlannedOp& planned = ops_[k];
  if (launch_.lanes <= part_lanes() || planned.lane->reaches || is_of_warps(k)) {
    return false;
  }
  const auto regular = [&](isa::Ref ref) {
    return shape(registers_.at(ref.offset())).is_regular();
  };
  if (std::ranges::any_of(planned.operands.outputs, regular)) {
    return false;
  }
  const auto wide = [&](isa::Ref ref) {
    return ref.area() == isa::Area::Frame &&
           registers_.place(registers_.at(ref.offset())).element_bytes > 4;
  };
  if (std::ranges::any_of(planned.operands.inputs, wide) ||
      std::ranges::any_of(planned.operands.outputs, wide)) {
    return false; // they wait for each other's results more than for registers
  }
  const auto differs = [&](isa::Ref ref) {
    return ref.area() == isa::Area::Frame     ? !shape(registers_.at(ref.offset())).is_uniform()
           : ref.area() == isa::Area::Special ? !special_shape(ref.offset()).is_uniform()
                                              : false;
  };
  if (std::ranges::none_of(planned.operands.inputs, differs)) {
    return false; // one part is like the other
  }
  unsigned length = 0;
  for (const llvm::Instruction& i : planned.lane->function->getEntryBlock()) {
    if (i.mayReadOrWriteMemory() || llvm::isa<llvm::GetElementPtrInst>(i)) {
      return false;
    }
    length += i.getType()->isSized() && i.getType()->getScalarSizeInBits() > 32 ? 2 : 1;
  }
  return length >= long_enough;
}

llvm::AllocaInst* RegionBuilder::part_memory(std::size_t n) {
  while (part_memory_.size() <= n) {
    llvm::Type* bytes = llvm::ArrayType::get(b_.getInt8Ty(), std::uint64_t{8} * launch_.lanes);
    part_memory_.push_back(variable(bytes, "part"));
    part_memory_.back()->setAlignment(llvm::Align(64));
  }
  return part_memory_[n];
}

/// Operands that differ from lane to lane and results go through memory.
std::vector<LaneValue> RegionBuilder::emit_in_parts(std::uint32_t k) {
  const llvm::Function& f = *ops_[k].lane->function;
  LaneValues all = arguments(k);
  struct Varying {
    const llvm::Value* argument;
    llvm::AllocaInst* memory;
  };
  std::vector<Varying> varying;
  for (const llvm::Argument& argument : f.args()) {
    const auto it = all.find(&argument);
    if (it != all.end() && !it->second.shape.is_uniform()) {
      varying.push_back({&argument, part_memory(varying.size())});
      b_.CreateAlignedStore(lanes_.vector(it->second), varying.back().memory, llvm::Align(64));
    }
  }
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* loop = block("part" + llvm::Twine(k));
  llvm::BasicBlock* behind = block("parts" + llvm::Twine(k));
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* first = b_.CreatePHI(i64, 2);
  first->addIncoming(b_.getInt64(0), before);
  LaneBuilder part(b_, part_lanes(), /*guesses=*/false, [](llvm::Value*) {
    HEDDLE_CHECK(false, "a part of a group with a stride");
  });
  const auto place = [&](llvm::AllocaInst* memory, llvm::Type* element) {
    return b_.CreateInBoundsGEP(element, memory, first);
  };
  const auto align = [](llvm::Type* element) {
    return llvm::Align(std::min(64U, element->getScalarSizeInBits() / 8 * part_lanes()));
  };
  for (const Varying& v : varying) {
    llvm::Type* element = all.at(v.argument).value->getType()->getScalarType();
    all[v.argument] = {
        Shape::vector(),
        b_.CreateAlignedLoad(part.widened(element), place(v.memory, element), align(element))
    };
  }
  const auto value_of = [&](const llvm::Value* v) -> LaneValue {
    if (const auto* constant = llvm::dyn_cast<llvm::Constant>(v)) {
      return {Shape::uniform(), const_cast<llvm::Constant*>(constant)};
    }
    return all.at(v);
  };
  std::vector<LaneValue> results(ops_[k].operands.outputs.size());
  for (const llvm::Instruction& i : f.getEntryBlock()) {
    if (const auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&i)) {
      results[insert->getIndices()[0]] = as_word(value_of(result_of(k, *insert)));
      continue;
    }
    if (const auto* ret = llvm::dyn_cast<llvm::ReturnInst>(&i)) {
      if (auto* constant = llvm::dyn_cast<llvm::Constant>(ret->getReturnValue())) {
        for (unsigned n = 0; n < results.size(); ++n) {
          results[n] = {Shape::uniform(), constant->getAggregateElement(n)};
        }
      }
      continue;
    }
    std::vector<LaneValue> operands;
    const unsigned count = i.getNumOperands() - (llvm::isa<llvm::CallInst>(i) ? 1 : 0);
    for (unsigned n = 0; n < count; ++n) {
      operands.push_back(value_of(i.getOperand(n)));
    }
    all[&i] = part.apply(i, operands, /*checked=*/true);
  }
  std::vector<llvm::Type*> elements;
  for (std::size_t n = 0; n < results.size(); ++n) {
    if (results[n].value == nullptr) {
      elements.push_back(nullptr);
      continue;
    }
    llvm::Type* element = results[n].value->getType()->getScalarType();
    elements.push_back(element);
    llvm::AllocaInst* memory = part_memory(varying.size() + n);
    b_.CreateAlignedStore(part.vector(results[n]), place(memory, element), align(element));
  }
  llvm::Value* next = b_.CreateAdd(first, b_.getInt64(part_lanes()));
  first->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpEQ(next, b_.getInt64(launch_.lanes)), behind, loop);
  b_.SetInsertPoint(behind);
  for (std::size_t n = 0; n < results.size(); ++n) {
    if (elements[n] != nullptr) {
      llvm::AllocaInst* memory = part_memory(varying.size() + n);
      results[n] = {
          Shape::vector(),
          b_.CreateAlignedLoad(lanes_.widened(elements[n]), memory, llvm::Align(64))
      };
    }
  }
  return results;
}

} // namespace heddle::jit
