// Attributes and properties of the virtual devices: the same figures by both ways, and those by
// which launches are judged.
#include "runtime/device/device_attribute.h"

#include <gtest/gtest.h>

#include <string>

namespace heddle::runtime {
namespace {

class Device : public testing::TestWithParam<const char*> {
protected:
  machine::DeviceModel model_ = *machine::device_model(GetParam());
  int attribute(cudaDeviceAttr which) const { return device_attribute(model_, which, 0).value(); }
};

TEST_P(Device, PropertiesRepeatAttributes) {
  cudaDeviceProp p;
  fill_properties(p, model_, 0);
  EXPECT_EQ(std::string(p.name), model_.name);
  EXPECT_EQ(p.major, model_.major);
  EXPECT_EQ(p.minor, attribute(cudaDevAttrComputeCapabilityMinor));
  EXPECT_EQ(p.multiProcessorCount, static_cast<int>(model_.multiprocessors));
  EXPECT_EQ(p.sharedMemPerBlockOptin, model_.shared_per_block_optin);
  EXPECT_EQ(p.maxThreadsDim[2], static_cast<int>(max_block[2]));
  EXPECT_EQ(p.maxGridSize[0], static_cast<int>(max_grid[0]));
  EXPECT_EQ(p.warpSize, 32);
  EXPECT_EQ(p.totalGlobalMem, model_.global_bytes);
  EXPECT_EQ(p.clusterLaunch, model_.major >= 9 ? 1 : 0);
  EXPECT_EQ(p.managedMemory, 1);
  EXPECT_EQ(p.concurrentManagedAccess, 1);
  EXPECT_EQ(p.cooperativeLaunch, 1);
}

TEST_P(Device, UnknownAttributes) {
  EXPECT_FALSE(device_attribute(model_, 0, 0));
  EXPECT_FALSE(device_attribute(model_, 9999, 0));
  EXPECT_FALSE(device_attribute(model_, -1, 0));
}

TEST_P(Device, DevicesAreToldApart) {
  cudaDeviceProp a;
  cudaDeviceProp b;
  fill_properties(a, model_, 0);
  fill_properties(b, model_, 1);
  EXPECT_NE(std::string(a.uuid.bytes, 16), std::string(b.uuid.bytes, 16));
  EXPECT_NE(a.pciBusID, b.pciBusID);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Device,
    testing::Values("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120")
);

} // namespace
} // namespace heddle::runtime
