// [RANK-CLAIMS] and [RANK-END] of spec/ranks.md, on all small systems and in all interleavings:
// every move that is asked for has been made when rank 0 says that the search is over, each rank
// has done what it has claimed, and the search can always end. And the mutants of both rules are
// noticed.
#include "rank_model.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <string>

namespace heddle::explore {
namespace {

struct Bound {
  unsigned ranks, states, moves;
};
constexpr Bound bounds[] = {{2, 2, 6}, {2, 3, 4}, {3, 2, 3}, {3, 3, 3}};

/// The first problem; empty: none.
std::string search_all(const Bound& bound, RankMutant mutant) {
  std::size_t systems = 0, situations = 0, ends = 0, void_ends = 0;
  for (const SmallSystem& system : small_systems(bound.states, bound.moves)) {
    ++systems;
    for (const bool serves : {false, true}) {
      const RankModel::Result result = RankModel(system, bound.ranks, mutant).run(serves);
      if (!result.problem.empty()) {
        return system.text() + result.problem;
      }
      situations += result.situations;
      ends += result.ends;
      void_ends += result.void_ends;
    }
  }
  std::cout << bound.ranks << " ranks, " << bound.states << " states, up to " << bound.moves
            << " moves: " << systems << " systems, " << situations << " situations, " << ends
            << " ends, " << void_ends << " of them void\n";
  EXPECT_GT(ends, void_ends);
  return "";
}

class RankRules : public ::testing::TestWithParam<Bound> {};

TEST_P(RankRules, EveryMoveIsMadeBeforeTheEnd) {
  EXPECT_EQ(search_all(GetParam(), RankMutant::None), "");
}

INSTANTIATE_TEST_SUITE_P(All, RankRules, ::testing::ValuesIn(bounds));

class RankMutants : public ::testing::TestWithParam<RankMutant> {};

TEST_P(RankMutants, AreNoticed) {
  std::string problem;
  for (const Bound& bound : bounds) {
    if (problem.empty()) {
      problem = search_all(bound, GetParam());
    }
  }
  std::cout << problem << '\n';
  EXPECT_NE(problem, "");
}

INSTANTIATE_TEST_SUITE_P(
    All,
    RankMutants,
    ::testing::Values(
        RankMutant::ClaimsToldFirst,
        RankMutant::ClaimsHaveNoKind,
        RankMutant::ClaimsTakeAny,
        RankMutant::EndLooksLate,
        RankMutant::EndSaysIdleFirst,
        RankMutant::EndLooksLateAtAll,
        RankMutant::EndForgetsTakers
    )
);

} // namespace
} // namespace heddle::explore
