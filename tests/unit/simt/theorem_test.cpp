// The safety theorem, checked: whatever the graph, lanes in lockstep execute what they would
// execute as independent threads, nothing else, nothing less, nothing afterwards ([SIMT-SAFE-A],
// [SIMT-SAFE-B], [SIMT-SAFE-C]).
//
// Programs have no shared data here: a lane's way is decided by its own script. What is compared is
// each lane's whole history and its registers. Besides, every step of the machine asserts the three
// statements about its state.
//
//   HEDDLE_SIMT_FULL=1     all graphs of five blocks with longer scripts, 100,000 random programs
#include "language.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>

namespace heddle::simt {
namespace {

bool full() {
  const char* text = std::getenv("HEDDLE_SIMT_FULL");
  return text != nullptr && std::string_view(text) == "1";
}

class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() { // splitmix64
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

private:
  std::uint64_t state_;
};

/// Takes the last side first, or any.
class Sides final : public Choices {
public:
  explicit Sides(bool last) : last_(last) {}
  explicit Sides(Random& random) : random_(&random) {}
  int side(int n) override { return random_ != nullptr ? random_->below(n) : last_ ? n - 1 : 0; }

private:
  bool last_ = false;
  Random* random_ = nullptr;
};

struct Tally {
  std::uint64_t runs = 0, ended = 0, steps = 0;
};

/// Runs the lanes alone, then in lockstep, and compares. `alone` and `together` are fresh and
/// equal; a lane that has not ended after `bound` instructions counts as endless.
void compare(
    LanguageCore& alone,
    LanguageCore& together,
    Choices& choices,
    std::size_t bound,
    Tally& tally,
    bool calls,
    const std::string& what
) {
  alone.keep_history = together.keep_history = true;
  bool all_end = true;
  std::size_t total = 0;
  for (std::size_t lane = 0; lane < alone.lanes.size(); ++lane) {
    for (std::size_t n = 0; n < bound && alone.step_alone(static_cast<int>(lane)); ++n) {
    }
    all_end = all_end && alone.lanes[lane].calls.empty();
    total += alone.lanes[lane].history.size();
  }
  // Each step executes something or pops a token, and a token is pushed only by an execution, at
  // most one for each lane.
  const std::size_t limit = all_end ? (total + 1) * (alone.lanes.size() + 1) : bound;
  Warp warp = together.start();
  Stepped stepped = Stepped::Moved;
  std::size_t steps = 0;
  for (; stepped == Stepped::Moved && steps < limit; ++steps) {
    stepped = step(warp, together, choices);
    // Bounded, however often lanes leave a loop one after the other.
    ASSERT_TRUE(calls || warp.stack.size() <= 2 * alone.lanes.size()) << what;
  }
  ++tally.runs;
  tally.steps += steps;
  if (all_end) {
    ++tally.ended;
    ASSERT_EQ(stepped, Stepped::Ended) << what;
  }
  for (std::size_t lane = 0; lane < alone.lanes.size(); ++lane) {
    const auto& expected = alone.lanes[lane].history;
    const auto& seen = together.lanes[lane].history;
    if (all_end) {
      ASSERT_EQ(seen, expected) << what << " lane " << lane;
      ASSERT_EQ(together.lanes[lane].r, alone.lanes[lane].r) << what << " lane " << lane;
    } else {
      ASSERT_TRUE(
          seen.size() <= expected.size() && std::equal(seen.begin(), seen.end(), expected.begin())
      ) << what
        << " lane " << lane;
    }
  }
}

Instruction make(Operation operation, int a = 0, int value = 0, std::uint32_t target = 0) {
  Instruction i;
  i.operation = operation;
  i.a = a;
  i.value = value;
  i.target = target;
  return i;
}

// --- All graphs ----------------------------------------------------------------------------------

/// What follows a block: nothing, one block, or two.
struct Way {
  int first = -1, second = -1;
};

/// True if blocks are numbered as a breadth-first search finds them, and all are found: each graph
/// appears once, and not once for each numbering.
bool canonical(const std::vector<Way>& ways) {
  int found = 1;
  for (int b = 0; b < found; ++b) {
    for (const int to :
         {ways[static_cast<std::size_t>(b)].first, ways[static_cast<std::size_t>(b)].second}) {
      if (to > found) {
        return false;
      }
      found = std::max(found, to + 1);
    }
  }
  return found == static_cast<int>(ways.size());
}

Program program_of(const std::vector<Way>& ways, analysis::Ends ends) {
  Program program;
  program.ends = ends;
  auto& body = program.functions.emplace_back().body;
  const auto place = [](int block) { return static_cast<std::uint32_t>(3 * block); };
  for (int b = 0; b < static_cast<int>(ways.size()); ++b) {
    const Way& way = ways[static_cast<std::size_t>(b)];
    body.push_back(make(Operation::Mix, 1, b));
    body.push_back(
        way.second < 0 ? make(Operation::Mix, 2, b)
                       : make(Operation::Script, 0, 0, place(way.second))
    );
    body.push_back(
        way.first < 0 ? make(Operation::Exit) : make(Operation::Jump, 0, 0, place(way.first))
    );
  }
  program.finish();
  return program;
}

struct Graphs {
  std::uint64_t graphs = 0;
  Tally tally;
};

Graphs all_graphs(int blocks, int script_bits) {
  std::vector<Way> options{{}};
  for (int x = 0; x < blocks; ++x) {
    options.push_back({x, -1});
    for (int y = 0; y < blocks; ++y) {
      if (x != y) {
        options.push_back({x, y});
      }
    }
  }
  Graphs result;
  std::vector<std::size_t> digits(static_cast<std::size_t>(blocks), 0);
  std::vector<Way> ways(digits.size());
  const std::uint64_t scripts = std::uint64_t{1} << script_bits;
  for (bool more = true; more;) {
    for (std::size_t b = 0; b < digits.size(); ++b) {
      ways[b] = options[digits[b]];
    }
    if (canonical(ways)) {
      ++result.graphs;
      for (const analysis::Ends ends : {analysis::Ends::Leave, analysis::Ends::Meet}) {
        const Program program = program_of(ways, ends);
        LanguageCore alone(program, 2);
        LanguageCore together(program, 2);
        for (std::uint64_t script = 0; script < scripts * scripts; ++script) {
          if (script % scripts == script / scripts) {
            continue; // lanes that never part
          }
          for (LanguageCore* core : {&alone, &together}) {
            for (std::size_t lane = 0; lane < 2; ++lane) {
              core->lanes[lane].script = lane == 0 ? script % scripts : script / scripts;
              core->lanes[lane].script_bits = static_cast<std::uint32_t>(script_bits);
              core->lanes[lane].r = {};
            }
            core->restart();
          }
          // The other order of the sides is the run with the lanes' scripts exchanged.
          Sides sides(false);
          compare(
              alone,
              together,
              sides,
              40,
              result.tally,
              /*calls=*/false,
              fmt::format("graph {} script {}", result.graphs, script)
          );
          if (testing::Test::HasFatalFailure()) {
            return result;
          }
        }
      }
    }
    more = false;
    for (std::size_t& digit : digits) {
      if (++digit < options.size()) {
        more = true;
        break;
      }
      digit = 0;
    }
  }
  return result;
}

TEST(Theorem, HoldsForAllGraphsOfUpToFiveBlocks) {
  for (int blocks = 1; blocks <= 5; ++blocks) {
    const int script_bits = full() ? (blocks < 5 ? 5 : 3) : (blocks < 4 ? 4 : blocks < 5 ? 3 : 1);
    const Graphs result = all_graphs(blocks, script_bits);
    fmt::print(
        "{} blocks: {} graphs, {} runs ({} end), {} steps\n",
        blocks,
        result.graphs,
        result.tally.runs,
        result.tally.ended,
        result.tally.steps
    );
    ASSERT_FALSE(HasFatalFailure());
  }
}

// --- Random programs

class Generator {
public:
  Generator(Random& random, bool structured) : random_(random), structured_(structured) {}

