// Options: patterns, precedence, errors. Also the list of rules and their pages.
#include "base/glob.h"
#include "lint/lint.h"
#include "lint/settings.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

namespace heddle::lint {
namespace {

TEST(Settings, Patterns) {
  EXPECT_TRUE(matches("*.cu", "/a/b/k.cu"));
  EXPECT_TRUE(matches("third_party/**", "third_party/x/y.h"));
  EXPECT_FALSE(matches("*.cu", "/a/b/k.cuh"));
  EXPECT_TRUE(equal_names("cuda-1.14", "CUDA-1.14"));
}

TEST(Settings, KeyOverRuleOverAll) {
  const auto settings = make_settings({
      {"severity", {"error"}, "--set"},
      {"CUDA-1.14.severity", {"warning"}, "--set"},
      {"unaligned_synchronization.severity", {"note"}, "--set"},
  });
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->of("CUDA-2.1").severity, report::Severity::Error);
  EXPECT_EQ(settings->of("CUDA-1.14").severity, report::Severity::Warning);
  EXPECT_EQ(
      settings->of("CUDA-1.14", "unaligned_synchronization").severity,
      report::Severity::Note
  );
}

TEST(Settings, UnknownNamesAreErrors) {
  EXPECT_FALSE(make_settings({{"nonsense", {"1"}, "--set"}}));
}

TEST(Rules, EveryKeyIsUniqueAndHasAPage) {
  std::set<std::string> keys;
  for (const report::StaticRule& rule : all_rules()) {
    EXPECT_TRUE(keys.insert(rule.key).second) << rule.key;
    const std::filesystem::path page = std::filesystem::path(HEDDLE_SOURCE_DIR) / rule.page;
    EXPECT_TRUE(std::filesystem::exists(page)) << page;
    EXPECT_NE(explain_rule(rule.key).find("# "), std::string::npos) << rule.key;
  }
}

} // namespace
} // namespace heddle::lint
