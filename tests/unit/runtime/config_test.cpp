// The environment variables by which `heddle run` configures the library.
#include "runtime/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace heddle::runtime {
namespace {

using testing::HasSubstr;

Result<Config> read(const std::map<std::string, std::string>& variables) {
  return read_config([&](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

TEST(Config, DefaultsAreOneDeviceAndAllCores) {
  const Config config = read({}).value();
  EXPECT_EQ(config.device, "sm_90");
  EXPECT_EQ(config.devices, 1);
  EXPECT_FALSE(config.seed);
  EXPECT_FALSE(config.threads);
  EXPECT_EQ(config.mode, Mode::Run);
  EXPECT_FALSE(config.launch_blocking);
}

TEST(Config, ReadsEveryVariable) {
  const Config config = read({{"HEDDLE_DEVICE", "sm_75"},
                              {"HEDDLE_DEVICES", "3"},
                              {"HEDDLE_SEED", "18446744073709551615"},
                              {"HEDDLE_THREADS", "5"},
                              {"HEDDLE_MODE", "check"},
                              {"HEDDLE_ERROR_EXITCODE", "9"},
                              {"CUDA_LAUNCH_BLOCKING", "1"}})
                            .value();
  EXPECT_EQ(config.device, "sm_75");
  EXPECT_EQ(config.devices, 3);
  EXPECT_EQ(config.seed, ~std::uint64_t{0});
  EXPECT_EQ(config.threads, 5U);
  EXPECT_EQ(config.mode, Mode::Check);
  EXPECT_TRUE(config.launch_blocking);
}

TEST(Config, LimitsAndLeaksAreOfARunOnly) {
  const Config run = read({{"HEDDLE_MAX_TIME", "2.5"}, {"HEDDLE_LEAKS", "1"}}).value();
  EXPECT_EQ(run.max_seconds, 2.5);
  EXPECT_TRUE(run.leaks);
  const Config check =
      read({{"HEDDLE_MODE", "check"}, {"HEDDLE_MAX_TIME", "2.5"}, {"HEDDLE_LEAKS", "1"}}).value();
  EXPECT_FALSE(check.max_seconds);
  EXPECT_FALSE(check.leaks);
  EXPECT_THAT(
      read({{"HEDDLE_MAX_TIME", "soon"}}).error().message,
      HasSubstr("HEDDLE_MAX_TIME=soon")
  );
  EXPECT_FALSE(read({{"HEDDLE_MAX_TIME", "0"}}));
}

TEST(Config, RefusesWhatItDoesNotUnderstand) {
  EXPECT_THAT(read({{"HEDDLE_DEVICE", "sm_61"}}).error().message, HasSubstr("sm_75, sm_80"));
  EXPECT_THAT(read({{"HEDDLE_DEVICES", "0"}}).error().message, HasSubstr("HEDDLE_DEVICES=0"));
  EXPECT_FALSE(read({{"HEDDLE_DEVICES", "2x"}}));
  EXPECT_FALSE(read({{"HEDDLE_SEED", "-1"}}));
  EXPECT_FALSE(read({{"HEDDLE_SEED", ""}}));
  EXPECT_FALSE(read({{"HEDDLE_MODE", "walk"}}));
}

TEST(Config, LockstepWarpsAndWhatNeedsThem) {
  EXPECT_EQ(read({}).value().warps, Warps::Independent);
  const Config config =
      read({{"HEDDLE_WARPS", "lockstep"}, {"HEDDLE_WARP_TRACE", "9"}, {"HEDDLE_STALE_READS", "1"}})
          .value();
  EXPECT_EQ(config.warps, Warps::Lockstep);
  EXPECT_EQ(config.warp_trace, 9U);
  EXPECT_TRUE(config.stale_reads);
  EXPECT_FALSE(read({{"HEDDLE_WARPS", "loose"}}));
  EXPECT_FALSE(read({{"HEDDLE_STALE_READS", "1"}}));
}

TEST(Config, VisibleDevicesAsInCuda) {
  const auto devices = [](const char* list) {
    return read({{"HEDDLE_DEVICES", "4"}, {"CUDA_VISIBLE_DEVICES", list}}).value().devices;
  };
  EXPECT_EQ(devices(""), 0);
  EXPECT_EQ(devices("2"), 1);
  EXPECT_EQ(devices("0,1,3"), 3);
  EXPECT_EQ(devices("0,-1,1"), 1);
  EXPECT_EQ(devices("0,7"), 1);
}

} // namespace
} // namespace heddle::runtime
