// Texture sampling of one thread (PTX ISA 9.0, 9.7.10; CUDA Programming Guide, "Texture Fetching").
//
// Every function takes `read(address, bytes)`, which gives the host pointer of a texel or nullptr
// after a fault, and answers false when it did.
//
// Exact: which texels are read, in all address modes; texels that are not filtered. Filtered ones
// use weights of 8 fractional bits, as documented; the guide does not say how the weighted sum is
// rounded, so its last bits may differ from those of a GPU. Likewise undocumented, so approximate:
// how coordinates within 1/512 of the border between two texels are rounded, the selection of
// levels by gradients (anisotropy is ignored), and sRGB decoding.
#pragma once

#include "isa/ops_half.h"
#include "isa/texture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace heddle::isa::ops {

/// A texture whose texels are known at compile time to be such: the functions below take it in the
/// place of a TextureDescriptor, and are several times as fast.
template <ChannelKind kind_, std::uint8_t channels_, std::uint8_t channel_bytes_, bool normalised_>
struct KnownTexture : TextureDescriptor {
  static constexpr ChannelKind kind = kind_;
  static constexpr std::uint8_t channels = channels_;
  static constexpr std::uint8_t channel_bytes = channel_bytes_;
  static constexpr bool normalised_reads = normalised_;
  static constexpr bool srgb = false;
  static constexpr std::uint32_t texel_bytes() { return std::uint32_t{channels} * channel_bytes; }
  static constexpr bool reads_floats() { return kind == ChannelKind::Float || normalised_reads; }
  static bool is(const TextureDescriptor& t) {
    return t.kind == kind && t.channels == channels && t.channel_bytes == channel_bytes &&
           (t.normalised_reads == normalised_reads || kind == ChannelKind::Float) && !t.srgb;
  }
};

/// Four channels: bits of floats where the texture reads as floats, else of 32-bit integers.
using Words = std::array<std::uint32_t, 4>;

/// Where a thread samples: as many coordinates as the instruction has, in texels or normalised.
struct TexturePoint {
  bool integer = false; // texel numbers: no filter
  std::array<float, 3> at{};
  std::array<std::int32_t, 3> texel{};
  std::uint32_t layer = 0;
  float level = 0;
};

struct TextureExtent {
  std::array<std::uint32_t, 3> size{1, 1, 1};
  std::uint64_t pitch = 0;
  memory::Address data = 0;
};

template <class Texture> TextureExtent level_extent(const Texture& t, std::uint32_t level) {
  const auto half = [level](std::uint32_t size) { return std::max(1U, size >> level); };
  TextureExtent e;
  e.size = {half(t.width), half(t.height), half(t.depth)};
  e.pitch = level == 0 ? t.pitch : std::uint64_t{e.size[0]} * t.texel_bytes();
  e.data = t.data + t.level_offset[level];
  return e;
}

/// The bits of the channel at `p`.
template <class Texture>
[[gnu::always_inline]] inline std::uint32_t
raw_channel(const Texture& t, const std::byte* p, int channel) {
  p += static_cast<std::size_t>(channel) * t.channel_bytes;
  std::uint32_t raw = 0;
  switch (t.channel_bytes) { // a copy of unknown size would be a call
  case 1:
    std::memcpy(&raw, p, 1);
    break;
  case 2:
    std::memcpy(&raw, p, 2);
    break;
  default:
    std::memcpy(&raw, p, 4);
  }
  return raw;
}

/// value / largest, rounded once, for integers of up to 16 bits (tests/unit/isa/texture_test.cpp
/// tries all of them): a division takes several times as long.
[[gnu::always_inline]] inline float fraction_of(float value, float largest) {
  const float about = value * (1 / largest);
  return std::fma(std::fma(-about, largest, value), 1 / largest, about);
}

