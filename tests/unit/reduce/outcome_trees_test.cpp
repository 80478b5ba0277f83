// What reads of one word lead to ([RED-POLLS]).
#include "reduce/independence/outcome_trees.h"

#include <gmock/gmock.h>

namespace heddle::reduce {
namespace {

using Node = OutcomeTrees::Node;
const Hash128 is_zero{1, 1}, is_odd{2, 2}, ends{3, 3}, hangs{4, 4};

class Trees : public testing::Test {
protected:
  OutcomeTrees trees;
  Node again = trees.reads(), end = trees.state(ends), hang = trees.state(hangs);
  Node if_zero(Node yes, Node no) { return trees.question(is_zero, yes, no); }
  Node if_odd(Node yes, Node no) { return trees.question(is_odd, yes, no); }
};

TEST_F(Trees, EqualTreesHaveOneOutcome) {
  EXPECT_EQ(trees.outcome(if_zero(again, end)), trees.outcome(if_zero(again, end)));
  EXPECT_NE(trees.outcome(if_zero(again, end)), trees.outcome(if_zero(again, hang)));
  EXPECT_NE(trees.outcome(if_zero(again, end)), trees.outcome(if_zero(end, again)));
  EXPECT_NE(trees.outcome(if_zero(again, end)), trees.outcome(if_odd(again, end)));
}

TEST_F(Trees, AQuestionWithoutConsequenceIsNone) {
  EXPECT_EQ(trees.outcome(if_odd(end, end)), trees.outcome(end));
  EXPECT_EQ(trees.outcome(if_zero(if_zero(again, hang), end)), trees.outcome(if_zero(again, end)));
}

// The loop reads once more when it has found something else, as the waits of libcu++ do.
TEST_F(Trees, AnExtraReadStandsForWhatItLeadsTo) {
  const Node leaves = if_zero(again, end);
  const Node looks_again = if_zero(again, trees.extra(0));
  trees.add_extra(if_zero(again, end));
  EXPECT_TRUE(trees.extras_end());
  EXPECT_EQ(trees.outcome(looks_again), trees.outcome(leaves));
}

TEST_F(Trees, AnExtraReadMayLeadElsewhere) {
  const Node leaves = if_zero(again, end);
  const Node looks_again = if_zero(again, trees.extra(0));
  trees.add_extra(if_odd(end, hang));
  EXPECT_TRUE(trees.extras_end());
  EXPECT_NE(trees.outcome(looks_again), trees.outcome(leaves));
}

// Its first read finds 1, the next one 2, the next one 1: it goes round, and never finds 0.
TEST_F(Trees, ExtraReadsMayGoRound) {
  trees.add_extra(if_odd(end, trees.extra(1)));
  trees.add_extra(if_odd(trees.extra(0), end));
  EXPECT_FALSE(trees.extras_end());
  OutcomeTrees one;
  one.add_extra(one.question(is_odd, one.reads(), one.extra(0)));
  EXPECT_FALSE(one.extras_end());
}

TEST_F(Trees, WhatIsTooLargeHasNoOutcome) {
  Node tree = end;
  for (std::uint64_t n = 10; n < 40; ++n) {
    tree = trees.question({n, n}, tree, trees.question({n, n + 1}, tree, again));
  }
  EXPECT_FALSE(trees.outcome(tree).has_value());
}

} // namespace
} // namespace heddle::reduce
