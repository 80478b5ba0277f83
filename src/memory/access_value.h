// AccessValue: the bytes that one access reads or writes, however many these are.
//
//   AccessValue value = AccessValue::at(word, bytes);   // a copy of what is there
//   value.set_part(1, ~value.part(1));                  // its second eight bytes
//   value.write_to(word);                               // exactly as many bytes as were copied
//
// A scalar has 1 to 16 bytes (.b8 to .b128), a vector up to 32. Code that copies a value asks for
// the size of the access once, here, and never assumes that a value fits into a number.
#pragma once

#include "base/check.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heddle::memory {

class AccessValue {
public:
  static constexpr std::size_t most_bytes = 32;
  static constexpr std::size_t part_bytes = sizeof(std::uint64_t);

  AccessValue() = default;
  static AccessValue at(const void* place, std::size_t bytes) {
    HEDDLE_CHECK(bytes <= most_bytes, "an access of {} bytes", bytes);
    AccessValue result;
    result.bytes_ = bytes;
    std::memcpy(result.parts_.data(), place, bytes);
    return result;
  }
  void write_to(void* place) const { std::memcpy(place, parts_.data(), bytes_); }

  std::size_t bytes() const { return bytes_; }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(parts_.data()); }
  /// Its bytes by eights, the last ones perhaps fewer.
  std::size_t parts() const { return (bytes_ + part_bytes - 1) / part_bytes; }
  std::uint64_t part(std::size_t n) const { return parts_[n]; }
  /// Bytes that the value does not have are dropped.
  void set_part(std::size_t n, std::uint64_t to) {
    const std::size_t left = bytes_ - n * part_bytes;
    const bool whole = left >= part_bytes;
    parts_[n] = whole ? to : to & ((std::uint64_t{1} << 8 * left) - 1);
  }
  /// Some of its bytes.
  AccessValue slice(std::size_t offset, std::size_t bytes) const {
    HEDDLE_CHECK(offset + bytes <= bytes_, "{} bytes at {} of {}", bytes, offset, bytes_);
    return at(data() + offset, bytes);
  }
  bool operator==(const AccessValue&) const = default;

private:
  std::array<std::uint64_t, most_bytes / part_bytes> parts_{}; // bytes it does not have are 0
  std::size_t bytes_ = 0;
};

} // namespace heddle::memory
