// Implements object.h: LLVM's passes and code generator, and a linker for one object.
#include "jit/object.h"

#include "jit/code_hash.h"
#include "jit/variables.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace heddle::jit {
namespace {

/// One of LLVM's options that have no other interface.
void set_option(const char* name, const char* value) {
  const auto& options = llvm::cl::getRegisteredOptions();
  if (const auto option = options.find(name); option != options.end()) {
    option->second->addOccurrence(0, name, value);
  }
}

} // namespace

std::unique_ptr<llvm::TargetMachine> make_machine(const llvm::Module& module, std::string& why) {
  static const bool initialised = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser(); // of inline assembler
    // How far the register allocator looks for places to split a value. By default it takes most of
    // the time and more than linear time, for code that is no better.
    set_option("grow-region-complexity-budget", "100");
    // CodeGenPrepare takes up to a third of the time for code that is about as fast. The others
    // take a quarter of it, most of all because what they hoist out of the loop over groups, and
    // what they share, has to live long and makes work for the register allocator.
    for (const char* needless :
         {"disable-cgp",
          "disable-machine-licm",
          "disable-machine-cse",
          "disable-early-taildup",
          "disable-tail-duplicate",
          "disable-copyprop",
          "disable-branch-fold",
          "disable-peephole",
          "disable-ssc"}) {
      set_option(needless, "true");
    }
    set_option("enable-misched", "false");
    set_option("x86-cmov-converter", "false");
    return true;
  }();
  (void)initialised;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(module.getTargetTriple(), why);
  if (target == nullptr) {
    return nullptr;
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      module.getTargetTriple(),
      processor_level() == 4 ? "x86-64-v4" : "x86-64-v3",
      "+cx16",
      options,
      llvm::Reloc::PIC_,
      llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default
  ));
}

namespace {

using Object = llvm::object::ELF64LEObjectFile;

/// Lays the sections of one object out behind each other and applies its relocations.
class Flattener {
public:
  explicit Flattener(const Object& object) : object_(object) {}

  Result<FlatCode> run() {
    for (const llvm::object::SectionRef& section : object_.sections()) {
      if (is_loaded(section)) {
        TRY_VOID(place(section));
      }
    }
    for (const llvm::object::SectionRef& section : object_.sections()) {
      auto to = section.getRelocatedSection();
      if (!to) {
        return fail(to.takeError());
      }
      if (*to == object_.section_end() || !is_loaded(**to)) {
        continue;
      }
      for (const llvm::object::ELFRelocationRef relocation : section.relocations()) {
        TRY_VOID(apply(relocation, places_.at((*to)->getIndex())));
      }
    }
    for (const llvm::object::ELFSymbolRef symbol : object_.symbols()) {
      if (symbol.getELFType() == llvm::ELF::STT_FUNC &&
          symbol.getBinding() == llvm::ELF::STB_GLOBAL) {
        TRY(const std::uint64_t offset, offset_of(symbol));
        result_.functions.emplace(llvm::cantFail(symbol.getName()).str(), offset);
      }
    }
    return std::move(result_);
  }

private:
  static tl::unexpected<Error> fail(llvm::Error error) {
    return tl::unexpected<Error>(Error{ErrorKind::Internal, llvm::toString(std::move(error))});
  }

  static bool is_loaded(const llvm::object::ELFSectionRef section) {
    const std::uint64_t flags = section.getFlags();
    return (flags & llvm::ELF::SHF_ALLOC) != 0 && section.getSize() != 0 &&
           llvm::cantFail(section.getName()) != ".eh_frame";
  }

  Result<void> place(const llvm::object::SectionRef& section) {
    const std::uint64_t align = std::max<std::uint64_t>(16, section.getAlignment().value());
    std::uint64_t at = (result_.bytes.size() + align - 1) / align * align;
    auto contents = section.getContents();
    if (!contents) {
      return fail(contents.takeError());
    }
    result_.bytes.resize(at + section.getSize());
    std::memcpy(result_.bytes.data() + at, contents->data(), contents->size());
    places_[section.getIndex()] = at;
    return {};
  }

  Result<std::uint64_t> offset_of(const llvm::object::SymbolRef& symbol) {
    auto section = symbol.getSection();
    auto value = symbol.getValue();
    if (!section || !value) {
      llvm::consumeError(value.takeError());
      return fail(section.takeError());
    }
    const auto place =
        *section != object_.section_end() ? places_.find((*section)->getIndex()) : places_.end();
    if (place == places_.end()) {
      return unsupported(
          fmt::format("compiled code that needs '{}'", llvm::cantFail(symbol.getName()).str())
      );
    }
    return place->second + *value;
  }

