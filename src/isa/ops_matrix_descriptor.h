// The 64 bits in which wgmma is told where in shared memory a matrix lies (PTX
// ISA 9.0, 9.7.15.5.1).
//
//   MatrixDescriptor m = MatrixDescriptor::of(bits);
//   m.along_k(line, unit)     // where 16 bytes along k lie, of row or column `line` of A or B
//   m.along_lines(k, unit)    // the same of a transposed matrix: 16 bytes of 8 lines at one k
//
// A matrix is made of rows of `span` bytes, eight of which make up a pattern:
//   63-62 swizzle: 0 none (span 16), 1 128, 2 64, 3 32 bytes   51-49 line at which a pattern begins
//   45-32 stride, 29-16 leading byte offset, 13-0 start, each in units of 16 bytes
#pragma once

#include "isa/swizzle.h"

#include <cstdint>

namespace heddle::isa::ops {

struct MatrixDescriptor {
  std::uint32_t start = 0;
  std::uint32_t leading = 0;
  std::uint32_t stride = 0;
  std::uint32_t first_line = 0;
  std::uint32_t span = 16;

  static constexpr MatrixDescriptor of(std::uint64_t bits) {
    const auto bytes = [bits](int at) {
      return static_cast<std::uint32_t>(bits >> at & 0x3fff) << 4;
    };
    const auto swizzle = static_cast<unsigned>(bits >> 62);
    return {
        bytes(0),
        bytes(16),
        bytes(32),
        static_cast<std::uint32_t>(bits >> 49 & 7),
        swizzle == 0 ? 16U : 256U >> swizzle
    };
  }
  /// Eight lines after eight lines, `stride` apart. Units along k lie in the span, what is beyond
  /// it `leading` further.
  constexpr std::uint64_t along_k(std::uint32_t line, std::uint32_t unit) const {
    const std::uint32_t units = span / 16;
    return place(line / 8 * stride + line % 8 * span + unit / units * leading + unit % units * 16);
  }
  /// A row of a pattern is one k. What is beyond a span, and the next eight of k, lie `leading` and
  /// `stride` further; without swizzle it is the other way round.
  constexpr std::uint64_t along_lines(std::uint32_t k, std::uint32_t unit) const {
    if (span == 16) {
      return place(unit * stride + k % 8 * span + k / 8 * leading);
    }
    const std::uint32_t units = span / 16;
    return place(unit / units * leading + unit % units * 16 + k % 8 * span + k / 8 * stride);
  }

private:
  constexpr std::uint64_t place(std::uint32_t offset) const {
    return swizzled(span, std::uint64_t{start} + offset, first_line);
  }
};

} // namespace heddle::isa::ops
