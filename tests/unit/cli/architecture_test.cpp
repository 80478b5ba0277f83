#include "cli/compile/architecture.h"
#include "cli/run/launch.h"
#include "machine/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Words = std::vector<std::string>;

TEST(Architecture, EveryWayToAskForOne) {
  const Words words = {
      "-arch=sm_90",
      "-O3",
      "-arch",
      "native",
      "--gpu-architecture=compute_80",
      "-gencode",
      "arch=compute_75,code=sm_75",
      "--generate-code=arch=compute_86,code=[compute_86,sm_86]",
      "-gencode",
  };
  EXPECT_THAT(
      architectures_among(words),
      ElementsAre("sm_90", "native", "compute_80", "compute_75", "compute_86")
  );
}

TEST(Architecture, PtxIsAskedForWhereOnlyMachineCodeIs) {
  const Words words = {
      "-gencode",
      "arch=compute_80,code=sm_80",
      "-gencode=arch=compute_80,code=sm_86",
      "-gencode=arch=compute_90,code=compute_90",
  };
  EXPECT_THAT(ptx_too(words), ElementsAre("-gencode=arch=compute_80,code=compute_80"));
  EXPECT_THAT(ptx_too(Words{"-arch=sm_90"}), IsEmpty());
  EXPECT_THAT(
      ptx_too(Words{"-arch=compute_80", "-code", "sm_80,sm_90"}),
      ElementsAre("-code=compute_80")
  );
  EXPECT_THAT(ptx_too(Words{"-arch=compute_80", "-code=sm_80,compute_80"}), IsEmpty());
}

TEST(Architecture, CodeForTheLinkerIsNotWanted) {
  EXPECT_TRUE(asks_for_link_time_code("-dlto"));
  EXPECT_TRUE(asks_for_link_time_code("--dlink-time-opt"));
  EXPECT_FALSE(asks_for_link_time_code("-dlink"));
  // What remains of it beside -dlto.
  EXPECT_THAT(
      ptx_too(Words{"-gencode=arch=compute_90,code=lto_90"}),
      ElementsAre("-gencode=arch=compute_90,code=compute_90")
  );
}

TEST(Architecture, TheDeviceIsNewEnoughForTheCode) {
  const auto device = [](const char* flag) { return device_for("sm_90", {flag}); };
  EXPECT_EQ(device("-O2"), "sm_90");
  EXPECT_EQ(device("-arch=sm_80"), "sm_90");
  EXPECT_EQ(device("-arch=native"), "sm_90");
  EXPECT_EQ(device("-arch=sm_100a"), "sm_100");
  EXPECT_EQ(device("-arch=compute_101"), "sm_103");
  EXPECT_EQ(device("-arch=sm_120f"), "sm_120");
  EXPECT_EQ(device("-arch=all-major"), "sm_120");
  EXPECT_EQ(device("-arch=sm_999"), "sm_90"); // nvcc or the library says what is wrong
  EXPECT_EQ(
      device_for(
          "sm_90",
          {"-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_120,code=sm_120"}
      ),
      "sm_90"
  );
  EXPECT_EQ(device_for("sm_75", {"-arch=sm_80"}), "sm_80");
}

TEST(Architecture, EveryDeviceHasAModel) {
  for (const std::string_view name : device_names) {
    EXPECT_TRUE(machine::device_model(name)) << name;
  }
}

} // namespace
} // namespace heddle::cli
