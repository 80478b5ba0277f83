// RegionBuilder: what region_builder.h promises. region_plan.cpp says which op becomes what,
// region_builder.cpp makes the code, region_lanes.cpp that of ops, region_updates.cpp that of
// atomic updates, region_branches.cpp that of branches and calls, and region_blocks.cpp that of
// whole blocks.
#pragma once

#include "analysis/bit_vector.h"
#include "isa/exec.h"
#include "isa/region.h"
#include "jit/access.h"
#include "jit/any_nan.h"
#include "jit/code_hash.h"
#include "jit/frame_memory.h"
#include "jit/lane_talk.h"
#include "jit/nan_chains.h"
#include "jit/region_builder.h"
#include "jit/register_map.h"
#include "jit/uniformity.h"
#include "ptx/effect.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace heddle::jit {

using isa::RegionContext;
inline constexpr std::uint64_t op_bytes = sizeof(isa::Op);

using LaneValues = std::unordered_map<const llvm::Value*, LaneValue>;

class RegionBuilder {
public:
  RegionBuilder(
      llvm::Module& module,
      RegionFunctions& functions,
      const isa::Code& code,
      const LaunchShape& launch
  )
      : module_(module),
        functions_(functions),
        code_(code),
        launch_(launch),
        registers_(code),
        b_(module.getContext()),
        lanes_(b_, launch.lanes, launch.guesses, [this](llvm::Value* good) {
          leave_unless(good);
        }) {}

  BuiltRegion build(const std::string& name, std::size_t most);

private:
  struct Update; // region_updates.cpp
  /// One for several accesses: region_checks.cpp.
  struct CommonCheck {
    isa::Space space{};
    std::uint32_t base = 0;  // register
    std::uint32_t first = 0; // op
    std::int64_t begin = 0;  // of all their bytes, from the register's value
    std::int64_t end = 0;
    std::uint32_t align = 1;
    bool store = false; // one of them writes
    unsigned accesses = 0;
    llvm::Value* good = nullptr;    // none of them has to ask
    llvm::Value* pointer = nullptr; // where the register points to
  };
  /// Where a register's value is, or goes, in memory of the function.
  struct Stored {
    std::uint32_t index;
    std::uint64_t value; // offset
  };

  // --- Which op is what
  void plan_ops(BuiltRegion& result);
  PlannedOp plan(std::uint32_t k) const;
  Kind plan_call(const isa::Op& op) const;
  void plan_returns();
  void plan_stack();
  bool is_callable() const;
  bool known_operands(std::uint32_t k) const;
  bool may_interpret(std::uint32_t k) const;
  bool is_matrix(std::uint32_t k) const;
  bool polls(std::uint32_t k) const;
  bool waits_in_vain(std::uint32_t branch) const;
  void find_loops_that_wait();
  bool is_of_warps(std::uint32_t k) const;
  isa::Ref membermask(std::uint32_t k) const;
  bool is_watched() const { return launch_.watch != LaunchShape::Watch::Nothing; }
  bool meets_monitor(std::uint32_t k) const;
  bool is_barrier(std::uint32_t k) const;
  bool is_reduction(std::uint32_t k) const;
  bool is_end(std::uint32_t k) const;
  bool whole_blocks() const;
  std::vector<std::uint32_t> find_entries() const;
  bool is_worth_entering(std::uint32_t k) const;
  void find_joins();
  bool by_all_lanes(std::uint32_t k) const;
  void find_changed();
  void find_unsaved();
  bool may_repeat(std::uint32_t k) const;
  void find_restarts(const std::vector<std::uint32_t>& entries);
  void find_inlined();
  void find_checks(const std::vector<std::uint32_t>& entries);
  void emit_check(std::uint32_t k);
  void find_any_nan();
  void find_chains();
  std::vector<std::uint32_t> loop_depths() const;
  std::vector<std::uint32_t> changed_and_live(std::uint32_t k) const;
  Shape special_shape(std::uint32_t offset) const;
  llvm::Constant* constant_word(isa::Ref ref) const;

