#include "analysis/cfg.h"

#include "support/ptx_text.h"
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace heddle::analysis {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

/// A function whose body is `body`, with predicates %p0 … %p3 and registers %r0 … %r3.
class Graph {
public:
  explicit Graph(const std::string& body, Ends ends = Ends::Meet)
      : module_(ptx::must_parse(ptx::kernel(".reg .pred %p<4>; .reg .b32 %r<4>;\n" + body))),
        function_(*module_->functions[0]),
        cfg(function_, ends) {}

  /// The block a label stands at.
  std::uint32_t at(std::string_view label) const {
    for (const ptx::Label& l : function_.labels) {
      if (l.name == label) {
        return l.instruction == function_.body.size() ? cfg.exit() : cfg.block_of(l.instruction);
      }
    }
    ADD_FAILURE() << "no label " << label;
    return 0;
  }

private:
  std::unique_ptr<ptx::Module> module_;
  const ptx::Function& function_;

public:
  Cfg cfg;
};

TEST(Cfg, StraightLineIsOneBlock) {
  Graph g("mov.u32 %r0, 1; mov.u32 %r1, 2; ret;");
  ASSERT_EQ(g.cfg.blocks().size(), 1U);
  EXPECT_THAT(g.cfg.blocks()[0].successors, ElementsAre(g.cfg.exit()));
  EXPECT_EQ(g.cfg.immediate_post_dominator(0), g.cfg.exit());
  EXPECT_EQ(g.cfg.immediate_dominator(0), std::nullopt);
}

TEST(Cfg, EmptyBody) {
  Graph g("");
  ASSERT_EQ(g.cfg.blocks().size(), 1U);
  EXPECT_THAT(g.cfg.blocks()[0].successors, ElementsAre(g.cfg.exit()));
}

TEST(Cfg, DiamondJoins) {
  Graph g("@%p0 bra Else; mov.u32 %r0, 1; bra.uni Join; Else: mov.u32 %r0, 2; Join: ret;");
  EXPECT_EQ(g.cfg.blocks().size(), 4U);
  EXPECT_THAT(g.cfg.blocks()[0].successors, UnorderedElementsAre(1, g.at("Else")));
  EXPECT_THAT(g.cfg.blocks()[g.at("Join")].predecessors, UnorderedElementsAre(1, g.at("Else")));
  EXPECT_EQ(g.cfg.immediate_post_dominator(0), g.at("Join"));
  EXPECT_EQ(g.cfg.immediate_dominator(g.at("Join")), 0U);
  EXPECT_EQ(g.cfg.reconvergence(0), g.cfg.blocks()[g.at("Join")].first);
  EXPECT_EQ(g.cfg.reconvergence(2), std::nullopt); // one way only
  EXPECT_TRUE(g.cfg.dominates(0, g.at("Join")));
  EXPECT_FALSE(g.cfg.dominates(1, g.at("Join")));
  EXPECT_TRUE(g.cfg.post_dominates(g.at("Join"), 1));
}

TEST(Cfg, LoopReconvergesBehindIt) {
  Graph g("Loop: add.u32 %r0, %r0, 1; @%p0 bra Loop; mov.u32 %r1, 1; ret;");
  EXPECT_THAT(g.cfg.blocks()[0].successors, UnorderedElementsAre(0, 1));
  EXPECT_EQ(g.cfg.reconvergence(1), 2U);
}

TEST(Cfg, OnlyBlocksInALoopRepeat) {
  Graph g(
      "BEFORE: mov.u32 %r0, 0; HEAD: @%p0 bra BEHIND; @%p1 bra SKIP; mov.u32 %r1, 1; SKIP: bra "
      "HEAD; "
      "BEHIND: ret;"
  );
  for (const char* inside : {"HEAD", "SKIP"}) {
    EXPECT_TRUE(g.cfg.repeats(g.at(inside))) << inside;
  }
  for (const char* outside : {"BEFORE", "BEHIND"}) {
    EXPECT_FALSE(g.cfg.repeats(g.at(outside))) << outside;
  }
  Graph own("LOOP: @%p0 bra LOOP; ret;");
  EXPECT_TRUE(own.cfg.repeats(own.at("LOOP")));
}

TEST(Cfg, GuardedReturnGoesOn) {
  Graph g("@%p0 ret; mov.u32 %r0, 1; exit;");
  EXPECT_THAT(g.cfg.blocks()[0].successors, UnorderedElementsAre(1, g.cfg.exit()));
  EXPECT_EQ(g.cfg.reconvergence(0), std::nullopt); // the ways meet outside
  EXPECT_EQ(g.cfg.immediate_post_dominator(0), g.cfg.exit());
}

TEST(Cfg, UnreachableCode) {
  Graph g("ret; Dead: mov.u32 %r0, 1; bra Dead2; Dead2: ret;");
  EXPECT_TRUE(g.cfg.reachable(0));
  EXPECT_FALSE(g.cfg.reachable(g.at("Dead")));
  EXPECT_EQ(g.cfg.immediate_dominator(g.at("Dead2")), std::nullopt);
  EXPECT_TRUE(g.cfg.dominates(g.at("Dead"), g.at("Dead")));
  EXPECT_FALSE(g.cfg.dominates(0, g.at("Dead")));
}

TEST(Cfg, BehindTheLastInstructionStandsAReturn) {
  Graph g("@%p0 bra End; mov.u32 %r0, 1; End:");
  EXPECT_THAT(g.cfg.blocks()[0].successors, UnorderedElementsAre(1, 2));
  EXPECT_THAT(g.cfg.blocks()[2].successors, UnorderedElementsAre(g.cfg.exit()));
}

TEST(Cfg, SwitchByTable) {
  Graph g(
      "T: .branchtargets A, B, A, C;\n"
      "brx.idx %r0, T; A: mov.u32 %r1, 1; bra End; B: mov.u32 %r1, 2; bra End; C: End: ret;"
  );
  EXPECT_THAT(g.cfg.blocks()[0].successors, UnorderedElementsAre(g.at("A"), g.at("B"), g.at("C")));
  EXPECT_EQ(g.cfg.immediate_post_dominator(0), g.at("End"));
  EXPECT_EQ(g.cfg.reconvergence(0), 5U);
}

// Two entries into one loop: no block of it dominates the other.
TEST(Cfg, IrreducibleLoop) {
  Graph g("@%p0 bra B; A: @%p1 bra End; B: @%p2 bra A; mov.u32 %r0, 1; bra A; End: ret;");
  EXPECT_EQ(g.cfg.immediate_dominator(g.at("A")), 0U);
  EXPECT_EQ(g.cfg.immediate_dominator(g.at("B")), 0U);
  EXPECT_FALSE(g.cfg.dominates(g.at("A"), g.at("B")));
  EXPECT_FALSE(g.cfg.dominates(g.at("B"), g.at("A")));
  EXPECT_EQ(g.cfg.immediate_post_dominator(0), g.at("A"));
  EXPECT_EQ(g.cfg.immediate_post_dominator(g.at("B")), g.at("A"));
  EXPECT_EQ(g.cfg.immediate_post_dominator(g.at("A")), g.at("End"));
}

TEST(Cfg, EndlessLoopHasReconvergenceInside) {
  Graph g(
      "Loop: @%p0 bra Else; mov.u32 %r0, 1; bra Join; Else: mov.u32 %r0, 2;\n"
      "Join: mov.u32 %r1, 3; bra Loop;"
  );
  EXPECT_EQ(g.cfg.immediate_post_dominator(g.at("Loop")), g.cfg.exit());
  EXPECT_EQ(g.cfg.immediate_post_dominator(1), g.at("Join"));
  EXPECT_EQ(g.cfg.immediate_post_dominator(g.at("Join")), g.at("Loop"));
}

TEST(Cfg, TwoEndlessLoopsBehindABranch) {
  Graph g("@%p0 bra B; A: mov.u32 %r0, 1; bra A; B: mov.u32 %r0, 2; bra B;");
  EXPECT_EQ(g.cfg.immediate_post_dominator(0), g.cfg.exit());
  EXPECT_EQ(g.cfg.immediate_post_dominator(g.at("A")), g.cfg.exit());
  EXPECT_EQ(g.cfg.reconvergence(0), std::nullopt);
}

TEST(Cfg, BlocksBeforeAnEndlessLoopLeadIntoIt) {
  Graph g("@%p0 bra Else; mov.u32 %r0, 1; bra Loop; Else: mov.u32 %r0, 2; Loop: bra Loop;");
  EXPECT_EQ(g.cfg.immediate_post_dominator(0), g.at("Loop"));
  EXPECT_EQ(g.cfg.reconvergence(0), 4U);
}

TEST(Cfg, EveryReachableBlockOfARandomGraphHasDominators) {
  // A small generator of graphs: dominance must agree with its definition (remove a, then b is out
  // of reach), computed the slow way.
  std::uint32_t seed = 1;
  auto random = [&](std::uint32_t n) {
    seed = seed * 1664525U + 1013904223U;
    return (seed >> 8) % n;
  };
  for (int round = 0; round < 200; ++round) {
    std::uint32_t n = 2 + random(9);
    std::string body;
    for (std::uint32_t b = 0; b < n; ++b) {
      body += fmt::format("L{}: mov.u32 %r0, {};\n", b, b);
      switch (random(4)) {
      case 0:
        body += fmt::format("bra L{};\n", random(n));
        break;
      case 1:
        body += fmt::format("@%p0 bra L{}; bra L{};\n", random(n), random(n));
        break;
      case 2:
        body += random(3) == 0 ? "ret;\n" : "";
        break;
      default:
        body += fmt::format("@%p0 bra L{};\n", random(n));
      }
    }
    Graph g(body);
    std::size_t count = g.cfg.blocks().size();
    auto reach = [&](std::uint32_t start, std::uint32_t without) {
      std::vector<bool> seen(count + 1, false);
      std::vector<std::uint32_t> work;
      if (start != without) {
        seen[start] = true;
        work.push_back(start);
      }
      while (!work.empty()) {
        std::uint32_t b = work.back();
        work.pop_back();
        if (b == g.cfg.exit()) {
          continue;
        }
        for (std::uint32_t to : g.cfg.blocks()[b].successors) {
          if (to != without && !seen[to]) {
            seen[to] = true;
            work.push_back(to);
          }
        }
      }
      return seen;
    };
    auto all = reach(0, ~0U);
    for (std::uint32_t a = 0; a < count; ++a) {
      auto rest = reach(0, a);
      for (std::uint32_t b = 0; b < count; ++b) {
        ASSERT_EQ(g.cfg.reachable(b), all[b]) << body;
        if (all[a] && all[b]) {
          ASSERT_EQ(g.cfg.dominates(a, b), a == b || !rest[b]) << a << " " << b << "\n" << body;
        }
        // Post-dominance: only where the exit can be reached at all, else it depends on virtual
        // edges.
        if (reach(b, ~0U)[g.cfg.exit()] && reach(a, ~0U)[g.cfg.exit()]) {
          bool through_endless = false;
          auto from_b = reach(b, ~0U);
          for (std::uint32_t c = 0; c < count; ++c) {
            through_endless = through_endless || (from_b[c] && !reach(c, ~0U)[g.cfg.exit()]);
          }
          if (!through_endless) {
            ASSERT_EQ(g.cfg.post_dominates(a, b), a == b || !reach(b, a)[g.cfg.exit()])
                << a << " " << b << "\n"
                << body;
          }
        }
      }
    }
  }
}

// --- Ends::Leave

TEST(Cfg, AnAssertionDoesNotKeepTheOthersFromMeeting) {
  const std::string body = "@%p0 bra A; mov.u32 %r0, 1; @%p1 bra Bad; bra.uni Join;"
                           "A: mov.u32 %r0, 2; Join: bar.sync 0; mov.u32 %r1, 3; ret; Bad: trap;";
  EXPECT_EQ(Graph(body).cfg.reconvergence(0), std::nullopt);
  EXPECT_EQ(Graph(body, Ends::Leave).cfg.reconvergence(0), 5U);
}

TEST(Cfg, AnEarlyReturnDoesNotEither) {
  // if (p0) { if (p1) return; } barrier; the return is a jump to the last one.
  const std::string body =
      "@%p0 bra Join; @%p1 bra End; mov.u32 %r0, 1; Join: bar.sync 0; End: ret;";
  Graph g(body, Ends::Leave);
  EXPECT_EQ(g.cfg.reconvergence(0), 3U);
  EXPECT_EQ(g.cfg.reconvergence(1), std::nullopt) << "only one way is left";
  EXPECT_EQ(Graph(body).cfg.reconvergence(0), 4U) << "at the end, with all";
}

TEST(Cfg, WaysThatAllEndEarlyMeetAmongThemselves) {
  // Two variants of a kernel, each with an end of its own and a branch that joins.
  Graph g(
      "@%p0 bra B; @%p1 bra A1; mov.u32 %r0, 1; A1: bar.sync 0; mov.u32 %r1, 1; ret;"
      "B: @%p1 bra B1; mov.u32 %r0, 2; B1: bar.sync 0; mov.u32 %r1, 2; ret;",
      Ends::Leave
  );
  EXPECT_EQ(g.cfg.reconvergence(0), std::nullopt);
  EXPECT_EQ(g.cfg.reconvergence(1), 3U);
  EXPECT_EQ(g.cfg.reconvergence(6), 8U);
  EXPECT_TRUE(g.cfg.ends_early(0, 1)) << "from the branch into the variant that is not last";
  EXPECT_FALSE(g.cfg.ends_early(0, g.at("B")));
}

TEST(Cfg, ALoopFromWhichAllWaysEndEarlyHasAJoin) {
  Graph g(
      "@%p0 bra Last; @%p1 bra Out; Loop: mov.u32 %r0, 1; @%p2 bra Loop; Out: bar.sync 0; ret;"
      "Last: mov.u32 %r1, 1; ret;",
      Ends::Leave
  );
  EXPECT_EQ(g.cfg.reconvergence(1), 4U);
  EXPECT_EQ(g.cfg.reconvergence(3), 4U);
}

} // namespace
} // namespace heddle::analysis
