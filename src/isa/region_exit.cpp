// write_registers() of region.h: regions are left in many places, and seldom; code for each
// register at each of them would be most of their code.
#include "isa/region.h"

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
  T all[warp_size];
  if (r.regular != 0) {
    const T base = loaded<T>(from);
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      all[lane] = static_cast<T>(base + static_cast<T>(r.stride) * static_cast<T>(lane));
    }
  } else {
    std::memcpy(all, from, count * sizeof(T));
  }
  const LaneMask whole = count == warp_size ? all_lanes : (LaneMask{1} << count) - 1;
  if (lanes == whole) {
    std::memcpy(to, all, count * sizeof(T));
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
    std::memcpy(to + lane * sizeof(T), all + lane, sizeof(T));
  }
}

} // namespace

void write_registers(
    const RegionExit& exit,
    std::byte* frame,
    const std::byte* values,
    std::uint64_t first,
    LaneMask lanes
) {
  for (std::uint32_t n = 0; n < exit.count; ++n) {
    const RegionRegister& r = exit.registers()[n];
    const std::byte* from = values + r.from;
    std::byte* to = frame + r.offset + first * r.element_bytes;
    switch (r.element_bytes) {
    case 0: { // bits of the lanes; one bit if it is regular
      const auto bits = loaded<LaneMask>(from);
      const LaneMask all = r.regular == 0 ? bits : (bits & 1) != 0 ? all_lanes : 0;
      const LaneMask chosen = lanes << first;
      const LaneMask value = (loaded<LaneMask>(to) & ~chosen) | (all << first & chosen);
      std::memcpy(to, &value, sizeof value);
      break;
    }
    case 2:
      write_lanes<std::uint16_t>(r, to, from, exit.lanes, lanes);
      break;
    case 4:
      write_lanes<std::uint32_t>(r, to, from, exit.lanes, lanes);
      break;
    default:
      write_lanes<std::uint64_t>(r, to, from, exit.lanes, lanes);
      break;
    }
  }
}

} // namespace heddle::isa
