// The handlers of instructions as LLVM bitcode, by the pointers that Op::execute holds.
//
// At build time the files lower_*.cpp of src/isa are compiled a second time, to bitcode, with the
// Exec of isa/region_exec.h; prepare_main.cpp keeps those handlers that are closed: that call
// nothing but what is in the bitcode. The interpreter's handler of the same name is found through
// this program's own symbol table, so no list of instructions exists anywhere. A name that stands
// for two functions (in two files) is unknown; what is unknown is left to the interpreter.
#pragma once

#include "base/result.h"
#include "isa/op.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Object/ObjectFile.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace heddle::jit {

class Handlers {
public:
  /// Input error: this program has been stripped.
  static Result<Handlers> load();

  /// The name of the handler; empty: that is unknown.
  std::string_view name(isa::Handler handler) const;
  /// All of the bitcode; functions are read when they are linked.
  Result<std::unique_ptr<llvm::Module>> bitcode(llvm::LLVMContext& context) const;

private:
  llvm::object::OwningBinary<llvm::object::ObjectFile> file_; // this program
  std::unordered_map<std::uintptr_t, std::string_view> names_;
};

} // namespace heddle::jit
