// Implements host_object.h: ELF (System V ABI, chapter 4) and the common archive format of ar(5).
#include "runtime/registration/host_object.h"

#include "runtime/registration/fatbin.h"

#include <elf.h>

#include <charconv>
#include <cstring>
#include <string_view>

namespace heddle::runtime {
namespace {

constexpr std::string_view archive_magic = "!<arch>\n";
constexpr std::uint32_t fatbin_word = 0xba55ed50;
constexpr std::size_t fatbin_alignment = 8;

std::string_view text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The object of this type at `offset`, which need not be aligned.
template <class T> Result<T> at(Bytes bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    return input_error("an object file ends in the middle of a header");
  }
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Result<Bytes> part(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) {
    return input_error("an object file ends in the middle of a section");
  }
  return bytes.subspan(offset, size);
}

Result<std::vector<Bytes>> fatbins_of_section(Bytes section) {
  std::vector<Bytes> found;
  for (std::size_t i = 0; i + 16 <= section.size();) {
    TRY(const std::uint32_t word, at<std::uint32_t>(section, i));
    if (word != fatbin_word) {
      i += fatbin_alignment; // padding
      continue;
    }
    TRY(const std::uint64_t size, fatbin_size(section.data() + i));
    TRY(const Bytes fatbin, part(section, i, size));
    found.push_back(fatbin);
    i += (size + fatbin_alignment - 1) / fatbin_alignment * fatbin_alignment;
  }
  return found;
}

} // namespace

bool is_host_object(Bytes bytes) {
  const auto header = at<Elf64_Ehdr>(bytes, 0);
  return header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
         header->e_machine == EM_X86_64;
}

bool is_archive(Bytes bytes) {
  return text(bytes).starts_with(archive_magic);
}

Result<std::vector<Bytes>> fatbins_of_object(Bytes bytes) {
  TRY(const auto header, at<Elf64_Ehdr>(bytes, 0));
  const auto section_header = [&](std::uint64_t i) {
    return at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  std::vector<Bytes> found;
  std::uint64_t looked_at = 0;
  if (header.e_shoff == 0) {
    return found;
  }
  // Where there are too many sections for 16 bits, the first header has the numbers.
  TRY(const auto first, section_header(0));
  const std::uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  const std::uint64_t names = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
  TRY(const auto names_header, section_header(names));
  TRY(const Bytes name_table, part(bytes, names_header.sh_offset, names_header.sh_size));
  for (std::uint64_t i = 0; i < count; ++i) {
    TRY(const auto section, section_header(i));
    if (section.sh_type == SHT_NOBITS || section.sh_name >= name_table.size()) {
      continue;
    }
    const std::string_view rest = text(name_table).substr(section.sh_name);
    const std::string_view name = rest.substr(0, rest.find('\0'));
    if (name != ".nv_fatbin" && name != "__nv_relfatbin") {
      continue;
    }
    TRY(const Bytes contents, part(bytes, section.sh_offset, section.sh_size));
    looked_at += contents.size();
    if (looked_at > bytes.size()) { // else a small file could take hours
      return input_error("sections of an object file lie in each other");
    }
    TRY(const auto fatbins, fatbins_of_section(contents));
    found.insert(found.end(), fatbins.begin(), fatbins.end());
  }
  return found;
}

Result<std::vector<Bytes>> members_of_archive(Bytes bytes) {
  constexpr std::size_t header_bytes = 60; // 16 name, 12 date, 6 + 6 owner, 8 mode, 10 size, 2 end
  constexpr std::size_t size_at = 48;
  constexpr std::size_t size_bytes = 10;
  std::vector<Bytes> members;
  for (std::size_t i = archive_magic.size(); i + header_bytes <= bytes.size();) {
    const std::string_view header = text(bytes).substr(i, header_bytes);
    const std::string_view digits = header.substr(size_at, size_bytes);
    std::uint64_t size = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), size).ec != std::errc()) {
      return input_error("a library has a member without a size");
    }
    i += header_bytes;
    TRY(const Bytes member, part(bytes, i, size));
    if (!header.starts_with("/ ") && !header.starts_with("// ")) {
      members.push_back(member);
    }
    i += size + size % 2;
  }
  return members;
}

} // namespace heddle::runtime