/// What they are as a 32-bit integer, or as bits of a float if the texture reads as floats.
template <class Texture>
[[gnu::always_inline]] inline std::uint32_t
channel_value(const Texture& t, std::uint32_t raw, int channel) {
  const unsigned shift = 32 - 8U * t.channel_bytes;
  if (t.kind == ChannelKind::Float) {
    return t.channel_bytes == 2 ? bits(to_float(Half{static_cast<std::uint16_t>(raw)})) : raw;
  }
  if (t.kind == ChannelKind::Signed) {
    const std::int32_t value = static_cast<std::int32_t>(raw << shift) >> shift;
    if (!t.normalised_reads) {
      return static_cast<std::uint32_t>(value);
    }
    const auto largest = static_cast<float>((1U << (8U * t.channel_bytes - 1)) - 1);
    return bits(std::max(-1.0F, fraction_of(static_cast<float>(value), largest)));
  }
  if (!t.normalised_reads) {
    return raw;
  }
  const auto largest = static_cast<float>((1ULL << (8U * t.channel_bytes)) - 1);
  const float value = fraction_of(static_cast<float>(raw), largest);
  if (t.srgb && channel < 3) {
    return bits(
        value <= 0.04045F
            ? value / 12.92F
            : static_cast<float>(std::pow((static_cast<double>(value) + 0.055) / 1.055, 2.4))
    );
  }
  return bits(value);
}

template <class Texture>
[[gnu::always_inline]] inline std::uint32_t
read_channel(const Texture& t, const std::byte* p, int channel) {
  return channel_value(t, raw_channel(t, p, channel), channel);
}

/// Missing channels read as 0, 0, 1.
template <class Texture> Words read_texel(const Texture& t, const std::byte* p) {
  Words words{0, 0, 0, t.reads_floats() ? bits(1.0F) : 1U};
  for (int channel = 0; channel < t.channels; ++channel) {
    words[static_cast<std::size_t>(channel)] = read_channel(t, p, channel);
  }
  return words;
}

template <class Texture> Words border_texel(const Texture& t) {
  Words words{};
  for (std::size_t channel = 0; channel < 4; ++channel) {
    words[channel] = t.reads_floats()
                         ? bits(t.border[channel])
                         : static_cast<std::uint32_t>(static_cast<std::int64_t>(t.border[channel]));
  }
  return words;
}

/// The texel that number i means on an axis of n texels; -1: the border.
[[gnu::always_inline]] inline std::int64_t
texel_index(AddressMode mode, std::int64_t i, std::int64_t n) {
  if (i >= 0 && i < n) {
    return i;
  }
  switch (mode) {
  case AddressMode::Wrap: {
    const std::int64_t rest = i % n;
    return rest < 0 ? rest + n : rest;
  }
  case AddressMode::Mirror: {
    std::int64_t rest = i % (2 * n);
    rest = rest < 0 ? rest + 2 * n : rest;
    return rest < n ? rest : 2 * n - 1 - rest;
  }
  case AddressMode::Border:
    return i < 0 || i >= n ? -1 : i;
  case AddressMode::Clamp:
    break;
  }
  return std::clamp<std::int64_t>(i, 0, n - 1);
}

/// The same for the numbers that a coordinate of a texture of n texels can have, -1 to n if it
/// wraps: without a division. -1, too: not known.
template <AddressMode mode>
[[gnu::always_inline]] inline std::int32_t texel_index_near(std::int32_t i, std::int32_t n) {
  if constexpr (mode == AddressMode::Wrap) {
    i = i < 0 ? i + n : i;
    i = i >= n ? i - n : i;
    return i >= n ? -1 : std::max(i, -1);
  } else if constexpr (mode == AddressMode::Border) {
    return i >= n ? -1 : std::max(i, -1);
  } else {
    static_assert(mode == AddressMode::Clamp);
    return std::max(0, std::min(i, n - 1));
  }
}

/// Wrapping and mirroring need normalised coordinates; without them they mean clamping.
inline AddressMode mode_of(const TextureDescriptor& t, std::size_t axis) {
  const AddressMode mode = t.address_mode[axis];
  if (t.linear_memory && t.dimensions == 1) {
    return AddressMode::Border;
  }
  if (t.cubemap) {
    return AddressMode::Clamp;
  }
  const bool folds = mode == AddressMode::Wrap || mode == AddressMode::Mirror;
  return folds && !t.normalised_coordinates ? AddressMode::Clamp : mode;
}

