// Samples a texture for all lanes of a warp at once: the steps of ops_texture.h, each in a loop
// over the lanes that the compiler turns into vector instructions. For texels at hand
// (texture_lanes.h) in a format that is known at compile time, coordinates of floats, and addresses
// that clamp, wrap or have a border on which no lane samples.
//
//   Footprints near;
//   if (find_footprints<2, true>(t, at, lanes, near)) filter_lanes(t, near, …);
//
// Computes the same bits as ops::sample_level(), or answers false and writes nothing. Lanes that do
// not execute may hold any coordinates; their results are not stored.
#pragma once

#include "isa/lanes.h"
#include "isa/ops_texture.h"
#include "isa/vector_words.h"

#include <limits>

namespace heddle::isa {

/// One axis: the texels on both sides of each lane's coordinate and the weight of the second one;
/// without a filter, the texel in which it lies.
struct AxisTexels {
  alignas(64) std::array<std::array<std::int32_t, warp_size>, 2> number;
  alignas(64) std::array<float, warp_size> weight;
};
using Footprints = std::array<AxisTexels, 2>;

/// False: one of `lanes` samples the border, or a place that only ops::texel_index() knows.
template <AddressMode mode, bool normalised, bool filtered>
bool find_axis(const float* at, std::uint32_t size, LaneMask lanes, AxisTexels& axis) {
  const auto n = static_cast<std::int32_t>(size);
  alignas(64) std::array<std::int32_t, warp_size> outside;
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    const double x = ops::in_texels(normalised, at[lane], size, mode);
    std::int32_t first = 0;
    std::int32_t second = 0;
    if constexpr (filtered) {
      const ops::Footprint foot = ops::footprint(x);
      first = ops::texel_index_near<mode>(foot.first, n);
      second = ops::texel_index_near<mode>(foot.first + 1, n);
      axis.weight[lane] = foot.weight;
    } else {
      first = ops::texel_index_near<mode>(static_cast<std::int32_t>(std::floor(x)), n);
    }
    outside[lane] = (first | second) >> 31;
    axis.number[0][lane] = std::max(first, 0);
    axis.number[1][lane] = std::max(second, 0);
  }
  std::uint32_t wrong = 0;
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    wrong |= static_cast<std::uint32_t>(outside[lane]) & (lanes >> lane & 1);
  }
  return wrong == 0;
}

template <bool filtered>
bool find_axis(
    AddressMode mode_of_axis,
    bool normalised,
    const float* at,
    std::uint32_t size,
    LaneMask lanes,
    AxisTexels& result
) {
  const auto find = [&]<AddressMode mode>() {
    return normalised ? find_axis<mode, true, filtered>(at, size, lanes, result)
                      : find_axis<mode, false, filtered>(at, size, lanes, result);
  };
  switch (mode_of_axis) {
  case AddressMode::Clamp:
    return find.template operator()<AddressMode::Clamp>();
  case AddressMode::Wrap:
    return find.template operator()<AddressMode::Wrap>();
  case AddressMode::Border:
    return find.template operator()<AddressMode::Border>();
  default:
    return false;
  }
}

/// Of so many axes. Where an instruction has fewer coordinates, at[axis] is nullptr: 0 texels.
template <std::size_t axes, bool filtered>
bool find_footprints(
    const TextureDescriptor& t,
    const std::array<const std::uint32_t*, 3>& at,
    LaneMask lanes,
    Footprints& near
) {
  const std::array<std::uint32_t, 2> size{t.width, t.height};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max() / 2;
    const bool normalised = t.normalised_coordinates && at[axis] != nullptr;
    alignas(64) std::array<float, warp_size> x{};
    if (at[axis] != nullptr) {
      std::memcpy(x.data(), at[axis], sizeof x);
    }
    const AddressMode mode = ops::mode_of(t, axis);
    if (size[axis] > most ||
        !find_axis<filtered>(mode, normalised, x.data(), size[axis], lanes, near[axis])) {
      return false;
    }
  }
  return true;
}

/// Bytes from the first texel to the rows in which the lanes sample: those of the first and second
/// texel of the second axis.
using Rows = std::array<std::array<std::uint64_t, warp_size>, 2>;

template <std::size_t axes>
void find_rows(
    const TextureDescriptor& t,
    const Footprints& near,
    const std::uint32_t* layer,
    std::size_t sides,
    Rows& rows
) {
  const bool layered = t.dimensions != 3 && layer != nullptr;
  for (std::size_t side = 0; side < sides; ++side) {
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const std::uint64_t slice = layered ? std::min(layer[lane], t.layers - 1) : 0;
      std::uint64_t row = 0;
      if constexpr (axes > 1) {
        row = static_cast<std::uint32_t>(near[1].number[side][lane]);
      }
      rows[side][lane] = (slice * t.height + row) * t.pitch;
    }
  }
}

