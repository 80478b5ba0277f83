// The page of --html, its data, and the trace events for Perfetto.
#include "report/html.h"
#include "report/wait_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace heddle::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Diagnostic starvation(const std::string& file) {
  Diagnostic d(Finding::Starvation, "kernel 'k<<<2,1>>>' may hang");
  d.rule = "CLUSTER";
  d.place = {file, 2, 1, 0};
  d.labels = {
      {{file, 2, 1, 0}, "(1) thread (0,0,0) of block (0,0,0) spins here: an atomic read"},
      {{file, 3, 1, 0}, "(1, 3) launched from here"},
      {{file, 3, 1, 0}, "(2) the host thread waits inside cudaDeviceSynchronize"},
      {{file, 1, 1, 0},
       "(3) thread (0,0,0) of block (1,0,0) has not started and need not; next: it"}
  };
  return d;
}

std::vector<std::string> edges_of(const WaitGraph& graph) {
  std::vector<std::string> result;
  for (const WaitGraph::Edge& edge : graph.edges) {
    result.push_back(graph.nodes[edge.from].name + " -> " + graph.nodes[edge.to].name);
  }
  return result;
}

TEST(WaitGraph, HostWaitsForTheSpinnerAndThatForWhoNeedNotStart) {
  const auto graph = wait_graph(starvation("a.cu"));
  ASSERT_TRUE(graph);
  ASSERT_EQ(graph->nodes.size(), 3U);
  EXPECT_EQ(graph->nodes[0].role, WaitRole::Runs);
  EXPECT_EQ(graph->nodes[0].state, "spins here: an atomic read");
  EXPECT_EQ(graph->nodes[1].role, WaitRole::Waits);
  EXPECT_EQ(graph->nodes[2].role, WaitRole::Left);
  EXPECT_THAT(
      edges_of(*graph),
      testing::UnorderedElementsAre(
          "thread (0,0,0) of block (0,0,0) -> thread (0,0,0) of block (1,0,0)",
          "the host thread -> thread (0,0,0) of block (0,0,0)"
      )
  );
}

TEST(WaitGraph, WhereAllAreBlockedTheyWaitForNobody) {
  Diagnostic d(Finding::Deadlock, "the program may hang: every thread is blocked");
  d.labels = {{{"a.cu", 1, 1, 0}, "(1) 31 threads of kernel 'k' wait at a barrier of the block"}};
  const auto graph = wait_graph(d);
  ASSERT_TRUE(graph);
  EXPECT_THAT(
      edges_of(*graph),
      testing::ElementsAre("31 threads of kernel 'k' -> no thread that can move")
  );
}

TEST(WaitGraph, AFaultHasNone) {
  EXPECT_FALSE(wait_graph(Diagnostic(Finding::OutOfBounds, "read of 4 bytes")));
}

struct PageTest : testing::Test {
  std::string path = testing::TempDir() + "page.cu";
  SourceCache sources;
  Report report;
  Trace trace;

  void SetUp() override {
    std::ofstream(path) << "// </script><script>alert(1)</script> @DATA@ <!-- \"\\\n"
                           "while (*flag == 0) {}\nk<<<2, 1>>>();\n";
    report.findings.push_back(starvation(path));
    report.bounds = "1 input";
    trace.actors = {"the host thread", "thread (0,0,0) of block (0,0,0) of kernel 'k<<<2,1>>>'"};
    trace.steps = {
        {0, {path, 3, 1, 0}, "inside a kernel launch", "", {}, {}},
        {1,
         {path, 2, 1, 0},
         "an atomic read",
         "reads 0",
         {},
         {{.write = false, .bytes = 4, .value = 0xffffffff, .offset = 8, .name = "flag"}}}
    };
    trace.loop_from = 1;
    trace.end = TraceEnd::Loop;
    trace.outcome = "step 2 can repeat forever";
  }
  void TearDown() override { std::filesystem::remove(path); }

  Page page() {
    Page result{"<b>&.cu", "1.2", &report, {trace}};
    return result;
  }
};

TEST_F(PageTest, DataHoldsReportTraceMemoryAndSource) {
  const auto data = nlohmann::json::parse(render_json(page(), sources));
  EXPECT_EQ(data["program"], "<b>&.cu");
  EXPECT_EQ(data["report"]["findings"][0]["waits"]["edges"].size(), 2U);
  EXPECT_EQ(data["traces"][0]["loop_from"], 1);
  EXPECT_EQ(data["traces"][0]["steps"][1]["memory"][0]["value"], "ffffffff");
  EXPECT_EQ(data["sources"][0]["file"], path);
  EXPECT_EQ(data["sources"][0]["chunks"][0]["lines"][1], "while (*flag == 0) {}");
}

TEST_F(PageTest, NoTextOfTheUsersIsMarkup) {
  const std::string html = render_html(page(), sources);
  EXPECT_THAT(html, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(html, Not(HasSubstr("<b>&.cu")));
  EXPECT_THAT(html, HasSubstr("<title>&lt;b&gt;&amp;.cu"));
  // The data element holds exactly the data.
  constexpr std::string_view opening = "id=\"data\">";
  const std::size_t begin = html.find(opening) + opening.size();
  const std::string data = html.substr(begin, html.find("</script>", begin) - begin);
  EXPECT_EQ(nlohmann::json::parse(data), nlohmann::json::parse(render_json(page(), sources)));
}

TEST_F(PageTest, NeedsNothingFromElsewhere) {
  const std::string html = render_html(page(), sources);
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST_F(PageTest, AReplayHasNoFindings) {
  Page replay{"k.cu", "1.2", nullptr, {trace}};
  const auto data = nlohmann::json::parse(render_json(replay, sources));
  EXPECT_EQ(data["report"]["verdict"], "loop");
}

TEST_F(PageTest, TraceEventsHaveATrackForEachThread) {
  const auto events = nlohmann::json::parse(render_perfetto(trace))["traceEvents"];
  std::size_t slices = 0;
  std::vector<std::string> names;
  for (const auto& event : events) {
    if (event["ph"] == "M") {
      names.push_back(event["args"]["name"]);
      continue;
    }
    EXPECT_EQ(event["ph"], "X");
    EXPECT_TRUE(event["ts"].is_number_unsigned() && event["dur"].is_number_unsigned());
    EXPECT_TRUE(event["pid"].is_number() && event["tid"].is_number());
    slices += event["cat"] == "loop" ? 1 : 0;
  }
  EXPECT_EQ(slices, 2U); // the step that repeats, and the slice over it
  EXPECT_THAT(
      names,
      testing::ElementsAre(
          "host",
          "the host thread",
          "kernel 'k<<<2,1>>>'",
          "thread (0,0,0) of block (0,0,0)",
          "endless part"
      )
  );
}

} // namespace
} // namespace heddle::report
