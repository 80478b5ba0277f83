// base/regular_expression.h: what is found, where, and what is no pattern.
#include "base/regular_expression.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

TEST(RegularExpression, FindsAPartAndMatchesTheWhole) {
  const RegularExpression pattern("a+b?");
  EXPECT_TRUE(pattern.finds("xaaby"));
  EXPECT_FALSE(pattern.matches("xaaby"));
  EXPECT_TRUE(pattern.matches("aab"));
  EXPECT_FALSE(pattern.finds("xyz"));
}

TEST(RegularExpression, PartsHaveTheirPlaces) {
  const RegularExpression pattern("(k)=(v)?(w)?");
  const auto parts = pattern.search("..k=w;");
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts[0].position, 2U);
  EXPECT_EQ(parts[0].text, "k=w");
  EXPECT_EQ(parts[1].text, "k");
  EXPECT_EQ(parts[2].text, ""); // (v) matches nothing
  EXPECT_EQ(parts[3].position, 4U);
  EXPECT_TRUE(pattern.search("nothing").empty());
}

TEST(RegularExpression, WhatIsNoPattern) {
  EXPECT_FALSE(RegularExpression::read("(").has_value());
  EXPECT_TRUE(RegularExpression::read("()").has_value());
}

} // namespace
} // namespace heddle
