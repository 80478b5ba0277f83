// Device code that programs hand over: which form it has, and what comes of it.
#include "runtime/registration/image.h"
#include "runtime/registration/linked_image.h"

#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

namespace heddle::runtime {
namespace {

TEST(Image, TextEndsAtItsNul) {
  const auto texts = read_image(".version 8.0\0rest", std::nullopt, 90);
  ASSERT_TRUE(texts);
  EXPECT_EQ(*texts, std::vector<std::string>{".version 8.0"});
}

TEST(Image, TextNeedsNoNulWhereItsLengthIsKnown) {
  const auto texts = read_image(".version 8.0xyz", 12, 90);
  ASSERT_TRUE(texts);
  EXPECT_EQ(texts->front(), ".version 8.0");
}

TEST(Image, ShortTextsAreReadNoFurther) {
  for (const char* text : {"", "\x7f", "\x50\xed"}) {
    const auto texts = read_image(text, std::nullopt, 90);
    ASSERT_TRUE(texts);
    EXPECT_EQ(texts->front(), text);
  }
}

TEST(Image, MachineCodeIsUnsupported) {
  const auto texts = read_image(
      "\x7f"
      "ELF...",
      std::nullopt,
      90
  );
  ASSERT_FALSE(texts);
  EXPECT_EQ(texts.error().kind, ErrorKind::Unsupported);
}

TEST(Image, DamagedFatBinariesAreRefused) {
  const char header[16] = {'\x50', '\xed', '\x55', '\xba', 1, 0, 16, 0, 100};
  const auto texts = read_image(header, sizeof header, 90); // 100 bytes are to follow
  ASSERT_FALSE(texts);
  EXPECT_EQ(texts.error().kind, ErrorKind::Input);
}

TEST(Image, LinkedTextsComeBack) {
  const std::vector<std::string> texts = {"first", "", "third"};
  const auto image = link_image(texts);
  const auto back = read_image(image.data(), std::nullopt, 90);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, texts);
}

/// A fat binary with one entry: PTX as it is, or machine code.
std::string fatbin(std::uint16_t kind, const std::string& payload) {
  std::string bytes;
  const auto put = [&bytes](auto number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  constexpr std::uint32_t entry_header = 64;
  put(std::uint32_t{0xba55ed50});
  put(std::uint16_t{1});
  put(std::uint16_t{16});
  put(std::uint64_t{entry_header + payload.size()});
  put(kind);
  put(std::uint16_t{0x101});
  put(entry_header);
  put(std::uint64_t{payload.size()});
  put(std::uint64_t{0}); // not compressed
  put(std::uint32_t{0});
  put(std::uint32_t{90});
  bytes.resize(16 + entry_header);
  return bytes + payload;
}

/// An object of a host compiler with these bytes in a section of this name.
std::string object(const std::string& section, const std::string& contents) {
  const std::string names = std::string(1, '\0') + section + '\0';
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_machine = EM_X86_64;
  header.e_shoff = sizeof header;
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  Elf64_Shdr sections[3]{};
  const std::uint64_t data = sizeof header + sizeof sections;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = data;
  sections[1].sh_size = names.size();
  sections[2].sh_name = 1;
  sections[2].sh_type = SHT_PROGBITS;
  sections[2].sh_offset = data + names.size();
  sections[2].sh_size = contents.size();
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(sections), sizeof sections);
  return bytes + names + contents;
}

std::string archive(const std::vector<std::string>& members) {
  std::string bytes = "!<arch>\n";
  for (const std::string& member : members) {
    bytes += fmt::format("{:<48}{:<10}`\n", "name/", member.size()) + member;
    bytes += member.size() % 2 == 1 ? "\n" : "";
  }
  return bytes;
}

Result<std::vector<std::string>> linked(const std::string& input) {
  return read_link_input(input.data(), input.size(), 90);
}

constexpr std::uint16_t ptx = 1;
constexpr std::uint16_t cubin = 2;

TEST(LinkInput, ObjectsHaveFatBinariesInSections) {
  for (const char* section : {".nv_fatbin", "__nv_relfatbin"}) {
    std::string both = fatbin(ptx, ".version 1");
    both.resize((both.size() + 7) / 8 * 8);
    const auto texts = linked(object(section, both + fatbin(ptx, ".version 2")));
    ASSERT_TRUE(texts) << texts.error().message;
    EXPECT_EQ(*texts, (std::vector<std::string>{".version 1", ".version 2"}));
  }
  const auto none = linked(object(".text", fatbin(ptx, ".version 1")));
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

TEST(LinkInput, ObjectsOfMachineCodeAreUnsupported) {
  const auto texts = linked(object(".nv_fatbin", fatbin(cubin, "code")));
  ASSERT_FALSE(texts);
  EXPECT_EQ(texts.error().kind, ErrorKind::Unsupported);
}

TEST(LinkInput, LibrariesGiveWhatIsPtx) {
  const auto texts = linked(archive(
      {object(".nv_fatbin", fatbin(cubin, "code")),
       "odd",
       object("__nv_relfatbin", fatbin(ptx, ".version 1"))}
  ));
  ASSERT_TRUE(texts) << texts.error().message;
  EXPECT_EQ(*texts, std::vector<std::string>{".version 1"});
}

TEST(LinkInput, DamagedFilesAreRefused) {
  const std::string whole = object(".nv_fatbin", fatbin(ptx, ".version 1"));
  for (std::size_t size = sizeof(Elf64_Ehdr); size < whole.size(); ++size) {
    EXPECT_FALSE(linked(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(linked(archive({whole}).substr(0, 200)));
}

TEST(LinkInput, LinkedInputsMayBeObjects) {
  const std::string image =
      join_inputs({".version 1", object(".nv_fatbin", fatbin(ptx, ".version 2"))});
  const auto texts = read_image(image.data(), std::nullopt, 90);
  ASSERT_TRUE(texts);
  EXPECT_EQ(*texts, (std::vector<std::string>{".version 1", ".version 2"}));
}

TEST(Image, LogIsCutToItsBuffer) {
  char buffer[6] = "?????";
  const int options[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  void* values[] = {buffer, reinterpret_cast<void*>(sizeof buffer)};
  LoadLog(options, values, 2).finish("too long a text");
  EXPECT_STREQ(buffer, "too l");
  EXPECT_EQ(reinterpret_cast<std::size_t>(values[1]), 5U);
}

} // namespace
} // namespace heddle::runtime
