// Special values and the recipe of make_inputs: see inputs.h.
#include "inputs.h"

#include <array>
#include <span>

namespace heddle::golden {
namespace {

constexpr std::array<std::string_view, 14> kind_names = {
    "i16",
    "i32",
    "i64",
    "shift",
    "small32",
    "f16",
    "bf16",
    "f32",
    "f64",
    "f16x2",
    "bf16x2",
    "fp8x2",
    "pred",
    "mask"
};

constexpr std::uint64_t i16_special[] = {0,      1,      2,      3,      7,      10,     0xffff,
                                         0xfffe, 0x8000, 0x8001, 0x7fff, 0x7ffe, 0x00ff, 0x0100,
                                         0x0080, 0x007f, 0xff80, 0xff7f, 0x5555, 0xaaaa, 0x0f0f,
                                         0x1234, 0xfedc, 0x4000, 0xc000};
constexpr std::uint64_t i32_special[] = {
    0,          1,          2,          3,          5,          7,          10,         31,
    32,         0xffffffff, 0xfffffffe, 0xfffffffd, 0x80000000, 0x80000001, 0x7fffffff, 0x7ffffffe,
    0x0000ffff, 0x00010000, 0x00008000, 0x00007fff, 0xffff8000, 0xffff7fff, 0x000000ff, 0x00000080,
    0xffffff80, 0x00000100, 0x55555555, 0xaaaaaaaa, 0x00ffffff, 0x00800000, 0xff800000, 0x01000001,
    0x12345678, 0x89abcdef, 0x7fff8000, 0x80007fff, 0x40000000, 0xc0000000
};
constexpr std::uint64_t i64_special[] = {
    0,
    1,
    2,
    3,
    7,
    10,
    63,
    64,
    ~0ULL,
    ~1ULL,
    ~2ULL,
    0x8000000000000000,
    0x8000000000000001,
    0x7fffffffffffffff,
    0x7ffffffffffffffe,
    0x00000000ffffffff,
    0x0000000100000000,
    0x0000000080000000,
    0x000000007fffffff,
    0xffffffff80000000,
    0xffffffff7fffffff,
    0xffffffff00000000,
    0x0001000000000000,
    0x001fffffffffffff,
    0x0020000000000000,
    0x0020000000000001,
    0x5555555555555555,
    0xaaaaaaaaaaaaaaaa,
    0x123456789abcdef0,
    0xfedcba9876543210,
    0x00000000ffff8000,
    0x4000000000000000,
    0x000000000000ffff,
    0x0000000000000080,
    0xffffffffffffff80
};
constexpr std::uint64_t shift_special[] = {0,   1,   2,   3,          4,          7,         8,
                                           9,   15,  16,  17,         24,         30,        31,
                                           32,  33,  40,  47,         48,         62,        63,
                                           64,  65,  95,  96,         127,        128,       129,
                                           255, 256, 257, 0x80000000, 0xffffffff, 0x10000001};
// Of the smaller formats: every boundary of subnormal, normal, finite, the integers and of narrower
// formats; NaNs quiet and signalling, of both signs, with payloads.
constexpr std::uint64_t f16_special[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00,
                                         0xfe00, 0x7c01, 0xfd55, 0x7fff, 0x0001, 0x8001, 0x03ff,
                                         0x83ff, 0x0400, 0x8400, 0x0401, 0x7bff, 0xfbff, 0x3800,
                                         0xb800, 0x4000, 0x3c01, 0x3bff, 0x3555, 0x4248, 0xc248,
                                         0x6400, 0x6800, 0x5f00, 0x5f01, 0x5c00, 0xdc00, 0x5bff,
                                         0x1400, 0x2400, 0x3e00, 0x4100, 0xc100, 0x77ff, 0x7800};
constexpr std::uint64_t bf16_special[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0,
                                          0xffc0, 0x7f81, 0xffa5, 0x7fff, 0x0001, 0x8001, 0x007f,
                                          0x807f, 0x0080, 0x8080, 0x0081, 0x7f7f, 0xff7f, 0x3f00,
                                          0xbf00, 0x4000, 0x3f81, 0x3f7f, 0x3eab, 0x4049, 0xc049,
                                          0x4300, 0x4380, 0x4f00, 0x4f80, 0xcf00, 0x5f00, 0x5f80,
                                          0xdf00, 0x477f, 0x4780, 0x43e0, 0x3fc0, 0x4020, 0xc020};
constexpr std::uint64_t f32_special[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, // ±0 ±1 ±inf
    0x7fc00000, 0xffc00000, 0x7f800001, 0xffa12345, 0x7fffffff, 0x7fc54321, // NaNs
    0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x00800001, 0x7f7fffff,
    0xff7fffff, 0x3f000000, 0xbf000000, 0x40000000, 0x3f800001, 0x3f7fffff, 0x3eaaaaab, 0x40490fdb,
    0xc0490fdb, 0x40c90fdb, 0x3fc00000, 0x40200000, 0xc0200000, 0x4b000000, 0x4b7fffff, 0x47800000,
    0x477fe000, 0x477ff000, 0x33000000, 0x33000001, // f16 limits
    0x4f000000, 0xcf000000, 0xcf000001, 0x4effffff, 0x4f800000, 0x5f000000, 0x5f800000, 0xdf000000,
    0x43e00000, 0x43e80000, 0x47600000, 0x7f7f8000, 0x437f8000, 0xc3008000
};
constexpr std::uint64_t f64_special[] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000,
    0x7ff0000000000001, 0xfff4123456789abc, 0x7fffffffffffffff, 0x7ff8000012345678,
    0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
    0x8010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x3fe0000000000000,
    0xbfe0000000000000, 0x4000000000000000, 0x3ff0000000000001, 0x3fefffffffffffff,
    0x3fd5555555555555, 0x400921fb54442d18, 0xc00921fb54442d18, 0x3ff8000000000000,
    0x4004000000000000, 0xc004000000000000, 0x4330000000000000, 0x433fffffffffffff,
    0x41e0000000000000, 0xc1e0000000000000, 0xc1e0000000200000, 0x41dfffffffc00000,
    0x41dfffffffe00000, 0x41f0000000000000, 0x43e0000000000000, 0x43f0000000000000,
    0xc3e0000000000000, 0x40effc0000000000, 0x40effe0000000000, 0x47efffffe0000000,
    0x47effffff0000000, 0x3810000000000000, 0x36a0000000000000, 0x3690000000000000,
    0x3690000000000001, 0x3f10000000000000, 0x3e60000000000000, 0x3ff0000010000000
};

struct Shape {
  unsigned bits;
  unsigned mantissa; // 0: not a float
  std::span<const std::uint64_t> special;
};

Shape shape(Kind kind) {
  switch (kind) {
  case Kind::I16:
    return {16, 0, i16_special};
  case Kind::I32:
    return {32, 0, i32_special};
  case Kind::I64:
    return {64, 0, i64_special};
  case Kind::Shift:
    return {32, 0, shift_special};
  case Kind::F16:
  case Kind::F16x2:
    return {16, 10, f16_special};
  case Kind::BF16:
  case Kind::BF16x2:
    return {16, 7, bf16_special};
  case Kind::F32:
    return {32, 23, f32_special};
  case Kind::F64:
    return {64, 52, f64_special};
  case Kind::Fp8x2:
    return {16, 0, {}};
  case Kind::Small32:
  case Kind::Pred:
  case Kind::Mask:
    return {32, 0, {}};
  }
  return {};
}

constexpr std::uint64_t low_bits(unsigned n) {
  return n >= 64 ? ~0ULL : (1ULL << n) - 1;
}

/// Number of special values that take part in a cross product; 0: none.
std::uint32_t special_count(Kind kind) {
  return static_cast<std::uint32_t>(shape(kind).special.size());
}

std::uint64_t special_value(Kind kind, std::uint32_t i) {
  auto table = shape(kind).special;
  std::uint64_t v = table[i];
  if (kind == Kind::F16x2 || kind == Kind::BF16x2) {
    v |= table[(i * 7 + 3) % table.size()] << 16;
  }
  return v;
}

/// One random value of an integer kind in one of eight flavours.
std::uint64_t random_integer(const Shape& s, std::uint64_t h, std::uint64_t bits) {
  unsigned length = 1 + static_cast<unsigned>((h >> 40) % s.bits); // 1 … width
  switch (h & 7) {
  case 0:
  case 1:
  case 2:
    return s.special[(h >> 8) % s.special.size()];
  case 3:
    return s.special[(h >> 8) % s.special.size()] + ((h >> 32) & 15) - 8;
  case 4:
    return bits & low_bits(length);
  case 5:
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> (64 - length));
  default:
    return bits;
  }
}

