// Parsing of ELF headers, sections, the dynamic section and symbol names.
#include "cli/run/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace heddle::cli {
namespace {

class Reader {
public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T> std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) {
      return std::nullopt;
    }
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::optional<std::span<const std::byte>> range(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) {
      return std::nullopt;
    }
    return bytes_.subspan(offset, size);
  }

private:
  std::span<const std::byte> bytes_;
};

/// Far longer than any name that is asked for.
constexpr std::uint64_t longest_name = 4096;

/// A string of a string table, or its first bytes; empty if it does not end inside of the table.
/// Many entries may name one string: without `longest` they would take the square of a file's time.
std::string_view string_at(
    std::span<const std::byte> table,
    std::uint64_t offset,
    std::uint64_t longest = longest_name
) {
  if (offset >= table.size()) {
    return {};
  }
  const char* start = reinterpret_cast<const char*>(table.data()) + offset;
  const std::uint64_t room = std::min<std::uint64_t>(table.size() - offset, longest);
  const void* end = std::memchr(start, 0, room);
  return end != nullptr   ? std::string_view(start, static_cast<const char*>(end) - start)
         : room < longest ? std::string_view()
                          : std::string_view(start, room);
}

struct Sections {
  std::vector<Elf64_Shdr> headers;
  std::span<const std::byte> names;
};

Result<Sections> read_sections(const Reader& in, const Elf64_Ehdr& header) {
  Sections sections;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = in.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) {
      return input_error("the file is truncated: its section headers lie past its end");
    }
    sections.headers.push_back(*section);
  }
  if (header.e_shstrndx < sections.headers.size()) {
    const Elf64_Shdr& table = sections.headers[header.e_shstrndx];
    sections.names =
        in.range(table.sh_offset, table.sh_size).value_or(std::span<const std::byte>());
  }
  return sections;
}

std::span<const std::byte> contents(const Reader& in, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS) {
    return {};
  }
  return in.range(section.sh_offset, section.sh_size).value_or(std::span<const std::byte>());
}

std::span<const std::byte>
linked_strings(const Reader& in, const Sections& sections, const Elf64_Shdr& section) {
  return section.sh_link < sections.headers.size() ? contents(in, sections.headers[section.sh_link])
                                                   : std::span<const std::byte>();
}

/// `most`: bytes of names; more are those of a damaged file, which would need more memory than it
/// has bytes.
Result<void> read_dynamic(
    std::span<const std::byte> entries,
    std::span<const std::byte> strings,
    std::uint64_t most,
    Elf& elf
) {
  std::optional<std::uint64_t> rpath, runpath;
  std::uint64_t taken = 0;
  for (std::size_t offset = 0; entries.size() - offset >= sizeof(Elf64_Dyn);
       offset += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry{};
    std::memcpy(&entry, entries.data() + offset, sizeof entry);
    switch (entry.d_tag) {
    case DT_NEEDED:
      elf.needed.emplace_back(string_at(strings, entry.d_un.d_val));
      taken += elf.needed.back().size();
      break;
    case DT_RPATH:
      rpath = entry.d_un.d_val;
      break;
    case DT_RUNPATH:
      runpath = entry.d_un.d_val;
      break;
    default:
      break;
    }
    if (taken > most) {
      return input_error("the file is damaged: it names more libraries than fit into it");
    }
    if (entry.d_tag == DT_NULL) {
      break;
    }
  }
  elf.rpath = rpath ? string_at(strings, *rpath, strings.size()) : elf.rpath;
  elf.runpath = runpath ? string_at(strings, *runpath, strings.size()) : elf.runpath;
  return {};
}

void read_symbols(
    std::span<const std::byte> entries,
    std::span<const std::byte> strings,
    Elf& elf
) {
  for (std::size_t offset = 0; entries.size() - offset >= sizeof(Elf64_Sym);
       offset += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, entries.data() + offset, sizeof symbol);
    const std::string_view name = string_at(strings, symbol.st_name);
    if (symbol.st_shndx == SHN_UNDEF) {
      elf.instrumented = elf.instrumented || name == "__tsan_func_entry";
      elf.loads = elf.loads || name == "dlopen";
      elf.starts_programs = elf.starts_programs || name.starts_with("exec") ||
                            name.starts_with("posix_spawn") || name == "fexecve" ||
                            name == "system" || name == "popen";
    } else if (name.starts_with("libcudart_static_")) { // NVIDIA renames what is local in the
                                                        // archive
      elf.static_runtime = true;
    } else if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
      // CUDA 13 has it without _v2; CUDA 12 has removed the other one.
      if (name == "cudaBindTexture") {
        elf.static_runtime_major = 11;
      } else if (name == "cudaGetDeviceProperties_v2" && elf.static_runtime_major == 13) {
        elf.static_runtime_major = 12;
      }
    }
  }
}

} // namespace

bool Elf::needs(std::string_view prefix) const {
  return std::ranges::any_of(needed, [&](const std::string& n) { return n.starts_with(prefix); });
}

bool is_elf(std::span<const std::byte> bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

Result<Elf> parse_elf(std::span<const std::byte> bytes) {
  const Reader in(bytes);
  const auto header = in.at<Elf64_Ehdr>(0);
  if (!is_elf(bytes) || !header) {
    return input_error("not an ELF file");
  }
  Elf elf;
  elf.x86_64 = header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
               header->e_machine == EM_X86_64;
  if (!elf.x86_64) {
    return elf;
  }
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = in.at<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) {
      return input_error("the file is truncated: its program headers lie past its end");
    }
    elf.dynamic = elf.dynamic || segment->p_type == PT_INTERP;
  }
  elf.executable = header->e_type == ET_EXEC || (header->e_type == ET_DYN && elf.dynamic);

  TRY(const Sections sections, read_sections(in, *header));
  std::uint64_t looked_at = 0;
  for (const Elf64_Shdr& section : sections.headers) {
    const std::string_view name = string_at(sections.names, section.sh_name);
    const bool is_read = section.sh_type == SHT_DYNAMIC || section.sh_type == SHT_SYMTAB ||
                         section.sh_type == SHT_DYNSYM;
    looked_at += is_read ? contents(in, section).size() : 0;
    if (looked_at > bytes.size()) { // else a small file could take hours
      return input_error("the file is damaged: its sections lie in each other");
    }
    if (section.sh_type == SHT_DYNAMIC) {
      TRY_VOID(read_dynamic(
          contents(in, section),
          linked_strings(in, sections, section),
          bytes.size(),
          elf
      ));
    } else if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) {
      read_symbols(contents(in, section), linked_strings(in, sections, section), elf);
    } else if (name == ".nv_fatbin" || name == "__nv_relfatbin") {
      elf.has_kernels = true;
    } else if (name == ".heddle_cc") {
      elf.launched = true;
    } else if (name == ".heddle_cc_12") {
      elf.launched_12 = true;
    }
  }
  return elf;
}

} // namespace heddle::cli
