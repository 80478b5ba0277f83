// Work that one process hands to another one: the bytes, and the board.
#include "explore/search/work.h"
#include "explore/search/work_board.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace heddle::explore {
namespace {

TEST(Work, IsTheSameBehindItsBytes) {
  const Work work{
      .steps = {{.choice = 3, .check = 0xabc, .state = 7, .alike = 0}, {.choice = 5000}},
      .open = {{.step = 0, .signature = ~0ULL, .choices = {1, 2}}, {.step = 2, .choices = {9}}},
      .end = {1, 1ULL << 63}
  };
  std::vector<std::byte> bytes = encode(work);
  EXPECT_EQ(decode(bytes), work);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_FALSE(decode(std::span(bytes).first(cut)));
  }
  bytes.push_back({});
  EXPECT_FALSE(decode(bytes));
}

class Board : public ::testing::Test {
protected:
  static constexpr std::uint32_t most = 8;
  void* memory = ::mmap(
      nullptr,
      WorkBoard::bytes(most),
      PROT_READ | PROT_WRITE,
      MAP_SHARED | MAP_ANONYMOUS,
      -1,
      0
  );
  WorkBoard board{memory, most};
  ~Board() override { ::munmap(memory, WorkBoard::bytes(most)); }
};

TEST_F(Board, TheLastOneWithoutWorkEndsTheFamily) {
  board.found(1);
  board.rest(1);
  EXPECT_EQ(std::get<WorkBoard::NoWork>(board.await(1, 10'000)), WorkBoard::NoWork::Over);
}

TEST_F(Board, WhoRestsTooLongLeaves) {
  board.found(1);
  board.join(1, 2);
  board.rest(2);
  EXPECT_TRUE(board.some_idle(1));
  EXPECT_EQ(std::get<WorkBoard::NoWork>(board.await(2, 1)), WorkBoard::NoWork::Tired);
  EXPECT_FALSE(board.some_idle(1));
  EXPECT_FALSE(board.give(1, {}));
}

TEST_F(Board, OfOtherFamiliesNobodyIsGivenWork) {
  board.found(1);
  board.found(3);
  board.join(3, 4);
  board.rest(4);
  EXPECT_FALSE(board.give(1, {}));
  EXPECT_TRUE(board.give(3, std::vector<std::byte>(100)));
  EXPECT_EQ(std::get<std::vector<std::byte>>(board.await(4, 0)).size(), 100U);
}

TEST_F(Board, TooMuchIsNotGiven) {
  board.found(1);
  board.join(1, 2);
  board.rest(2);
  EXPECT_FALSE(board.give(1, std::vector<std::byte>(WorkBoard::most_bytes + 1)));
}

// Each piece says how often it is still to be given on; all must arrive, and all processes end.
TEST_F(Board, NoPieceIsLost) {
  constexpr std::uint32_t processes = 4, pieces = 3000;
  auto* arrived = static_cast<std::uint32_t*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
  );
  board.found(0);
  for (std::uint32_t p = 1; p < processes; ++p) {
    board.join(0, p);
  }
  std::vector<pid_t> children;
  for (std::uint32_t p = 0; p < processes; ++p) {
    const pid_t child = ::fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    std::uint32_t mine = p == 0 ? pieces : 0;
    for (;;) {
      while (mine != 0) { // half of them to somebody else
        const std::uint32_t half = mine / 2;
        const auto bytes = std::as_bytes(std::span(&half, 1));
        if (half != 0 && board.some_idle(0) && board.give(0, bytes)) {
          mine -= half;
          continue;
        }
        std::atomic_ref(*arrived).fetch_add(1);
        --mine;
      }
      board.rest(p);
      const auto answer = board.await(p, 60'000);
      if (std::holds_alternative<WorkBoard::NoWork>(answer)) {
        ::_exit(std::get<WorkBoard::NoWork>(answer) == WorkBoard::NoWork::Over ? 0 : 1);
      }
      std::memcpy(&mine, std::get<std::vector<std::byte>>(answer).data(), sizeof mine);
    }
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(*arrived, pieces);
  ::munmap(arrived, 4096);
}

} // namespace
} // namespace heddle::explore