/// The texel in column i[0] of row i[1] of slice i[2]; nullptr after a fault.
template <class Texture, class Read>
[[gnu::always_inline]] inline const std::byte* texel_at(
    const Texture& t,
    const TextureExtent& e,
    const std::array<std::int64_t, 3>& i,
    std::uint32_t layer,
    Read&& read
) {
  const std::uint64_t slice = t.dimensions == 3 ? static_cast<std::uint64_t>(i[2]) : layer;
  const memory::Address at = e.data +
                             (slice * e.size[1] + static_cast<std::uint64_t>(i[1])) * e.pitch +
                             static_cast<std::uint64_t>(i[0]) * t.texel_bytes();
  return read(at, t.texel_bytes());
}

/// What is there; of the border if one of the numbers is negative.
template <class Texture, class Read>
[[gnu::always_inline]] inline bool fetch_at(
    const Texture& t,
    const TextureExtent& e,
    const std::array<std::int64_t, 3>& i,
    std::uint32_t layer,
    Read&& read,
    Words& result
) {
  if ((i[0] | i[1] | i[2]) < 0) {
    result = border_texel(t);
    return true;
  }
  const std::byte* p = texel_at(t, e, i, layer, read);
  if (p == nullptr) {
    return false;
  }
  result = read_texel(t, p);
  return true;
}

/// One texel, by its numbers before the address mode is applied.
template <class Texture, class Read>
[[gnu::always_inline]] inline bool fetch(
    const Texture& t,
    const TextureExtent& e,
    const std::array<std::int64_t, 3>& number,
    std::uint32_t layer,
    int axes,
    Read&& read,
    Words& result
) {
  std::array<std::int64_t, 3> i{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(axes); ++axis) {
    i[axis] = texel_index(mode_of(t, axis), number[axis], e.size[axis]);
  }
  return fetch_at(t, e, i, layer, read, result);
}

/// A coordinate in texels; far away and NaN ones are brought near, which no address mode can tell.
/// An infinite one that wraps or mirrors has no place: it means the first texel.
[[gnu::always_inline]] inline double
in_texels(bool normalised, float at, std::uint32_t size, AddressMode mode) {
  double x = std::isnan(at) ? 0.0 : static_cast<double>(at);
  if (normalised) {
    if (mode == AddressMode::Wrap) {
      x -= std::floor(x);
    } else if (mode == AddressMode::Mirror) {
      const double whole = std::floor(x);
      x -= whole;
      if (std::fmod(whole, 2.0) != 0) {
        x = 1 - x;
      }
    }
    x *= size;
  }
  x = std::isnan(x) ? 0.5 : x;
  constexpr double far = 1e9;
  x = x < -far ? -far : x;
  return x > far ? far : x;
}

/// The texels on both sides of a coordinate, and how much of the second is wanted.
struct Footprint {
  std::int32_t first = 0;
  float weight = 0; // multiple of 1/256, below 1
};
[[gnu::always_inline]] inline Footprint footprint(double x) {
  const double fixed = std::floor((x - 0.5) * 256 + 0.5);
  const double first = std::floor(fixed / 256);
  return {static_cast<std::int32_t>(first), static_cast<float>((fixed - first * 256) / 256)};
}