/// Of each channel of a texel of each lane.
using ChannelLanes = std::array<std::array<std::uint32_t, warp_size>, 4>;

/// The texel in a column of a row.
template <class Texture>
[[gnu::always_inline]] inline const std::byte*
texel_in(const std::byte* begin, std::uint64_t row, std::int32_t column) {
  return begin + row + static_cast<std::uint64_t>(column) * Texture::texel_bytes();
}

/// The weights of one corner of what ops::sample_filtered() sums.
[[gnu::always_inline]] inline void
weigh(const Footprints& near, unsigned corner, std::array<double, warp_size>& weight) {
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    double product = 1;
    for (std::size_t axis = 0; axis < near.size(); ++axis) {
      const float w = near[axis].weight[lane];
      product *= static_cast<double>((corner >> axis & 1U) != 0 ? w : 1 - w);
    }
    weight[lane] = product;
  }
}

/// ops::sample_filtered() where no texel is of the border. Vectors go over the lanes if there is
/// one channel, and over the channels of each lane if there are several.
template <class Texture>
void filter_lanes(
    const Texture& t,
    const Footprints& near,
    const Rows& rows,
    const std::byte* begin,
    ChannelLanes& result
) {
  constexpr unsigned corners = 4;
  constexpr std::size_t channels = Texture::channels;
  alignas(64) std::array<std::array<double, warp_size>, corners> weight;
  for (unsigned corner = 0; corner < corners; ++corner) {
    weigh(near, corner, weight[corner]);
  }
  for (std::size_t channel = channels; channel < 4; ++channel) {
    result[channel].fill(ops::bits(channel == 3 ? 1.0F : 0.0F));
  }
  const auto value = [&](std::uint32_t raw, std::size_t channel) __attribute__((always_inline)) {
    const std::uint32_t word = ops::channel_value(t, raw, static_cast<int>(channel));
    return static_cast<double>(ops::from_bits<float>(word));
  };
  // One without weight must not turn an infinity into a NaN. No sum is -0.
  if constexpr (channels == 1) {
    // First all of them: a processor waits where it reads at once what it has written in parts.
    alignas(64) std::array<std::array<std::uint32_t, warp_size>, corners> raw;
    for (unsigned corner = 0; corner < corners; ++corner) {
      HEDDLE_ONE_BY_ONE
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        const std::byte* p =
            texel_in<Texture>(begin, rows[corner >> 1][lane], near[0].number[corner & 1][lane]);
        raw[corner][lane] = ops::raw_channel(t, p, 0);
      }
    }
    alignas(64) std::array<double, warp_size> sum{};
    for (unsigned corner = 0; corner < corners; ++corner) {
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        const double w = weight[corner][lane];
        sum[lane] += w != 0 ? w * value(raw[corner][lane], 0) : 0;
      }
    }
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      result[0][lane] = ops::bits(static_cast<float>(sum[lane]));
    }
  } else {
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      using Floats = ops::Vector<float, channels>;
      using Doubles = ops::Vector<double, channels>;
      Doubles sum{};
      for (unsigned corner = 0; corner < corners; ++corner) {
        const double w = weight[corner][lane];
        if (w != 0) {
          const std::byte* p =
              texel_in<Texture>(begin, rows[corner >> 1][lane], near[0].number[corner & 1][lane]);
          std::array<std::uint32_t, channels> words;
          for (std::size_t channel = 0; channel < channels; ++channel) {
            words[channel] = ops::read_channel(t, p, static_cast<int>(channel));
          }
          sum += w * __builtin_convertvector(std::bit_cast<Floats>(words), Doubles);
        }
      }
      for (std::size_t channel = 0; channel < channels; ++channel) {
        result[channel][lane] = ops::bits(static_cast<float>(sum[channel]));
      }
    }
  }
}

/// The texel in which each lane's coordinates lie.
template <class Texture>
void point_lanes(
    const Texture& t,
    const std::array<std::uint64_t, warp_size>& row,
    const std::array<std::int32_t, warp_size>& column,
    const std::byte* begin,
    ChannelLanes& result
) {
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    const std::byte* p = texel_in<Texture>(begin, row[lane], column[lane]);
    for (std::size_t channel = 0; channel < Texture::channels; ++channel) {
      result[channel][lane] = ops::read_channel(t, p, static_cast<int>(channel));
    }
  }
  for (std::size_t channel = Texture::channels; channel < 4; ++channel) {
    result[channel].fill(channel < 3 ? 0 : Texture::reads_floats() ? ops::bits(1.0F) : 1U);
  }
}

} // namespace heddle::isa
