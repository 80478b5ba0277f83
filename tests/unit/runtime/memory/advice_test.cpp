// What is remembered of advice about managed memory, and what a question about a range of it
// answers.
#include "runtime/memory/advice.h"

#include <gtest/gtest.h>

namespace {

using heddle::runtime::Advice;
using heddle::runtime::Advised;

constexpr cudaMemLocation device(int number) {
  return {cudaMemLocationTypeDevice, number};
}
constexpr cudaMemLocation host{cudaMemLocationTypeHost, 0};

int one(const Advice& advice, std::uint64_t begin, std::uint64_t end, cudaMemRangeAttribute what) {
  std::int32_t answer = 77;
  EXPECT_EQ(advice.answer(1, begin, end, what, {&answer, 1}), cudaSuccess);
  return answer;
}

TEST(Advice, AnswersWhatHoldsForTheWholeRange) {
  Advice advice;
  EXPECT_EQ(one(advice, 0, 100, cudaMemRangeAttributeReadMostly), 0);
  EXPECT_EQ(one(advice, 0, 100, cudaMemRangeAttributePreferredLocation), cudaInvalidDeviceId);
  advice.update(1, 0, 64, [](Advised& a) { a.read_mostly = true; });
  EXPECT_EQ(one(advice, 0, 64, cudaMemRangeAttributeReadMostly), 1);
  EXPECT_EQ(one(advice, 10, 20, cudaMemRangeAttributeReadMostly), 1);
  EXPECT_EQ(one(advice, 10, 65, cudaMemRangeAttributeReadMostly), 0);
  advice.update(1, 16, 32, [](Advised& a) { a.read_mostly = false; });
  EXPECT_EQ(one(advice, 0, 16, cudaMemRangeAttributeReadMostly), 1);
  EXPECT_EQ(one(advice, 0, 17, cudaMemRangeAttributeReadMostly), 0);
  EXPECT_EQ(one(advice, 32, 64, cudaMemRangeAttributeReadMostly), 1);
}

TEST(Advice, NamesPlacesByNumberTypeAndId) {
  Advice advice;
  advice.update(1, 0, 10, [](Advised& a) { a.preferred = device(1); });
  advice.update(1, 10, 20, [](Advised& a) { a.preferred = host; });
  EXPECT_EQ(one(advice, 0, 10, cudaMemRangeAttributePreferredLocation), 1);
  EXPECT_EQ(one(advice, 10, 20, cudaMemRangeAttributePreferredLocation), cudaCpuDeviceId);
  EXPECT_EQ(one(advice, 5, 15, cudaMemRangeAttributePreferredLocation), cudaInvalidDeviceId);
  EXPECT_EQ(
      one(advice, 0, 10, cudaMemRangeAttributePreferredLocationType),
      cudaMemLocationTypeDevice
  );
  EXPECT_EQ(one(advice, 0, 10, cudaMemRangeAttributePreferredLocationId), 1);
  EXPECT_EQ(
      one(advice, 5, 15, cudaMemRangeAttributePreferredLocationType),
      cudaMemLocationTypeInvalid
  );
  EXPECT_EQ(one(advice, 0, 10, cudaMemRangeAttributeLastPrefetchLocation), cudaInvalidDeviceId);
}

TEST(Advice, ListsThoseWhoAccessAllOfIt) {
  Advice advice;
  advice.update(1, 0, 20, [](Advised& a) { a.accessed_by.insert(2); });
  advice.update(1, 0, 10, [](Advised& a) { a.accessed_by.insert(cudaCpuDeviceId); });
  std::int32_t who[3] = {};
  EXPECT_EQ(advice.answer(1, 0, 10, cudaMemRangeAttributeAccessedBy, who), cudaSuccess);
  EXPECT_EQ(std::vector<int>(who, who + 3), (std::vector{cudaCpuDeviceId, 2, cudaInvalidDeviceId}));
  EXPECT_EQ(advice.answer(1, 5, 15, cudaMemRangeAttributeAccessedBy, who), cudaSuccess);
  EXPECT_EQ(
      std::vector<int>(who, who + 3),
      (std::vector{2, cudaInvalidDeviceId, cudaInvalidDeviceId})
  );
}

TEST(Advice, RefusesWrongSizesAndAttributes) {
  const Advice advice;
  std::int32_t two[2] = {};
  EXPECT_EQ(advice.answer(1, 0, 8, cudaMemRangeAttributeReadMostly, two), cudaErrorInvalidValue);
  EXPECT_EQ(advice.answer(1, 0, 8, cudaMemRangeAttributeAccessedBy, {}), cudaErrorInvalidValue);
  EXPECT_EQ(
      advice.answer(1, 0, 8, static_cast<cudaMemRangeAttribute>(99), {two, 1}),
      cudaErrorInvalidValue
  );
}

} // namespace
