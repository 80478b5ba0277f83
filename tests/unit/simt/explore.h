// Every way a lockstep warp of a program in the core language can go: every order of the sides of a
// branch, every order of lanes in an atomic operation and in a conflicting write.
#pragma once

#include "language.h"

#include <functional>

namespace heddle::simt {

struct Explored {
  bool may_end = false;
  bool may_hang = false; // goes round forever, or waits forever
  std::size_t states = 0;
  std::string verdict() const { return !may_hang ? "terminates" : may_end ? "may-hang" : "hangs"; }
};

/// `at_end` is called for each final state.
Explored explore_lockstep(
    const LanguageCore& start,
    const std::function<void(const LanguageCore&)>& at_end = {}
);

/// How many states the same program has with independent threads, one instruction a move.
std::size_t count_independent(const LanguageCore& start);

/// A core whose lanes each run a program of their own: a published progress test as a kernel.
struct ProgressTest {
  struct Step {
    char operation = 's'; // s: store, l: load and branch, x: exchange and branch
    int cell = 0, branch_if = 0, write = 0;
    std::uint32_t to = 0;
  };
  std::vector<std::vector<Step>> threads;
};
/// A switch over the lane: each thread's code is its own.
Program own_code(const ProgressTest& test);
/// One loop that interprets the thread's next instruction, as tests/check/axb.cu does.
Program shared_loop(const ProgressTest& test);

} // namespace heddle::simt
