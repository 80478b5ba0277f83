// f16 and bf16: conversions over all values, arithmetic against exact integers.
#include "isa/ops_convert.h"
#include "isa/ops_half.h"

#include "exact_table.h"
#include "random_values.h"
#include <gtest/gtest.h>

namespace heddle {
namespace {

namespace ops = isa::ops;
using ops::Bfloat;
using ops::Half;
using ops::Round;
using test::Direction;
using test::ExactTable;
using test::Stream;
using test::Wide;

constexpr std::uint32_t f16_infinity = 0x7c00;
/// f16 numbers are multiples of 2^-24, their products of 2^-48.
const ExactTable& f16_table() {
  static const ExactTable table(5, 10, f16_infinity, 48);
  return table;
}
std::vector<std::uint16_t> special_halves() {
  std::vector<std::uint16_t> words;
  for (const unsigned word :
       {0x0000U,
        0x0001U,
        0x0002U,
        0x03ffU,
        0x0400U,
        0x0401U,
        0x07ffU,
        0x1400U,
        0x3bffU,
        0x3c00U,
        0x3c01U,
        0x3e00U,
        0x4248U,
        0x6400U,
        0x7800U,
        0x7bffU,
        0x7c00U,
        0x7e01U}) {
    words.push_back(static_cast<std::uint16_t>(word));
    words.push_back(static_cast<std::uint16_t>(word | 0x8000U));
  }
  return words;
}
bool finite(std::uint16_t word) {
  return (word & 0x7fffU) < f16_infinity;
}
Wide exact(std::uint16_t word) {
  const Wide magnitude = f16_table().value(word & 0x7fffU);
  return (word & 0x8000U) != 0 ? -magnitude : magnitude;
}
/// The f16 nearest to a nonzero multiple of 2^-48.
std::uint16_t nearest(Wide v) {
  return static_cast<std::uint16_t>(
      (v < 0 ? 0x8000U : 0) | f16_table().round(v, Direction::Nearest)
  );
}

TEST(OpsHalf, EveryF16SurvivesF32) {
  for (std::uint32_t word = 0; word < 0x10000; ++word) {
    const Half h{static_cast<std::uint16_t>(word)};
    const float f = ops::to_float(h);
    if (ops::is_nan(h)) {
      ASSERT_NE(f, f);
      ASSERT_EQ(ops::from_float<Half>(f).word, 0x7fff);
      continue;
    }
    ASSERT_EQ(ops::from_float<Half>(f).word, word);
    if (finite(h.word)) {
      ASSERT_EQ(f16_table().scaled(static_cast<double>(f)), exact(h.word));
    }
  }
}
TEST(OpsHalf, EveryBf16SurvivesF32) {
  for (std::uint32_t word = 0; word < 0x10000; ++word) {
    const Bfloat h{static_cast<std::uint16_t>(word)};
    ASSERT_EQ(ops::from_float<Bfloat>(ops::to_float(h)).word, ops::is_nan(h) ? 0x7fff : word);
  }
}

void check_arithmetic(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
  if (!finite(a) || !finite(b) || !finite(c)) {
    return;
  }
  const Wide x = exact(a), y = exact(b), z = exact(c);
  const Wide product = (x >> 24) * (y >> 24); // both are multiples of 2^24 units
  if (x + y != 0) {
    ASSERT_EQ(ops::half_add(Half{a}, Half{b}).word, nearest(x + y)) << a << ' ' << b;
  }
  if (x - y != 0) {
    ASSERT_EQ(ops::half_sub(Half{a}, Half{b}).word, nearest(x - y)) << a << ' ' << b;
  }
  if (product != 0) {
    ASSERT_EQ(ops::half_mul(Half{a}, Half{b}).word, nearest(product)) << a << ' ' << b;
  }
  if (product + z != 0) {
    ASSERT_EQ(ops::half_fma(Half{a}, Half{b}, Half{c}).word, nearest(product + z))
        << a << ' ' << b << ' ' << c;
  }
}
TEST(OpsHalf, F16ArithmeticIsCorrectlyRounded) {
  Stream s;
  for (std::uint32_t a = 0; a < 0x10000; a += 3) {
    const auto r = s.next();
    check_arithmetic(
        static_cast<std::uint16_t>(a),
        static_cast<std::uint16_t>(r),
        static_cast<std::uint16_t>(r >> 16)
    );
    // Addends near the product, and ties.
    const Half product =
        ops::half_mul(Half{static_cast<std::uint16_t>(a)}, Half{static_cast<std::uint16_t>(r)});
    check_arithmetic(
        static_cast<std::uint16_t>(a),
        static_cast<std::uint16_t>(r),
        static_cast<std::uint16_t>((product.word ^ 0x8000U) + (r >> 40) % 5)
    );
  }
  for (const auto a : special_halves()) {
    for (const auto b : special_halves()) {
      for (const auto c : special_halves()) {
        check_arithmetic(a, b, c);
      }
    }
  }
}

/// bf16: exact in the soft-float reference, which is itself tested against the host.
TEST(OpsHalf, Bf16FmaRoundsOnce) {
  Stream s;
  for (int i = 0; i < 300'000; ++i) {
    const Bfloat a{static_cast<std::uint16_t>(s.next())}, b{static_cast<std::uint16_t>(s.next())};
    Bfloat c{static_cast<std::uint16_t>(s.next())};
    if (i % 2 == 0) { // near the product
      c = ops::half_mul(a, b);
      c.word = static_cast<std::uint16_t>(
          (c.word ^ 0x8000U) + (s.next() % 5) - 2 - ((s.next() % 9) << 7)
      );
    }
    const auto expected = static_cast<std::uint16_t>(ops::round_to(
        ops::exact_fma(ops::exact(a), ops::exact(b), ops::exact(c), Round::Nearest),
        ops::bf16_format,
        Round::Nearest
    ));
    ASSERT_EQ(ops::half_fma(a, b, c).word, expected)
        << std::hex << a.word << ' ' << b.word << ' ' << c.word;
    const auto sum = static_cast<std::uint16_t>(ops::round_to(
        ops::exact_add(ops::exact(a), ops::exact(b), Round::Nearest),
        ops::bf16_format,
        Round::Nearest
    ));
    ASSERT_EQ(ops::half_add(a, b).word, sum);
    const auto product = static_cast<std::uint16_t>(ops::round_to(
        ops::exact_mul(ops::exact(a), ops::exact(b)),
        ops::bf16_format,
        Round::Nearest
    ));
    ASSERT_EQ(ops::half_mul(a, b).word, product);
  }
}

TEST(OpsHalf, ModifiersOfResults) {
  const Half minus{0xbc00}, two{0x4000}, nan{0x7e00}, tiny{0x0001};
  using ops::After;
  EXPECT_EQ((ops::half_add<Half, false, After::Saturate>(two, two).word), 0x3c00);
  EXPECT_EQ((ops::half_add<Half, false, After::Saturate>(minus, minus).word), 0);
  EXPECT_EQ((ops::half_add<Half, false, After::Saturate>(nan, two).word), 0);
  EXPECT_EQ((ops::half_fma<Half, false, After::Relu>(minus, two, minus).word), 0);
  EXPECT_EQ((ops::half_fma<Half, false, After::Relu>(nan, two, minus).word), 0x7fff);
  EXPECT_EQ((ops::half_add<Half, true>(tiny, tiny).word), 0);
  EXPECT_EQ((ops::half_mul<Half, true>(Half{0x3bff}, Half{0x0400}).word), 0);
}

TEST(OpsHalf, FmaOobGivesZeroForElementsOutsideATensor) {
  const Half one{0x3c00}, outside{0xfff7}, other_nan{0x7ff6};
  EXPECT_EQ((ops::half_fma_oob<Half, ops::After::Nothing>(outside, one, one).word), 0);
  EXPECT_EQ((ops::half_fma_oob<Half, ops::After::Nothing>(one, outside, one).word), 0);
  EXPECT_EQ((ops::half_fma_oob<Half, ops::After::Nothing>(other_nan, one, one).word), 0x7fff);
}

TEST(OpsHalf, MinAndMaxOrderEveryPairOfSpecialValues) {
  for (const auto a : special_halves()) {
    for (const auto b : special_halves()) {
      const Half x{a}, y{b};
      const auto low = ops::half_extremum<Half, false>(x, y).word;
      const auto high = ops::half_extremum<Half, true>(x, y).word;
      if (ops::is_nan(x) || ops::is_nan(y)) {
        const auto other = ops::is_nan(x) ? b : a;
        const auto expected = ops::is_nan(x) && ops::is_nan(y) ? 0x7fff : other;
        ASSERT_EQ(low, expected);
        ASSERT_EQ(high, expected);
        ASSERT_EQ((ops::half_extremum<Half, true, false, true>(x, y).word), 0x7fff);
        continue;
      }
      // As integers of sign and magnitude, with -0 below +0.
      const auto order = [](std::uint16_t w) {
        return (w & 0x8000U) != 0 ? -1 - (w & 0x7fff) : int{w};
      };
      ASSERT_EQ(low, order(a) < order(b) ? a : b);
      ASSERT_EQ(high, order(a) < order(b) ? b : a);
    }
  }
}

TEST(OpsHalf, PackedOperationsActOnEachHalf) {
  const auto sum = ops::packed<Half, ops::half_add<Half>>(0x3c00'4000U, 0x3c00'bc00U);
  EXPECT_EQ(sum, 0x4000'3c00U);
}

} // namespace
} // namespace heddle
