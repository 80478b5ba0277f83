// Device code that programs hand over: which form it has, and what comes of it.
#include "runtime/image.h"

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
  const std::vector<std::string> texts = {"first", "", std::string("a\0b", 3)};
  const auto image = link_image(texts);
  const auto back = read_image(image.data(), std::nullopt, 90);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, texts);
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
