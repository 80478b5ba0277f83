// Implements device_model.h.
#include "runtime/device_model.h"

#include <algorithm>
#include <array>

namespace heddle::runtime {
namespace {

constexpr std::uint64_t gib = 1ULL << 30;

// clang-format off
constexpr std::array<DeviceModel, 6> models{{
  {.name = "sm_75", .board = "T4", .major = 7, .minor = 5, .multiprocessors = 40,
   .threads_per_multiprocessor = 1024, .blocks_per_multiprocessor = 16,
   .shared_per_multiprocessor = 65536, .shared_per_block_optin = 65536, .shared_reserved_per_block = 0,
   .max_cluster = 0, .l2_bytes = 4194304, .persisting_l2_bytes = 0, .memory_bytes = 16 * gib,
   .clock_khz = 1590000, .memory_clock_khz = 5001000, .memory_bus_bits = 256, .single_to_double_ratio = 32},
  {.name = "sm_80", .board = "A100", .major = 8, .minor = 0, .multiprocessors = 108,
   .threads_per_multiprocessor = 2048, .blocks_per_multiprocessor = 32,
   .shared_per_multiprocessor = 167936, .shared_per_block_optin = 166912, .shared_reserved_per_block = 1024,
   .max_cluster = 0, .l2_bytes = 41943040, .persisting_l2_bytes = 26214400, .memory_bytes = 40 * gib,
   .clock_khz = 1410000, .memory_clock_khz = 1215000, .memory_bus_bits = 5120, .single_to_double_ratio = 2},
  {.name = "sm_86", .board = "RTX A6000", .major = 8, .minor = 6, .multiprocessors = 84,
   .threads_per_multiprocessor = 1536, .blocks_per_multiprocessor = 16,
   .shared_per_multiprocessor = 102400, .shared_per_block_optin = 101376, .shared_reserved_per_block = 1024,
   .max_cluster = 0, .l2_bytes = 6291456, .persisting_l2_bytes = 4325376, .memory_bytes = 48 * gib,
   .clock_khz = 1800000, .memory_clock_khz = 8001000, .memory_bus_bits = 384, .single_to_double_ratio = 32},
  {.name = "sm_89", .board = "L40", .major = 8, .minor = 9, .multiprocessors = 142,
   .threads_per_multiprocessor = 1536, .blocks_per_multiprocessor = 24,
   .shared_per_multiprocessor = 102400, .shared_per_block_optin = 101376, .shared_reserved_per_block = 1024,
   .max_cluster = 0, .l2_bytes = 100663296, .persisting_l2_bytes = 69206016, .memory_bytes = 48 * gib,
   .clock_khz = 2490000, .memory_clock_khz = 9001000, .memory_bus_bits = 384, .single_to_double_ratio = 64},
  {.name = "sm_90", .board = "H200", .major = 9, .minor = 0, .multiprocessors = 132,
   .threads_per_multiprocessor = 2048, .blocks_per_multiprocessor = 32,
   .shared_per_multiprocessor = 233472, .shared_per_block_optin = 232448, .shared_reserved_per_block = 1024,
   .max_cluster = 16, .l2_bytes = 62914560, .persisting_l2_bytes = 39321600, .memory_bytes = 150109880320,
   .clock_khz = 1980000, .memory_clock_khz = 3201000, .memory_bus_bits = 6016, .single_to_double_ratio = 2},
  {.name = "sm_100", .board = "B200", .major = 10, .minor = 0, .multiprocessors = 148,
   .threads_per_multiprocessor = 2048, .blocks_per_multiprocessor = 32,
   .shared_per_multiprocessor = 233472, .shared_per_block_optin = 232448, .shared_reserved_per_block = 1024,
   .max_cluster = 16, .l2_bytes = 132644864, .persisting_l2_bytes = 82903040, .memory_bytes = 178 * gib,
   .clock_khz = 1965000, .memory_clock_khz = 3996000, .memory_bus_bits = 7680, .single_to_double_ratio = 2},
}};
// clang-format on

} // namespace

std::optional<int> DeviceModel::attribute(int number, int device) const {
  const DeviceModel& m = *this;
  switch (number) {
#define HEDDLE_ATTRIBUTE(number, name, value)                                                      \
  case number:                                                                                     \
    return value;
#include "runtime/device_attribute.def"
#undef HEDDLE_ATTRIBUTE
  default:
    return std::nullopt;
  }
}

int DeviceModel::blocks_per_multiprocessor_for(
    std::uint64_t threads,
    std::uint64_t shared_bytes
) const {
  if (threads == 0 || threads > static_cast<std::uint64_t>(threads_per_block)) {
    return 0;
  }
  const std::uint64_t warps = (threads + warp_size - 1) / warp_size;
  const auto max_warps = static_cast<std::uint64_t>(threads_per_multiprocessor / warp_size);
  std::uint64_t blocks = std::min<std::uint64_t>(blocks_per_multiprocessor, max_warps / warps);
  // Shared memory is given out in units of 128 bytes, and the system keeps its part of every block.
  constexpr std::uint64_t unit = 128;
  const std::uint64_t share =
      (shared_bytes + static_cast<std::uint64_t>(shared_reserved_per_block) + unit - 1) / unit *
      unit;
  if (share > 0) {
    blocks = std::min(blocks, static_cast<std::uint64_t>(shared_per_multiprocessor) / share);
  }
  return static_cast<int>(blocks);
}

const DeviceModel* find_device_model(std::string_view name) {
  const auto it = std::find_if(models.begin(), models.end(), [&](const DeviceModel& model) {
    return model.name == name;
  });
  return it == models.end() ? nullptr : &*it;
}

std::string device_names() {
  std::string names;
  for (const DeviceModel& model : models) {
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  }
  return names;
}

} // namespace heddle::runtime