/// One random value of a float format.
std::uint64_t random_float(const Shape& s, std::uint64_t h, std::uint64_t bits) {
  std::uint64_t sign = (bits >> 63) << (s.bits - 1);
  std::uint64_t fraction = bits & low_bits(s.mantissa);
  unsigned exponent_bits = s.bits - 1 - s.mantissa;
  std::uint64_t bias = low_bits(exponent_bits - 1);
  switch (h & 7) {
  case 0:
  case 1:
    return s.special[(h >> 8) % s.special.size()];
  case 2:
    return s.special[(h >> 8) % s.special.size()] + ((h >> 32) & 7) - 4;
  case 3:
    return sign | ((bias - 8 + ((h >> 8) & 15)) << s.mantissa) | fraction;
  case 4: { // few bits of fraction: exact results and ties
    std::uint64_t few = fraction & ~low_bits(s.mantissa - 4);
    return sign | ((bias - 3 + ((h >> 8) & 7)) << s.mantissa) | few;
  }
  case 5: // subnormal, or the lowest binade
    return sign | ((h >> 8) & 1) << s.mantissa | (fraction & low_bits(1 + (h >> 16) % s.mantissa));
  default:
    return bits;
  }
}

std::uint64_t random_mask(std::uint32_t warp) {
  std::uint64_t h = mix(0x3a5c'0000ULL + warp);
  std::uint64_t a = mix(h), b = mix(a);
  std::uint32_t value = 0;
  switch (warp == 0 ? 4 : h & 3) {
  case 0:
    value = 1U << (a & 31);
    break;
  case 1:
    value = static_cast<std::uint32_t>(a & b);
    break;
  case 2:
    value = static_cast<std::uint32_t>(a);
    break;
  case 3:
    value = static_cast<std::uint32_t>(a | b);
    break;
  default:
    value = ~0U;
    break;
  }
  return value != 0 ? value : 1U;
}

std::uint64_t random_value(Kind kind, std::uint64_t h) {
  std::uint64_t a = mix(h), b = mix(a);
  Shape s = shape(kind);
  switch (kind) {
  case Kind::Pred:
    return a >> 63;
  case Kind::Small32:
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(a % 67) - 33);
  case Kind::Fp8x2:
    return a & 0xffff;
  case Kind::Shift:
    switch (a & 7) {
    case 0:
    case 1:
    case 2:
      return s.special[(a >> 8) % s.special.size()];
    case 3:
    case 4:
    case 5:
      return (a >> 8) % 70;
    default:
      return b & 0xffffffff;
    }
  case Kind::F16x2:
  case Kind::BF16x2: {
    std::uint64_t c = mix(b), d = mix(c);
    return (random_float(s, a, b) & 0xffff) | (random_float(s, c, d) & 0xffff) << 16;
  }
  case Kind::F16:
  case Kind::BF16:
  case Kind::F32:
  case Kind::F64:
    return random_float(s, a, b) & low_bits(s.bits);
  default:
    return random_integer(s, a, b) & low_bits(s.bits);
  }
}

