// Shadow memory: exact overlaps, what is kept, whole pages.
#include "race/shadow.h"
#include <gtest/gtest.h>

namespace heddle::race {
namespace {

Access access(std::uint32_t block, std::uint16_t thread, std::uint8_t flags) {
  Access a;
  a.block = block;
  a.tick = 1;
  a.thread = thread;
  a.flags = flags;
  a.size_and_scope = 2;
  return a;
}

struct Fixture {
  std::uint64_t bytes = 1 << 20;
  Shadow shadow{bytes};
  int races = 0;
  bool strong = false; // two strong accesses do not race

  /// Nothing is ordered but a thread's own accesses.
  int touch(std::uint64_t address, std::uint64_t bytes, const Access& by) {
    const int before = races;
    shadow.touch(
        address,
        bytes,
        by,
        [&](const Access& a) { return a.by() == by.by(); },
        [&](const Access& a, std::uint64_t, std::uint32_t) {
          if (strong && a.strong() && by.strong()) {
            return false;
          }
          ++races;
          return true;
        }
    );
    return races - before;
  }
};

TEST(Shadow, NeighbouringBytesDoNotRace) {
  Fixture f;
  for (std::uint16_t i = 0; i < 16; ++i) {
    EXPECT_EQ(f.touch(100 + i, 1, access(1, i, Write)), 0);
  }
  EXPECT_EQ(f.touch(104, 4, access(1, 99, Read)), 4);
}

TEST(Shadow, AWordMeetsItsBytes) {
  Fixture f;
  f.touch(8, 4, access(1, 0, Write));
  EXPECT_EQ(f.touch(11, 1, access(1, 1, Write)), 1);
  EXPECT_EQ(f.touch(12, 1, access(1, 1, Write)), 0);
  EXPECT_EQ(f.touch(10, 2, access(1, 0, Read)), 1); // the other's byte only
}

TEST(Shadow, VectorsCoverEveryWord) {
  Fixture f;
  f.touch(16, 16, access(1, 0, Write));
  EXPECT_EQ(f.touch(28, 4, access(1, 1, Read)), 1);
  EXPECT_EQ(f.touch(32, 4, access(1, 1, Read)), 0);
}

TEST(Shadow, ManyReadersRaceWithAWriterThatIsOneOfThem) {
  Fixture f;
  for (std::uint16_t i = 0; i < 64; ++i) {
    EXPECT_EQ(f.touch(0, 4, access(1, i, Read)), 0);
  }
  EXPECT_GE(f.touch(0, 4, access(1, 63, Write)), 1);
}

TEST(Shadow, TheFarReaderIsKept) {
  Fixture f;
  f.touch(0, 4, access(1, 0, Read));
  f.touch(0, 4, access(2, 0, Read));
  f.touch(0, 4, access(2, 1, Read));
  f.touch(0, 4, access(2, 2, Read));
  int others = 0;
  f.shadow.touch(
      0,
      4,
      access(2, 5, Write),
      [](const Access& a) { return a.block == 2; },
      [&](const Access& a, std::uint64_t, std::uint32_t) {
        others += a.block == 1 ? 1 : 0;
        return true;
      }
  );
  EXPECT_EQ(others, 1);
}

TEST(Shadow, AnUpdateHasObservedThoseItGoesOnFrom) {
  Fixture f;
  f.strong = true;
  constexpr std::uint8_t update = Read | Write | Strong;
  for (const std::uint32_t block : {1, 2, 3}) {
    EXPECT_EQ(f.touch(0, 4, access(block, 0, update)), 0);
  }
  EXPECT_EQ(f.touch(0, 4, access(3, 0, Read)), 0);
  EXPECT_GE(f.touch(0, 4, access(2, 0, Write)), 1); // has not observed the last one
}

TEST(Shadow, AStoreDoesNotGoOn) {
  Fixture f;
  f.strong = true;
  f.touch(0, 4, access(1, 0, Read | Write | Strong));
  f.touch(0, 4, access(2, 0, Write | Strong));
  f.touch(0, 4, access(3, 0, Read | Strong)); // observes the second only
  EXPECT_EQ(f.touch(0, 4, access(3, 0, Read)), 1);
  f.touch(4, 4, access(1, 0, Read | Write | Strong));
  f.touch(4, 4, access(2, 0, Read | Strong));
  f.touch(4, 4, access(3, 0, Read | Write | Strong)); // later than what the reader has seen
  EXPECT_GE(f.touch(4, 4, access(2, 0, Write)), 1);
}

TEST(Shadow, WholePages) {
  Fixture f;
  const auto never = [](const Access&) { return false; };
  int races = 0;
  const auto count = [&](const Access&, std::uint64_t, std::uint32_t) {
    ++races;
    return true;
  };
  f.touch(4096 + 40, 4, access(1, 0, Write));
  f.shadow.touch_page(1, access(7, 0, Read), never, count);
  EXPECT_EQ(races, 1);
  EXPECT_EQ(f.touch(4096 + 100, 4, access(1, 1, Write)), 1); // what the page's reader read
  EXPECT_EQ(f.touch(8192, 4, access(1, 1, Write)), 0);
}

TEST(Shadow, TheLimitIsKept) {
  Fixture f;
  f.bytes = sizeof(Page) + sizeof(Segment::Cells);
  f.touch(0, 4, access(1, 0, Write));
  f.touch(4096, 4, access(1, 0, Write));
  EXPECT_EQ(f.touch(4096, 4, access(1, 1, Write)), 0);
  EXPECT_EQ(f.touch(0, 4, access(1, 1, Write)), 1);
  EXPECT_GE(f.shadow.pages_refused(), 1U);
}

TEST(Shadow, ReadsOfTwoWarpsSettleAWord) {
  using Read = Shadow::WordRead;
  Fixture f;
  const auto by = [](std::uint16_t thread, std::uint32_t tick) {
    Access a = access(1, thread, AccessFlags::Read);
    a.tick = tick;
    return a;
  };
  f.touch(64, 4, access(1, 0, Write));
  Page* page = f.shadow.page_to_read(0);
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(f.shadow.read_word(*page, 64, by(0, 2), 1), Read::ForThread);
  EXPECT_EQ(f.shadow.read_word(*page, 64, by(1, 2), 1), Read::ForThread);
  EXPECT_EQ(f.shadow.read_word(*page, 64, by(2, 2), 1), Read::ForWarp);
  EXPECT_FALSE(Shadow::is_settled(*page, 64)) << "one warp only";
  EXPECT_EQ(f.shadow.read_word(*page, 64, by(40, 2), 1), Read::ForThread);
  EXPECT_TRUE(Shadow::is_settled(*page, 64));
  const std::uint64_t before = f.shadow.changes();
  EXPECT_EQ(f.shadow.read_word(*page, 64, by(80, 2), 1), Read::ForWarp);
  EXPECT_EQ(f.shadow.changes(), before);
  // A later read that takes the place of both, and a write, are changes.
  EXPECT_EQ(f.shadow.read_word(*page, 64, by(0, 3), 2), Read::ForThread);
  EXPECT_NE(f.shadow.changes(), before);
  EXPECT_FALSE(Shadow::is_settled(*page, 64));
  const std::uint64_t then = f.shadow.changes();
  Access write = access(1, 7, Write);
  write.tick = 4;
  EXPECT_TRUE(f.shadow.write_word(64, write, 3));
  EXPECT_NE(f.shadow.changes(), then);
}

TEST(Shadow, ARestartForgets) {
  Fixture f;
  f.touch(0, 4, access(1, 0, Write));
  f.shadow.restart();
  EXPECT_EQ(f.touch(0, 4, access(2, 0, Write)), 0);
}

} // namespace
} // namespace heddle::race
