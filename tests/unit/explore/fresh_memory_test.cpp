// A process with fresh mappings has the same bytes at the same places, and goes on as before.
#include "explore/process/fresh_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace heddle::explore {
namespace {

std::uint64_t in_data = 17, in_zeroed[100];

/// True if everything is as it was, in a process that may write to it.
bool is_as_before(const std::vector<int>& numbers, const unsigned char* mapped) {
  std::vector<int> expected(numbers.size());
  std::iota(expected.begin(), expected.end(), 3);
  const std::string text(1000, 'x'); // the heap goes on
  return numbers == expected && text.size() == 1000 && in_data == 17 && in_zeroed[99] == 18 &&
         mapped[0] == 0 && mapped[5 << 20] == 19 && mapped[(6 << 20) + 4095] == 20;
}

TEST(FreshMemory, HoldsTheSameBytes) {
  constexpr std::size_t bytes = std::size_t{8} << 20;
  auto* mapped = static_cast<unsigned char*>(
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
  );
  ASSERT_NE(mapped, MAP_FAILED);
  mapped[5 << 20] = 19;
  mapped[(6 << 20) + 4095] = 20;
  in_zeroed[99] = 18;
  std::vector<int> numbers(5000);
  std::iota(numbers.begin(), numbers.end(), 3);
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = true;
    for (int generation = 0; generation < 4; ++generation) { // the last one is asked
      make_memory_fresh();
      good = good && is_as_before(numbers, mapped);
      const pid_t next = ::fork();
      if (next != 0) {
        int status = 0;
        ::waitpid(next, &status, 0);
        mapped[5 << 20] = 1; // which nobody else sees
        ::_exit(good ? WEXITSTATUS(status) : 1);
      }
    }
    ::_exit(good && is_as_before(numbers, mapped) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(is_as_before(numbers, mapped));
  ::munmap(mapped, bytes);
}

} // namespace
} // namespace heddle::explore
