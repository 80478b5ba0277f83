// The ELF reader on this very test program, and on every kind of damage to it.
#include "cli/elf.h"
#include "cli/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

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

} // namespace
} // namespace heddle::cli