  // --- Parts of the function
  void emit_prologue();
  void emit_head();
  void emit_done();
  void emit_entries(const std::vector<std::uint32_t>& entries);
  void emit_entry(std::uint32_t k, bool from_frame, bool from_slots);
  void count_threads(std::uint32_t barrier);
  void take_count(std::uint32_t barrier, llvm::Value* opened);
  void emit_arrival(std::uint32_t k);
  void emit_next_group();
  void emit_ops();
  void emit_meeting(std::uint32_t k);
  void emit_branch(std::uint32_t k);
  void emit_call(std::uint32_t k);
  void emit_return(std::uint32_t k);
  void go_to(std::uint32_t k, std::uint32_t target);
  llvm::BasicBlock* first_of(const std::vector<std::uint32_t>& places);
  void wait_at(std::uint32_t place, llvm::Value* lanes);
  llvm::Value* who_gets(std::uint32_t k, std::uint32_t index, llvm::Value* chosen) const;
  void emit_op(std::uint32_t k);
  void emit_lanes(std::uint32_t k, llvm::Value* chosen, llvm::BasicBlock* slow);
  LaneValues arguments(std::uint32_t k);
  AccessContext access_context(std::uint32_t k);
  void emit_fence();
  void emit_update(
      const llvm::Instruction& reach,
      Access& access,
      LaneValues& known,
      std::vector<LaneValue>& results
  );
  Update
  sort_update(const llvm::Instruction& reach, LaneValues& known, std::vector<LaneValue>& results);
  bool fold_update(const Update& update, Access& access, const LaneValues& known);
  void loop_update(
      const Update& update,
      Access& access,
      const LaneValues& known,
      std::vector<LaneValue>& results
  );
  void emit_whole_warp(
      std::uint32_t k,
      llvm::Value* chosen,
      llvm::BasicBlock* slow,
      llvm::BasicBlock* done
  );
  void write_results(std::uint32_t k, const std::vector<LaneValue>& results, llvm::Value* chosen);
  bool goes_in_parts(std::uint32_t k) const;
  std::vector<LaneValue> emit_in_parts(std::uint32_t k);
  llvm::AllocaInst* part_memory(std::size_t n);
  void emit_slow(std::uint32_t k, llvm::Value* chosen);
  llvm::BasicBlock* unless_refused(std::uint32_t k);
  void emit_watch(std::uint32_t k, const LaneValue& address);
  void take_outputs(std::uint32_t k, llvm::Value* chosen);
  void leave_unless_converged(std::uint32_t k);
  LaneValue leave_unless_in_parties(std::uint32_t k);
  void spend(llvm::Value* fuel, std::uint32_t k);
  std::vector<llvm::Value*> spend_on_poll(std::uint32_t k);
  void note_poll(std::uint32_t k, const std::vector<llvm::Value*>& before);
  void emit_exit(
      std::uint32_t k,
      const std::vector<std::uint32_t>& waits,
      const std::vector<std::uint32_t>& written = {},
      llvm::Value* rest = nullptr
  );
  llvm::GlobalVariable* table_of(const std::vector<Stored>& registers);
  llvm::GlobalVariable* lay_down(const std::vector<std::uint32_t>& indices);
  void write_registers(const std::vector<std::uint32_t>& indices);
  void write_slots(const std::vector<std::uint32_t>& indices);
  void call_write(llvm::GlobalVariable* table, llvm::Value* values);
  llvm::Value* interpret_seldom(std::uint32_t k, const std::vector<std::uint32_t>& inputs);
  llvm::Value* read_registers(const std::vector<std::uint32_t>& indices, llvm::Value* to);
  void finish(llvm::Value* answer);
  llvm::BasicBlock* exit_block(std::uint32_t k);
  llvm::BasicBlock* wrong_block();
  void leave_if(llvm::Value* condition, std::uint32_t k);
  void leave_unless(llvm::Value* condition);
  void look_for_nan(const NanChains::Look& look);
  void note_wrong_guess() { set_field(offsetof(RegionContext, wrong_guess), b_.getInt32(1)); }
  void count(std::uint32_t ops);

  // --- Registers
  llvm::Type* element(const RegisterPlace& place) {
    return place.predicate ? b_.getInt1Ty() : b_.getIntNTy(place.element_bytes * 8);
  }
  llvm::Type* type_of(std::uint32_t index) {
    llvm::Type* one = element(registers_.place(index));
    return shape(index).is_regular() ? one : lanes_.widened(one);
  }
  Shape shape(std::uint32_t index) const {
    const Shape s = uniformity_->of(index);
    return s.kind == Shape::Kind::None ? Shape::vector() : s;
  }
  LaneValue read(std::uint32_t index);
  LaneValue with_ptx_nan(const LaneValue& value);
  LaneValue read_bits(std::uint32_t index);
  void write(std::uint32_t index, const LaneValue& value, llvm::Value* chosen);
  FrameMemory frame_memory() { return {b_, lanes_, frame(), first_lane()}; }
  llvm::Value* frame_place(std::uint32_t index);
  llvm::Value* load_lanes(std::uint32_t index);
  void store_register(std::uint32_t index, llvm::Value* lanes);
  bool stays_in_frame(std::uint32_t index) const {
    return !shape(index).is_regular() && !registers_.place(index).predicate;
  }
  std::uint32_t slot_of(std::uint32_t index) {
    return slots_.try_emplace(index, static_cast<std::uint32_t>(slots_.size())).first->second;
  }
  llvm::Value* slot_place(llvm::Value* slots, std::uint32_t index) {
    return at(slots, std::uint64_t{slot_of(index)} * 8);
  }
  void load_slot(llvm::Value* slots, std::uint32_t index);
  void store_slot(std::uint32_t index);
  LaneValue input(isa::Ref ref, llvm::Type* word);
  bool takes_any_nan(std::uint32_t k, std::size_t n) const;
  const llvm::Value* result_of(std::uint32_t k, const llvm::InsertValueInst& insert) const;
  LaneValue as_word(const LaneValue& value);
  llvm::Value* some_is_nan(const std::vector<LaneValue>& numbers);
  LaneValue special(std::uint32_t offset);

