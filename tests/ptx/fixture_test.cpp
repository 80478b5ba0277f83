// What nvcc emits for the programs in fixtures/: it parses, and printing and parsing it again
// changes nothing. Control flow and liveness of every function can be computed.
#include "analysis/cfg.h"
#include "ptx/equal.h"
#include "analysis/liveness.h"
#include "ptx/parse.h"

#include "fixture_files.h"
#include <gtest/gtest.h>

#include <set>

namespace heddle::ptx {
namespace {

const char* const no_fixtures = "no PTX fixtures in " HEDDLE_FIXTURES ": nvcc is not installed";

TEST(Fixtures, PrintingAndParsingAgainChangesNothing) {
  auto files = fixture_files();
  if (files.empty()) {
    GTEST_SKIP() << no_fixtures;
  }
  for (const FixtureFile& file : files) {
    auto module = parse(file.text, file.name);
    ASSERT_TRUE(module) << module.error().message;
    std::string printed = print(**module);
    auto again = parse(printed, file.name + " (printed)");
    ASSERT_TRUE(again) << again.error().message;
    auto found = difference(**module, **again);
    EXPECT_FALSE(found) << file.name << ": " << *found;
  }
}

TEST(Fixtures, DebugInformationIsRead) {
  bool inlined = false;
  bool seen = false;
  for (const FixtureFile& file : fixture_files()) {
    if (file.name.find(".lineinfo.") == std::string::npos) {
      continue;
    }
    seen = true;
    auto module = parse(file.text, file.name);
    ASSERT_TRUE(module) << module.error().message;
    for (const SourceLocation& location : (*module)->source_locations) {
      EXPECT_TRUE((*module)->files.contains(location.file)) << file.name;
      EXPECT_FALSE(location.function.starts_with("$L")) << file.name << " " << location.function;
      EXPECT_EQ(location.inlined_at.has_value(), !location.function.empty()) << file.name;
      inlined = inlined || location.inlined_at.has_value();
    }
  }
  if (!seen) {
    GTEST_SKIP() << no_fixtures;
  }
  EXPECT_TRUE(inlined);
}

TEST(Fixtures, EveryBranchOfStructuredCodeReconverges) {
  auto files = fixture_files();
  if (files.empty()) {
    GTEST_SKIP() << no_fixtures;
  }
  for (const FixtureFile& file : files) {
    auto module = parse(file.text, file.name);
    ASSERT_TRUE(module) << module.error().message;
    for (const auto& function : (*module)->functions) {
      analysis::Cfg cfg(*function);
      for (std::uint32_t b = 0; b < cfg.blocks().size(); ++b) {
        // Every reachable block has a way on.
        EXPECT_FALSE(cfg.blocks()[b].successors.empty());
        EXPECT_TRUE(cfg.immediate_post_dominator(b)) << file.name << " " << function->name;
      }
      // nvcc initialises nearly all it reads. A wrong rule for destinations would show up as many
      // registers that are live at the entry; values undefined on some path are a few.
      analysis::Liveness live(*function, cfg);
      EXPECT_LE(live.at_entry(0).count(), 4 + function->registers.size() / 16)
          << file.name << " " << function->name;
    }
  }
}

} // namespace
} // namespace heddle::ptx
