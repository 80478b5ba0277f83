// prepare OUTPUT INPUT…: makes one file of bitcode of those that clang has made of
// src/isa/lower_*.cpp.
//
// Keeps the functions of the type of a handler that are closed: everything they call is in the
// bitcode or an intrinsic of LLVM, and the data they use are constants. Functions of one name in
// the anonymous namespaces of two files are dropped: their names say nothing.
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include <map>
#include <memory>
#include <set>
#include <string>

namespace {

/// The mangled names of templates alone have the return type.
bool is_plain_handler(const llvm::Function& f) {
  return f.getName().ends_with("ERNS0_4ExecERKNS0_2OpE");
}
bool is_handler(const llvm::Function& f) {
  const llvm::FunctionType* type = f.getFunctionType();
  return !f.isDeclaration() && !f.isVarArg() && type->getReturnType()->isPointerTy() &&
         type->getNumParams() == 2 && type->getParamType(0)->isPointerTy() &&
         type->getParamType(1)->isPointerTy() &&
         (f.getName().contains("EPKNS0_2OpERNS0_4ExecE") || is_plain_handler(f));
}
bool is_local_handler(const llvm::Function& f) {
  return !f.isDeclaration() && f.getReturnType()->isPointerTy() && is_plain_handler(f);
}

class Closed {
public:
  bool operator()(const llvm::Function& f) {
    const auto [it, fresh] = known_.emplace(&f, true); // recursion: as far as is known
    if (fresh) {
      it->second = look(f);
    }
    return known_.at(&f);
  }

private:
  bool look(const llvm::Function& f) {
    if (f.isIntrinsic()) {
      return true;
    }
    if (f.isDeclaration()) {
      return f.getName().starts_with("heddle_region_"); // ops_memory_region.h, region_exec.h of isa
    }
    for (const llvm::BasicBlock& block : f) {
      for (const llvm::Instruction& i : block) {
        if (i.isEHPad() || llvm::isa<llvm::InvokeInst>(i)) {
          return false; // exceptions
        }
        for (const llvm::Value* operand : i.operands()) {
          if (!fine(operand)) {
            return false;
          }
        }
        const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
        if (call != nullptr && call->getCalledFunction() == nullptr && !call->isInlineAsm()) {
          return false;
        }
      }
    }
    return true;
  }
  bool fine(const llvm::Value* value) {
    if (const auto* f = llvm::dyn_cast<llvm::Function>(value)) {
      return (*this)(*f);
    }
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value)) {
      return variable->isConstant() && variable->hasInitializer() &&
             fine(variable->getInitializer());
    }
    if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
      for (const llvm::Value* operand : constant->operands()) {
        if (!fine(operand)) {
          return false;
        }
      }
    }
    return true;
  }
  std::map<const llvm::Function*, bool> known_;
};

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    llvm::errs() << "usage: prepare OUTPUT INPUT…\n";
    return 2;
  }
  llvm::LLVMContext context;
  llvm::Module all("handlers", context);
  llvm::Linker linker(all);
  std::set<std::string> local;
  std::set<std::string> ambiguous;
  for (int n = 2; n < argc; ++n) {
    llvm::SMDiagnostic diagnostic;
    std::unique_ptr<llvm::Module> module = llvm::parseIRFile(argv[n], diagnostic, context);
    if (module == nullptr) {
      diagnostic.print(argv[0], llvm::errs());
      return 1;
    }
    for (const llvm::Function& f : *module) {
      if (!f.isDeclaration() && f.hasLocalLinkage() && !local.insert(f.getName().str()).second) {
        ambiguous.insert(f.getName().str());
      }
    }
    if (linker.linkInModule(std::move(module))) {
      return 1;
    }
  }
  Closed closed;
  std::set<llvm::Function*> kept;
  for (llvm::Function& f : all) {
    const bool handler = is_handler(f) || (f.hasLocalLinkage() && is_local_handler(f));
    if (handler && !ambiguous.contains(f.getName().str()) && closed(f)) {
      kept.insert(&f);
    }
  }
  for (llvm::Function& f : all) {
    if (!f.isDeclaration()) {
      f.setComdat(nullptr);
      f.setVisibility(llvm::GlobalValue::DefaultVisibility);
      f.setLinkage(
          kept.contains(&f) ? llvm::GlobalValue::ExternalLinkage
                            : llvm::GlobalValue::InternalLinkage
      );
    }
    if (!f.isDeclaration()) { // a call would need the handler's operands in memory
      f.removeFnAttr(llvm::Attribute::NoInline);
      f.removeFnAttr(llvm::Attribute::OptimizeNone);
      if (closed(f)) {
        f.setPersonalityFn(nullptr); // none of them throws
      }
      f.addFnAttr(llvm::Attribute::AlwaysInline);
    }
  }
  for (llvm::GlobalVariable& variable : all.globals()) {
    if (!variable.isDeclaration()) {
      variable.setComdat(nullptr);
      variable.setVisibility(llvm::GlobalValue::DefaultVisibility);
      if (!variable.hasAppendingLinkage()) {
        variable.setLinkage(llvm::GlobalValue::InternalLinkage);
      }
    }
  }
  for (const char* name : {"llvm.global_ctors", "llvm.used", "llvm.compiler.used"}) {
    if (llvm::GlobalVariable* variable = all.getNamedGlobal(name)) {
      variable->eraseFromParent();
    }
  }
  llvm::ModuleAnalysisManager analyses;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(analyses);
  llvm::FunctionAnalysisManager functions;
  builder.registerFunctionAnalyses(functions);
  analyses.registerPass([&] { return llvm::FunctionAnalysisManagerModuleProxy(functions); });
  functions.registerPass([&] { return llvm::ModuleAnalysisManagerFunctionProxy(analyses); });
  llvm::GlobalDCEPass().run(all, analyses);
  std::error_code error;
  llvm::raw_fd_ostream output(argv[1], error);
  if (error) {
    llvm::errs() << argv[1] << ": " << error.message() << '\n';
    return 1;
  }
  llvm::WriteBitcodeToFile(all, output);
  return 0;
}
