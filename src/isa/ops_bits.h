// Logic, shifts, bit fields and permutations of one thread: and or xor not cnot lop3 shf shl shr
// popc clz bfind fns brev bfe bfi bmsk szext prmt (PTX ISA 9.0, 9.7.1, 9.7.8 and 9.7.9).
//
// T is an unsigned integer of the instruction's width unless the instruction's sign matters.
#pragma once

#include "isa/ops_integer.h"

namespace heddle::isa::ops {

template <class T> inline constexpr std::uint32_t bits_of = 8 * sizeof(T);

template <class T> constexpr T same(T value) {
  return value;
}

// --- Logic ---------------------------------------------------------------------------------------

template <class T> constexpr T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T> constexpr T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T> constexpr T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T> constexpr T bit_not(T a) {
  return static_cast<T>(~a);
}
/// cnot: C's !a.
template <class T> constexpr T logical_not(T a) {
  return a == 0 ? 1 : 0;
}
/// lop3: bit i of the table is the result where (a, b, c) = the binary digits of i.
constexpr std::uint32_t
lop3(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const std::uint32_t chosen = (0U - ((table >> i) & 1U)); // all ones or zero
    result |=
        chosen & ((i & 4U) != 0 ? a : ~a) & ((i & 2U) != 0 ? b : ~b) & ((i & 1U) != 0 ? c : ~c);
  }
  return result;
}

// --- Shifts: amounts above the width shift everything out ---------------------------------------

template <class T> constexpr T shl(T a, std::uint32_t amount) {
  return amount < bits_of<T> ? static_cast<T>(static_cast<Wrap<T>>(a) << amount) : T{0};
}
/// shr: T signed fills with the sign, unsigned with zero.
template <class T> constexpr T shr(T a, std::uint32_t amount) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(a >> (amount < bits_of<T> ? amount : bits_of<T> - 1));
  } else {
    return amount < bits_of<T> ? static_cast<T>(a >> amount) : T{0};
  }
}
/// shf: 32 bits out of the 64 bits {b, a} shifted by an amount that is clamped to 32 or wraps
/// at 32.
template <bool Clamp> constexpr std::uint32_t shf_amount(std::uint32_t amount) {
  return Clamp ? (amount < 32 ? amount : 32) : (amount & 31U);
}
template <bool Clamp>
constexpr std::uint32_t shf_left(std::uint32_t a, std::uint32_t b, std::uint32_t amount) {
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  return static_cast<std::uint32_t>((both << shf_amount<Clamp>(amount)) >> 32);
}
template <bool Clamp>
constexpr std::uint32_t shf_right(std::uint32_t a, std::uint32_t b, std::uint32_t amount) {
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  return static_cast<std::uint32_t>(both >> shf_amount<Clamp>(amount));
}

// --- Counting and finding ------------------------------------------------------------------------

template <class T> constexpr std::uint32_t popc(T a) {
  return static_cast<std::uint32_t>(std::popcount(a));
}
template <class T> constexpr std::uint32_t clz(T a) {
  return static_cast<std::uint32_t>(std::countl_zero(a));
}
/// bfind: position of the most significant bit that differs from the sign; ~0 if there is none.
template <class T> constexpr std::uint32_t bfind(T a) {
  using U = std::make_unsigned_t<T>;
  U u = static_cast<U>(a);
  if constexpr (std::is_signed_v<T>) {
    u = a < 0 ? static_cast<U>(~u) : u;
  }
  return bits_of<T> - 1 - static_cast<std::uint32_t>(std::countl_zero(u)); // 0 - 1 wraps to ~0
}
template <class T> constexpr std::uint32_t bfind_shiftamt(T a) {
  const std::uint32_t position = bfind(a);
  return position == ~0U ? position : bits_of<T> - 1 - position;
}
/// fns: the offset-th set bit of mask, counted from base, upwards or downwards; ~0 if there is
/// none.
constexpr std::uint32_t fns(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  if (base > 31) {
    return ~0U;
  }
  if (offset == std::numeric_limits<std::int32_t>::min()) {
    return 0; // what hardware makes of the offset that has no absolute value
  }
  if (offset == 0) {
    return ((mask >> base) & 1U) != 0 ? base : ~0U;
  }
  std::int64_t left = offset > 0 ? std::int64_t{offset} : -std::int64_t{offset};
  const int step = offset > 0 ? 1 : -1;
  for (int position = static_cast<int>(base); position >= 0 && position < 32; position += step) {
    if (((mask >> position) & 1U) != 0 && --left == 0) {
      return static_cast<std::uint32_t>(position);
    }
  }
  return ~0U;
}
template <class T> constexpr T brev(T a) {
  // Swap ever larger neighbours: bits, pairs, nibbles, bytes, …
  T mask = static_cast<T>(~T{0});
  for (std::uint32_t width = bits_of<T> / 2; width != 0; width /= 2) {
    mask = static_cast<T>(mask ^ (mask << width));
    a = static_cast<T>(((a >> width) & mask) | ((a << width) & ~mask));
  }
  return a;
}

