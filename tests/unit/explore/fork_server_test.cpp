// A program that is started once and forked for each search: here it is this test itself.
#include "explore/process/fork_server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

namespace heddle::explore {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// What the program does: its first argument says it. Does not come back.
[[noreturn]] void be_the_program(const char* text, const std::string& what) {
  if (what == "ends") {
    ::dprintf(STDERR_FILENO, "ended before it served\n");
    ::_exit(5);
  }
  if (what == "forks" && ::fork() != 0) {
    ::pause(); // the tool waits for the one that it has started
  }
  const auto handover = serve(std::atoi(text + serve_key.size()));
  if (!handover) {
    ::dprintf(STDERR_FILENO, "%s\n", handover.error().message.c_str());
    ::_exit(6);
  }
  char first = 0;
  (void)!::pread(handover->table, &first, 1, 0);
  const int next = ::open("/dev/null", O_RDONLY);
  ::dprintf(
      STDERR_FILENO,
      "%c, next %d, trace %s",
      first,
      next,
      handover->trace > next ? "high" : "none"
  );
  if (handover->options.seed == 9) {
    ::abort();
  }
  ::_exit(static_cast<int>(handover->options.seed));
}

const bool is_a_test = [] {
  if (const char* const text = std::getenv("HEDDLE_EXPLORE"); text != nullptr) {
    std::string what(4000, '\0');
    const int line = ::open("/proc/self/cmdline", O_RDONLY);
    what.resize(static_cast<std::size_t>(::read(line, what.data(), what.size())));
    ::close(line);
    be_the_program(text, what.c_str() + std::strlen(what.c_str()) + 1);
  }
  return true;
}();

struct Served : testing::Test {
  explicit Served(const std::string& what = "serves") {
    std::string self(4096, '\0');
    self.resize(static_cast<std::size_t>(::readlink("/proc/self/exe", self.data(), self.size())));
    request.program = self;
    request.arguments = {what};
    (void)!::write(table, "T", 1);
  }

  int status_of(ForkServer& server, std::uint64_t seed, int trace = -1) {
    ::ftruncate(log, 0);
    ::lseek(log, 0, SEEK_SET);
    Handover handover;
    handover.table = table;
    handover.trace = trace;
    handover.options.seed = seed;
    EXPECT_TRUE(server.fork(handover, log));
    return server.status();
  }

  std::string said() const {
    std::string text(1000, '\0');
    text.resize(static_cast<std::size_t>(::pread(log, text.data(), text.size(), 0)));
    return text;
  }

  int table = ::memfd_create("table", 0);
  int log = ::memfd_create("log", 0);
  CheckRequest request;
};

struct EndsAtOnce : Served {
  EndsAtOnce() : Served("ends") {}
};
struct ForksFirst : Served {
  ForksFirst() : Served("forks") {}
};

TEST_F(Served, EachProcessHasItsHandoverAndItsEnd) {
  ASSERT_TRUE(is_a_test);
  ForkServer server(request, Addresses::Fixed);
  const int first = status_of(server, 3);
  EXPECT_TRUE(WIFEXITED(first) && WEXITSTATUS(first) == 3) << said();
  const pid_t leader = server.leader();
  const int crash = status_of(server, 9);
  EXPECT_TRUE(WIFSIGNALED(crash) && WTERMSIG(crash) == SIGABRT);
  EXPECT_EQ(WEXITSTATUS(status_of(server, 4)), 4);
  EXPECT_EQ(server.leader(), leader); // started once
}

TEST_F(Served, ItsFilesHaveTheNumbersThatTheyWouldHave) {
  ForkServer server(request, Addresses::Elsewhere);
  status_of(server, 1);
  EXPECT_EQ(said(), "T, next 3, trace none");
  const int trace = ::memfd_create("trace", 0);
  status_of(server, 1, trace);
  EXPECT_EQ(said(), "T, next 3, trace high");
  ::close(trace);
}

TEST_F(Served, AServerThatWasKilledIsStartedAgain) {
  ForkServer server(request, Addresses::Fixed);
  status_of(server, 1);
  server.end_all();
  EXPECT_EQ(WEXITSTATUS(status_of(server, 2)), 2);
  Handover handover;
  handover.table = table;
  EXPECT_TRUE(server.fork(handover, log));
  ::kill(-server.leader(), SIGKILL); // by somebody else
  const int killed = server.status();
  EXPECT_TRUE(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGKILL);
  EXPECT_EQ(WEXITSTATUS(status_of(server, 2)), 2);
}

// As at a limit of time that is reached when the search has just ended.
TEST_F(Served, AServerThatIsKilledWhenItsProcessHasEndedIsStartedAgain) {
  ForkServer server(request, Addresses::Fixed);
  Handover handover;
  handover.table = table;
  handover.options.seed = 3;
  ASSERT_TRUE(server.fork(handover, log));
  pollfd ended{server.ended(), POLLIN, 0};
  ASSERT_EQ(::poll(&ended, 1, -1), 1);
  server.end_all();
  EXPECT_EQ(WEXITSTATUS(server.status()), 3);
  EXPECT_EQ(WEXITSTATUS(status_of(server, 2)), 2);
}

TEST_F(EndsAtOnce, ItsEndIsTold) {
  ForkServer server(request, Addresses::Fixed);
  const int ended = status_of(server, 1);
  EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 5);
  EXPECT_THAT(said(), HasSubstr("ended before it served"));
}

TEST_F(Served, AProgramThatCannotBeStarted) {
  request.program = "/nonexistent";
  ForkServer server(request, Addresses::Fixed);
  EXPECT_EQ(WEXITSTATUS(status_of(server, 1)), cannot_start);
  EXPECT_THAT(said(), StartsWith("/nonexistent: No such file"));
}

TEST_F(ForksFirst, OnlyTheProcessThatWasStartedServes) {
  ForkServer server(request, Addresses::Fixed);
  Handover handover;
  handover.table = table;
  ASSERT_TRUE(server.fork(handover, log));
  while (said().empty()) {
    ::usleep(1000);
  }
  EXPECT_THAT(said(), HasSubstr("the program has forked before its first call"));
}

} // namespace
} // namespace heddle::explore
