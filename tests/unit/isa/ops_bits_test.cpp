// Bit instructions against the loops over bits that the PTX manual defines them by.
#include "isa/ops_bits.h"

#include "random_values.h"
#include <gtest/gtest.h>

namespace heddle {
namespace {

namespace ops = isa::ops;
using test::Stream;
using U32 = std::uint32_t;

template <class T> bool bit(T value, int i) {
  return ((static_cast<std::make_unsigned_t<T>>(value) >> i) & 1U) != 0;
}

/// The manual's loop; pos and len after taking 8 bits.
template <class T> T bfe_by_bits(T a, U32 pos, U32 len) {
  constexpr int msb = 8 * sizeof(T) - 1;
  const int last = std::min<int>(static_cast<int>(pos + len) - 1, msb);
  const bool fill = std::is_signed_v<T> && len != 0 && bit(a, last);
  std::make_unsigned_t<T> d = 0;
  for (int i = 0; i <= msb; ++i) {
    const bool inside = i < static_cast<int>(len) && static_cast<int>(pos) + i <= msb;
    d |= static_cast<std::make_unsigned_t<T>>(inside ? bit(a, static_cast<int>(pos) + i) : fill)
         << i;
  }
  return static_cast<T>(d);
}
template <class T> void check_bfe() {
  Stream s;
  for (U32 pos = 0; pos < 256; pos += pos < 70 ? 1 : 37) {
    for (U32 len = 0; len < 256; len += len < 70 ? 1 : 37) {
      const T a = s.integer<T>();
      ASSERT_EQ(ops::bfe(a, pos, len), bfe_by_bits(a, pos, len)) << pos << ' ' << len;
    }
  }
}
TEST(OpsBits, Bfe) {
  check_bfe<std::int32_t>();
  check_bfe<std::uint32_t>();
  check_bfe<std::int64_t>();
  check_bfe<std::uint64_t>();
}

TEST(OpsBits, Bfi) {
  Stream s;
  for (U32 pos = 0; pos < 70; ++pos) {
    for (U32 len = 0; len < 70; ++len) {
      const auto a = static_cast<U32>(s.next()), b = static_cast<U32>(s.next());
      U32 expected = b;
      for (U32 i = 0; i < len && pos + i < 32; ++i) {
        expected = (expected & ~(1U << (pos + i))) |
                   static_cast<U32>(bit(a, static_cast<int>(i % 32))) << (pos + i);
      }
      ASSERT_EQ(ops::bfi(a, b, pos, len), expected) << pos << ' ' << len;
    }
  }
}

TEST(OpsBits, Bmsk) {
  for (U32 a = 0; a < 70; ++a) {
    for (U32 b = 0; b < 70; ++b) {
      U32 clamp = 0, wrap = 0;
      for (U32 i = 0; i < 32; ++i) {
        clamp |= static_cast<U32>(i >= a && i < a + b) << i;
        wrap |= static_cast<U32>(i >= (a & 31U) && i < (a & 31U) + (b & 31U)) << i;
      }
      ASSERT_EQ(ops::bmsk<true>(a, b), clamp);
      ASSERT_EQ(ops::bmsk<false>(a, b), wrap);
    }
  }
}

TEST(OpsBits, Szext) {
  Stream s;
  for (U32 n = 0; n < 70; ++n) {
    const auto a = static_cast<U32>(s.next());
    const auto extend = [&](U32 bits, bool is_signed) -> U32 {
      if (bits == 0) {
        return 0;
      }
      const std::uint64_t kept = a & ((std::uint64_t{1} << bits) - 1);
      return static_cast<U32>(
          is_signed && bit(a, static_cast<int>(bits) - 1) ? kept - (std::uint64_t{1} << bits) : kept
      );
    };
    ASSERT_EQ((ops::szext<U32, true>(a, n)), extend(std::min(n, 32U), false));
    ASSERT_EQ((ops::szext<U32, false>(a, n)), extend(n & 31U, false));
    ASSERT_EQ(
        (ops::szext<std::int32_t, true>(static_cast<std::int32_t>(a), n)),
        static_cast<std::int32_t>(extend(std::min(n, 32U), true))
    );
    ASSERT_EQ(
        (ops::szext<std::int32_t, false>(static_cast<std::int32_t>(a), n)),
        static_cast<std::int32_t>(extend(n & 31U, true))
    );
  }
}

TEST(OpsBits, ShiftsClampTheirAmount) {
  for (U32 n = 0; n < 70; ++n) {
    ASSERT_EQ(ops::shl<U32>(0x8000'0001U, n), n < 32 ? 0x8000'0001U << n : 0U);
    ASSERT_EQ(ops::shr<U32>(0x8000'0001U, n), n < 32 ? 0x8000'0001U >> n : 0U);
    ASSERT_EQ(ops::shr<std::int32_t>(-7, n), n < 32 ? -7 >> n : -1);
    ASSERT_EQ(
        ops::shl<std::uint16_t>(0x8001, n),
        n < 16 ? static_cast<std::uint16_t>(0x8001U << n) : 0
    );
    ASSERT_EQ(ops::shr<std::int16_t>(-7, n), n < 16 ? -7 >> n : -1);
    ASSERT_EQ(ops::shr<std::int64_t>(-7, n), n < 64 ? -7LL >> n : -1LL);
  }
  EXPECT_EQ(ops::shl<U32>(1, 0xffff'ffffU), 0U);
}

TEST(OpsBits, FunnelShifts) {
  const U32 a = 0x89ab'cdefU, b = 0x0123'4567U;
  for (U32 n = 0; n < 70; ++n) {
    const U32 clamp = std::min(n, 32U), wrap = n & 31U;
    const auto left = [&](U32 k) { return k == 32 ? a : k == 0 ? b : b << k | a >> (32 - k); };
    const auto right = [&](U32 k) { return k == 32 ? b : k == 0 ? a : b << (32 - k) | a >> k; };
    ASSERT_EQ(ops::shf_left<true>(a, b, n), left(clamp));
    ASSERT_EQ(ops::shf_left<false>(a, b, n), left(wrap));
    ASSERT_EQ(ops::shf_right<true>(a, b, n), right(clamp));
    ASSERT_EQ(ops::shf_right<false>(a, b, n), right(wrap));
  }
}

TEST(OpsBits, Lop3IsItsTruthTable) {
  const U32 a = 0xf0f0'f0f0U, b = 0xcccc'ccccU, c = 0xaaaa'aaaaU;
  for (U32 table = 0; table < 256; ++table) {
    ASSERT_EQ(ops::lop3(a, b, c, table) & 0xffU, table);
  }
}

TEST(OpsBits, FindsAndReverses) {
  Stream s;
  for (int i = 0; i < 2'000; ++i) {
    const auto a = s.integer<std::int64_t>();
    std::uint64_t reversed = 0;
    U32 unsigned_position = ~0U, signed_position = ~0U;
    for (int k = 0; k < 64; ++k) {
      reversed |= static_cast<std::uint64_t>(bit(a, k)) << (63 - k);
      unsigned_position = bit(a, k) ? static_cast<U32>(k) : unsigned_position;
      signed_position = bit(a, k) != (a < 0) ? static_cast<U32>(k) : signed_position;
    }
    ASSERT_EQ(ops::brev(static_cast<std::uint64_t>(a)), reversed);
    ASSERT_EQ(ops::bfind(static_cast<std::uint64_t>(a)), unsigned_position);
    ASSERT_EQ(ops::bfind(a), signed_position);
    ASSERT_EQ(ops::bfind_shiftamt(a), signed_position == ~0U ? ~0U : 63 - signed_position);
  }
  EXPECT_EQ(ops::brev<U32>(1), 0x8000'0000U);
  EXPECT_EQ(ops::bfind<U32>(0), ~0U);
  EXPECT_EQ(ops::bfind<std::int32_t>(-1), ~0U);
}

TEST(OpsBits, FnsCountsFromTheBase) { // the manual's examples
  EXPECT_EQ(ops::fns(0xaaaa'aaaaU, 3, 1), 3U);
  EXPECT_EQ(ops::fns(0xaaaa'aaaaU, 3, -1), 3U);
  EXPECT_EQ(ops::fns(0xaaaa'aaaaU, 2, 1), 3U);
  EXPECT_EQ(ops::fns(0xaaaa'aaaaU, 2, -1), 1U);
  EXPECT_EQ(ops::fns(0xaaaa'aaaaU, 2, 0), ~0U);
  EXPECT_EQ(ops::fns(0xaaaa'aaaaU, 1, 0), 1U);
  EXPECT_EQ(ops::fns(0xaaaa'aaaaU, 0, 16), 31U);
  EXPECT_EQ(ops::fns(0xaaaa'aaaaU, 0, 17), ~0U);
}

TEST(OpsBits, PrmtPicksBytes) {
  const U32 a = 0x8382'8180U, b = 0x0706'0504U;
  EXPECT_EQ(ops::prmt<ops::Permute::Index>(a, b, 0x7410), 0x0704'8180U);
  EXPECT_EQ(ops::prmt<ops::Permute::Index>(a, b, 0xf8f8), 0x00ff'00ffU); // copies of signs
  EXPECT_EQ(ops::prmt<ops::Permute::F4e>(a, b, 1), 0x0483'8281U);
  EXPECT_EQ(ops::prmt<ops::Permute::B4e>(a, b, 1), 0x0607'8081U);
  EXPECT_EQ(ops::prmt<ops::Permute::Rc8>(a, b, 2), 0x8282'8282U);
  EXPECT_EQ(ops::prmt<ops::Permute::Ecl>(a, b, 2), 0x8382'8282U);
  EXPECT_EQ(ops::prmt<ops::Permute::Ecr>(a, b, 2), 0x8282'8180U);
  EXPECT_EQ(ops::prmt<ops::Permute::Rc16>(a, b, 3), 0x8382'8382U);
}

} // namespace
} // namespace heddle
