// Real programs with std::thread and everything that comes with it (host_threads/programs.cpp), as
// fibers of one thread (host_threads/scheduler.cpp): some schedules, schedules with fork() in the
// middle, and all schedules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace {

constexpr int deadlock_code = 42; // scheduler.cpp

struct Outcome {
  int code = -1; // -1: ended by a signal
  std::string text;
};

/// `schedule`: as scheduler.cpp says; empty: threads of the kernel.
Outcome run(const std::string& program, const std::string& schedule) {
  const std::string set = schedule.empty() ? "" : "HEDDLE_TEST_SCHEDULE=" + schedule + " ";
  const std::string command = set + "timeout 60 " + HOST_THREADS_PROGRAMS + " " + program + " 2>&1";
  Outcome outcome;
  FILE* output = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), output) != nullptr) {
    outcome.text += buffer.data();
  }
  const int status = ::pclose(output);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

/// What the exploration of every schedule says: "… crashes 0 deadlocks 0 codes 0".
std::string explored(const std::string& program) {
  const std::string text = run(program, "all").text;
  const std::size_t begin = text.find("crashes");
  return begin == std::string::npos ? text : text.substr(begin, text.find('\n', begin) - begin);
}

constexpr const char* always_right[] = {
    "atomic_wait",
    "deadlines",
    "futures",
    "latches",
    "leaving",
    "many",
    "mutex_counter",
    "numbers_of_threads",
    "peterson",
    "ping_pong",
    "posix_objects",
    "shared_locks",
    "shared_pointers",
    "stop_tokens",
    "static_variables",
    "thread_locals",
    "main_leaves_first"
};

class Program : public testing::TestWithParam<const char*> {};

TEST_P(Program, RunsWithThreadsOfTheKernel) {
  const Outcome outcome = run(GetParam(), "");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
}

TEST_P(Program, RunsInTurn) {
  const Outcome outcome = run(GetParam(), "round");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
}

TEST_P(Program, RunsInAnyOrder) {
  for (const char* schedule : {"random:1", "random:2", "random:3"}) {
    const Outcome outcome = run(GetParam(), schedule);
    EXPECT_EQ(outcome.code, 0) << schedule << ": " << outcome.text;
  }
}

TEST_P(Program, GoesOnInBothProcessesAfterFork) {
  for (const char* schedule : {"fork:1", "fork:2", "fork:3"}) {
    const Outcome outcome = run(GetParam(), schedule);
    EXPECT_EQ(outcome.code, 0) << schedule << ": " << outcome.text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    HostThreads,
    Program,
    testing::ValuesIn(always_right),
    [](const auto& info) { return std::string(info.param); }
);

TEST(HostThreadsInEveryOrder, EndAsTheyMust) {
  for (const char* program :
       {"deadlines",
        "futures",
        "leaving",
        "main_leaves_first",
        "peterson",
        "ping_pong",
        "scoped_lock",
        "shared_locks",
        "shared_pointers",
        "static_variables",
        "stop_tokens",
        "thread_locals"}) {
    EXPECT_EQ(explored(program), "crashes 0 deadlocks 0 codes 0") << program;
  }
}

TEST(HostThreadsInEveryOrder, HaveAllResults) {
  EXPECT_EQ(explored("without_mutex"), "crashes 0 deadlocks 0 codes 1 2");
  EXPECT_EQ(explored("store_buffering"), "crashes 0 deadlocks 0 codes 1 2 3");
  EXPECT_EQ(explored("once"), "crashes 0 deadlocks 0 codes 1 2");
}

TEST(HostThreadsInEveryOrder, MayDeadlock) {
  for (const char* program :
       {"lock_order",
        "dining_philosophers",
        "lost_wake_up",
        "wrong_one_woken",
        "forgotten_notify"}) {
    EXPECT_EQ(explored(program), "crashes 0 deadlocks 1 codes 0") << program;
  }
}

TEST(HostThreadsInEveryOrder, ComeBackToAState) {
  EXPECT_EQ(explored("threads_for_ever"), "crashes 0 deadlocks 0 codes"); // finds no end
}

TEST(HostThreadsInEveryOrder, AreInterruptedInEndlessLoops) {
  EXPECT_EQ(explored("endless"), "crashes 0 deadlocks 0 codes"); // finds no end
  EXPECT_EQ(explored("endless_beside"), "crashes 0 deadlocks 0 codes 0");
}

TEST(HostThreadsInEveryOrder, AreTheSameEachTime) {
  for (const char* program : {"stop_tokens", "ping_pong", "futures"}) {
    EXPECT_EQ(run(program, "all").text, run(program, "all").text) << program;
  }
}

TEST(HostThreads, SayWhatTheyWaitFor) {
  const Outcome outcome = run("lock_order", "round");
  EXPECT_EQ(outcome.code, deadlock_code);
  EXPECT_EQ(
      outcome.text,
      "the host thread waits to lock a mutex\n"
      "host thread 2 waits to lock a mutex\n"
  );
  EXPECT_THAT(
      run("lost_wake_up", "all").text,
      testing::HasSubstr("the host thread waits on a condition variable\n")
  );
  EXPECT_THAT(
      run("forgotten_notify", "all").text,
      testing::HasSubstr(
          "the host thread waits for host thread 2 to end\n"
          "host thread 2 waits for a change of an atomic\n"
      )
  );
}

} // namespace
