// TextureDescriptor: what a texture or surface object is, as the instructions see it.
//
// The handle of an object (cudaTextureObject_t, cudaSurfaceObject_t) is the address of its
// descriptor, which lies in device memory of its own that kernels cannot write. So a handle that is
// no object, or one that has been destroyed, is found like any other bad address, and the objects
// of a program are part of its memory. The layout is Heddle's own; programs never see it.
//
// Implements PTX ISA 9.0, 5.3 (texture, sampler and surface variables) in their unified, opaque
// form.
#pragma once

#include "memory/address_space.h"

#include <array>
#include <cstdint>

namespace heddle::isa {

enum class ChannelKind : std::uint8_t {
  Signed,
  Unsigned,
  Float
};

enum class AddressMode : std::uint8_t { // numbered as in CUDA
  Wrap,
  Clamp,
  Mirror,
  Border
};

/// Texels of one level lie row after row, slice (or layer) after slice.
struct TextureDescriptor {
  static constexpr std::uint64_t texture_tag = 0x6865'6464'6c65'7478ULL;
  static constexpr std::uint64_t surface_tag = 0x6865'6464'6c65'7366ULL;
  static constexpr std::uint32_t allocation_bytes = 512; // a power of two: one aligned access
  static constexpr std::uint32_t max_levels = 18;

  std::uint64_t tag = 0;
  memory::Address data = 0;
  std::array<std::uint64_t, max_levels> level_offset{}; // bytes from `data`
  std::uint64_t pitch = 0;                              // of level 0; the others are tight
  std::uint32_t width = 1, height = 1, depth = 1;       // in texels, level 0
  std::uint32_t layers = 1;                             // faces included
  std::uint32_t levels = 1;
  std::uint8_t dimensions = 2; // 1, 2 or 3
  bool layered = false;
  bool cubemap = false;
  bool linear_memory = false; // no array: out of range reads give zero
  std::uint8_t channels = 1;  // 1, 2 or 4
  std::uint8_t channel_bytes = 1;
  ChannelKind kind = ChannelKind::Unsigned;
  // Sampling; surfaces do not use what follows.
  std::array<AddressMode, 3> address_mode{
      AddressMode::Clamp,
      AddressMode::Clamp,
      AddressMode::Clamp
  };
  bool linear_filter = false;
  bool linear_levels = false; // interpolates between levels
  bool normalised_coordinates = false;
  bool normalised_reads = false; // integers are read as fractions
  bool srgb = false;
  bool seamless = false;
  std::array<float, 4> border{};
  float level_bias = 0, min_level = 0, max_level = 0;

  std::uint32_t texel_bytes() const { return std::uint32_t{channels} * channel_bytes; }
  bool reads_floats() const { return kind == ChannelKind::Float || normalised_reads; }
};
static_assert(sizeof(TextureDescriptor) <= TextureDescriptor::allocation_bytes);

} // namespace heddle::isa
