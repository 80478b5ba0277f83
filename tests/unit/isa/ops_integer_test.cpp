// Integer instructions against 128-bit arithmetic.
#include "isa/ops_integer.h"

#include "random_values.h"
#include <gtest/gtest.h>

namespace heddle {
namespace {

namespace ops = isa::ops;
using test::Stream;
using Int = __int128;
using Unsigned = unsigned __int128;

/// The low bits of an exact value.
template <class T> T low(Int value) {
  return static_cast<T>(static_cast<Unsigned>(value));
}
template <class T> std::vector<T> edges() {
  using U = std::make_unsigned_t<T>;
  std::vector<T> values;
  for (int i = -3; i <= 3; ++i) {
    for (const U center :
         {U{0}, static_cast<U>(std::numeric_limits<U>::max() / 2), std::numeric_limits<U>::max()}) {
      values.push_back(static_cast<T>(static_cast<U>(center + static_cast<U>(i))));
    }
  }
  return values;
}
template <class F> void for_pairs_of(F f) {
  f.template operator()<std::int16_t>();
  f.template operator()<std::uint16_t>();
  f.template operator()<std::int32_t>();
  f.template operator()<std::uint32_t>();
  f.template operator()<std::int64_t>();
  f.template operator()<std::uint64_t>();
}
template <class T, class F> void pairs(F f) {
  for (const T a : edges<T>()) {
    for (const T b : edges<T>()) {
      f(a, b);
    }
  }
  Stream s;
  for (int i = 0; i < 20'000; ++i) {
    f(s.integer<T>(), s.integer<T>());
  }
}

TEST(OpsInteger, AddSubMulAreTheLowAndHighBitsOfTheExactResult) {
  for_pairs_of([]<class T>() {
    pairs<T>([](T a, T b) {
      const Int x = a, y = b;
      const Unsigned product = std::is_signed_v<T>
                                   ? static_cast<Unsigned>(x * y)
                                   : static_cast<Unsigned>(x) * static_cast<Unsigned>(y);
      ASSERT_EQ(ops::add(a, b), low<T>(x + y));
      ASSERT_EQ(ops::sub(a, b), low<T>(x - y));
      ASSERT_EQ(ops::mul_lo(a, b), static_cast<T>(product));
      ASSERT_EQ(ops::mul_hi(a, b), static_cast<T>(product >> (8 * sizeof(T))));
      ASSERT_EQ(ops::mad_lo(a, b, T{77}), static_cast<T>(product + 77));
      ASSERT_EQ(ops::sad(a, b, T{5}), low<T>((x < y ? y - x : x - y) + 5));
      ASSERT_EQ(ops::min(a, b), a < b ? a : b);
      ASSERT_EQ(ops::max(a, b), a > b ? a : b);
    });
  });
}

TEST(OpsInteger, WideProducts) {
  pairs<std::int32_t>([](std::int32_t a, std::int32_t b) {
    ASSERT_EQ(ops::mul_wide(a, b), std::int64_t{a} * b);
    ASSERT_EQ(ops::mad_wide(a, b, std::int64_t{1}), std::int64_t{a} * b + 1);
  });
  pairs<std::uint16_t>([](std::uint16_t a, std::uint16_t b) {
    ASSERT_EQ(ops::mul_wide(a, b), std::uint32_t{a} * std::uint32_t{b});
  });
}

TEST(OpsInteger, Saturation) {
  const auto clamped = [](Int v) {
    return static_cast<std::int32_t>(
        v < -0x8000'0000LL ? -0x8000'0000LL
        : v > 0x7fff'ffff  ? Int{0x7fff'ffff}
                           : v
    );
  };
  pairs<std::int32_t>([&](std::int32_t a, std::int32_t b) {
    ASSERT_EQ(ops::add_sat(a, b), clamped(Int{a} + b));
    ASSERT_EQ(ops::sub_sat(a, b), clamped(Int{a} - b));
    ASSERT_EQ(ops::mad_hi_sat(a, b, a), clamped((Int{a} * b >> 32) + a));
  });
}

TEST(OpsInteger, DivisionIsTotal) {
  for_pairs_of([]<class T>() {
    pairs<T>([](T a, T b) {
      if (b == 0) {
        ASSERT_EQ(ops::div(a, b), static_cast<T>(~T{0}));
        ASSERT_EQ(ops::rem(a, b), static_cast<T>(~T{0}));
        return;
      }
      ASSERT_EQ(ops::div(a, b), low<T>(Int{a} / Int{b}));
      ASSERT_EQ(ops::rem(a, b), low<T>(Int{a} % Int{b}));
    });
  });
}

TEST(OpsInteger, Products24) {
  pairs<std::int32_t>([](std::int32_t a, std::int32_t b) {
    const auto extended = [](std::int32_t v) { return Int{(v & 0x7f'ffff) - (v & 0x80'0000)}; };
    const Int product = extended(a) * extended(b);
    ASSERT_EQ(ops::mul24_lo(a, b), low<std::int32_t>(product));
    ASSERT_EQ(ops::mul24_hi(a, b), low<std::int32_t>(product >> 16));
  });
  pairs<std::uint32_t>([](std::uint32_t a, std::uint32_t b) {
    const Int product = Int{a & 0xff'ffffU} * Int{b & 0xff'ffffU};
    ASSERT_EQ(ops::mul24_lo(a, b), low<std::uint32_t>(product));
    ASSERT_EQ(ops::mul24_hi(a, b), low<std::uint32_t>(product >> 16));
  });
}

TEST(OpsInteger, CarryChainsMake128BitArithmetic) {
  Stream s;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t a[2] = {s.integer<std::uint64_t>(), s.integer<std::uint64_t>()};
    const std::uint64_t b[2] = {s.integer<std::uint64_t>(), s.integer<std::uint64_t>()};
    const Unsigned x = static_cast<Unsigned>(a[1]) << 64 | a[0];
    const Unsigned y = static_cast<Unsigned>(b[1]) << 64 | b[0];
    const auto sum0 = ops::add_carry(a[0], b[0], false);
    const auto sum1 = ops::add_carry(a[1], b[1], sum0.carry);
    ASSERT_EQ(static_cast<Unsigned>(sum1.value) << 64 | sum0.value, x + y);
    ASSERT_EQ(sum1.carry, x + y < x);
    const auto difference0 = ops::sub_carry(a[0], b[0], true);
    const auto difference1 = ops::sub_carry(a[1], b[1], difference0.carry);
    ASSERT_EQ(static_cast<Unsigned>(difference1.value) << 64 | difference0.value, x - y);
    ASSERT_EQ(difference1.carry, x >= y); // the carry is set when nothing was borrowed
    const auto mad0 = ops::mad_lo_carry(a[0], b[0], a[1], false);
    const auto mad1 = ops::mad_hi_carry(a[0], b[0], b[1], mad0.carry);
    const Unsigned exact = static_cast<Unsigned>(a[0]) * b[0] + a[1];
    ASSERT_EQ(mad0.value, static_cast<std::uint64_t>(exact));
    ASSERT_EQ(mad1.value, static_cast<std::uint64_t>(exact >> 64) + b[1]);
  }
}

TEST(OpsInteger, DotProducts) {
  Stream s;
  for (int i = 0; i < 5'000; ++i) {
    const auto a = static_cast<std::uint32_t>(s.next()), b = static_cast<std::uint32_t>(s.next()),
               c = static_cast<std::uint32_t>(s.next());
    Int mixed = c, halves = c;
    for (int k = 0; k < 4; ++k) {
      mixed +=
          Int{static_cast<std::int8_t>(a >> (8 * k))} * static_cast<std::uint8_t>(b >> (8 * k));
    }
    for (int k = 0; k < 2; ++k) {
      halves += Int{static_cast<std::uint16_t>(a >> (16 * k))} *
                static_cast<std::int8_t>(b >> (16 + 8 * k));
    }
    ASSERT_EQ((ops::dp4a<std::int8_t, std::uint8_t>(a, b, c)), low<std::uint32_t>(mixed));
    ASSERT_EQ((ops::dp2a<std::uint16_t, std::int8_t, true>(a, b, c)), low<std::uint32_t>(halves));
  }
}

} // namespace
} // namespace heddle
