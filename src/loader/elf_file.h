// The symbol table of an ELF file, read where the audit library cannot use a C library.
//
//   ElfFile file(path);
//   for (const Elf64_Sym& symbol : file.symbols()) file.name(symbol)
//
// Reads .symtab only, not .dynsym. Every offset is checked against the file: a damaged file has no
// symbols. The file stays mapped, because names are used until the process ends.
#pragma once

#include <elf.h>

#include <cstddef>
#include <span>

namespace heddle::loader {

class ElfFile {
public:
  explicit ElfFile(const char* path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  std::span<const Elf64_Sym> symbols() const { return symbols_; }
  /// Empty if it does not end inside the table.
  const char* name(const Elf64_Sym& symbol) const;
  /// Names are needed for longer than this object.
  void keep() { kept_ = true; }

private:
  void find_symbols();

  const unsigned char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::span<const Elf64_Sym> symbols_;
  std::span<const char> names_;
  bool kept_ = false;
};

} // namespace heddle::loader
