// LaneFunction: what an op does for one lane, as a function of values in LLVM IR.
//
//   LaneFunctions functions(handlers, bitcode);
//   const LaneFunction* f = functions.of(code, op, registers);   // nullptr: the interpreter's
//
// The handler's bitcode is inlined into a function of its own, with a constant Op and with operands
// in slots, and optimised until no memory is left: operands are arguments, what it writes are
// results. If that is one block, whoever widens it needs to know no instruction of PTX. Ops that
// differ in operands only share a function.
#pragma once

#include "isa/op.h"
#include "isa/ops_address.h"
#include "jit/handlers.h"
#include "jit/register_map.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heddle::jit {

struct LaneFunction {
  /// Arguments: a word for each input, then the frame's local base (i32), Op::imm if it is an
  /// address (i64), and the lane's special values (ptr). Result: a structure of words. Words have 8
  /// to 64 bits; a predicate's word is an i32 of which bit 0 counts.
  llvm::Function* function = nullptr;
  bool straight = false; // one block that can be widened
  bool reaches = false;  // calls region_reach(): may fail
};

/// The operands of an op in the order of the LaneFunction's arguments and results.
struct LaneOperands {
  std::vector<isa::Ref> inputs;  // each once
  std::vector<isa::Ref> outputs; // in the frame, each once
};

class LaneFunctions {
public:
  LaneFunctions(const Handlers& handlers, llvm::Module& bitcode);
  ~LaneFunctions();

  const LaneFunction* of(const isa::Code& code, std::uint32_t op, const RegisterMap& registers);
  LaneOperands
  operands(const isa::Code& code, std::uint32_t op, const RegisterMap& registers) const;

private:
  LaneFunction build(
      const isa::Code& code,
      std::uint32_t k,
      const RegisterMap& registers,
      const LaneOperands& o
  );
  void optimise(llvm::Function& f);

  const Handlers& handlers_;
  llvm::Module& bitcode_;
  std::map<std::string, LaneFunction> known_;
  struct Passes;
  std::unique_ptr<Passes> passes_;
};

/// Can be executed for many lanes at once by LaneBuilder::apply or as an access.
bool can_widen(const llvm::Instruction& instruction);
/// The call of region_reach().
bool is_reach(const llvm::Instruction& instruction);
isa::Space space_of(const llvm::Instruction& reach);
std::uint32_t bytes_of(const llvm::Instruction& reach);
bool is_store(const llvm::Instruction& reach);
bool is_alone(const llvm::Instruction& reach);
bool is_update(const llvm::Instruction& reach);
/// The call of region_reach() for an update; nullptr: there is none.
const llvm::Instruction* update_of(const llvm::Function& f);
/// Loads of all its bytes as elements of one type, or one store of all of them, follow.
bool has_one_type(const llvm::Instruction& reach);

} // namespace heddle::jit
