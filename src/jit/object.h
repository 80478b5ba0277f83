// A module of LLVM IR to position-independent bytes that refer to nothing outside of themselves.
#pragma once

#include "base/result.h"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heddle::jit {

struct FlatCode {
  std::vector<std::byte> bytes;
  std::map<std::string, std::uint64_t> functions; // offsets of those with external linkage
};

/// Inlines the handlers and optimises; `module` has everything that its functions call.
void optimise(llvm::Module& module);

/// What the code is for.
std::unique_ptr<llvm::TargetMachine> make_machine(const llvm::Module& module, std::string& why);
/// Machine code for this processor (processor_level). Unsupported: it needs a function of a
/// library.
Result<FlatCode> emit(llvm::Module& module);

} // namespace heddle::jit
