// The published progress tests, one thread per lane of a warp in lockstep.
//
// tests/check/axb.json (after OOPSLA 2021, "Specifying and Testing GPU Workgroup Progress Models")
// says which terminate as independent threads of one block. Here each becomes a kernel in two
// shapes: every thread with code of its own, and all in one loop that interprets the next
// instruction. tests/simt/axb.csv holds the verdicts that lockstep warps give them and why they
// differ; this test computes it anew and compares (BLESS=1 writes it). It does so twice: in the
// core language, every order of every instruction's lanes, and as PTX kernels through the stepper's
// moves. The two must agree on every verdict.
#include "simt/lockstep.h"

#include "explore.h"
#include "search.h"
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

namespace heddle::simt {
namespace {

const std::string folder = HEDDLE_SOURCE_DIR "/tests/";

ProgressTest read_test(const nlohmann::json& json) {
  ProgressTest test;
  for (const auto& thread : json.at("threads")) {
    auto& steps = test.threads.emplace_back();
    for (const auto& instruction : thread) {
      const std::string op = instruction.at("op");
      ProgressTest::Step step;
      step.operation = op == "store" ? 's' : op == "load_branch" ? 'l' : 'x';
      step.cell = instruction.at("cell");
      step.write = instruction.value("write", 0);
      step.branch_if = instruction.value("branch_if", 0);
      step.to = instruction.value("to", 0U);
      steps.push_back(step);
    }
  }
  return test;
}

/// Why a verdict differs from that of independent threads.
std::string difference(bool independent, const Explored& lockstep) {
  if (independent == !lockstep.may_hang) {
    return "same";
  }
  if (!independent) {
    // The endless executions need threads that overtake each other again and again.
    return "serialised";
  }
  // A lane waits for one that gets no turn: because its side was not chosen, or never.
  return lockstep.may_end ? "order-of-sides" : "never-live";
}

/// The same as PTX, one warp, through the stepper.
Explored search_ptx(const Program& program, int lanes) {
  test::Device device(
      as_ptx(program, "k"),
      {.model = {.warp_rules = lockstep({})}, .renaming = {.symmetry = true}}
  );
  const auto command = device.launch("k", test::shape(1, static_cast<unsigned>(lanes)));
  return search(device, command);
}

std::string table() {
  std::ifstream file(folder + "check/axb.json");
  const auto tests = nlohmann::json::parse(file);
  std::string text = "id,independent,own_code,own_code_differs,shared_loop,shared_loop_differs,"
                     "states_independent,states_own_code,states_shared_loop,"
                     "search_own_code,search_shared_loop\n";
  for (const auto& json : tests) {
    const ProgressTest test = read_test(json);
    const bool independent = json.at("terminates").at("one_block");
    const int lanes = static_cast<int>(test.threads.size());
    const Program own = own_code(test);
    const Program shared = shared_loop(test);
    const LanguageCore own_core(own, lanes);
    const Explored a = explore_lockstep(own_core);
    const Explored b = explore_lockstep(LanguageCore(shared, lanes));
    const Explored found_a = search_ptx(own, lanes);
    const Explored found_b = search_ptx(shared, lanes);
    EXPECT_EQ(found_a.verdict(), a.verdict()) << json.at("id") << " own code";
    EXPECT_EQ(found_b.verdict(), b.verdict()) << json.at("id") << " shared loop";
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{}\n",
        json.at("id").get<std::string>(),
        independent ? "terminates" : "may-hang",
        a.verdict(),
        difference(independent, a),
        b.verdict(),
        difference(independent, b),
        count_independent(own_core),
        a.states,
        b.states,
        found_a.states,
        found_b.states
    );
  }
  return text;
}

ProgressTest random_test(std::mt19937& random) {
  const auto below = [&random](int n) {
    return static_cast<int>(random() % static_cast<unsigned>(n));
  };
  ProgressTest test;
  test.threads.resize(static_cast<std::size_t>(2 + below(3)));
  for (auto& steps : test.threads) {
    steps.resize(static_cast<std::size_t>(1 + below(3)));
    for (ProgressTest::Step& step : steps) {
      step.operation = "slx"[below(3)];
      step.cell = below(2);
      step.write = below(2);
      step.branch_if = below(2);
      step.to = static_cast<std::uint32_t>(below(static_cast<int>(steps.size()) + 1));
    }
  }
  return test;
}

// The search leaves out orders that can make no difference, states that nobody else can see, and
// which of several equal lanes is where. The core language leaves out nothing.
TEST(Axb, RandomProgramsEndAlikeInBoth) {
  std::mt19937 random(1);
  int hang = 0;
  for (int n = 0; n < 150; ++n) {
    const ProgressTest test = random_test(random);
    const int lanes = static_cast<int>(test.threads.size());
    for (const bool own : {true, false}) {
      const Program program = own ? own_code(test) : shared_loop(test);
      std::set<std::vector<int>> expected;
      const Explored all =
          explore_lockstep(LanguageCore(program, lanes), [&](const LanguageCore& end) {
            expected.insert(end.block.cell);
          });
      hang += all.may_hang ? 1 : 0;
      for (const int reduced : {3, 2, 1, 0}) {
        test::Device device(
            as_ptx(program, "k"),
            {.model = {.warp_rules = lockstep({})},
             .independence = {.eager = (reduced & 2) != 0},
             .renaming = {.symmetry = (reduced & 1) != 0}}
        );
        const auto command = device.launch("k", test::shape(1, static_cast<unsigned>(lanes)));
        std::set<std::vector<int>> results;
        const Explored found = search(device, command, [&] {
          std::vector<int> cells;
          for (int c = 0; c < program.cells; ++c) {
            cells.push_back(static_cast<int>(device.word(c)));
          }
          results.insert(cells);
        });
        ASSERT_EQ(found.verdict(), all.verdict()) << n << ' ' << own << ' ' << reduced;
        ASSERT_EQ(results, expected) << n << ' ' << own << ' ' << reduced;
      }
    }
  }
  EXPECT_GT(hang, 20);
  EXPECT_LT(hang, 280);
}

TEST(Axb, VerdictsInLockstepAreThoseStored) {
  const std::string computed = table();
  const std::string path = folder + "simt/axb.csv";
  if (std::getenv("BLESS") != nullptr) {
    std::ofstream(path) << computed;
  }
  std::stringstream stored;
  stored << std::ifstream(path).rdbuf();
  EXPECT_EQ(computed, stored.str());
}

} // namespace
} // namespace heddle::simt
