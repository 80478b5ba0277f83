// Implements elf_file.h.
#include "loader/elf_file.h"

#include "loader/system.h"

#include <sys/stat.h>

namespace heddle::loader {

ElfFile::ElfFile(const char* path) {
  const int file = open_file(path);
  if (file < 0) {
    return;
  }
  struct stat status = {};
  if (!failed(system_call(SYS_fstat, file, address(&status))) && status.st_size > 0) {
    size_ = static_cast<std::size_t>(status.st_size);
    bytes_ = static_cast<const unsigned char*>(map(size_, PROT_READ, file));
  }
  system_call(SYS_close, file);
  if (bytes_ != nullptr) {
    find_symbols();
  }
}

ElfFile::~ElfFile() {
  if (bytes_ != nullptr && !kept_) {
    system_call(SYS_munmap, address(bytes_), static_cast<long>(size_));
  }
}

void ElfFile::find_symbols() {
  const auto inside = [&](std::uint64_t offset, std::uint64_t bytes) {
    return offset <= size_ && bytes <= size_ - offset;
  };
  if (!inside(0, sizeof(Elf64_Ehdr))) {
    return;
  }
  const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(bytes_);
  const bool known = header.e_ident[EI_MAG0] == ELFMAG0 && header.e_ident[EI_MAG1] == ELFMAG1 &&
                     header.e_ident[EI_MAG2] == ELFMAG2 && header.e_ident[EI_MAG3] == ELFMAG3 &&
                     header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64;
  if (!known || header.e_shoff % alignof(Elf64_Shdr) != 0 ||
      !inside(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr))) {
    return;
  }
  const std::span<const Elf64_Shdr> sections(
      reinterpret_cast<const Elf64_Shdr*>(bytes_ + header.e_shoff),
      header.e_shnum
  );
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size() ||
        section.sh_offset % alignof(Elf64_Sym) != 0 ||
        !inside(section.sh_offset, section.sh_size)) {
      continue;
    }
    const Elf64_Shdr& names = sections[section.sh_link];
    if (!inside(names.sh_offset, names.sh_size) || names.sh_size == 0 ||
        bytes_[names.sh_offset + names.sh_size - 1] != 0) {
      continue;
    }
    symbols_ = {
        reinterpret_cast<const Elf64_Sym*>(bytes_ + section.sh_offset),
        section.sh_size / sizeof(Elf64_Sym)
    };
    names_ = {reinterpret_cast<const char*>(bytes_ + names.sh_offset), names.sh_size};
  }
}

const char* ElfFile::name(const Elf64_Sym& symbol) const {
  return symbol.st_name < names_.size() ? names_.data() + symbol.st_name : "";
}

} // namespace heddle::loader
