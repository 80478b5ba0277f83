// Shadow memory: exact overlaps, what is kept, whole pages.
#include "race/shadow.h"

#include <gtest/gtest.h>

#include <random>

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

TEST(Shadow, ForgetsWholeWords) {
  Fixture f;
  f.touch(16, 16, access(1, 0, Write));
  f.touch(33, 1, access(1, 0, Write)); // of a word that is split
  f.shadow.forget(18, 18);             // words at 20, 24, 28, 32
  EXPECT_EQ(f.touch(16, 4, access(1, 1, Write)), 1);
  EXPECT_EQ(f.touch(20, 16, access(1, 1, Write)), 0);
  EXPECT_EQ(f.touch(33, 1, access(1, 2, Write)), 1);
  f.shadow.forget(1 << 16, 64); // where nobody has been
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

/// Accesses to words one by one, and by half a warp to a row where a shadow has that in one record.
struct Rows {
  std::uint64_t bytes = 1 << 20;
  Shadow shadow{bytes};
  bool together = false;
  std::vector<std::uint64_t> races{}; // threads and addresses

  void one(std::uint64_t address, const Access& by, const NearOrder& order) {
    if (!by.strong()) {
      const bool done =
          by.writes() ? shadow.write_word(address, by, order.block_known)
                      : shadow.read_word(address, by, order.block_known) != Shadow::WordRead::No;
      if (done || shadow.touch_words(address, 1, by, order)) {
        return;
      }
    }
    shadow.touch(
        address,
        4,
        by,
        [&](const Access& a) { return order.ordered(a); },
        [&](const Access& a, std::uint64_t at, std::uint32_t) {
          races.push_back(std::uint64_t{a.thread} << 32 | at << 16 | by.thread);
          return !(a.strong() && by.strong());
        }
    );
  }
  void row(std::uint64_t address, Access by, NearOrder order) {
    Page* page = shadow.page(0);
    Cell* cell = together && !by.strong() ? shadow.cell_for_half(*page, address) : nullptr;
    if (cell != nullptr) {
      const bool done = by.writes() ? shadow.write_word(*page, *cell, by, order.block_known)
                                    : shadow.read_word(*page, *cell, by, order.block_known) !=
                                          Shadow::WordRead::No;
      if (done || shadow.touch_word(*page, *cell, by, order)) {
        return;
      }
    }
    for (std::uint16_t n = 0; n < Segment::words; ++n, ++by.thread, ++order.thread) {
      one(address + n * std::uint64_t{4}, by, order);
    }
  }
  /// What is kept, but for what makes no difference.
  std::vector<std::uint64_t> kept() {
    std::vector<std::uint64_t> result;
    for (std::uint64_t address = 0; address < 4 * Segment::bytes; address += 4) {
      const Cell cell = shadow.page(0)->segment(address).cell_of(
          static_cast<std::uint16_t>(address / 4 % Segment::words)
      );
      for (const Access* a : {&cell.write, &cell.read, &cell.far_read}) {
        result.push_back(a->any() ? std::uint64_t{a->block} << 32 | a->tick : 0);
        result.push_back(a->any() ? std::uint64_t{a->thread} << 32 | a->flags << 8 | a->site : 0);
      }
    }
    return result;
  }
};

TEST(Shadow, ARowInOneRecordIsItsWords) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    Rows words;
    Rows rows;
    rows.together = true;
    std::uint32_t tick = 2;
    for (unsigned step = 0; step < 60; ++step) {
      tick += below(5) == 0 ? 1 : 0; // a barrier
      Access by = access(5 + below(2), 0, below(2) == 0 ? Read : Write);
      by.tick = tick;
      by.site = step;
      NearOrder order;
      order.block = by.block;
      order.before = 3;
      order.beside = 5;
      order.block_known = tick - 1;
      order.warp_known = below(3) == 0 ? tick : tick - 1;
      const std::uint64_t segment = below(4) * Segment::bytes;
      if (below(4) == 0) {
        by.thread = order.thread = static_cast<std::uint16_t>(below(64));
        by.flags |= below(4) == 0 ? Strong : 0;
        const std::uint64_t address = segment + 4 * below(16);
        words.one(address, by, order);
        rows.one(address, by, order);
      } else {
        by.thread = order.thread = static_cast<std::uint16_t>(16 * below(4));
        by.block = order.block = below(8) == 0 ? 2 : by.block; // of a grid before
        words.row(segment, by, order);
        rows.row(segment, by, order);
      }
      ASSERT_EQ(words.races, rows.races) << "seed " << seed << ", step " << step;
      ASSERT_EQ(words.kept(), rows.kept()) << "seed " << seed << ", step " << step;
    }
  }
}

} // namespace
} // namespace heddle::race
