// Words of HEDDLE_EXPLORE and of schedule strings: written and read back.
#include "explore/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::explore {
namespace {

using testing::HasSubstr;

TEST(ExploreOptions, NothingIsSaidAboutDefaults) {
  EXPECT_EQ(to_text(Options{}), "");
  EXPECT_EQ(parse_options("").value(), Options{});
}

TEST(ExploreOptions, EverythingThatDiffersIsSaidInAFixedOrder) {
  Options options;
  options.progress = ProgressModel::Lobe;
  options.host_progress = false;
  options.prompt_api = true;
  options.other_processes = true;
  options.spurious_failures = true;
  options.symmetry = false;
  options.eager = false;
  options.lockstep = true;
  options.stale_reads = true;
  options.ignore_grid_order = true;
  options.expect_exit = 3;
  options.max_states = 17;
  options.max_seconds = 2.5;
  options.max_mebibytes = 512;
  options.schedules = 30;
  options.seed = 7;
  const std::string text = to_text(options);
  EXPECT_EQ(
      text,
      "progress=lobe,host-progress=none,api=prompt,other-processes,spurious-failures,no-symmetry,"
      "no-eager,warps=lockstep,stale-reads,ignore=DEP,expect-exit=3,max-states=17,max-time=2.5,max-"
      "memory=512,"
      "schedules=30,seed=7"
  );
  EXPECT_EQ(parse_options(text).value(), options);
  EXPECT_EQ(to_text(without_limits(options)), text.substr(0, text.find(",max-states")));
}

TEST(ExploreOptions, OneWordStandsForWhatTheMemoryModelSwitchesOff) {
  Options options = with_ptx_memory(Options());
  EXPECT_FALSE(options.symmetry);
  EXPECT_EQ(to_text(options), "memory=ptx");
  EXPECT_EQ(parse_options("memory=ptx").value(), options);
  options.eager = false;
  EXPECT_EQ(parse_options(to_text(options)).value(), options);
}

TEST(ExploreOptions, EveryModelHasAName) {
  for (const ProgressModel model :
       {ProgressModel::Cuda,
        ProgressModel::Fair,
        ProgressModel::Obe,
        ProgressModel::Hsa,
        ProgressModel::Lobe}) {
    EXPECT_EQ(find_progress_model(name(model)), model);
  }
  EXPECT_EQ(find_progress_model("weak"), std::nullopt);
}

TEST(ExploreOptions, UnknownWordsAndValuesAreNamed) {
  for (const char* text :
       {"progress=weak",
        "progress",
        "api=slow",
        "max-states=",
        "max-states=-1",
        "max-states=1x",
        "max-states=5000000000",
        "max-time=nan",
        "max-time=-1",
        "eager",
        "table=3",
        " no-eager"}) {
    const auto options = parse_options(text);
    ASSERT_FALSE(options) << text;
    EXPECT_THAT(options.error().message, HasSubstr(text));
  }
}

TEST(Handover, DescriptorsComeFirst) {
  Handover handover;
  handover.table = 5;
  EXPECT_EQ(to_text(handover), "table=5");
  handover.replay = 7;
  handover.trace = 8;
  handover.options.progress = ProgressModel::Obe;
  EXPECT_EQ(to_text(handover), "table=5,replay=7,trace=8,progress=obe");
  EXPECT_EQ(parse_handover(to_text(handover)).value(), handover);
}

TEST(Handover, WithoutATableThereIsNothingToExplore) {
  ASSERT_FALSE(parse_handover("progress=obe"));
  EXPECT_THAT(parse_handover("").error().message, HasSubstr("heddle check"));
}

} // namespace
} // namespace heddle::explore
