// write_registers() and read_registers() of region.h: regions are entered and left in many places,
// and seldom; code for each register at each of them would be most of their code.
#include "isa/region.h"

#include <bit>
#include <cstring>

namespace heddle::isa {
namespace {

template <class T> T loaded(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void write_lanes(
    const RegionRegister& r,
    std::byte* to,
    const std::byte* from,
    std::uint32_t count,
    LaneMask lanes
) {
  T all[warp_size] = {};
  if (r.is_regular()) {
    const T base = loaded<T>(from);
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      all[lane] = static_cast<T>(base + static_cast<T>(r.stride) * static_cast<T>(lane));
    }
  } else {
    std::memcpy(all, from, count * sizeof(T));
  }
  if constexpr (sizeof(T) == 4) {
    if ((r.flags & RegionRegister::any_nan) != 0) {
      for (T& word : all) {
        word = (word & 0x7fff'ffffU) > 0x7f80'0000U ? 0x7fff'ffffU : word;
      }
    }
  }
  const LaneMask whole = count == warp_size ? all_lanes : (LaneMask{1} << count) - 1;
  if (lanes == whole) {
    std::memcpy(to, all, count * sizeof(T));
    return;
  }
  T before[warp_size];
  std::memcpy(before, to, count * sizeof(T));
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
    all[lane] = (lanes >> lane & 1) != 0 ? all[lane] : before[lane];
  }
  std::memcpy(to, all, count * sizeof(T));
}

/// The base of a register that is base + n × stride in the group's lane n. Not 0: it is not.
template <class T>
T read_base(
    const RegionRegister& r,
    const std::byte* from,
    std::byte* to,
    std::uint32_t count,
    LaneMask lanes
) {
  T all[warp_size] = {};
  std::memcpy(all, from, count * sizeof(T));
  const auto stride = static_cast<T>(r.stride);
  const auto some = static_cast<std::uint32_t>(std::countr_zero(lanes));
  const auto base = static_cast<T>(all[some] - stride * static_cast<T>(some));
  std::memcpy(to, &base, sizeof base);
  T differs = 0; // written to be vectorised
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
    const T executes = static_cast<T>(-static_cast<T>(lanes >> lane & 1));
    const auto expected = static_cast<T>(base + stride * static_cast<T>(lane));
    differs |= static_cast<T>((all[lane] ^ expected) & executes);
  }
  return differs;
}

} // namespace

void write_registers(
    const RegionTable& table,
    std::byte* frame,
    const std::byte* values,
    std::uint64_t first,
    LaneMask lanes
) {
  for (std::uint32_t n = 0; n < table.count; ++n) {
    const RegionRegister& r = table.registers()[n];
    const std::byte* from = values + r.value;
    std::byte* to = frame + r.offset + first * r.element_bytes;
    switch (r.element_bytes) {
    case 0: { // bits of the lanes; one bit if it is regular
      const auto bits = loaded<LaneMask>(from);
      const LaneMask all = !r.is_regular() ? bits : (bits & 1) != 0 ? all_lanes : 0;
      const LaneMask chosen = lanes << first;
      const LaneMask value = (loaded<LaneMask>(to) & ~chosen) | (all << first & chosen);
      std::memcpy(to, &value, sizeof value);
      break;
    }
    case 2:
      write_lanes<std::uint16_t>(r, to, from, table.lanes, lanes);
      break;
    case 4:
      write_lanes<std::uint32_t>(r, to, from, table.lanes, lanes);
      break;
    default:
      write_lanes<std::uint64_t>(r, to, from, table.lanes, lanes);
      break;
    }
  }
}

std::uint64_t read_registers(
    const RegionTable& table,
    const std::byte* frame,
    std::byte* values,
    std::uint64_t first,
    LaneMask lanes
) {
  std::uint64_t differs = 0;
  for (std::uint32_t n = 0; n < table.count; ++n) {
    const RegionRegister& r = table.registers()[n];
    const std::byte* from = frame + r.offset + first * r.element_bytes;
    std::byte* to = values + r.value;
    switch (r.element_bytes) {
    case 0: { // bits of the lanes; one bit if it is regular
      LaneMask bits = loaded<LaneMask>(from) >> first;
      if (r.is_regular()) {
        const LaneMask those = bits & lanes;
        bits = those != 0 ? 1 : 0;
        differs |= those != 0 && those != lanes ? 1 : 0;
      }
      std::memcpy(to, &bits, sizeof bits);
      break;
    }
    case 2:
      differs |= read_base<std::uint16_t>(r, from, to, table.lanes, lanes);
      break;
    case 4:
      differs |= read_base<std::uint32_t>(r, from, to, table.lanes, lanes);
      break;
    default:
      differs |= read_base<std::uint64_t>(r, from, to, table.lanes, lanes);
      break;
    }
  }
  return differs;
}

} // namespace heddle::isa
