// What cudaDeviceGetAttribute and cudaGetDeviceProperties answer for a virtual device.
//
// Limits come from machine::DeviceModel, so that they are those by which launches are judged.
// Speeds (clocks, bus widths) are those of a typical board and mean nothing here.
#pragma once

#include "machine/device.h"
#include "runtime/cudart.h"

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::runtime {

inline constexpr std::uint32_t max_block[3] = {1024, 1024, 64};
inline constexpr std::uint32_t max_grid[3] = {0x7fff'ffff, 65535, 65535};

/// 75, 80, 90: the number that stands in .target and in fat binaries.
inline int arch_of(const machine::DeviceModel& model) {
  return model.major * 10 + model.minor;
}

/// Blocks of a cluster; `portable`: without cudaFuncAttributeNonPortableClusterSizeAllowed.
std::uint32_t max_cluster(const machine::DeviceModel& model, bool portable);

/// None for a number that is no attribute.
std::optional<int> device_attribute(const machine::DeviceModel& model, int number, int device);

void fill_properties(cudaDeviceProp& properties, const machine::DeviceModel& model, int device);

/// "sm_75, sm_80, …" for messages.
std::string device_names();

} // namespace heddle::runtime
