// What is said of a move without making it is what making it does, in every state of small kernels.
#include "reduce/stepper.h"

#include "support/stepper_device.h"
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heddle::reduce {
namespace {

using test::Device;
using test::kernel;
using test::shape;

/// Makes every move in every state, after having asked what it does.
class Search {
public:
  explicit Search(Device& device) : stepper_(device.stepper()) { visit(); }
  std::size_t told() const { return told_; }
  std::size_t states() const { return seen_.size(); }

private:
  void visit() {
    const Hash128 here = stepper_.fingerprint();
    if (!seen_.insert({here.low, here.high}).second) {
      return;
    }
    const Stepper::Mark mark = stepper_.mark();
    for (const Stepper::Move& move : stepper_.moves()) {
      const auto ahead = stepper_.look_ahead(move, stepper_.fingerprint());
      const std::vector<Stepper::Change> changes =
          ahead ? std::vector(ahead->changes.begin(), ahead->changes.end())
                : std::vector<Stepper::Change>();
      EXPECT_EQ(stepper_.fingerprint(), here) << "asking changes nothing";
      ASSERT_TRUE(stepper_.step(move));
      if (ahead) {
        ++told_;
        EXPECT_EQ(ahead->fingerprint, stepper_.fingerprint());
        EXPECT_EQ(ahead->taken, stepper_.taken());
        EXPECT_EQ(changes, stepper_.changes());
      }
      visit();
      stepper_.undo_to(mark);
    }
  }

  Stepper& stepper_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen_;
  std::size_t told_ = 0;
};

struct Program {
  const char* name;
  std::string body;
};

const std::vector<Program> programs{
    {"lock",
     "L: atom.exch.b32 %r2, [%rd1], 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;\n"
     "atom.add.u32 %r2, [%rd1+4], 1; st.volatile.u32 [%rd1], 0;"},
    {"barrier",
     "atom.add.u32 %r2, [%rd1], 1; bar.sync 0; atom.add.u32 %r2, [%rd1+4], 1;\n"
     "bar.sync 0; ld.volatile.u32 %r2, [%rd1];"},
    {"unaligned", "atom.add.u32 %r2, [%rd1], 1; barrier.sync 0; atom.add.u32 %r2, [%rd1+4], %r2;"},
    {"lanes",
     "atom.add.u32 %r2, [%rd1], 1; bar.warp.sync 7; atom.exch.b32 %r2, [%rd1+4], %r1;\n"
     "activemask.b32 %r2; atom.add.u32 %r2, [%rd1+8], %r2;"},
    {"own places",
     "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; atom.add.u32 %r2, [%rd3], 1;\n"
     "atom.add.u32 %r2, [%rd1], 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;\n"
     "atom.exch.b32 %r2, [%rd3], %r2; L: ld.volatile.u32 %r2, [%rd3];"},
    {"shared memory",
     ".shared .align 4 .b32 place[4];\n"
     "L: atom.shared.exch.b32 %r2, [place], 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;\n"
     "atom.shared.add.u32 %r2, [place+4], %r1; st.volatile.shared.u16 [place+10], %r2;\n"
     "atom.add.u32 %r2, [%rd1], %r2; st.volatile.shared.u32 [place], 0;"},
};

TEST(StepperAhead, SaysWhatAStepDoes) {
  for (const Program& program : programs) {
    std::size_t told = 0;
    for (const bool symmetry : {false, true}) {
      for (const bool eager : {false, true}) {
        for (const auto& [blocks, threads] : {std::pair(1, 3), std::pair(3, 1), std::pair(2, 2)}) {
          SCOPED_TRACE(
              std::string(program.name) + (symmetry ? " symmetry" : "") +
              (eager ? " eager " : " ") + std::to_string(blocks) + " x " + std::to_string(threads)
          );
          if (program.body.find("sync 7") != std::string::npos && threads != 3) {
            continue; // its mask names three lanes
          }
          Device device(
              kernel("k", program.body.c_str()),
              {.independence = {.eager = eager, .sums = false}, .renaming = {.symmetry = symmetry}}
          );
          device.launch(
              "k",
              shape(static_cast<std::uint32_t>(blocks), static_cast<std::uint32_t>(threads))
          );
          const Search search(device);
          EXPECT_GT(search.states(), 1U);
          told += search.told();
        }
      }
    }
    EXPECT_GT(told, 0U) << program.name;
  }
}

} // namespace
} // namespace heddle::reduce
