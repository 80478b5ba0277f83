// Fast access to a texture or surface: all lanes of the warp use the same object, and its texels
// lie in one range of live memory, so that no address has to be looked up for each texel.
//
//   const TexelMemory memory = texels_at_hand(exec, lane, t, /*store=*/false);
//   if (memory.begin != nullptr) sample_lanes<2, false>(exec, t, places, memory);
//
// Which texels are read and what becomes of them is defined in ops_texture.h only; the descriptor's
// most frequent formats are known at compile time here.
//
// May be wrong in no direction: where something is special, the caller takes one texel after the
// other.
#pragma once

#include "isa/exec.h"
#include "isa/ops_texture.h"
#include "isa/texture_footprints.h"

#include <bit>

namespace heddle::isa {

/// A reader of texels, as ops_texture.h wants it.
struct TexelMemory {
  std::byte* begin = nullptr; // of the first texel; nullptr: not at hand
  memory::Address data = 0;
  std::byte* operator()(memory::Address at, std::uint32_t /*bytes*/) const {
    return begin + (at - data);
  }
};

/// `lane`: whose access it is if the first texel has to be found.
inline TexelMemory texels_at_hand(Exec& exec, int lane, const TextureDescriptor& t, bool store) {
  const std::uint32_t texel = t.texel_bytes();
  if (exec.is_watched() || t.levels != 1 || !std::has_single_bit(texel) ||
      ((t.data | t.pitch) & (texel - 1)) != 0) {
    return {};
  }
  const std::uint64_t slices = t.dimensions == 3 ? t.depth : t.layers;
  const std::uint64_t rows = slices * t.height;
  const std::uint64_t bytes = (rows - 1) * t.pitch + std::uint64_t{t.width} * texel;
  std::byte* begin = exec.translate(lane, t.data, texel, store);
  if (begin == nullptr) {
    return {};
  }
  const memory::Range& range = exec.last_range();
  const std::uint64_t offset = t.data - range.base;
  const bool inside = offset < range.size && bytes <= range.size - offset;
  return {inside ? begin : nullptr, t.data};
}

/// Where the lanes' coordinates are, and where their results go; nullptr: nowhere.
struct SamplePlaces {
  const std::uint32_t* layer = nullptr;
  std::array<const std::uint32_t*, 3> at{};
  std::array<std::uint32_t*, 4> result{};
};

template <int axes, bool integer, class Texture>
void sample_lanes_of(
    const Exec& exec,
    const Texture& texture,
    const SamplePlaces& to,
    const TexelMemory& texels
) {
  const Texture t = texture; // nobody else writes to these
  const SamplePlaces places = to;
  const TexelMemory memory = texels;
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    ops::TexturePoint point;
    point.integer = integer;
    point.layer = places.layer != nullptr ? places.layer[lane] : 0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::uint32_t word = places.at[axis][lane];
      if constexpr (integer) {
        point.texel[axis] = static_cast<std::int32_t>(word);
      } else {
        point.at[axis] = std::bit_cast<float>(word);
      }
    }
    ops::Words words{};
    ops::sample_level_here(t, point, 0, axes, memory, words);
    for (std::size_t channel = 0; channel < words.size(); ++channel) {
      if (places.result[channel] != nullptr) {
        places.result[channel][lane] = words[channel];
      }
    }
  }
}

/// False: nothing was done.
template <std::size_t axes, bool filtered, class Texture>
bool sample_warp_of(
    const Exec& exec,
    const Texture& t,
    const SamplePlaces& places,
    const TexelMemory& texels
) {
  alignas(64) Footprints near;
  if (!find_footprints<axes, filtered>(t, places.at, exec.mask(), near)) {
    return false;
  }
  alignas(64) Rows rows;
  find_rows<axes>(t, near, places.layer, filtered ? 2 : 1, rows);
  alignas(64) ChannelLanes result;
  if constexpr (filtered) {
    filter_lanes(t, near, rows, texels.begin, result);
  } else {
    point_lanes(t, rows[0], near[0].number[0], texels.begin, result);
  }
  for (std::size_t channel = 0; channel < result.size(); ++channel) {
    if (places.result[channel] != nullptr) {
      store_lanes<4>(places.result[channel], result[channel].data(), exec.mask());
    }
  }
  return true;
}

/// The same for coordinates of floats, of many lanes.
template <std::size_t axes, class Texture>
bool sample_warp(
    const Exec& exec,
    const Texture& t,
    const SamplePlaces& places,
    const TexelMemory& texels
) {
  if (std::popcount(exec.mask()) < dense_lanes) {
    return false;
  }
  if constexpr (Texture::reads_floats()) {
    if (t.linear_filter) {
      return sample_warp_of<2, true>(exec, t, places, texels);
    }
  }
  return sample_warp_of<axes, false>(exec, t, places, texels);
}

template <int axes, bool integer>
void sample_lanes(
    const Exec& exec,
    const TextureDescriptor& t,
    const SamplePlaces& places,
    const TexelMemory& memory
) {
  const auto as = [&]<class Known>() {
    if (!Known::is(t)) {
      return false;
    }
    const Known texture{t};
    bool done = false;
    if constexpr (!integer && axes < 3) {
      done = sample_warp<axes>(exec, texture, places, memory);
    }
    if (!done) {
      sample_lanes_of<axes, integer>(exec, texture, places, memory);
    }
    return true;
  };
  using enum ChannelKind;
  const bool known = as.template operator()<ops::KnownTexture<Float, 1, 4, false>>() ||
                     as.template operator()<ops::KnownTexture<Float, 4, 4, false>>() ||
                     as.template operator()<ops::KnownTexture<Float, 2, 4, false>>() ||
                     as.template operator()<ops::KnownTexture<Unsigned, 4, 1, true>>() ||
                     as.template operator()<ops::KnownTexture<Unsigned, 1, 1, true>>() ||
                     as.template operator()<ops::KnownTexture<Unsigned, 4, 1, false>>() ||
                     as.template operator()<ops::KnownTexture<Unsigned, 1, 1, false>>();
  if (!known) {
    sample_lanes_of<axes, integer>(exec, t, places, memory);
  }
}

} // namespace heddle::isa