  // --- What differs from group to group, loaded where it is wanted: to begin with a group is to go
  // on behind a barrier, which must cost little.
  llvm::Value* of_group(std::uint64_t offset, llvm::Type* type) {
    return b_.CreateLoad(type, at(this_group_, offset));
  }
  llvm::Value* frame() { return of_group(offsetof(isa::RegionGroup, registers), b_.getPtrTy()); }
  llvm::Value* live() { return of_group(offsetof(isa::RegionGroup, live), b_.getInt32Ty()); }
  llvm::Value* created() { return of_group(offsetof(isa::RegionGroup, created), b_.getInt32Ty()); }
  llvm::Value* first_lane() { // i64
    if (launch_.lanes == isa::warp_size) {
      return b_.getInt64(0);
    }
    llvm::Value* first = of_group(offsetof(isa::RegionGroup, first), b_.getInt32Ty());
    return b_.CreateZExt(first, b_.getInt64Ty());
  }
  llvm::Value* lane_count() { // of those that execute, i64
    llvm::Value* count = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, mask_);
    return b_.CreateZExt(count, b_.getInt64Ty());
  }
  /// For handlers.
  void note_group() { set_field(offsetof(RegionContext, group), this_group_); }

  // --- Small things
  llvm::BasicBlock* block(const llvm::Twine& name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function_);
  }
  llvm::Value* at(llvm::Value* pointer, std::uint64_t offset) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), pointer, offset);
  }
  llvm::Value* field(std::uint64_t offset, llvm::Type* type) {
    return b_.CreateLoad(type, at(context_, offset));
  }
  void set_field(std::uint64_t offset, llvm::Value* value) {
    b_.CreateStore(value, at(context_, offset));
  }
  const ptx::Instruction* instruction(std::uint32_t k) const {
    const auto& body = code_.function->body;
    const std::uint32_t i = code_.ops[k].instruction;
    return i < body.size() ? &body[i] : nullptr;
  }
  llvm::AllocaInst* variable(llvm::Type* type, const llvm::Twine& name) {
    llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
    return entry.CreateAlloca(type, nullptr, name);
  }
  llvm::Type* bits_type() { return b_.getIntNTy(launch_.lanes); }
  llvm::Value* no_lanes() { return llvm::ConstantInt::get(bits_type(), 0); }
  llvm::Value* as_mask(llvm::Value* bits) {
    return b_.CreateBitCast(bits, lanes_.widened(b_.getInt1Ty()));
  }
  llvm::Value* as_bits(llvm::Value* mask) { return b_.CreateBitCast(mask, bits_type()); }
  /// Wanted where the region is left or calls handlers: a register for it would cost more.
  llvm::Value* op_pointer(std::uint32_t k) {
    return at(field(offsetof(RegionContext, ops), b_.getPtrTy()), k * op_bytes);
  }
  llvm::Value* op_pointer(llvm::Value* k) { // i32
    llvm::Value* distance = b_.CreateMul(b_.CreateZExt(k, b_.getInt64Ty()), b_.getInt64(op_bytes));
    llvm::Value* ops = field(offsetof(RegionContext, ops), b_.getPtrTy());
    return b_.CreateGEP(b_.getInt8Ty(), ops, distance);
  }
  llvm::Value* spill() { return field(offsetof(RegionContext, spill), b_.getInt64Ty()); }
  llvm::Value* first_group() { return field(offsetof(RegionContext, first_group), b_.getPtrTy()); }
  llvm::MDNode* unlikely() {
    return llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights();
  }
  llvm::Module& module_;
  RegionFunctions& functions_;
  const isa::Code& code_;
  const LaunchShape launch_;
  RegisterMap registers_;
  llvm::IRBuilder<> b_;
  LaneBuilder lanes_;
  std::vector<PlannedOp> ops_;
  std::optional<Uniformity> uniformity_;
  std::optional<AnyNan> any_nan_;
  NanChains chains_;
  std::map<std::uint32_t, LaneValue> computed_; // by op of a chain: what the processor makes
  std::vector<analysis::BitVector> changed_;    // by op: registers that the frame may not have
  std::vector<analysis::BitVector> unsaved_; // by op: registers that the group's slots may not have
  std::vector<std::uint32_t> restart_;       // by op: where the interpreter may go on in its place
  std::vector<bool> joins_;   // ops at which groups may begin, and stop for those behind
  std::vector<bool> inlined_; // ops whose accesses call no function
  std::vector<bool> waits_;   // branches that end a loop which only asks
  std::vector<bool> in_wait_; // ops of such loops
  std::deque<CommonCheck> checks_;
  std::vector<const CommonCheck*> check_of_;  // by op; nullptr: it has its own
  std::vector<std::int64_t> offset_in_check_; // by op: from the register's value
  llvm::Function* function_ = nullptr;
  std::vector<llvm::BasicBlock*> bodies_;   // of ops, behind the look at joins
  std::vector<llvm::BasicBlock*> arrivals_; // of ops
  std::map<std::uint32_t, llvm::BasicBlock*> exits_;
  std::map<std::uint32_t, llvm::BasicBlock*> wrong_;   // by op of the exit: a guess was wrong
  std::vector<llvm::AllocaInst*> part_memory_;         // a word for each lane
  llvm::AllocaInst* entry_slots_ = nullptr;            // read_registers()
  llvm::AllocaInst* exit_values_ = nullptr;            // lay_down()
  std::uint64_t exit_bytes_ = 0;                       // of them
  std::vector<llvm::AllocaInst*> variables_;           // of registers
  llvm::AllocaInst* going_ = nullptr;                  // bits of the lanes that do not wait
  std::map<std::uint32_t, llvm::AllocaInst*> waiting_; // by place: bits
  std::map<std::uint32_t, llvm::AllocaInst*> repeats_; // by poll: how often it had one answer
  std::map<std::vector<std::uint32_t>, llvm::BasicBlock*> looks_; // first_of()
  llvm::Value* active_ = nullptr; // bits of the lanes that execute what is emitted
  LaneValue party_;               // of the collective that is emitted
  bool has_parties_ = false;      // some collective of several parties at a time: a turn ends there
  bool calls_ = false;            // so it does in functions
  bool recurses_ = false;         // a function that is called may call itself
  std::uint32_t at_ = 0;          // the op that is emitted
  std::map<std::uint32_t, std::uint32_t> slots_; // of registers
  llvm::SwitchInst* ways_in_ = nullptr;
  llvm::BasicBlock* nowhere_ = nullptr; // for an op without an entry
  llvm::BasicBlock* refuse_ = nullptr;  // where lanes differ more than was likely
  llvm::BasicBlock* next_ = nullptr;    // behind a group that has come to a barrier
  llvm::BasicBlock* ended_ = nullptr;   // behind one that has come to its end
  llvm::BasicBlock* head_ = nullptr;    // where a group begins
  llvm::BasicBlock* done_ = nullptr;    // where the function ends
  llvm::BasicBlock* stopped_ = nullptr; // with a fault
  llvm::AllocaInst* answer_ = nullptr;
  llvm::AllocaInst* fuel_ = nullptr;
  llvm::AllocaInst* executed_ = nullptr; // by each lane of the group
  llvm::AllocaInst* total_ = nullptr;    // by lanes of all groups before
  // Of a whole block: RegionContext's.
  llvm::AllocaInst* group_ = nullptr;
  llvm::AllocaInst* begin_ = nullptr;
  llvm::AllocaInst* arrived_ = nullptr;
  llvm::AllocaInst* barriers_ = nullptr;
  llvm::AllocaInst* counted_ = nullptr; // threads, by a barrier with a result
  llvm::Value* whole_fuel_ = nullptr;   // of a group
  // Fields of the context and of the group.
  llvm::Value* context_ = nullptr;
  llvm::Value* constants_ = nullptr;
  llvm::Value* this_group_ = nullptr;
  llvm::Value* group_slots_ = nullptr;
  llvm::Value* ranges_ = nullptr;
  llvm::Value* behind_ = nullptr;
  llvm::Value* mask_ = nullptr; // bits of the lanes that execute
  AccessContext access_;
  llvm::Value* local_base_ = nullptr;
};

} // namespace heddle::jit
