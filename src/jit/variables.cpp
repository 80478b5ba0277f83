// Implements variables.h by LLVM's SSAUpdater.
#include "jit/variables.h"

#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

#include <vector>

namespace heddle::jit {
namespace {

/// All loads and stores of the variable; none: it is used in another way.
llvm::SmallVector<llvm::Instruction*> loads_and_stores(const llvm::AllocaInst& variable) {
  llvm::SmallVector<llvm::Instruction*> all;
  for (llvm::User* user : const_cast<llvm::AllocaInst&>(variable).users()) {
    auto* i = llvm::cast<llvm::Instruction>(user);
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(i);
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(i);
    const bool whole =
        (load != nullptr && load->isSimple()) ||
        (store != nullptr && store->isSimple() && store->getValueOperand() != &variable);
    if (!whole || llvm::getLoadStoreType(i) != variable.getAllocatedType()) {
      return {};
    }
    all.push_back(i);
  }
  return all;
}

} // namespace

llvm::PreservedAnalyses
PromoteVariables::run(llvm::Function& f, llvm::FunctionAnalysisManager& /*analyses*/) {
  std::vector<llvm::AllocaInst*> variables;
  for (llvm::Instruction& i : f.getEntryBlock()) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&i);
    if (variable != nullptr && variable->getAllocatedType()->isSingleValueType()) {
      variables.push_back(variable);
    }
  }
  bool changed = false;
  for (llvm::AllocaInst* variable : variables) {
    const llvm::SmallVector<llvm::Instruction*> uses = loads_and_stores(*variable);
    if (uses.empty()) {
      continue;
    }
    const std::vector<const llvm::Instruction*> all(uses.begin(), uses.end());
    llvm::SSAUpdater updater;
    llvm::LoadAndStorePromoter(all, updater, variable->getName()).run(uses);
    variable->eraseFromParent();
    changed = true;
  }
  if (!changed) {
    return llvm::PreservedAnalyses::all();
  }
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

} // namespace heddle::jit
