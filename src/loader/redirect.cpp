// Jumps at the beginning of each function of a statically linked runtime library.
//
// The functions are found by their names in the file's symbol table. NVIDIA marks its archive: each
// local symbol in it begins with libcudart_static_. Only names of the runtime API are replaced, so
// a function of the program's own that is called cudaCheck stays. A stripped file has no names: it
// is left as it is, and its runtime library then asks for tables of the driver, which Heddle
// refuses with a word (runtime/driver/entry_point.cpp).
//
// May be wrong: the major version is told by a function that only one of them has. If a linker has
// dropped it (--gc-sections), version 12 is taken for 13.
#include "loader/redirect.h"

#include "loader/elf_file.h"
#include "loader/static_runtime.h"
#include "loader/system.h"

namespace heddle::loader {
namespace {

constexpr const char* runtime_names[] = {
#include "runtime_names.inc"
};

constexpr std::size_t page = 4096;

std::size_t to_pages(std::size_t bytes) {
  return (bytes + page - 1) / page * page;
}

bool is_runtime_name(const char* name) {
  std::size_t low = 0;
  std::size_t high = sizeof runtime_names / sizeof runtime_names[0];
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const int order = compare(name, runtime_names[middle]);
    if (order == 0) {
      return true;
    }
    (order < 0 ? high : low) = order < 0 ? middle : middle + 1;
  }
  return false;
}

bool is_function(const Elf64_Sym& symbol) {
  return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
}

// jmp *0(%rip) and the address behind it.
constexpr std::size_t jump_bytes = 14;

void write_jump(unsigned char* at, const void* to) {
  constexpr unsigned char code[] = {0xff, 0x25, 0, 0, 0, 0};
  copy(at, code, sizeof code);
  copy(at + sizeof code, &to, sizeof to);
}

/// NVIDIA's functions begin at multiples of 16, so the gap behind a short one is free.
bool has_room(const Elf64_Sym& symbol) {
  return symbol.st_size >= jump_bytes || symbol.st_value % 16 == 0;
}

struct Found {
  std::size_t functions = 0;
  bool nvidia = false;
  std::uint32_t major = 13;
};

Found look_at(const ElfFile& file) {
  Found found;
  for (const Elf64_Sym& symbol : file.symbols()) {
    const char* name = file.name(symbol);
    found.nvidia = found.nvidia || begins_with(name, "libcudart_static_");
    if (is_function(symbol) && has_room(symbol) && is_runtime_name(name)) {
      ++found.functions;
      if (compare(name, "cudaGetDeviceProperties_v2") == 0) { // CUDA 13 has it without _v2
        found.major = 12;
      }
    }
  }
  return found;
}

constexpr std::size_t entry_bytes = 32;

/// See static_runtime.h. `first`: the code that all entries share.
void write_entry(unsigned char* at, std::uint32_t index, void** slot, const unsigned char* first) {
  const auto relative = [&](std::size_t end, const void* to) {
    return static_cast<std::int32_t>(static_cast<const unsigned char*>(to) - (at + end));
  };
  const std::int32_t to_slot = relative(6, slot);
  const std::int32_t to_first = relative(16, first);
  unsigned char code[16] = {0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9};
  copy(code + 2, &to_slot, 4);
  copy(code + 7, &index, 4);
  copy(code + 12, &to_first, 4);
  copy(at, code, sizeof code);
  *slot = at + 6;
}

/// movabs $runtime, %r11; push %r11; movabs $bind, %r11; jmp *(%r11)
void write_first(unsigned char* at, const StaticRuntime* runtime, void* const* bind) {
  unsigned char code[25] = {0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0x53, 0x49, 0xbb};
  copy(code + 2, &runtime, 8);
  copy(code + 14, &bind, 8);
  constexpr unsigned char jump[] = {0x41, 0xff, 0x23};
  copy(code + 22, jump, 3);
  copy(at, code, sizeof code);
}

/// Overwrites the beginning of a function; false: the system does not allow it.
bool patch(unsigned char* function, const void* to) {
  auto* const start =
      reinterpret_cast<unsigned char*>(reinterpret_cast<std::uintptr_t>(function) / page * page);
  const std::size_t bytes = to_pages(static_cast<std::size_t>(function + jump_bytes - start));
  if (!protect(start, bytes, PROT_READ | PROT_WRITE)) {
    return false;
  }
  write_jump(function, to);
  return protect(start, bytes, PROT_READ | PROT_EXEC);
}

} // namespace

void redirect_static_runtime(const char* path, std::uintptr_t base, void* const* bind) {
  ElfFile file(path);
  const Found found = look_at(file);
  if (!found.nvidia || found.functions == 0) {
    return;
  }
  // Data: the runtime and its functions. Code: what all entries share, and an entry each.
  const std::size_t data_bytes =
      to_pages(sizeof(StaticRuntime) + found.functions * sizeof(StaticFunction) + length(path) + 1);
  const std::size_t code_bytes = to_pages((found.functions + 1) * entry_bytes);
  auto* const data =
      static_cast<unsigned char*>(map(data_bytes + code_bytes, PROT_READ | PROT_WRITE));
  if (data == nullptr) {
    return;
  }
  auto* const runtime = reinterpret_cast<StaticRuntime*>(data);
  auto* const functions = reinterpret_cast<StaticFunction*>(runtime + 1);
  auto* const own_path = reinterpret_cast<char*>(functions + found.functions);
  copy(own_path, path, length(path) + 1);
  *runtime = {own_path, found.major, static_cast<std::uint32_t>(found.functions), functions};
  unsigned char* const code = data + data_bytes;
  write_first(code, runtime, bind);
  std::uint32_t index = 0;
  bool allowed = true;
  for (const Elf64_Sym& symbol : file.symbols()) {
    if (!is_function(symbol) || !has_room(symbol) || !is_runtime_name(file.name(symbol))) {
      continue;
    }
    unsigned char* const entry = code + (index + 1) * entry_bytes;
    functions[index].name = file.name(symbol);
    write_entry(entry, index, &functions[index].target, code);
    allowed = allowed && patch(reinterpret_cast<unsigned char*>(base + symbol.st_value), entry);
    ++index;
  }
  if (!allowed || !protect(code, code_bytes, PROT_READ | PROT_EXEC)) {
    say("heddle: error: the system does not let Heddle redirect the runtime library in ");
    say(path);
    say(": link with -cudart shared\n");
    system_call(SYS_exit_group, 2);
  }
  file.keep();
}

} // namespace heddle::loader
