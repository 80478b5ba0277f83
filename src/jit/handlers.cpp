// Implements handlers.h.
#include "jit/handlers.h"

#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <map>
#include <optional>
#include <set>

// handlers.S: the bitcode.
extern "C" const char heddle_handlers_begin[];
extern "C" const char heddle_handlers_end[];

namespace heddle::jit {
namespace {

std::string message(llvm::Error error) {
  return llvm::toString(std::move(error));
}

} // namespace

Result<std::unique_ptr<llvm::Module>> Handlers::bitcode(llvm::LLVMContext& context) const {
  const llvm::StringRef bytes(
      heddle_handlers_begin,
      static_cast<std::size_t>(heddle_handlers_end - heddle_handlers_begin)
  );
  auto module = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, "handlers"), context);
  if (!module) {
    return unexpected({ErrorKind::Internal, message(module.takeError())});
  }
  return std::move(*module);
}

Result<Handlers> Handlers::load() {
  Handlers handlers;
  llvm::LLVMContext context;
  TRY(const auto module, handlers.bitcode(context));
  std::set<std::string, std::less<>> known;
  for (const llvm::Function& f : *module) {
    if (f.hasExternalLinkage() && !f.isDeclaration()) {
      known.emplace(f.getName());
    }
  }
  auto file = llvm::object::ObjectFile::createObjectFile("/proc/self/exe");
  if (!file) {
    return input_error(message(file.takeError()));
  }
  // Addresses in the file; where the program begins in memory is known from one of its own symbols.
  std::map<std::string, std::set<std::uint64_t>, std::less<>> places;
  std::optional<std::uint64_t> bias;
  for (const llvm::object::SymbolRef& symbol : file->getBinary()->symbols()) {
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    if (!name || !address) {
      llvm::consumeError(name.takeError());
      llvm::consumeError(address.takeError());
      continue;
    }
    if (*name == "heddle_handlers_begin") {
      bias = reinterpret_cast<std::uintptr_t>(heddle_handlers_begin) - *address;
    } else if (known.contains(std::string_view(*name))) {
      places[name->str()].insert(*address);
    }
  }
  if (!bias) {
    return input_error("heddle-jit has no symbol table: it must not be stripped");
  }
  for (const auto& [name, addresses] : places) {
    if (addresses.size() == 1) {
      handlers.names_.emplace(*addresses.begin() + *bias, name);
    }
  }
  return handlers;
}

std::string_view Handlers::name(isa::Handler handler) const {
  const auto it = names_.find(reinterpret_cast<std::uintptr_t>(handler));
  return it != names_.end() ? std::string_view(it->second) : std::string_view();
}

} // namespace heddle::jit
