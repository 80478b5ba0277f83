// f32 and f64 arithmetic in all roundings against the host's floating-point unit, whose rounding
// mode is changed here (and nowhere in the product); .ftz, .sat, NaN, signs and order against their
// rules.
#include "isa/ops_compare.h"
#include "isa/ops_float.h"

#include "random_values.h"
#include <gtest/gtest.h>

#include <cfenv>

namespace heddle {
namespace {

namespace ops = isa::ops;
using ops::Round;
using test::Stream;

/// The host's operations, out of the optimiser's reach.
template <class T> [[gnu::noinline]] T host(int operation, T a, T b, T c) {
  volatile T x = a, y = b, z = c;
  volatile T r = 0;
  switch (operation) {
  case 0:
    r = x + y;
    break;
  case 1:
    r = x - y;
    break;
  case 2:
    r = x * y;
    break;
  case 3:
    r = std::fma(x, y, z);
    break;
  case 4:
    r = x / y;
    break;
  default:
    r = std::sqrt(x);
    break;
  }
  return r;
}
template <class T> T host_rounded(Round round, int operation, T a, T b, T c) {
  std::fesetround(
      round == Round::Zero   ? FE_TOWARDZERO
      : round == Round::Up   ? FE_UPWARD
      : round == Round::Down ? FE_DOWNWARD
                             : FE_TONEAREST
  );
  const T r = host(operation, a, b, c);
  std::fesetround(FE_TONEAREST);
  return r;
}
template <class T, Round R> T mine(int operation, T a, T b, T c) {
  switch (operation) {
  case 0:
    return ops::float_add<T, R>(a, b);
  case 1:
    return ops::float_sub<T, R>(a, b);
  case 2:
    return ops::float_mul<T, R>(a, b);
  case 3:
    return ops::float_fma<T, R>(a, b, c);
  case 4:
    return ops::float_div<T, R>(a, b);
  default:
    return ops::float_sqrt<T, R>(a);
  }
}
template <class T, Round R> void check(T a, T b, T c) {
  for (int operation = 0; operation < 6; ++operation) {
    const T expected = host_rounded<T>(R, operation, a, b, c);
    const T result = mine<T, R>(operation, a, b, c);
    if (expected != expected) {
      ASSERT_NE(result, result);
    } else {
      ASSERT_EQ(ops::bits(result), ops::bits(expected))
          << "operation " << operation << " rounding " << static_cast<int>(R) << " of "
          << std::hexfloat << a << ' ' << b << ' ' << c;
    }
  }
}
template <class T> void check_all(T a, T b, T c) {
  check<T, Round::Nearest>(a, b, c);
  check<T, Round::Zero>(a, b, c);
  check<T, Round::Down>(a, b, c);
  check<T, Round::Up>(a, b, c);
}

TEST(OpsFloat, SinglesAsTheHostRoundsThem) {
  const auto special = test::special_singles();
  for (const float a : special) {
    for (const float b : special) {
      check_all(a, b, special[(&a - special.data() + 7) % special.size()]);
    }
  }
  Stream s;
  for (int i = 0; i < 30'000; ++i) {
    const int spread = i % 3 == 0 ? 2 : i % 3 == 1 ? 30 : 127;
    check_all(s.single(127, spread), s.single(127, spread), s.single(127, spread));
    // Around the smallest numbers.
    check_all(s.single(64, 3), s.single(64, 3), s.single(1, 3));
  }
}

TEST(OpsFloat, DoublesAsTheHostRoundsThem) {
  const auto special = test::special_doubles();
  for (const double a : special) {
    for (const double b : special) {
      check_all(a, b, special[(&a - special.data() + 5) % special.size()]);
    }
  }
  Stream s;
  const auto near = [&](std::uint64_t exponent, std::uint64_t spread) {
    const std::uint64_t e = exponent + s.next() % (2 * spread + 1) - spread;
    return std::bit_cast<double>((s.next() & 0x800fffffffffffffULL) | e << 52);
  };
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t spread = i % 3 == 0 ? 2 : i % 3 == 1 ? 60 : 1000;
    check_all(near(1023, spread), near(1023, spread), near(1023, spread));
    check_all(near(512, 3), near(512, 3), near(4, 3));
  }
}

/// .ftz: a subnormal operand counts as zero; a result is zero if, rounded as though exponents had
/// no lower bound, it is below the smallest normal number. The host's f64 has such exponents.
template <Round R> void check_flushing(float a, float b) {
  const auto flushed = [](float v) {
    return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0F, v) : v;
  };
  const float x = flushed(a), y = flushed(b);
  // The product in units that are 2^64 smaller is rounded to 24 bits without underflow.
  const float wide = host_rounded<float>(R, 2, x * 0x1p64F, y, 0);
  const float plain = host_rounded<float>(R, 2, x, y, 0);
  if (plain != plain || std::isinf(wide)) {
    return;
  }
  const float expected = std::fabs(wide) < 0x1p-62F ? std::copysign(0.0F, wide) : plain;
  ASSERT_EQ(ops::bits(ops::float_mul<float, R, true>(a, b)), ops::bits(expected))
      << std::hexfloat << a << ' ' << b << " rounding " << static_cast<int>(R);
}
TEST(OpsFloat, FlushesResultsThatAreTinyBeforeTheExponentIsBounded) {
  Stream s;
  for (int i = 0; i < 50'000; ++i) {
    const float a = s.single(64, 2), b = s.single(63, 2);
    check_flushing<Round::Nearest>(a, b);
    check_flushing<Round::Zero>(a, b);
    check_flushing<Round::Down>(a, b);
    check_flushing<Round::Up>(a, b);
  }
  for (const float a : {0x1.000002p-63F, 0x1.fffffep-64F, 0x1p-63F}) {
    for (const float b : {0x1.fffffcp-64F, 0x1.fffffep-64F, 0x1.fffffp-64F}) {
      check_flushing<Round::Nearest>(a, b);
      check_flushing<Round::Up>(a, b);
      check_flushing<Round::Down>(-a, b);
    }
  }
  EXPECT_EQ(ops::bits(ops::float_add<float, Round::Nearest, true>(-0x1p-149F, 0.0F)), 0U);
  EXPECT_EQ(ops::bits(ops::float_neg<float, true>(0x1p-149F)), 0x8000'0000U);
}

TEST(OpsFloat, NanIsCanonicalInSinglesAndHandedOnInDoubles) {
  const float nan = std::bit_cast<float>(0xffa1'2345U);
  EXPECT_EQ(ops::bits(ops::float_add(nan, 1.0F)), 0x7fff'ffffU);
  EXPECT_EQ(ops::bits(ops::float_mul(0.0F, HUGE_VALF)), 0x7fff'ffffU);
  EXPECT_EQ(ops::bits(ops::float_sqrt(-1.0F)), 0x7fff'ffffU);
  EXPECT_EQ(ops::bits(ops::float_neg(nan)), 0x7fff'ffffU);
  const double a = std::bit_cast<double>(0x7ff0'0000'0000'0001ULL);
  const double b = std::bit_cast<double>(0xfff0'0000'0000'0002ULL);
  const double c = std::bit_cast<double>(0x7ff8'0000'0000'0003ULL);
  constexpr std::uint64_t quiet = 0x0008'0000'0000'0000ULL;
  EXPECT_EQ(ops::bits(ops::float_add(a, 1.0)), ops::bits(a) | quiet);
  EXPECT_EQ(ops::bits(ops::float_add(a, b)), ops::bits(b) | quiet);
  EXPECT_EQ(ops::bits(ops::float_div(a, b)), ops::bits(a) | quiet);
  EXPECT_EQ(ops::bits(ops::float_fma(a, b, c)), ops::bits(b) | quiet);
  EXPECT_EQ(ops::bits(ops::float_fma(a, 1.0, c)), ops::bits(c));
  EXPECT_EQ(ops::bits(ops::float_sub(HUGE_VAL, HUGE_VAL)), 0xfff8'0000'0000'0000ULL);
}

TEST(OpsFloat, MinAndMax) {
  const float nan = std::bit_cast<float>(0x7fc0'0001U);
  EXPECT_EQ(ops::bits(ops::float_min(0.0F, -0.0F)), 0x8000'0000U);
  EXPECT_EQ(ops::bits(ops::float_min(-0.0F, 0.0F)), 0x8000'0000U);
  EXPECT_EQ(ops::bits(ops::float_max(-0.0F, 0.0F)), 0U);
  EXPECT_EQ(ops::float_min(nan, 3.0F), 3.0F);
  EXPECT_EQ(ops::float_max(3.0F, nan), 3.0F);
  EXPECT_EQ(ops::bits(ops::float_min(nan, nan)), 0x7fff'ffffU);
  EXPECT_EQ(ops::bits(ops::float_extremum<float, false, false, true>(nan, 3.0F)), 0x7fff'ffffU);
  EXPECT_EQ((ops::float_extremum<float, false, false, false, true>(-5.0F, 3.0F)), -3.0F);
  EXPECT_EQ((ops::float_extremum<float, true, false, false, true>(-5.0F, -3.0F)), 5.0F);
  for (const float a : test::special_singles()) {
    for (const float b : test::special_singles()) {
      if (a == a && b == b && a != b) {
        ASSERT_EQ(ops::float_min(a, b), std::fmin(a, b));
        ASSERT_EQ(ops::float_max(a, b), std::fmax(a, b));
      }
    }
  }
}

TEST(OpsFloat, SaturationTurnsNanIntoZero) {
  EXPECT_EQ(ops::saturate(1.5F), 1.0F);
  EXPECT_EQ(ops::bits(ops::saturate(-0.0F)), 0U);
  EXPECT_EQ(ops::bits(ops::saturate(std::bit_cast<float>(0xffff'ffffU))), 0U);
  EXPECT_EQ(ops::saturate(0.25F), 0.25F);
}

TEST(OpsFloat, Testp) {
  using ops::Test;
  EXPECT_TRUE((ops::testp<Test::Normal, float>(0.0F))); // as hardware has it
  EXPECT_FALSE((ops::testp<Test::Normal, float>(0x1p-149F)));
  EXPECT_TRUE((ops::testp<Test::Subnormal, double>(0x1p-1074)));
  EXPECT_TRUE((ops::testp<Test::Infinite, double>(-HUGE_VAL)));
  EXPECT_TRUE((ops::testp<Test::NotANumber, float>(std::nanf(""))));
  EXPECT_FALSE((ops::testp<Test::Finite, float>(HUGE_VALF)));
  EXPECT_TRUE((ops::testp<Test::Number, float>(HUGE_VALF)));
}

} // namespace
} // namespace heddle