/// The weighted sum of the texels around x.
template <std::size_t axes, class Texture, class Read>
[[gnu::always_inline]] inline bool sample_filtered(
    const Texture& t,
    const TextureExtent& e,
    const std::array<double, 3>& x,
    std::uint32_t layer,
    Read&& read,
    Words& result
) {
  std::array<float, 3> weights{};                    // of the second texel of each axis
  std::array<std::array<std::int64_t, 2>, 3> near{}; // the texels on both sides
  std::int64_t all = 0;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const Footprint foot = footprint(x[axis]);
    const AddressMode mode = mode_of(t, axis);
    weights[axis] = foot.weight;
    near[axis] = {
        texel_index(mode, foot.first, e.size[axis]),
        texel_index(mode, std::int64_t{foot.first} + 1, e.size[axis])
    };
    all |= near[axis][0] | near[axis][1];
  }
  /// Calls add(numbers, weight); false after a fault.
  const auto each_corner = [&](auto add) __attribute__((always_inline)) {
    for (unsigned corner = 0; corner < (1U << axes); ++corner) {
      double weight = 1;
      std::array<std::int64_t, 3> number{};
      for (std::size_t axis = 0; axis < axes; ++axis) {
        const bool second = (corner >> axis & 1U) != 0;
        number[axis] = near[axis][second ? 1 : 0];
        weight *= static_cast<double>(second ? weights[axis] : 1 - weights[axis]);
      }
      // One without weight must not turn an infinity into a NaN.
      if (weight != 0 && !add(number, weight)) {
        return false;
      }
    }
    return true;
  };
  const auto finish = [&](const std::array<double, 4>& sum) __attribute__((always_inline)) {
    for (std::size_t channel = 0; channel < 4; ++channel) {
      result[channel] = bits(static_cast<float>(sum[channel]));
    }
    return true;
  };
  // Channels that texels do not have are 0, 0, 1 in each of them, but not on the border. So many as
  // are known at compile time stay in registers.
  const auto inside = [&]<std::size_t channels>() __attribute__((always_inline)) {
    std::array<double, 4> sum{0, 0, 0, channels < 4 ? 1.0 : 0.0};
    return each_corner([&](const auto& number, double weight) __attribute__((always_inline)) {
             const std::byte* p = texel_at(t, e, number, layer, read);
             for (std::size_t channel = 0; p != nullptr && channel < channels; ++channel) {
               const std::uint32_t word = read_channel(t, p, static_cast<int>(channel));
               sum[channel] += weight * static_cast<double>(from_bits<float>(word));
             }
             return p != nullptr;
           }) &&
           finish(sum);
  };
  if (all >= 0 && t.channels == 1) {
    return inside.template operator()<1>();
  }
  if (all >= 0 && t.channels == 2) {
    return inside.template operator()<2>();
  }
  if (all >= 0 && t.channels == 4) {
    return inside.template operator()<4>();
  }
  std::array<double, 4> sum{};
  return each_corner([&](const auto& number, double weight) __attribute__((always_inline)) {
           Words words;
           if (!fetch_at(t, e, number, layer, read, words)) {
             return false;
           }
           for (std::size_t channel = 0; channel < 4; ++channel) {
             sum[channel] += weight * static_cast<double>(from_bits<float>(words[channel]));
           }
           return true;
         }) &&
         finish(sum);
}

/// Samples one level. axes: how many of the coordinates the instruction has. A part of its caller,
/// which knows some of the arguments at compile time.
template <class Texture, class Read>
[[gnu::always_inline]] inline bool sample_level_here(
    const Texture& t,
    const TexturePoint& point,
    std::uint32_t level,
    int axes,
    Read&& read,
    Words& result
) {
  const TextureExtent e = level_extent(t, level);
  const std::uint32_t layer = std::min(point.layer, t.layers - 1);
  std::array<std::int64_t, 3> number{};
  const auto count = static_cast<std::size_t>(axes);
  if (point.integer) {
    for (std::size_t axis = 0; axis < count; ++axis) {
      number[axis] = point.texel[axis];
    }
    return fetch(t, e, number, layer, axes, read, result);
  }
  std::array<double, 3> x{};
  for (std::size_t axis = 0; axis < count; ++axis) {
    x[axis] = in_texels(t.normalised_coordinates, point.at[axis], e.size[axis], mode_of(t, axis));
  }
  if (!t.linear_filter || !t.reads_floats()) {
    for (std::size_t axis = 0; axis < count; ++axis) {
      number[axis] = static_cast<std::int64_t>(std::floor(x[axis]));
    }
    return fetch(t, e, number, layer, axes, read, result);
  }
  // A one-dimensional texture is one row, sampled at y = 0: half of what the filter takes lies
  // outside, which shows if the border is outside (undocumented; seen on an H200).
  return axes == 3 ? sample_filtered<3>(t, e, x, layer, read, result)
                   : sample_filtered<2>(t, e, x, layer, read, result);
}

template <class Texture, class Read>
bool sample_level(
    const Texture& t,
    const TexturePoint& point,
    std::uint32_t level,
    int axes,
    Read&& read,
    Words& result
) {
  return sample_level_here(t, point, level, axes, read, result);
}

