// Inputs of the golden vectors: the value of operand k of tuple t, computed, never stored.
//
// The recorder (record.cpp, on a GPU) and the replay test both call these functions, so only
// results are kept in the repository. A tuple's values depend on the kinds of a form's operands and
// on the number of tuples, not on the form: forms that differ in a rounding mode see equal inputs.
//
//   tuples 0…255           special values and every flavour of random ones; results are stored
//   256… , two inputs      the cross product of their special values, then random flavours
//   256… , one 16-bit input of a form with 65792 tuples: all 65536 values
//
// CHANGING ANYTHING HERE INVALIDATES THE RECORDED DATA: record again (README.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace heddle::golden {

enum class Kind : std::uint8_t {
  I16, // integers and raw bits
  I32,
  I64,
  Shift,   // 32 bits: shift counts, positions, lengths, lanes
  Small32, // 32 bits, signed, -33 … 33
  F16,
  BF16,
  F32,
  F64,
  F16x2,
  BF16x2,
  Fp8x2, // 16 bits, two bytes
  Pred,  // 0 or 1
  Mask   // 32 bits, the same in all lanes of a warp, never 0
};

std::optional<Kind> find_kind(std::string_view name); // "i16", "f16x2", …
bool is_floating(Kind kind);
unsigned width_bytes(Kind kind); // 2, 4 or 8

inline constexpr std::uint32_t stored_tuples = 256;
inline constexpr std::uint32_t exhaustive_tuples = stored_tuples + 65536;

/// splitmix64's finaliser.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// result[k * tuples + t]: operand k of tuple t, in the low bytes.
std::vector<std::uint64_t> make_inputs(const std::vector<Kind>& kinds, std::uint32_t tuples);

} // namespace heddle::golden