  Program program() {
    Program program;
    program.ends = random_.chance(80) ? analysis::Ends::Leave : analysis::Ends::Meet;
    functions_ = 1 + random_.below(3);
    for (int f = 0; f < functions_; ++f) {
      body_.clear();
      loops_.clear();
      structured_ ? statements(3) : soup();
      if (random_.chance(50)) {
        body_.push_back(make(f == 0 ? Operation::Exit : Operation::Return));
      }
      program.functions.push_back({body_, {}, {}, {}});
    }
    program.finish();
    return program;
  }

private:
  struct Loop {
    std::uint32_t head;
    std::vector<std::size_t> breaks;
  };
  std::uint32_t here() const { return static_cast<std::uint32_t>(body_.size()); }

  void simple() {
    Instruction i =
        make(Operation::Mix, 1 + random_.below(2), here() % 97 == 0 ? 1 : static_cast<int>(here()));
    if (random_.chance(20)) {
      i.guard = random_.below(3);
    }
    body_.push_back(i);
  }
  void call() {
    Instruction i =
        make(Operation::Call, 0, 0, static_cast<std::uint32_t>(random_.below(functions_)));
    if (random_.chance(40)) {
      i.operation = Operation::CallTable;
      i.a = 3; // the lane's own number
      for (int n = 0; n < 3; ++n) {
        i.targets.push_back(static_cast<std::uint32_t>(random_.below(functions_)));
      }
    }
    i.guard = random_.chance(30) ? random_.below(4) : -1;
    body_.push_back(i);
  }
  void end() {
    Instruction i = make(random_.chance(30) ? Operation::Exit : Operation::Return);
    i.guard = random_.chance(50) ? random_.below(4) : -1;
    body_.push_back(i);
  }
  std::size_t branch() {
    body_.push_back(make(Operation::Script));
    return body_.size() - 1;
  }
  std::size_t jump() {
    body_.push_back(make(Operation::Jump));
    return body_.size() - 1;
  }

