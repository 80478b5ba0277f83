// Traces as people and programs read them.
#include "report/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace heddle::report {
namespace {

using testing::HasSubstr;
using testing::Not;

struct TraceFile : testing::Test {
  std::string path = testing::TempDir() + "trace.cu";
  SourceCache sources;
  Trace trace;

  void SetUp() override {
    std::ofstream(path) << "one();\n  two();\n";
    trace.actors = {"the host thread", "thread (0,0,0)"};
    trace.steps = {
        {0, {path, 1, 1, 0}, "inside cudaMalloc", ""},
        {1, {path, 2, 3, 0}, "an atomic read", "reads 0"},
        {0, {"", 0, 0, 0}, "goes on", ""}
    };
    trace.loop_from = 1;
    trace.end = TraceEnd::Loop;
    trace.outcome = "steps 2 to 3 can repeat forever";
  }
  void TearDown() override { std::filesystem::remove(path); }
};

TEST_F(TraceFile, HasAColumnForEachThreadAndMarksTheLoop) {
  EXPECT_EQ(
      render_text(trace, sources),
      "  A = the host thread\n"
      "  B = thread (0,0,0)\n"
      "\n"
      "    1  A ·  trace.cu:1  inside cudaMalloc        one();\n"
      "      -- from here on forever --\n"
      "    2  · B  trace.cu:2  an atomic read: reads 0  two();\n"
      "    3  A ·              goes on\n"
      "      -- again from step 2 --\n"
      "\n"
      "3 steps: steps 2 to 3 can repeat forever\n"
  );
}

TEST_F(TraceFile, SaysOnceHowAThreadGotThereAndLeavesNoiseOut) {
  trace.steps[1].calls = {{{path, 1, 1, 0}, "launched from here"}};
  trace.steps.push_back(trace.steps[1]);
  trace.steps[0].is_noise = true;
  EXPECT_THAT(
      render_text(trace, sources),
      HasSubstr(
          "\n\n      -- from here on forever --\n"
          "    2  · B  trace.cu:2  an atomic read: reads 0  two();\n"
          "       · ·  trace.cu:1  launched from here\n"
          "    3  A ·              goes on\n"
          "    4  · B  trace.cu:2  an atomic read: reads 0  two();\n"
          "      -- again"
      )
  );
}

TEST_F(TraceFile, ManyThreadsKeepTheirColumns) {
  trace.actors.assign(30, "thread");
  trace.steps = {{29, {}, "moves", ""}, {0, {}, "moves", ""}};
  trace.loop_from.reset();
  const std::string text = render_text(trace, sources);
  EXPECT_THAT(text, HasSubstr("  AD = thread\n"));
  EXPECT_THAT(text, HasSubstr("·  ·  AD"));
  EXPECT_THAT(text, Not(HasSubstr("forever --")));
}

TEST_F(TraceFile, Json) {
  const std::string text = render_json(trace);
  for (const char* part :
       {R"("end": "loop")", R"("loop_from": 1)", R"("note": "reads 0")", R"("actor": 1)"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(TraceEnd, ExitCodes) {
  const auto exit_code_of = [](TraceEnd end) {
    Trace trace;
    trace.end = end;
    return trace.exit_code();
  };
  EXPECT_EQ(exit_code_of(TraceEnd::Loop), exit_code::defect);
  EXPECT_EQ(exit_code_of(TraceEnd::Blocked), exit_code::defect);
  EXPECT_EQ(exit_code_of(TraceEnd::Defect), exit_code::defect);
  EXPECT_EQ(exit_code_of(TraceEnd::Ended), exit_code::clean);
  EXPECT_EQ(exit_code_of(TraceEnd::Diverged), exit_code::unsupported);
  EXPECT_EQ(exit_code_of(TraceEnd::CutShort), exit_code::budget);
}

} // namespace
} // namespace heddle::report