  Result<void> apply(const llvm::object::ELFRelocationRef& relocation, std::uint64_t base) {
    TRY(const std::uint64_t target, offset_of(*relocation.getSymbol()));
    auto addend = relocation.getAddend();
    if (!addend) {
      llvm::consumeError(addend.takeError());
      return unsupported("a relocation without an addend");
    }
    const std::uint64_t at = base + relocation.getOffset();
    const std::int64_t distance =
        static_cast<std::int64_t>(target) + *addend - static_cast<std::int64_t>(at);
    switch (relocation.getType()) {
    case llvm::ELF::R_X86_64_PC32:
    case llvm::ELF::R_X86_64_PLT32: {
      const auto narrow = static_cast<std::int32_t>(distance);
      std::memcpy(result_.bytes.data() + at, &narrow, sizeof narrow);
      return {};
    }
    case llvm::ELF::R_X86_64_PC64:
      std::memcpy(result_.bytes.data() + at, &distance, sizeof distance);
      return {};
    default:
      return unsupported(
          fmt::format("compiled code with a relocation of type {}", relocation.getType())
      );
    }
  }

  const Object& object_;
  FlatCode result_;
  std::map<std::uint64_t, std::uint64_t> places_; // of sections
};

} // namespace

namespace {

/// LLVM 22 makes one instruction of bits that a constant or memory chooses and of elements that a
/// mask chooses, and then sometimes takes the other bits (llvm-project#157929, AVX-512). It does
/// not if the elements are numbers.
void choose_among_numbers(llvm::Function& f) {
  const auto is_logic = [](const llvm::Value* v) {
    while (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(v)) {
      v = cast->getOperand(0);
    }
    const auto* i = llvm::dyn_cast<llvm::Instruction>(v);
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(v);
    return i != nullptr &&
           (i->isBitwiseLogicOp() ||
            (call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::copysign));
  };
  std::vector<llvm::SelectInst*> found;
  for (llvm::Instruction& i : llvm::instructions(f)) {
    auto* select = llvm::dyn_cast<llvm::SelectInst>(&i);
    if (select != nullptr && select->getCondition()->getType()->isVectorTy() &&
        select->getType()->isIntOrIntVectorTy() && select->getType()->getScalarSizeInBits() >= 32 &&
        (is_logic(select->getTrueValue()) || is_logic(select->getFalseValue()))) {
      found.push_back(select);
    }
  }
  for (llvm::SelectInst* select : found) {
    llvm::IRBuilder<> b(select);
    llvm::Type* type = select->getType();
    llvm::Type* number =
        type->getWithNewType(type->getScalarSizeInBits() == 32 ? b.getFloatTy() : b.getDoubleTy());
    llvm::Value* either = b.CreateSelect(
        select->getCondition(),
        b.CreateBitCast(select->getTrueValue(), number),
        b.CreateBitCast(select->getFalseValue(), number)
    );
    select->replaceAllUsesWith(b.CreateBitCast(either, type));
    select->eraseFromParent();
  }
}

} // namespace

void optimise(llvm::Module& module) {
  for (llvm::Function& f : module) {
    if (!f.isDeclaration()) {
      f.removeFnAttr("target-features"); // those of the target machine
      f.removeFnAttr("target-cpu");
      f.removeFnAttr("tune-cpu");
      f.removeFnAttr("stack-protector-buffer-size");
      f.removeFnAttr(llvm::Attribute::UWTable);
    }
  }
  std::string why;
  const auto machine = make_machine(module, why);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager analyses;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(analyses);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, analyses);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetimeIntrinsics=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  llvm::FunctionPassManager each;
  each.addPass(llvm::SimplifyCFGPass()); // the time goes by blocks, too
  each.addPass(PromoteVariables());
  each.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  each.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
  each.addPass(llvm::InstCombinePass());
  each.addPass(llvm::SimplifyCFGPass());
  each.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  each.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  each.addPass(llvm::InstCombinePass());
  each.addPass(llvm::DSEPass());
  each.addPass(llvm::ADCEPass());
  each.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(each)));
  passes.run(module, analyses);
  if (processor_level() == 4) {
    std::ranges::for_each(module, choose_among_numbers);
  }
}

Result<FlatCode> emit(llvm::Module& module) {
  std::string why;
  const auto machine = make_machine(module, why);
  if (machine == nullptr) {
    return unexpected({ErrorKind::Internal, why});
  }
  module.setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    return unexpected({ErrorKind::Internal, "LLVM cannot write object files"});
  }
  passes.run(module);
  const llvm::MemoryBufferRef buffer(llvm::StringRef(bytes.data(), bytes.size()), "region");
  auto object = Object::create(buffer);
  if (!object) {
    return unexpected({ErrorKind::Internal, llvm::toString(object.takeError())});
  }
  return Flattener(*object).run();
}

} // namespace heddle::jit
