// Our memcpy, memmove and memset do what the C library's do, for every small length and overlap:
// the ends of short copies are done in two pieces that may cover each other.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>

namespace {

constexpr std::size_t longest = 80, farthest = 40;
using Bytes = std::array<unsigned char, 2 * longest>;

using Copy = void* (*)(void*, const void*, std::size_t);
using Fill = void* (*)(void*, int, std::size_t);
template <class F> F found(const char* name) {
  void* function = ::dlsym(RTLD_DEFAULT, name);
  Dl_info info{};
  EXPECT_NE(::dladdr(function, &info), 0);
  EXPECT_NE(std::string(info.dli_fname).find("libtsan"), std::string::npos) << info.dli_fname;
  return reinterpret_cast<F>(function);
}

Bytes some_bytes(std::size_t salt) {
  Bytes bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(7 * i + salt);
  }
  return bytes;
}

TEST(Copies, OverlapOrNot) {
  const auto copy = found<Copy>("memcpy"), move = found<Copy>("memmove");
  for (std::size_t length = 0; length <= longest; ++length) {
    for (std::size_t from = 0; from <= farthest; ++from) {
      for (std::size_t to = 0; to <= farthest; ++to) {
        const Bytes before = some_bytes(length);
        Bytes expected = before, moved = before, copied{}, expected_copy{};
        for (std::size_t i = 0; i < length; ++i) {
          expected[to + i] = before[from + i];
          expected_copy[to + i] = before[from + i];
        }
        move(&moved[to], &moved[from], length);
        ASSERT_EQ(moved, expected) << length << " bytes from " << from << " to " << to;
        copy(&copied[to], &before[from], length);
        ASSERT_EQ(copied, expected_copy) << length << " bytes from " << from << " to " << to;
      }
    }
  }
}

TEST(Copies, Fills) {
  const auto fill = found<Fill>("memset");
  for (std::size_t length = 0; length <= longest; ++length) {
    for (std::size_t to = 0; to <= farthest; ++to) {
      Bytes filled = some_bytes(length), expected = filled;
      for (std::size_t i = 0; i < length; ++i) {
        expected[to + i] = 0xa3;
      }
      fill(&filled[to], 0x5a3, length); // of which only the lowest byte counts
      ASSERT_EQ(filled, expected) << length << " bytes at " << to;
    }
  }
}

} // namespace
