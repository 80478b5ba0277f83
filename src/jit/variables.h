// Variables of a function that are only loaded and stored become values.
//
// LLVM's pass for that (SROA) looks at all blocks behind each definition of a variable, for each
// variable. A region has some hundreds of variables (registers, masks) and thousands of blocks, so
// that took more than linear time: half of what optimising took for a kernel of 1,000 ops. Here the
// way is from each use back to the definitions, which are close to it for most registers.
#pragma once

#include <llvm/IR/PassManager.h>

namespace heddle::jit {

struct PromoteVariables : llvm::PassInfoMixin<PromoteVariables> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

} // namespace heddle::jit