  /// if, if-else, while, do-while, switch, break, continue, early return, goto out of nested loops.
  void statements(int depth) {
    for (int n = 1 + random_.below(3); n > 0; --n) {
      const int kind = random_.below(depth > 0 ? 11 : 3);
      if (kind < 2) {
        simple();
      } else if (kind == 2) {
        random_.chance(60) ? call() : end();
      } else if (kind < 5) {
        const std::size_t skip = branch();
        statements(depth - 1);
        if (kind == 4) {
          const std::size_t over = jump();
          body_[skip].target = here();
          statements(depth - 1);
          body_[over].target = here();
        } else {
          body_[skip].target = here();
        }
      } else if (kind < 8) {
        loops_.push_back({here(), {}});
        if (kind == 5) {
          loops_.back().breaks.push_back(branch());
        }
        statements(depth - 1);
        body_.push_back(
            make(kind == 5 ? Operation::Jump : Operation::Script, 0, 0, loops_.back().head)
        );
        for (const std::size_t b : loops_.back().breaks) {
          body_[b].target = here();
        }
        loops_.pop_back();
      } else if (kind == 8) {
        body_.push_back(make(Operation::Switch, 3));
        const std::size_t dispatch = body_.size() - 1;
        std::vector<std::size_t> over;
        std::vector<std::uint32_t> targets;
        for (int c = 0; c < 3; ++c) {
          targets.push_back(here());
          statements(0);
          if (random_.chance(70)) { // else falls through
            over.push_back(jump());
          }
        }
        body_[dispatch].targets = targets;
        for (const std::size_t o : over) {
          body_[o].target = here();
        }
      } else if (!loops_.empty()) {
        const std::size_t which =
            static_cast<std::size_t>(random_.below(static_cast<int>(loops_.size())));
        const std::size_t skip = random_.chance(80) ? branch() : jump();
        if (kind == 9) {
          body_[skip].target = loops_[which].head; // continue, or goto
        } else {
          loops_[which].breaks.push_back(skip);
        }
      }
    }
  }

  void soup() {
    const int length = 4 + random_.below(20);
    const auto anywhere = [&] { return static_cast<std::uint32_t>(random_.below(length + 1)); };
    while (static_cast<int>(body_.size()) < length) {
      const int kind = random_.below(10);
      if (kind < 3) {
        simple();
      } else if (kind < 7) {
        body_.push_back(make(Operation::Script, 0, 0, anywhere()));
      } else if (kind == 7) {
        body_.push_back(
            make(random_.chance(50) ? Operation::Jump : Operation::Switch, 3, 0, anywhere())
        );
        for (int n = 0; n < 3; ++n) {
          body_.back().targets.push_back(anywhere());
        }
      } else if (kind == 8) {
        call();
      } else {
        end();
      }
    }
  }

  Random& random_;
  bool structured_;
  int functions_ = 1;
  std::vector<Instruction> body_;
  std::vector<Loop> loops_;
};

void random_programs(bool structured, int count) {
  Tally tally;
  for (int number = 0; number < count; ++number) {
    Random random(static_cast<std::uint64_t>(number) * 2 + (structured ? 1 : 0));
    const Program program = Generator(random, structured).program();
    const int lanes = 1 + random.below(32);
    LanguageCore alone(program, lanes);
    for (int lane = 0; lane < lanes; ++lane) {
      LaneState& state = alone.lanes[static_cast<std::size_t>(lane)];
      state.script = random.bits();
      state.script_bits = static_cast<std::uint32_t>(1 + random.below(64));
      state.r = {random.below(2), random.below(2), 1, random.below(4)};
    }
    LanguageCore together = alone;
    Sides sides(random);
    compare(
        alone,
        together,
        sides,
        400,
        tally,
        /*calls=*/true,
        fmt::format("{} program {}", structured ? "structured" : "unstructured", number)
    );
    if (testing::Test::HasFatalFailure()) {
      return;
    }
  }
  fmt::print(
      "{} {} programs, {} end, {} steps\n",
      tally.runs,
      structured ? "structured" : "unstructured",
      tally.ended,
      tally.steps
  );
  EXPECT_GT(tally.ended, tally.runs / 4); // else they say little
}

TEST(Theorem, HoldsForRandomStructuredPrograms) {
  random_programs(/*structured=*/true, full() ? 50'000 : 3'000);
}

TEST(Theorem, HoldsForRandomUnstructuredPrograms) {
  random_programs(/*structured=*/false, full() ? 50'000 : 3'000);
}

} // namespace
} // namespace heddle::simt
