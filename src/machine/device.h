// DeviceModel: the figures of a virtual device that programs can see and that limit launches.
// Source: CUDA C++ Programming Guide, "Features and Technical Specifications" per compute
// capability.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::machine {

struct DeviceModel {
  const char* name; // as cudaDeviceProp::name
  int major;
  int minor;
  std::uint32_t multiprocessors;
  std::uint32_t threads_per_multiprocessor;
  std::uint32_t blocks_per_multiprocessor;
  std::uint32_t registers_per_multiprocessor;
  std::uint32_t shared_per_multiprocessor;
  std::uint32_t shared_per_block;       // without opting in
  std::uint32_t shared_per_block_optin; // with cudaFuncAttributeMaxDynamicSharedMemorySize
  std::uint32_t reserved_shared_per_block;
  std::uint32_t max_threads_per_block;
  std::uint32_t max_cluster_blocks; // portable size; 0: no clusters
  std::uint64_t global_bytes;
  std::uint32_t l2_bytes;
};

/// The device named "sm_75", "sm_80", "sm_86", "sm_89", "sm_90" or "sm_100".
std::optional<DeviceModel> device_model(std::string_view name);

/// Blocks of one multiprocessor that can be resident at once (0: the block does not fit). Register
/// use is not known (it is chosen by ptxas), so it does not limit.
std::uint32_t
resident_blocks(const DeviceModel& device, std::uint32_t block_threads, std::uint64_t shared_bytes);

} // namespace heddle::machine
