// Implements clock_names.h by the names that the program asks the dynamic linker for. Its debug
// information has the names of all functions that headers declare.
#include "explore/witness/clock_names.h"

#include "base/regular_file.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

namespace heddle::explore {
namespace {

template <class T> std::optional<T> at(std::string_view bytes, std::uint64_t offset) {
  T value;
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) {
    return std::nullopt;
  }
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Of a program that is linked statically, or is no ELF file: everything.
std::string_view dynamic_names(std::string_view file) {
  const auto header = at<Elf64_Ehdr>(file, 0);
  for (std::uint16_t n = 0; header && n < header->e_shnum; ++n) {
    const auto section = at<Elf64_Shdr>(file, header->e_shoff + n * sizeof(Elf64_Shdr));
    const bool loaded = section && (section->sh_flags & SHF_ALLOC) != 0;
    if (loaded && section->sh_type == SHT_STRTAB && section->sh_offset < file.size()) {
      return file.substr(section->sh_offset, section->sh_size);
    }
  }
  return file;
}

} // namespace

bool names_a_clock(const std::string& program) {
  const std::optional<std::string> file = read_regular_file(program);
  if (!file) {
    return false;
  }
  // A call instead of an instruction (hostwatch/instructions.s); what heddle-cc has compiled has
  // the name in any case.
  if (file->find("heddle_rdtsc") != std::string::npos) {
    return true;
  }
  const std::string_view known = dynamic_names(*file);
  constexpr auto names = std::to_array<std::string_view>(
      {"clock_gettime",
       "steady_clock3now",
       "system_clock3now",
       "gettimeofday",
       "timespec_get",
       "getrusage",
       "sysinfo",
       "omp_get_wtime"}
  );
  // Short ones are parts of others: here each is a whole name.
  using namespace std::string_view_literals;
  constexpr auto short_names =
      std::to_array<std::string_view>({"\0time\0"sv, "\0times\0"sv, "\0clock\0"sv});
  const auto is_known = [&](std::string_view name) {
    return known.find(name) != std::string_view::npos;
  };
  return std::ranges::any_of(names, is_known) || std::ranges::any_of(short_names, is_known);
}

} // namespace heddle::explore
