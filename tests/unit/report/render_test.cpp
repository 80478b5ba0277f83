// The layout of diagnostics is an interface: editors parse it, tests of programs compare it.
#include "report/names.h"
#include "report/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace heddle::report {
namespace {

class RenderText : public testing::Test {
protected:
  void SetUp() override {
    char folder[] = "/tmp/heddle-render-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    ASSERT_EQ(chdir(folder), 0);
    folder_ = folder;
  }
  void TearDown() override {
    std::remove("ring.cu");
    std::remove("other.cuh");
    ASSERT_EQ(chdir("/"), 0);
    ASSERT_EQ(rmdir(folder_.c_str()), 0);
  }
  static void write(const std::string& name, const std::string& text) {
    std::ofstream(name) << text;
  }
  std::string render(const Diagnostic& d, TextStyle style = {}) {
    return render_text(d, sources_, style);
  }

  SourceCache sources_;
  std::string folder_;
};

Diagnostic starvation() {
  Diagnostic d(Finding::Starvation, "kernel 'ring<<<4,128>>>' may hang: 128 threads wait");
  d.place = {"ring.cu", 2, 10};
  d.rule = "CLUSTER";
  d.labels.push_back({{"ring.cu", 2, 10}, "(2) thread (0,0,0) of block (0,0,0) spins here"});
  d.labels.push_back(
      {{"ring.cu", 4, 3}, "(1) only thread (0,0,0) of block (3,0,0) would write it"}
  );
  d.notes.push_back("this is a defect in the program; it may well pass on the GPU you have");
  d.help.push_back("launch with cudaLaunchCooperativeKernel");
  d.searched = "41 states, 3 executions";
  d.replay = "v1:abc";
  return d;
}

constexpr const char* ring = "{\n  while (flag.load() == 0) ;\n\n  flag.store(1);\n}\n";

TEST_F(RenderText, ShowsBothPlacesTheRuleAndWhatToDo) {
  write("ring.cu", ring);
  EXPECT_EQ(
      render(starvation()),
      "ring.cu:2:10: error[starvation]: kernel 'ring<<<4,128>>>' may hang: 128 threads wait\n"
      "    2 |   while (flag.load() == 0) ;\n"
      "      |          ^~~~~~~~~~~ (2) thread (0,0,0) of block (0,0,0) spins here\n"
      "    4 |   flag.store(1);\n"
      "      |   ^~~~~~~~~~~~~ (1) only thread (0,0,0) of block (3,0,0) would write it\n"
      "  = rule: [CLUSTER] a cluster is guaranteed nothing until one of its threads takes a step; "
      "one step obliges the whole cluster\n"
      "  = this is a defect in the program; it may well pass on the GPU you have\n"
      "  = help: launch with cudaLaunchCooperativeKernel\n"
      "  = searched: 41 states, 3 executions   = replay: heddle replay v1:abc\n"
  );
}

TEST_F(RenderText, UnreadableSourcesLeavePlacesWithoutQuotes) {
  const std::string text = render(starvation());
  EXPECT_NE(
      text.find(
          "\n  --> ring.cu:2:10: (2) thread (0,0,0) of block (0,0,0) spins here\n"
          "  --> ring.cu:4:3: (1) only"
      ),
      std::string::npos
  ) << text;
}

TEST_F(RenderText, ALabelInAnotherFileNamesThatFile) {
  write("ring.cu", ring);
  write("other.cuh", "\tflag.store(1);\n");
  Diagnostic d = starvation();
  d.labels[1].place = {"other.cuh", 1, 2};
  EXPECT_NE(
      render(d).find("  --> other.cuh:1:2\n    1 | \tflag.store(1);\n      | \t^~~~~~~~~~~~~ (1)"),
      std::string::npos
  ) << render(d);
}

TEST_F(RenderText, PathsBelowTheCurrentFolderAreShownRelative) {
  Diagnostic d(Finding::Trap, "text");
  d.place = {folder_ + "/sub/a.cu", 1, 1};
  EXPECT_EQ(render(d).substr(0, 16), "sub/a.cu:1:1: er");
  d.place = {folder_ + "-other/a.cu", 1, 1};
  EXPECT_EQ(render(d).substr(0, folder_.size()), folder_);
}

TEST_F(RenderText, WithoutLabelsTheFirstPlaceIsQuoted) {
  write("ring.cu", ring);
  Diagnostic d(Finding::OutOfBounds, "text");
  d.place = {"ring.cu", 4, 3};
  EXPECT_EQ(
      render(d),
      "ring.cu:4:3: error[out-of-bounds]: text\n"
      "    4 |   flag.store(1);\n"
      "      |   ^~~~~~~~~~~~~\n"
      "  = rule: [MEM-BOUNDS] an access lies within one live object of the state space it "
      "names\n"
  );
}

TEST_F(RenderText, WithoutAnySourceTheToolSpeaks) {
  Diagnostic d(Finding::Trap, "kernel 'k<<<1,1>>>' executed trap");
  d.labels.push_back({{}, "thread (0,0,0) of block (0,0,0)"});
  EXPECT_EQ(
      render(d),
      "heddle: error[trap]: kernel 'k<<<1,1>>>' executed trap\n"
      "      | thread (0,0,0) of block (0,0,0)\n"
      "  = rule: [EXEC-TRAP] trap ends the kernel with an error\n"
  );
}

TEST_F(RenderText, ColumnsPastTheLineFallBackToItsFirstWord) {
  write("ring.cu", ring);
  Diagnostic d(Finding::Trap, "text");
  d.place = {"ring.cu", 4, 900};
  EXPECT_NE(render(d).find("      |   ^~~~~~~~~~~~~\n"), std::string::npos) << render(d);
}

TEST_F(RenderText, ColourOnlyWhereAskedFor) {
  write("ring.cu", ring);
  EXPECT_EQ(render(starvation()).find('\033'), std::string::npos);
  EXPECT_NE(
      render(starvation(), {.colour = true}).find("\033[1;31merror[starvation]:\033[0m"),
      std::string::npos
  );
}

TEST(UseColour, NotInAPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(use_colour(ends[1]));
  close(ends[0]);
  close(ends[1]);
}

TEST(ExpressionLength, EndsWhereTheExpressionEnds) {
  struct Case {
    std::string_view line;
    std::uint32_t column, length;
  };
  for (const Case& c : {
           Case{"while (flag.load() == 0) ;", 8, 11},
           Case{"p->next[i + 1].value = 3;", 1, 20},
           Case{"ns::f(a, (b)) + 1", 1, 13},
           Case{"*p = 1", 1, 2},
           Case{"k<<<1, 2>>>(x);", 1, 14},
           Case{"f(a,", 1, 4},
           Case{"while (f(x) == 0) {}", 1, 17},
           Case{"if(a) b();", 1, 5},
           Case{"format(a);", 1, 9},
           Case{"return f(x);", 1, 11},
           Case{"return f(", 1, 9},
           Case{"= 1", 1, 1},
           Case{"abc", 9, 1},
           Case{"", 1, 1},
       }) {
    EXPECT_EQ(expression_length(c.line, c.column), c.length) << c.line;
  }
}

TEST(WithThousands, GroupsByThree) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1204), "1,204");
  EXPECT_EQ(with_thousands(12345678), "12,345,678");
}

