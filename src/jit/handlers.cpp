// Implements handlers.h.
#include "jit/handlers.h"

#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <optional>
#include <vector>

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
  auto file = llvm::object::ObjectFile::createObjectFile("/proc/self/exe");
  if (!file) {
    return input_error(message(file.takeError()));
  }
  // Addresses in the file; where the program begins in memory is known from one of its own symbols.
  struct Place {
    std::uint64_t address = 0;
    bool one = true;
  };
  std::unordered_map<std::string_view, Place> places;
  std::vector<std::string_view> names; // each once
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
    }
    auto type = symbol.getType();
    if (!type || *type != llvm::object::SymbolRef::ST_Function) {
      llvm::consumeError(type.takeError());
      continue;
    }
    const auto [it, is_new] = places.try_emplace(std::string_view(*name), Place{*address});
    it->second.one = it->second.one && it->second.address == *address;
    if (is_new) {
      names.emplace_back(*name);
    }
  }
  if (!bias) {
    return input_error("heddle-jit has no symbol table: it must not be stripped");
  }
  for (const std::string_view name : names) {
    if (const Place& place = places.at(name); place.one) {
      handlers.names_.emplace(place.address + *bias, name);
    }
  }
  handlers.file_ = std::move(*file);
  return handlers;
}

std::string_view Handlers::name(isa::Handler handler) const {
  const auto it = names_.find(reinterpret_cast<std::uintptr_t>(handler));
  return it != names_.end() ? it->second : std::string_view();
}

} // namespace heddle::jit
