// Implements access_functions.h.
#include "jit/access_functions.h"

#include "base/check.h"
#include "jit/access.h"

#include <llvm/IR/IRBuilder.h>

#include <vector>

namespace heddle::jit {

llvm::Function* AccessFunctions::of(const EachAccess& access) {
  const unsigned bits = access.element->getIntegerBitWidth();
  llvm::Function*& f =
      known_[{access.space, bits, access.elements, access.store, access.narrow, access.checked}];
  if (f == nullptr) {
    llvm::LLVMContext& context = module_.getContext();
    llvm::Type* pointer = llvm::PointerType::get(context, 0);
    llvm::Type* i64 = llvm::Type::getInt64Ty(context);
    llvm::Type* word = access.narrow ? llvm::Type::getInt32Ty(context) : i64;
    llvm::Type* all = llvm::FixedVectorType::get(access.element, lanes_);
    std::vector<llvm::Type*> arguments =
        {pointer, i64, pointer, pointer, llvm::Type::getIntNTy(context, lanes_), i64};
    if (!access.checked) {
      arguments.push_back(llvm::FixedVectorType::get(word, lanes_));
    }
    std::vector<llvm::Type*> results;
    if (access.store) {
      arguments.push_back(all);
    } else {
      results.assign(access.elements, all);
    }
    results.push_back(llvm::Type::getInt1Ty(context));
    f = llvm::Function::Create(
        llvm::FunctionType::get(
            llvm::StructType::get(context, results),
            arguments,
            /*isVarArg=*/false
        ),
        llvm::GlobalValue::InternalLinkage,
        access.store ? "store_each" : "load_each",
        module_
    );
    f->addFnAttr(llvm::Attribute::NoUnwind);
    f->addFnAttr("prefer-vector-width", "512");
    build(*f, access);
  }
  return f;
}

void AccessFunctions::build(llvm::Function& f, const EachAccess& access) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::BasicBlock* out = llvm::BasicBlock::Create(context, "out", &f);
  llvm::IRBuilder<> b(out);
  auto* results = llvm::cast<llvm::StructType>(f.getReturnType());
  const unsigned last = results->getNumElements() - 1;
  b.CreateRet(b.CreateInsertValue(llvm::PoisonValue::get(results), b.getFalse(), last));
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", &f, out));
  LaneBuilder lanes(b, lanes_, /*guesses=*/false, [](llvm::Value*) {
    HEDDLE_CHECK(false, "an irregular address with a stride");
  });
  AccessContext memory;
  memory.checks = checks_;
  memory.range = f.getArg(0);
  if (access.space == isa::Space::Shared) {
    memory.shared = f.getArg(0);
    memory.shared_bytes = f.getArg(1);
  } else {
    memory.local = f.getArg(0);
    memory.local_bytes = f.getArg(1);
    memory.local_stride = f.getArg(5);
  }
  memory.words = f.getArg(2);
  memory.elements = f.getArg(3);
  const unsigned size = access.element->getIntegerBitWidth() / 8;
  Access all(b, lanes, f.getArg(4), out, memory);
  if (access.checked) {
    all.reach_own(f.getArg(0), f.getArg(1), size * access.elements);
  } else {
    llvm::Value* addresses = f.getArg(6);
    if (access.narrow) {
      addresses = b.CreateZExt(addresses, lanes.widened(b.getInt64Ty()));
    }
    all.reach({Shape::vector(), addresses}, size * access.elements, access.space, access.store);
  }
  llvm::Value* result = llvm::PoisonValue::get(results);
  if (access.store) {
    all.store({Shape::vector(), f.getArg(access.checked ? 6 : 7)}, 0);
  } else {
    for (unsigned n = 0; n < access.elements; ++n) {
      const LaneValue one = all.load(access.element, std::int64_t{n} * size);
      result = b.CreateInsertValue(result, lanes.vector(one), n);
    }
  }
  b.CreateRet(b.CreateInsertValue(result, b.getTrue(), last));
}

} // namespace heddle::jit
