// TensorMap: the 128 bytes in which cuTensorMapEncodeTiled describes a tensor in global memory.
//
// NVIDIA does not document how the fields are laid out; programs see the opaque CUtensorMap only,
// so the layout here is Heddle's own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::isa {

struct alignas(64) TensorMap {
  static constexpr std::uint32_t known = 0x4d54'4448; // "HDTM"
  static constexpr int max_rank = 5;
  enum Swizzle : std::uint8_t {
    None,
    Bytes32,
    Bytes64,
    Bytes128
  };

  std::uint32_t magic = 0;
  std::uint8_t type = 0; // CUtensorMapDataType
  std::uint8_t rank = 0;
  std::uint8_t swizzle = None;
  std::uint8_t fill_with_nan = 0; // elements outside
  std::uint64_t address = 0;
  std::uint64_t stride[max_rank - 1] = {}; // bytes, of all dimensions but the first
  std::uint32_t last[max_rank] = {};       // size - 1 of each dimension
  std::uint16_t box[max_rank] = {};        // what a copy moves
  std::uint8_t step[max_rank] = {};        // in elements
  std::uint8_t rest[45] = {};              // so that all of it is the same each time

  /// Elements of a box in that dimension.
  std::uint32_t count(std::size_t dimension) const {
    return (box[dimension] + step[dimension] - 1U) / step[dimension];
  }
  /// As copies ask for it.
  bool aligned() const {
    std::uint64_t all = address;
    for (int i = 1; i < rank; ++i) {
      all |= stride[i - 1];
    }
    return all % 16 == 0;
  }
  /// Has each dimension a box and steps? Not in a map that a kernel has made from zeros in part.
  bool complete() const {
    for (int i = 0; i < rank; ++i) {
      if (box[i] == 0 || step[i] == 0) {
        return false;
      }
    }
    return rank != 0;
  }
  /// Bytes of an element; 0: a packed type, or no type.
  static constexpr std::uint32_t element_bytes(std::uint8_t type) {
    constexpr std::uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type < sizeof bytes ? bytes[type] : 0;
  }
};
static_assert(sizeof(TensorMap) == 128);

} // namespace heddle::isa