// --- Bit fields ----------------------------------------------------------------------------------

/// The n lowest bits set, for any n.
template <class T> constexpr T low_bits(std::uint32_t n) {
  return n >= bits_of<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << n) - 1);
}
template <class T> constexpr std::uint32_t field_number(std::uint32_t n) {
  return sizeof(T) == 8 ? (n < 0x100 ? n : 0x100) : (n & 0xffU);
}
/// bfe: field of len bits at pos, sign-extended for signed T from the field's (or the value's) last
/// bit. Of pos and len the low 8 bits count as PTX says; on 64-bit values hardware takes all bits.
template <class T> constexpr T bfe(T a, std::uint32_t pos, std::uint32_t len) {
  using U = std::make_unsigned_t<T>;
  pos = field_number<T>(pos);
  len = field_number<T>(len);
  const U field = static_cast<U>(shr<U>(static_cast<U>(a), pos) & low_bits<U>(len));
  if constexpr (std::is_signed_v<T>) {
    if (len != 0) {
      constexpr std::uint32_t msb = bits_of<T> - 1;
      const std::uint32_t last = pos + len - 1 < msb ? pos + len - 1 : msb;
      if (((static_cast<U>(a) >> last) & 1U) != 0) {
        // Everything above the bits that came from a is a copy of the sign.
        const std::uint32_t taken = pos > msb ? 0 : last - pos + 1;
        return static_cast<T>(field | static_cast<U>(~low_bits<U>(taken)));
      }
    }
  }
  return static_cast<T>(field);
}
/// bfi: b with len bits at pos replaced by the low bits of a.
template <class T> constexpr T bfi(T a, T b, std::uint32_t pos, std::uint32_t len) {
  pos = field_number<T>(pos);
  len = field_number<T>(len);
  const T mask = shl<T>(low_bits<T>(len), pos);
  return static_cast<T>((shl<T>(a, pos) & mask) | (b & ~mask));
}
/// bmsk: width ones from position on. Clamp: amounts of 32 and more are too large; wrap: modulo 32.
template <bool Clamp> constexpr std::uint32_t bmsk(std::uint32_t position, std::uint32_t width) {
  if (Clamp) {
    if (position > 31) {
      return 0;
    }
  } else {
    position &= 31U;
    width &= 31U;
  }
  return shl<std::uint32_t>(low_bits<std::uint32_t>(width), position);
}
/// szext: the low n bits of a, zero- or sign-extended. Clamp: n of 32 and more is 32; wrap:
/// modulo 32.
template <class T, bool Clamp> constexpr T szext(T a, std::uint32_t n) {
  n = Clamp ? (n < 32 ? n : 32) : (n & 31U);
  if (n == 0) {
    return 0;
  }
  return shr<T>(shl<T>(a, 32 - n), 32 - n);
}

// --- prmt ----------------------------------------------------------------------------------------

enum class Permute : std::uint8_t {
  Index,
  F4e,
  B4e,
  Rc8,
  Ecl,
  Ecr,
  Rc16
};

/// The selectors (nibbles of the result) that a prmt mode stands for, given the low 2 bits of c.
constexpr std::uint32_t permute_selectors(Permute mode, std::uint32_t c) {
  constexpr std::uint32_t table[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, // f4e: four bytes of {b, a}, from c upwards
      {0x5670, 0x6701, 0x7012, 0x0123}, // b4e: the same downwards, wrapping
      {0x0000, 0x1111, 0x2222, 0x3333}, // rc8: one byte four times
      {0x3210, 0x3211, 0x3222, 0x3333}, // ecl: bytes below c become byte c
      {0x0000, 0x1110, 0x2210, 0x3210}, // ecr: bytes above c become byte c
      {0x1010, 0x3232, 0x1010, 0x3232}, // rc16: one half twice
  };
  return mode == Permute::Index ? c : table[static_cast<int>(mode) - 1][c & 3U];
}
template <Permute Mode>
constexpr std::uint32_t prmt(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  const std::uint32_t selectors = permute_selectors(Mode, c);
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t selector = (selectors >> (4 * i)) & 0xfU;
    auto byte = static_cast<std::uint32_t>(bytes >> (8 * (selector & 7U))) & 0xffU;
    if ((selector & 8U) != 0) { // copy of the byte's sign (Index mode only)
      byte = (byte & 0x80U) != 0 ? 0xffU : 0;
    }
    result |= byte << (8 * i);
  }
  return result;
}

} // namespace heddle::isa::ops
