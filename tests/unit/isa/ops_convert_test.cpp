// cvt: to small formats against a search in the table of all their numbers, to integers against
// long double, between integers over all widths.
#include "isa/ops_convert.h"

#include "exact_table.h"
#include "random_values.h"
#include <gtest/gtest.h>

namespace heddle {
namespace {

namespace ops = isa::ops;
using ops::Bfloat;
using ops::Format;
using ops::Half;
using ops::Round;
using test::Direction;
using test::ExactTable;
using test::Stream;

/// Finite f32 numbers between 2^-60 and 2^60, where tables can hold them, and near the format's
/// edges.
std::vector<float> moderate_singles(int lowest_exponent) {
  std::vector<float> values;
  Stream s;
  for (int i = 0; i < 40'000; ++i) {
    values.push_back(s.single(127, i % 2 == 0 ? 12 : -lowest_exponent));
  }
  for (const float v : test::special_singles()) {
    if (std::fabs(v) < 0x1p40F && (v == 0 || std::fabs(v) > 0x1p-30F)) {
      values.push_back(v);
    }
  }
  return values;
}

template <Format To, Round R, bool Satfinite>
void check_narrow(const ExactTable& table, Direction direction, const std::vector<float>& values) {
  for (const float v : values) {
    if (v == 0) {
      continue;
    }
    std::uint32_t code = table.round(table.scaled(static_cast<double>(v)), direction);
    if (code == table.count() && (Satfinite || To.specials != Format::Specials::Ieee)) {
      code = table.count() - 1;
    }
    const std::uint32_t sign = std::signbit(v) ? static_cast<std::uint32_t>(To.sign()) : 0U;
    ASSERT_EQ((ops::narrow<To, R, false, Satfinite>(v)), sign | code) << std::hexfloat << v;
    ASSERT_EQ((ops::narrow<To, R, true, Satfinite>(v)), sign != 0 ? 0 : code) << std::hexfloat << v;
  }
}

TEST(OpsConvert, SinglesToF16) {
  const ExactTable table(5, 10, 0x7c00, 60);
  const auto values = moderate_singles(-35);
  check_narrow<ops::f16_format, Round::Nearest, false>(table, Direction::Nearest, values);
  check_narrow<ops::f16_format, Round::Zero, false>(table, Direction::Zero, values);
  check_narrow<ops::f16_format, Round::Down, false>(table, Direction::Down, values);
  check_narrow<ops::f16_format, Round::Up, false>(table, Direction::Up, values);
  check_narrow<ops::f16_format, Round::Nearest, true>(table, Direction::Nearest, values);
  check_narrow<ops::f16_format, Round::NearestAway, false>(table, Direction::Away, values);
}
TEST(OpsConvert, SinglesTo8And6And4Bits) {
  const auto values = moderate_singles(-30);
  check_narrow<ops::e5m2_format, Round::Nearest, true>(
      ExactTable(5, 2, 0x7c, 60),
      Direction::Nearest,
      values
  );
  check_narrow<ops::e4m3_format, Round::Nearest, true>(
      ExactTable(4, 3, 0x7f, 60),
      Direction::Nearest,
      values
  );
  check_narrow<ops::e3m2_format, Round::Nearest, true>(
      ExactTable(3, 2, 0x20, 60),
      Direction::Nearest,
      values
  );
  check_narrow<ops::e2m3_format, Round::Nearest, true>(
      ExactTable(2, 3, 0x20, 60),
      Direction::Nearest,
      values
  );
  check_narrow<ops::e2m1_format, Round::Nearest, true>(
      ExactTable(2, 1, 0x08, 60),
      Direction::Nearest,
      values
  );
}
TEST(OpsConvert, SmallFormatsOfNanAndInfinity) {
  const float nan = std::nanf(""), infinity = HUGE_VALF;
  EXPECT_EQ((ops::narrow<ops::e4m3_format, Round::Nearest, false, true>(nan)), 0x7fU);
  EXPECT_EQ((ops::narrow<ops::e4m3_format, Round::Nearest, false, true>(-infinity)), 0xfeU);
  EXPECT_EQ((ops::narrow<ops::e5m2_format, Round::Nearest, false, true>(infinity)), 0x7bU);
  EXPECT_EQ((ops::narrow<ops::e2m1_format, Round::Nearest, false, true>(nan)), 0x7U);
  EXPECT_EQ((ops::narrow<ops::e2m3_format, Round::Nearest, true, true>(-infinity)), 0U);
}
TEST(OpsConvert, EverySmallNumberSurvivesF16) {
  for (std::uint32_t code = 0; code < 0x100; ++code) {
    const auto twice = static_cast<std::uint16_t>(code << 8 | code);
    const std::uint32_t e4m3 = ops::widen_packed<ops::e4m3_format, false, 8>(twice);
    const std::uint32_t e5m2 = ops::widen_packed<ops::e5m2_format, false, 8>(twice);
    if ((code & 0x7fU) != 0x7f) {
      ASSERT_EQ((ops::narrow_packed<ops::e4m3_format, false, 8, Half>(e4m3)), twice);
    }
    if ((code & 0x7fU) < 0x7c) {
      ASSERT_EQ((ops::narrow_packed<ops::e5m2_format, false, 8, Half>(e5m2)), twice);
      ASSERT_EQ(e5m2 & 0xffffU, code << 8); // e5m2 is the upper byte of f16
    }
  }
  for (std::uint32_t code = 0; code < 0x10; ++code) {
    const std::uint32_t wide =
        ops::widen_packed<ops::e2m1_format, false, 4>(static_cast<std::uint16_t>(code * 0x11));
    ASSERT_EQ((ops::narrow_packed<ops::e2m1_format, false, 4, Half>(wide)), code * 0x11);
  }
}

TEST(OpsConvert, PowersOfTwo) { // ue8m0
  for (std::uint32_t code = 0; code < 0xff; ++code) {
    const float power = std::ldexp(1.0F, static_cast<int>(code) - 127);
    ASSERT_EQ((ops::narrow_to_ue8m0<true, true>(power)), code);
    ASSERT_EQ((ops::narrow_to_ue8m0<false, true>(power)), code);
    ASSERT_EQ(ops::to_float(Bfloat{static_cast<std::uint16_t>(ops::widen_ue8m0(code))}), power);
  }
  EXPECT_EQ((ops::narrow_to_ue8m0<true, false>(1.5F)), 128U);
  EXPECT_EQ((ops::narrow_to_ue8m0<false, false>(1.5F)), 127U);
  EXPECT_EQ((ops::narrow_to_ue8m0<true, true>(HUGE_VALF)), 0xfeU);
  EXPECT_EQ((ops::narrow_to_ue8m0<true, false>(HUGE_VALF)), 0xffU);
  EXPECT_EQ((ops::narrow_to_ue8m0<true, true>(std::nanf(""))), 0xffU);
}

/// Stochastic rounding goes away from zero for exactly as many random numbers as the part cut off
/// says.
TEST(OpsConvert, StochasticRoundingIsProportional) {
  for (const std::uint32_t part : {0x0000U, 0x0001U, 0x4000U, 0x8000U, 0xffffU}) {
    const float v = std::bit_cast<float>(0x3f80'0000U | part);
    unsigned up = 0;
    for (std::uint32_t random = 0; random < 0x10000; ++random) {
      up += (ops::narrow_stochastic<ops::bf16_format, 16, false, false>(v, random)) == 0x3f81U ? 1
                                                                                               : 0;
    }
    ASSERT_EQ(up, part);
  }
}

// --- To integers

/// The manual's words in long double: round, then clamp.
template <class I, Round R, class F> I integer_by_long_double(F v) {
  if (v != v) {
    return ops::integer_of_nan<I, F>();
  }
  long double x = v;
  x = R == Round::Zero   ? std::trunc(x)
      : R == Round::Down ? std::floor(x)
      : R == Round::Up   ? std::ceil(x)
                         : std::nearbyint(x);
  if (x < static_cast<long double>(std::numeric_limits<I>::min())) {
    return std::numeric_limits<I>::min();
  }
  if (x > static_cast<long double>(std::numeric_limits<I>::max())) {
    return std::numeric_limits<I>::max();
  }
  return static_cast<I>(x);
}
template <class I, class F> void check_to_integer(F v) {
  ASSERT_EQ(
      (ops::float_to_integer<I, F, Round::Nearest>(v)),
      (integer_by_long_double<I, Round::Nearest>(v))
  ) << std::hexfloat
    << v;
  ASSERT_EQ(
      (ops::float_to_integer<I, F, Round::Zero>(v)),
      (integer_by_long_double<I, Round::Zero>(v))
  ) << std::hexfloat
    << v;
  ASSERT_EQ(
      (ops::float_to_integer<I, F, Round::Down>(v)),
      (integer_by_long_double<I, Round::Down>(v))
  ) << std::hexfloat
    << v;
  ASSERT_EQ((ops::float_to_integer<I, F, Round::Up>(v)), (integer_by_long_double<I, Round::Up>(v)))
      << std::hexfloat << v;
}
template <class F> void check_to_all_integers(F v) {
  check_to_integer<std::int32_t>(v);
  check_to_integer<std::uint32_t>(v);
  check_to_integer<std::int64_t>(v);
  check_to_integer<std::uint64_t>(v);
}
TEST(OpsConvert, FloatsToIntegers) {
  for (const float v : test::special_singles()) {
    check_to_all_integers(v);
  }
  for (const double v : test::special_doubles()) {
    check_to_all_integers(v);
  }
  Stream s;
  for (int i = 0; i < 40'000; ++i) {
    const float v = s.single(127 + 32, 40);
    check_to_all_integers(v);
    check_to_all_integers(static_cast<double>(v) + 0.5);
    check_to_all_integers(static_cast<double>(s.integer<std::int64_t>()));
  }
  for (const double limit : {0x1p31, 0x1p32, 0x1p63, 0x1p64}) {
    for (const double v : {limit, std::nextafter(limit, 0.0), limit - 0.5, limit + 0.5}) {
      check_to_all_integers(v);
      check_to_all_integers(-v);
      check_to_all_integers(static_cast<float>(v));
    }
  }
}

TEST(OpsConvert, IntegersToFloatsInEveryDirection) {
  const ExactTable table(5, 10, 0x7c00, 24);
  Stream s;
  for (int i = 0; i < 40'000; ++i) {
    const auto v = s.integer<std::int64_t>();
    const auto check = [&]<class F>(F nearest, F zero, F down, F up) {
      const auto exact = static_cast<long double>(v); // 64 bits of mantissa
      ASSERT_LE(static_cast<long double>(down), exact);
      ASSERT_GE(static_cast<long double>(up), exact);
      ASSERT_EQ(zero, v < 0 ? up : down);
      ASSERT_TRUE(down == up || std::nextafter(down, static_cast<F>(HUGE_VAL)) == up) << v;
      ASSERT_TRUE(nearest == down || nearest == up);
      ASSERT_LE(
          std::fabs(static_cast<long double>(nearest) - exact),
          std::fabs(static_cast<long double>(up) - exact)
      );
      ASSERT_LE(
          std::fabs(static_cast<long double>(nearest) - exact),
          std::fabs(static_cast<long double>(down) - exact)
      );
    };
    using S = std::int64_t;
    check(
        ops::integer_to_float<float, S, Round::Nearest>(v),
        ops::integer_to_float<float, S, Round::Zero>(v),
        ops::integer_to_float<float, S, Round::Down>(v),
        ops::integer_to_float<float, S, Round::Up>(v)
    );
    check(
        ops::integer_to_float<double, S, Round::Nearest>(v),
        ops::integer_to_float<double, S, Round::Zero>(v),
        ops::integer_to_float<double, S, Round::Down>(v),
        ops::integer_to_float<double, S, Round::Up>(v)
    );
    if (v != 0) {
      const auto code = table.round(static_cast<test::Wide>(v) << 24, Direction::Nearest);
      ASSERT_EQ(
          (ops::integer_to_half<Half, S, Round::Nearest>(v).word),
          code | (v < 0 ? 0x8000U : 0U)
      );
    }
  }
}

TEST(OpsConvert, NarrowingFromDoubleRoundsOnce) {
  // 1 + 2^-24 + 2^-53: to f32 and then to f16 would lose the last bit of all.
  const double v = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ((ops::double_to_half<Half, Round::Nearest>(v).word), 0x3c01);
  EXPECT_EQ((ops::double_to_half<Bfloat, Round::Nearest>(1.0 + 0x1p-8 + 0x1p-50).word), 0x3f81);
  EXPECT_EQ((ops::double_to_float<Round::Up>(1.0 + 0x1p-50)), 1.0F + 0x1p-23F);
  EXPECT_EQ((ops::double_to_float<Round::Zero>(0x1p200)), std::numeric_limits<float>::max());
}

TEST(OpsConvert, PackSaturates) {
  EXPECT_EQ((ops::pack_saturated_pair<16, true>(40'000, -40'000)), 0x7fff'8000U);
  EXPECT_EQ((ops::pack_saturated_pair<16, false>(70'000, -1)), 0xffff'0000U);
  EXPECT_EQ((ops::pack_saturated<8, true>(-200, 100, 0x1234'5678U)), 0x5678'8064U);
  EXPECT_EQ((ops::pack_saturated<2, false>(9, -9, 0xffff'ffffU)), 0xffff'fffcU);
}

} // namespace
} // namespace heddle