/// Replaces a direction by a face, which is added to the layer, and normalised coordinates on it.
inline void project_on_cube(TexturePoint& point) {
  const auto [x, y, z] = point.at;
  const float ax = std::fabs(x);
  const float ay = std::fabs(y);
  const float az = std::fabs(z);
  std::uint32_t face = 0;
  float m = 0;
  float s = 0;
  float t = 0;
  if (ax >= ay && ax >= az) {
    face = x >= 0 ? 0 : 1;
    m = ax;
    s = x >= 0 ? -z : z;
    t = -y;
  } else if (ay >= az) {
    face = y >= 0 ? 2 : 3;
    m = ay;
    s = x;
    t = y >= 0 ? z : -z;
  } else {
    face = z >= 0 ? 4 : 5;
    m = az;
    s = z >= 0 ? x : -x;
    t = -y;
  }
  point.layer = point.layer * 6 + face;
  if (m == 0) {
    m = 1;
  }
  point.at = {(s / m + 1) / 2, (t / m + 1) / 2, 0};
}

/// tex: the level is chosen by point.level.
template <class Read>
bool sample(
    const TextureDescriptor& t,
    const TexturePoint& point,
    int axes,
    Read&& read,
    Words& result
) {
  if (t.levels == 1) {
    return sample_level(t, point, 0, axes, read, result);
  }
  const auto last = static_cast<float>(t.levels - 1);
  const float wanted = std::isnan(point.level) ? 0 : point.level + t.level_bias;
  const float level = std::clamp(std::min(std::max(wanted, t.min_level), t.max_level), 0.0F, last);
  if (!t.linear_levels) {
    return sample_level(
        t,
        point,
        static_cast<std::uint32_t>(std::floor(level + 0.5F)),
        axes,
        read,
        result
    );
  }
  const auto fixed = static_cast<std::uint32_t>(level * 256 + 0.5F);
  const std::uint32_t first = fixed >> 8;
  if (!sample_level(t, point, first, axes, read, result)) {
    return false;
  }
  const float weight = static_cast<float>(fixed & 255U) / 256;
  if (weight == 0 || !t.reads_floats()) {
    return true;
  }
  Words next;
  if (!sample_level(t, point, first + 1, axes, read, next)) {
    return false;
  }
  for (std::size_t channel = 0; channel < 4; ++channel) {
    result[channel] = bits(
        (1 - weight) * from_bits<float>(result[channel]) + weight * from_bits<float>(next[channel])
    );
  }
  return true;
}

/// The level for given derivatives of the coordinates: log2 of the longer one, in texels.
inline float level_of_gradients(
    const TextureDescriptor& t,
    const std::array<float, 3>& dx,
    const std::array<float, 3>& dy,
    int axes
) {
  const std::array<std::uint32_t, 3> size{t.width, t.height, t.depth};
  const auto length = [&](const std::array<float, 3>& d) {
    double sum = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(axes); ++axis) {
      const double texels =
          static_cast<double>(d[axis]) * (t.normalised_coordinates ? size[axis] : 1);
      sum += texels * texels;
    }
    return std::sqrt(sum);
  };
  return static_cast<float>(std::log2(std::max(length(dx), length(dy))));
}

/// tld4: one channel of the four texels that a bilinear filter would use, counter-clockwise from
/// the one below left.
template <class Read>
bool gather(
    const TextureDescriptor& t,
    const TexturePoint& point,
    std::size_t channel,
    Read&& read,
    Words& result
) {
  const TextureExtent e = level_extent(t, 0);
  const std::uint32_t layer = std::min(point.layer, t.layers - 1);
  const auto foot = [&](std::size_t axis) {
    return footprint(
        in_texels(t.normalised_coordinates, point.at[axis], e.size[axis], mode_of(t, axis))
    );
  };
  const Footprint x = foot(0);
  const Footprint y = foot(1);
  constexpr std::int64_t corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  for (std::size_t i = 0; i < 4; ++i) {
    Words words;
    if (!fetch(
            t,
            e,
            {std::int64_t{x.first} + corners[i][0], std::int64_t{y.first} + corners[i][1], 0},
            layer,
            2,
            read,
            words
        )) {
      return false;
    }
    result[i] = words[channel];
  }
  return true;
}

} // namespace heddle::isa::ops
