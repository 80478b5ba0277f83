// Implements device.h: one row per virtual device. sm_90 was measured; the others are what is
// published of a GPU of that kind.
#include "machine/device.h"

#include <algorithm>
#include <array>
#include <string>

namespace heddle::machine {
namespace {

constexpr std::uint32_t kib = 1024;
constexpr std::uint64_t gib = 1ULL << 30;

// clang-format off
constexpr std::array<DeviceModel, 8> devices = {{
  // name              cc     SMs  thr/SM blk/SM regs/SM shared/SM  block    opt-in     rsvd  thr   cluster memory    L2
  {"Heddle sm_75",  7, 5,   68, 1024, 16, 65536,  64 * kib, 48 * kib,  64 * kib,   0, 1024, 0,  16 * gib,  4096 * kib},
  {"Heddle sm_80",  8, 0,  108, 2048, 32, 65536, 164 * kib, 48 * kib, 163 * kib, 1024, 1024, 0,  40 * gib, 40960 * kib},
  {"Heddle sm_86",  8, 6,   84, 1536, 16, 65536, 100 * kib, 48 * kib,  99 * kib, 1024, 1024, 0,  24 * gib,  6144 * kib},
  {"Heddle sm_89",  8, 9,  128, 1536, 24, 65536, 100 * kib, 48 * kib,  99 * kib, 1024, 1024, 0,  24 * gib, 73728 * kib},
  {"Heddle sm_90",  9, 0,  132, 2048, 32, 65536, 228 * kib, 48 * kib, 227 * kib, 1024, 1024, 8,  80 * gib, 51200 * kib},
  {"Heddle sm_100", 10, 0, 148, 2048, 32, 65536, 228 * kib, 48 * kib, 227 * kib, 1024, 1024, 8, 180 * gib, 129024 * kib},
  {"Heddle sm_103", 10, 3, 160, 2048, 32, 65536, 228 * kib, 48 * kib, 227 * kib, 1024, 1024, 8, 268 * gib, 129024 * kib},
  {"Heddle sm_120", 12, 0, 170, 1536, 24, 65536, 100 * kib, 48 * kib,  99 * kib, 1024, 1024, 8,  32 * gib,  98304 * kib},
}};
// clang-format on

} // namespace

std::optional<DeviceModel> device_model(std::string_view name) {
  for (const DeviceModel& device : devices) {
    if (name == "sm_" + std::to_string(device.major) + std::to_string(device.minor)) {
      return device;
    }
  }
  return std::nullopt;
}

std::uint32_t resident_blocks(
    const DeviceModel& device,
    std::uint32_t block_threads,
    std::uint64_t shared_bytes
) {
  const std::uint32_t warps = (block_threads + 31) / 32;
  if (warps == 0 || block_threads > device.max_threads_per_block) {
    return 0;
  }
  std::uint64_t blocks = std::min<std::uint64_t>(
      device.blocks_per_multiprocessor,
      device.threads_per_multiprocessor / 32 / warps
  );
  const std::uint64_t shared = shared_bytes + device.reserved_shared_per_block;
  if (shared != 0) {
    blocks = std::min(blocks, device.shared_per_multiprocessor / shared);
  }
  return static_cast<std::uint32_t>(blocks);
}

} // namespace heddle::machine
