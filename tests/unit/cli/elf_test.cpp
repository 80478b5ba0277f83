// The ELF reader on this very test program, and on every kind of damage to it.
#include "cli/file.h"
#include "cli/run/elf.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace heddle::cli {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string own_program() {
  return *read_file(own_path());
}

TEST(ParseElf, ReadsThisProgram) {
  const std::string program = own_program();
  ASSERT_TRUE(is_elf(bytes_of(program)));
  const auto elf = parse_elf(bytes_of(program));
  ASSERT_TRUE(elf.has_value()) << elf.error().message;
  EXPECT_TRUE(elf->x86_64);
  EXPECT_TRUE(elf->executable);
  EXPECT_TRUE(elf->dynamic);
  EXPECT_THAT(elf->needed, testing::Contains("libc.so.6"));
  EXPECT_TRUE(elf->needs("libstdc++.so"));
  EXPECT_FALSE(elf->needs("libcudart.so"));
  EXPECT_FALSE(elf->static_runtime);
  EXPECT_FALSE(elf->has_kernels);
}

TEST(ParseElf, OtherFilesAreRefused) {
  EXPECT_FALSE(is_elf(bytes_of("")));
  EXPECT_FALSE(parse_elf(bytes_of("")).has_value());
  EXPECT_FALSE(parse_elf(bytes_of(
                             "\x7f"
                             "ELF"
                         ))
                   .has_value());
  EXPECT_FALSE(parse_elf(bytes_of("#!/bin/sh\nexit 0\n" + std::string(100, ' '))).has_value());
}

TEST(ParseElf, TruncatedFilesGiveAnErrorOrLessNeverACrash) {
  const std::string program = own_program();
  for (std::size_t size = 0; size < program.size(); size += 1 + size / 7) {
    const std::string part = program.substr(0, size);
    const auto elf = parse_elf(bytes_of(part));
    if (elf) {
      EXPECT_LE(elf->needed.size(), 100U);
    }
  }
}

TEST(ParseElf, DamagedHeadersNeverCrash) {
  const std::string program = own_program();
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = program;
    for (int i = 0; i < 8; ++i) {
      // The ELF header, and anywhere.
      const std::size_t at = (i % 2 == 0 ? random() % 64 : random() % damaged.size());
      damaged[at] = static_cast<char>(random());
    }
    (void)parse_elf(bytes_of(damaged));
  }
}

/// A library that needs `count` others, all with one name of `length` letters.
std::string with_needed(std::size_t count, std::size_t length) {
  const std::string names = '\0' + std::string(length, 'n') + '\0';
  std::vector<Elf64_Dyn> dynamic(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    dynamic[i].d_tag = DT_NEEDED;
    dynamic[i].d_un.d_val = 1;
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_X86_64;
  header.e_type = ET_DYN;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  std::array<Elf64_Shdr, 2> sections{};
  const std::size_t contents = sizeof header + sizeof sections;
  sections[0].sh_type = SHT_STRTAB;
  sections[0].sh_offset = contents;
  sections[0].sh_size = names.size();
  sections[1].sh_type = SHT_DYNAMIC;
  sections[1].sh_offset = contents + names.size();
  sections[1].sh_size = dynamic.size() * sizeof(Elf64_Dyn);
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file.append(reinterpret_cast<const char*>(sections.data()), sizeof sections);
  return file.append(names).append(
      reinterpret_cast<const char*>(dynamic.data()),
      dynamic.size() * sizeof(Elf64_Dyn)
  );
}

TEST(ParseElf, ASmallFileDoesNotTakeMuchMemory) {
  constexpr std::size_t count = 300;
  const auto usual = parse_elf(bytes_of(with_needed(count, 8)));
  ASSERT_TRUE(usual.has_value()) << usual.error().message;
  EXPECT_EQ(usual->needed.size(), count);
  EXPECT_EQ(usual->needed.front(), std::string(8, 'n'));
  const auto bomb = parse_elf(bytes_of(with_needed(count, 4000)));
  ASSERT_FALSE(bomb.has_value());
  EXPECT_THAT(bomb.error().message, testing::HasSubstr("the file is damaged"));
}

} // namespace
} // namespace heddle::cli
