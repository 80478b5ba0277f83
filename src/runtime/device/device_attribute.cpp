// Implements device_attribute.h.
#include "runtime/device/device_attribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace heddle::runtime {
namespace {

/// What programs print and no launch depends on.
struct Board {
  int arch = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  int single_to_double_ratio = 0;
  int persisting_l2_bytes = 0;
};

constexpr std::array<Board, 8> boards = {{
    {75, 1545000, 7000000, 352, 32, 0},
    {80, 1410000, 1215000, 5120, 2, 26214400},
    {86, 1695000, 9751000, 384, 32, 4325376},
    {89, 2520000, 10501000, 384, 64, 51904512},
    {90, 1980000, 2619000, 5120, 2, 32768000},
    {100, 1965000, 3996000, 7680, 2, 82575360},
    {103, 1920000, 3996000, 8192, 64, 82575360},
    {120, 2407000, 14001000, 512, 64, 62914560},
}};

const Board& board_of(const machine::DeviceModel& model) {
  const auto* it = std::ranges::find(boards, arch_of(model), &Board::arch);
  return it != boards.end() ? *it : boards.back();
}

} // namespace

std::uint32_t max_cluster(const machine::DeviceModel& model, bool portable) {
  // Hopper and Blackwell allow 16 blocks where 8 are portable.
  return portable ? model.max_cluster_blocks : 2 * model.max_cluster_blocks;
}

std::optional<int> device_attribute(const machine::DeviceModel& m, int number, int device) {
  const Board& board = board_of(m);
  std::int64_t result = 0;
  switch (number) {
#define HEDDLE_ATTRIBUTE(number, name, value)                                                      \
  case number:                                                                                     \
    result = value;                                                                                \
    break;
#include "runtime/device/device_attribute.def"
#undef HEDDLE_ATTRIBUTE
  default:
    return std::nullopt;
  }
  return static_cast<int>(result);
}

void fill_properties(cudaDeviceProp& p, const machine::DeviceModel& model, int device) {
  std::memset(&p, 0, sizeof p);
  const auto value = [&](cudaDeviceAttr attribute) {
    return device_attribute(model, static_cast<int>(attribute), device).value_or(0);
  };
  std::strncpy(p.name, model.name, sizeof p.name - 1);
  // The identity of a virtual device: the same in every run, different for each device.
  const std::string identity = fmt::format("heddle{:04}-{:05}", arch_of(model), device);
  std::memcpy(p.uuid.bytes, identity.data(), std::min(identity.size(), sizeof p.uuid.bytes));
  p.totalGlobalMem = model.global_bytes;
#define HEDDLE_PROPERTY(member, attribute)                                                         \
  p.member = static_cast<decltype(p.member)>(value(cudaDevAttr##attribute));
#define HEDDLE_PROPERTY_AT(member, index, attribute)                                               \
  p.member[index] = value(cudaDevAttr##attribute);
#include "runtime/device/device_property.def"
#undef HEDDLE_PROPERTY
#undef HEDDLE_PROPERTY_AT
}

std::string device_names() {
  std::string names;
  for (const Board& board : boards) {
    names += fmt::format("{}sm_{}", names.empty() ? "" : ", ", board.arch);
  }
  return names;
}

} // namespace heddle::runtime
