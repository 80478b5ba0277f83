#include "base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace heddle {
namespace {

TEST(Processors, OnlyThoseOnWhichTheThreadMayRun) {
  cpu_set_t all;
  CPU_ZERO(&all);
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_LE(usable_processors(), static_cast<std::uint32_t>(CPU_COUNT(&all)));
  std::uint32_t count = 0;
  std::thread pinned([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int n = 0; CPU_COUNT(&one) == 0; ++n) {
      if (CPU_ISSET(n, &all)) {
        CPU_SET(n, &one);
      }
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    count = usable_processors();
  });
  pinned.join();
  EXPECT_EQ(count, 1U);
}

TEST(Processors, WhatAQuotaIsFor) {
  EXPECT_EQ(processors_of_quota("max 100000"), 0U);
  EXPECT_EQ(processors_of_quota("100000 100000"), 1U);
  EXPECT_EQ(processors_of_quota("150000 100000"), 2U);
  EXPECT_EQ(processors_of_quota("5000 100000"), 1U);
  EXPECT_EQ(processors_of_quota(""), 0U);
}

} // namespace
} // namespace heddle