TEST(RenderReport, TheLastLineIsTheVerdictWithItsBounds) {
  SourceCache sources;
  Report report;
  report.states = 1204;
  report.bounds = "1 input, grid 4, block 128";
  report.claims.exhaustive();
  EXPECT_EQ(
      render_text(report, "ring.cu", sources),
      "ring.cu: terminates under every schedule: 1 input, grid 4, block 128, 1,204 states, "
      "exhaustive\n"
  );
  report.claims.leave_out({Coverage::OneOrder, "other orders", "--no-data-order"}); // [BOUND]
  report.claims.cut("the limit of states was reached");
  EXPECT_EQ(
      render_text(report, "ring.cu", sources),
      "ring.cu: no defect found, but not everything was looked at\n"
      "  = not looked at: other orders; --no-data-order looks at it\n"
      "  = ended early: the limit of states was reached\n"
      "  = looked at: 1 input, grid 4, block 128, 1,204 states\n"
  );
}

TEST(RenderReport, WordsOfACompleteSearchOnlyForThat) {
  for (const Coverage coverage : {Coverage::OneOrder, Coverage::Bounded, Coverage::Cut}) {
    SourceCache sources;
    Report report;
    report.claims.exhaustive();
    report.claims.leave_out({.coverage = coverage, .what = "something"});
    report.claims.accept({.coverage = coverage, .reason = "known", .written = ".heddle.yaml:3"});
    EXPECT_EQ(report.exit_code(), exit_code::clean);
    const std::string text = render_text(report, "ring.cu", sources);
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("terminates")));
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("exhaustive")));
    EXPECT_THAT(text, testing::HasSubstr("accepted by .heddle.yaml:3: known"));
    EXPECT_THAT(render_json(report), testing::HasSubstr("\"complete\": false"));
  }
}