std::uint64_t sign_bits(Kind kind) {
  if (kind == Kind::F16x2 || kind == Kind::BF16x2) {
    return 0x80008000U;
  }
  return is_floating(kind) ? 1ULL << (shape(kind).bits - 1) : 0;
}

} // namespace

std::optional<Kind> find_kind(std::string_view name) {
  for (std::size_t i = 0; i < kind_names.size(); ++i) {
    if (kind_names[i] == name) {
      return static_cast<Kind>(i);
    }
  }
  return std::nullopt;
}

bool is_floating(Kind kind) {
  return shape(kind).mantissa != 0;
}

unsigned width_bytes(Kind kind) {
  return kind == Kind::F16x2 || kind == Kind::BF16x2 ? 4 : shape(kind).bits / 8;
}

std::vector<std::uint64_t> make_inputs(const std::vector<Kind>& kinds, std::uint32_t tuples) {
  std::vector<std::uint64_t> result(kinds.size() * tuples);
  std::uint32_t n0 = kinds.empty() ? 0 : special_count(kinds[0]);
  std::uint32_t n1 = kinds.size() < 2 ? 0 : special_count(kinds[1]);
  for (std::uint32_t k = 0; k < kinds.size(); ++k) {
    Kind kind = kinds[k];
    for (std::uint32_t t = 0; t < tuples; ++t) {
      std::uint64_t& value = result[std::size_t{k} * tuples + t];
      if (kind == Kind::Mask) {
        value = random_mask(t / 32);
        continue;
      }
      if (kinds.size() == 1 && t < n0 && t < stored_tuples) {
        value = special_value(kind, t);
        continue;
      }
      if (kinds.size() == 1 && tuples == exhaustive_tuples && width_bytes(kind) == 2 &&
          t >= stored_tuples) {
        value = t - stored_tuples;
        continue;
      }
      std::uint32_t cross = t - stored_tuples;
      if (k < 2 && t >= stored_tuples && cross < n0 * n1) {
        value = special_value(kind, k == 0 ? cross % n0 : cross / n0);
        continue;
      }
      std::uint64_t h =
          mix((static_cast<std::uint64_t>(kind) << 48) + (std::uint64_t{k} << 40) + t);
      if (k > 0 && kinds[k - 1] == kind && (h & 15) == 0) { // equal or opposite operands
        value = result[std::size_t{k - 1} * tuples + t] ^ ((h & 16) != 0 ? sign_bits(kind) : 0);
        continue;
      }
      value = random_value(kind, h);
    }
  }
  return result;
}

} // namespace heddle::golden
