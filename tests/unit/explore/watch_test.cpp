// Limits of a search that are watched from outside.
#include "explore/process/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace heddle::explore {
namespace {

using testing::HasSubstr;

/// A process group that does `what` and nothing else.
template <class F> pid_t start(F what) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    what();
    ::_exit(7);
  }
  ::setpgid(child, child);
  return child;
}

/// Until it ends.
Watch::Processes group_of(pid_t child) {
  return {
      child,
      static_cast<int>(::syscall(SYS_pidfd_open, child, 0)),
      [child] {
        int status = 0;
        ::waitpid(child, &status, 0);
        return status;
      },
      [child] { ::kill(-child, SIGKILL); }
  };
}

struct Watched : testing::Test {
  StateTable table = std::move(*StateTable::create({.max_states = 100}));
  Options options;
};

TEST_F(Watched, AnEndInTimeIsReportedAsItWas) {
  const Ending ending = Watch(table, options, {}).wait_for(group_of(start([] {})));
  EXPECT_EQ(ending.limit, "");
  ASSERT_TRUE(ending.status);
  EXPECT_EQ(WEXITSTATUS(*ending.status), 7);
}

TEST_F(Watched, TimeRunsOut) {
  options.max_seconds = 0.2;
  const pid_t child = start([] { ::pause(); });
  const Ending ending = Watch(table, options, {}).wait_for(group_of(child));
  EXPECT_EQ(ending.status, std::nullopt);
  EXPECT_THAT(ending.limit, HasSubstr("0.2 s was reached (--max-time)"));
  EXPECT_EQ(::kill(child, 0), -1); // nobody is left
}

TEST_F(Watched, APartOfTheTimeRunsOut) {
  options.max_seconds = 0.4;
  const pid_t child = start([] { ::pause(); });
  const Ending ending = Watch(table, options, {.share = 0.5}).wait_for(group_of(child));
  EXPECT_EQ(
      ending.limit,
      "the limit of 0.4 s was reached (--max-time); 0.2 s of them are the search's"
  );
}

TEST_F(Watched, MemoryRunsOut) {
  options.max_mebibytes = 30;
  options.max_seconds = 20;
  const Ending ending = Watch(table, options, {}).wait_for(group_of(start([] {
    volatile auto* memory = static_cast<char*>(std::malloc(64U << 20));
    for (std::size_t i = 0; i < 64U << 20; i += 4096) {
      memory[i] = 1;
    }
    ::pause();
  })));
  EXPECT_THAT(ending.limit, HasSubstr("30 MiB was reached (--max-memory)"));
}

TEST_F(Watched, OnlyTheBeginningOfALogIsKept) {
  const int log = ::memfd_create("log", 0);
  options.max_seconds = 0.3;
  const pid_t child = start([log] {
    const std::string line(4096, 'x');
    for (int i = 0; i < 1000; ++i) {
      (void)!::write(log, line.data(), line.size());
    }
    ::pause();
  });
  Watch(table, options, {.log = log}).wait_for(group_of(child));
  struct stat status{};
  ::fstat(log, &status);
  EXPECT_EQ(status.st_size, 1000 * 4096);
  EXPECT_LE(status.st_blocks * 512, 128 << 10);
  char first = 0;
  EXPECT_EQ(::pread(log, &first, 1, 0), 1);
  EXPECT_EQ(first, 'x');
  ::close(log);
}

TEST_F(Watched, TheLineOfProgress) {
  SampleSheet sheet;
  sheet.schedules = 2000;
  sheet.done = 7;
  sheet.steps = 90;
  sheet.runs[1].step = 10;
  for (std::uint64_t i = 0; i < 50; ++i) {
    table.visit({i, i}, {});
  }
  table.set_frontier(12, 3456);
  table.set_open(0.96875);
  Progress progress = progress_of(table);
  progress.seconds = progress.search_seconds = 75;
  progress.memory = std::uint64_t{1234} << 20;
  EXPECT_EQ(
      progress_text(progress),
      "50 states, 0 states/s, depth 12, 3,456 moves to try, 1 process, 1,234 MiB, 3.1 % explored, "
      "01:15"
  );
  EXPECT_EQ(
      progress_json(progress, /*is_last=*/false),
      R"({"what":"search","last":false,"seconds":75.000,"search_seconds":75.000,"states":50,)"
      R"("states_per_second":0,"depth":12,"open_moves":3456,"processes":1,"memory_bytes":1293942784,)"
      R"("executions_explored":0.03125})"
  );
  EXPECT_EQ(
      progress_json(sheet, 5, /*is_last=*/true),
      R"({"what":"schedules","last":true,"seconds":5.000,"schedules":7,"of":2000,"steps":100})"
  );
  EXPECT_EQ(progress_text(sheet, 5), "7 of 2,000 schedules, 100 steps, 00:05");
}

} // namespace
} // namespace heddle::explore