TEST(RenderJson, HasTheDocumentedKeysInOrder) {
  Report report;
  report.findings.push_back(starvation());
  report.findings[0].threads = {"thread (0,0,0) of block (0,0,0)"};
  report.findings[0].functions = {"ring"};
  report.states = 41;
  report.executions = 3;
  report.seconds = 0.5;
  report.bounds = "1 input";
  const std::string expected = R"json({
  "verdict": "may-hang",
  "complete": false,
  "coverage": "cut",
  "findings": [
    {
      "code": "starvation",
      "rule": "CLUSTER",
      "severity": "error",
      "message": "kernel 'ring<<<4,128>>>' may hang: 128 threads wait",
      "locations": [
        {
          "file": "ring.cu",
          "line": 2,
          "column": 10,
          "text": "(2) thread (0,0,0) of block (0,0,0) spins here"
        },
        {
          "file": "ring.cu",
          "line": 4,
          "column": 3,
          "text": "(1) only thread (0,0,0) of block (3,0,0) would write it"
        }
      ],
      "threads": [
        "thread (0,0,0) of block (0,0,0)"
      ],
      "functions": [
        "ring"
      ],
      "replay": "v1:abc",
      "rule_text": "a cluster is guaranteed nothing until one of its threads takes a step; one step obliges the whole cluster",
      "notes": [
        "this is a defect in the program; it may well pass on the GPU you have"
      ],
      "help": [
        "launch with cudaLaunchCooperativeKernel"
      ],
      "searched": "41 states, 3 executions",
      "waits": {
        "nodes": [
          {
            "name": "thread (0,0,0) of block (0,0,0)",
            "state": "spins here",
            "role": "runs"
          }
        ],
        "edges": [
          {
            "from": 0,
            "to": 0,
            "text": "runs forever"
          }
        ]
      }
    }
  ],
  "states": 41,
  "executions": 3,
  "seconds": 0.5,
  "bounds": "1 input"
}
)json";
  EXPECT_EQ(render_json(report), expected);
}

TEST(RenderJson, SurvivesBytesThatAreNotText) {
  Report report;
  report.findings.emplace_back(Finding::Trap, "bad \xff byte");
  EXPECT_NE(render_json(report).find("bad \xef\xbf\xbd byte"), std::string::npos);
}

TEST(Names, LongNamesOfTemplatesAreShortened) {
  EXPECT_EQ(
      shortened_names(
          "kernel 'cub::CUB_300001_SM_900::detail::scan::DeviceScanKernel<policy_hub<int, int>, "
          "const int*>"
          "<<<2,128>>>' may hang"
      ),
      "kernel 'cub::…::DeviceScanKernel<…><<<2,128>>>' may hang"
  );
  EXPECT_EQ(
      shortened_names(
          "void thrust::cuda_cub::core::_kernel_agent<A<B>, (bool)1>(thrust::device_ptr<int>, int, "
          "unsigned long)"
      ),
      "void thrust::…::_kernel_agent<…>(…)"
  );
}

TEST(Names, TagsOfAnAbiAreLeftOut) {
  EXPECT_EQ(
      shortened_names("kernel fill[abi:v1][abi:cw51cXTL]<<<1,32>>>"),
      "kernel fill<<<1,32>>>"
  );
  EXPECT_EQ(shortened_names("__main__::fill[abi:v1]<<<1,32>>>"), "__main__::fill<<<1,32>>>");
}

TEST(Names, WhatIsShortOrNoNameStays) {
  for (const char* text :
       {"kernel 'scan<int, 4><<<3,32>>>' may hang",
        "std::atomic<int>::load",
        "k(int*, int): the block is (2048,1,1), the device allows (1024,1024,64)",
        "a_name_that_is_long_but_belongs_to_no_template_and_no_name_space",
        "if (i < n && some_long_condition_name && another_one_here) i->x > 3"}) {
    EXPECT_EQ(shortened_names(text), text);
  }
}

} // namespace
} // namespace heddle::report
