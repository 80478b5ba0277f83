// DeviceModel: the limits of one kind of device, as far as programs can see them.
//
// A virtual device has the documented limits of a real one (CUDA C++ Programming Guide, table of
// technical specifications for each compute capability), so that launches, occupancy and
// cooperative grids are refused exactly where the real device refuses them. Speeds (clocks, bus
// width) are those of a typical board and mean nothing here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::runtime {

struct DeviceModel {
  std::string_view name;  // "sm_90"
  std::string_view board; // the board whose figures these are
  int major = 0, minor = 0;
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0;
  int blocks_per_multiprocessor = 0;
  int shared_per_multiprocessor = 0;
  int shared_per_block_optin = 0;
  int shared_reserved_per_block = 0; // what the system takes of every block's share
  int max_cluster = 0;               // blocks, with non-portable sizes allowed; 0: no clusters
  int l2_bytes = 0;
  int persisting_l2_bytes = 0;
  std::uint64_t memory_bytes = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  int single_to_double_ratio = 0;

  static constexpr int portable_cluster = 8;
  static constexpr int warp_size = 32;
  static constexpr int threads_per_block = 1024;
  static constexpr int shared_per_block = 48 * 1024; // without opting in
  static constexpr int registers_per_multiprocessor = 65536;
  static constexpr int registers_per_thread = 255;
  static constexpr std::uint32_t max_block[3] = {1024, 1024, 64};
  static constexpr std::uint32_t max_grid[3] = {0x7fff'ffff, 65535, 65535};

  /// 75, 80, 90: the number that stands in .target and in fat binaries.
  int arch() const { return major * 10 + minor; }
  /// What cudaDeviceGetAttribute answers; none for a number that is no attribute.
  std::optional<int> attribute(int number, int device) const;
  /// Blocks that fit on one multiprocessor at once. Registers are not modelled: PTX does not say
  /// how many a kernel takes, so the answer may be higher than on the real device, never lower.
  int blocks_per_multiprocessor_for(std::uint64_t threads, std::uint64_t shared_bytes) const;
};

/// nullptr: unknown.
const DeviceModel* find_device_model(std::string_view name);
/// "sm_75, sm_80, …" for messages.
std::string device_names();

} // namespace heddle::runtime
