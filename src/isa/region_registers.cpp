// write_registers() and read_registers() of region.h: regions are entered and left in many places,
// and seldom; code for each register at each of them would be most of their code.
#include "isa/region.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle::isa {
namespace {

template <class T> T loaded(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// `count` lanes, known at compile time: each copy and loop is some vector instructions.
template <class T, std::uint32_t count>
void write_lanes(const RegionRegister& r, std::byte* to, const std::byte* from, LaneMask lanes) {
  T all[count];
  if (!r.is_regular()) {
    std::memcpy(all, from, sizeof all);
  } else if (r.stride == 0) {
    std::fill_n(all, count, loaded<T>(from));
  } else {
    const T base = loaded<T>(from);
    for (std::uint32_t lane = 0; lane < count; ++lane) {
      all[lane] = static_cast<T>(base + static_cast<T>(r.stride) * static_cast<T>(lane));
    }
  }
  if constexpr (sizeof(T) == 4) {
    if ((r.flags & RegionRegister::any_nan) != 0) {
      for (T& word : all) {
        word = (word & 0x7fff'ffffU) > 0x7f80'0000U ? 0x7fff'ffffU : word;
      }
    }
  }
  constexpr LaneMask whole = count == warp_size ? all_lanes : (LaneMask{1} << count) - 1;
  if (lanes == whole) {
    std::memcpy(to, all, sizeof all);
    return;
  }
  T before[count];
  std::memcpy(before, to, sizeof before);
  for (std::uint32_t lane = 0; lane < count; ++lane) {
    all[lane] = (lanes >> lane & 1) != 0 ? all[lane] : before[lane];
  }
  std::memcpy(to, all, sizeof all);
}

/// The base of a register that is base + n × stride in the group's lane n. Not 0: it is not.
template <class T, std::uint32_t count>
T read_base(const RegionRegister& r, const std::byte* from, std::byte* to, LaneMask lanes) {
  T all[count];
  std::memcpy(all, from, sizeof all);
  const auto stride = static_cast<T>(r.stride);
  const auto some = static_cast<std::uint32_t>(std::countr_zero(lanes));
  const auto base = static_cast<T>(all[some] - stride * static_cast<T>(some));
  std::memcpy(to, &base, sizeof base);
  // Written to be vectorised; the usual cases are all lanes and one value.
  constexpr LaneMask whole = count == warp_size ? all_lanes : (LaneMask{1} << count) - 1;
  T differs = 0;
  if (lanes == whole && stride == 0) {
    for (std::uint32_t lane = 0; lane < count; ++lane) {
      differs |= static_cast<T>(all[lane] ^ base);
    }
    return differs;
  }
  for (std::uint32_t lane = 0; lane < count; ++lane) {
    const T executes = static_cast<T>(-static_cast<T>(lanes >> lane & 1));
    const auto expected = static_cast<T>(base + stride * static_cast<T>(lane));
    differs |= static_cast<T>((all[lane] ^ expected) & executes);
  }
  return differs;
}

template <std::uint32_t count>
void write_all(
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
      write_lanes<std::uint16_t, count>(r, to, from, lanes);
      break;
    case 4:
      write_lanes<std::uint32_t, count>(r, to, from, lanes);
      break;
    default:
      write_lanes<std::uint64_t, count>(r, to, from, lanes);
      break;
    }
  }
}

template <std::uint32_t count>
std::uint64_t read_all(
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
      differs |= read_base<std::uint16_t, count>(r, from, to, lanes);
      break;
    case 4:
      differs |= read_base<std::uint32_t, count>(r, from, to, lanes);
      break;
    default:
      differs |= read_base<std::uint64_t, count>(r, from, to, lanes);
      break;
    }
  }
  return differs;
}

/// Calls f<lanes>() for the lanes of a group.
template <class F> auto with_lanes(std::uint32_t lanes, F f) {
  switch (lanes) {
  case 8:
    return f.template operator()<8>();
  case 16:
    return f.template operator()<16>();
  default:
    return f.template operator()<warp_size>();
  }
}

} // namespace

void write_registers(
    const RegionTable& table,
    std::byte* frame,
    const std::byte* values,
    std::uint64_t first,
    LaneMask lanes
) {
  with_lanes(table.lanes, [&]<std::uint32_t count>() {
    write_all<count>(table, frame, values, first, lanes);
  });
}

std::uint64_t read_registers(
    const RegionTable& table,
    const std::byte* frame,
    std::byte* values,
    std::uint64_t first,
    LaneMask lanes
) {
  return with_lanes(table.lanes, [&]<std::uint32_t count>() {
    return read_all<count>(table, frame, values, first, lanes);
  });
}

} // namespace heddle::isa
