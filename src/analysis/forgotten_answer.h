// Questions to an mbarrier (test_wait, try_wait) whose answer a thread forgets: it says no more
// than whether to wait for what was asked about, and the ways meet again.
//
//   ready = try_wait(full[next], phase);  arrive(empty[now]);  …
//   if (!ready) while (!try_wait(full[next], phase));
//
//   ForgottenAnswers answers(function);
//   if (answers.forgotten(i)) …         // instruction i asks such a question
//   if (answers.may_skip(i)) …          // the question of instruction i may not be asked because
//                                       // of the answer to such a one
//
// That is how a main loop looks at its next stage while it works on this one. What is *tainted* by
// the answer are registers computed from it, and those written on one side of a branch that depends
// on it. Of a forgotten answer holds
// - tainted registers are only computed with or branched on;
// - between such a branch and the place where its sides meet there are only computations, and, on
//   the side that is taken if the answer was no, questions that do not depend on tainted registers,
//   but for whether they are asked; the question itself is not among them;
// - each side leads to that place: it has no loops, apart from loops that a question ends as soon
//   as its answer is yes. So the thread reaches that place whichever answer it gets;
// - where the next question is asked, or a function is called, no tainted register is live. So at
//   most one answer is remembered at a time.
#pragma once

#include "analysis/bit_vector.h"
#include "ptx/module.h"

#include <cstddef>
#include <cstdint>

namespace heddle::analysis {

class ForgottenAnswers {
public:
  struct Options {              // for tests of tests
    bool either_side = false;   // also where questions are asked because the answer was yes
    bool forgets_loops = false; // also where a side may go round
  };
  explicit ForgottenAnswers(const ptx::Function& function)
      : ForgottenAnswers(function, Options()) {}
  ForgottenAnswers(const ptx::Function& function, Options options);
  /// May say no of a question whose answer is forgotten.
  bool forgotten(std::uint32_t instruction) const { return forgotten_.test(instruction); }
  /// May say yes of a question that is always asked.
  bool may_skip(std::uint32_t instruction) const { return skipped_.test(instruction); }

private:
  BitVector forgotten_, skipped_; // by instruction
};

/// Whether a phase of an mbarrier has completed.
bool asks_for_phase(const ptx::Instruction& i);

} // namespace heddle::analysis
