// mma.sync and wmma give the bits that an H200 gives (mma_h200.inc, recorded by mma_record.cu).
#include "isa/ops_matrix_columns.h"

#include "unit/isa/mma_cases.h"
#include "unit/isa/one_kernel.h"

#include <random>

namespace heddle {
namespace {

constexpr std::uint64_t recorded[][test::mma_rounds] = {
#include "unit/isa/mma_h200.inc"
};
static_assert(std::size(recorded) == std::size(test::mma_cases));

class Mma : public testing::TestWithParam<std::size_t> {};

TEST_P(Mma, BitsOfAnH200) {
  const test::MmaCase& c = test::mma_cases[GetParam()];
  test::KernelRunner runner(test::mma_ptx(c));
  for (int round = 0; round < test::mma_rounds; ++round) {
    const auto words = test::mma_input(GetParam(), round);
    const auto in = runner.buffer<std::uint32_t>(test::mma_in_words);
    const auto out = runner.buffer<std::uint32_t>(test::mma_out_words);
    std::copy(words.begin(), words.end(), in.data);
    const auto result = runner.launch("k", test::warp(), {out.address, in.address});
    ASSERT_EQ(result.error, "");
    ASSERT_FALSE(result.fault) << result.fault->fault.text;
    EXPECT_EQ(test::mma_digest(out.data), recorded[GetParam()][round])
        << c.name << ", round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Mma,
    testing::Range<std::size_t>(0, std::size(test::mma_cases)),
    [](const auto& info) {
      return test::replaced(std::string(test::mma_cases[info.param].name), " ", "_");
    }
);

// What is computed for eight columns at once is what is defined for one element, or nothing.
TEST(Mma, EightColumnsAreEightElements) {
  namespace ops = isa::ops;
  std::mt19937 random(1);
  int answered = 0;
  constexpr int rounds = 20000;
  const ops::Format formats[] =
      {ops::f16_format, ops::bf16_format, ops::tf32_format, ops::e4m3_format, ops::e5m2_format};
  for (int round = 0; round < rounds; ++round) {
    const ops::Format& format = formats[round % 5];
    const bool eight = format.mantissa_bits < 7;
    const bool half = !eight && round % 3 == 0;
    const int k = eight ? 32 : 16;
    // The last kind of round: as wgmma adds 8-bit floats.
    const bool short_sums = eight && round % 2 == 0;
    const ops::Accumulation how =
        short_sums ? ops::Accumulation{32, 13} : ops::Accumulation{round % 2 == 0 ? k : 4};
    // Exponents of all values in a window, which is anywhere, now and then specials and zeros.
    const auto bits = static_cast<unsigned>(format.exponent_bits + format.mantissa_bits);
    const auto base = random() & ((1U << bits) - 1);
    const auto word = [&] {
      const std::uint32_t any = random();
      const std::uint32_t near =
          (base + (any >> 8) % (16U << format.mantissa_bits)) & ((1U << bits) - 1);
      return any % 64 == 0   ? (any >> 8) & ((1U << (bits + 1)) - 1)
             : any % 16 == 1 ? 0U
                             : near | (any >> 31) << bits;
    };
    ops::Factor a[32];
    float values[32];
    std::int32_t tops[32];
    ops::Factor b[ops::columns_at_once][32];
    ops::FactorColumns rows[32];
    for (int i = 0; i < k; ++i) {
      const std::uint32_t of_a = word();
      a[i] = ops::factor(of_a, format);
      const auto same =
          ops::factor_columns(ops::all_columns(static_cast<std::int32_t>(of_a)), format);
      values[i] = same.value[0];
      tops[i] = same.top[0];
      ops::Columns words;
      for (int j = 0; j < ops::columns_at_once; ++j) {
        const std::uint32_t of_b = word();
        b[j][i] = ops::factor(of_b, format);
        words[j] = static_cast<std::int32_t>(of_b);
      }
      rows[i] = ops::factor_columns(words, format);
    }
    ops::Columns c{};
    for (int j = 0; j < ops::columns_at_once; ++j) {
      const std::uint32_t any = random();
      c[j] = static_cast<std::int32_t>(
          any % 8 == 0   ? 0U
          : any % 8 == 1 ? random()
                         : (any & 0x81ff'ffffU) + 0x3e00'0000U
      );
    }
    ops::Columns d;
    const int product_bits = 2 * format.mantissa_bits;
    const ops::FactorRow row{values, tops};
    if (eight && !short_sums ? !ops::matrix_dot_f8_columns(row, rows, k, c, d)
                             : !ops::matrix_dot_columns(row, rows, k, how, half, c, d)) {
      continue;
    }
    ++answered;
    for (int j = 0; j < ops::columns_at_once; ++j) {
      const auto addend = static_cast<std::uint32_t>(c[j]);
      const std::uint32_t expected =
          eight && !short_sums ? ops::matrix_dot_f8(a, b[j], k, product_bits, addend)
          : half               ? ops::matrix_dot<true>(a, b[j], k, how, product_bits, addend)
                               : ops::matrix_dot<false>(a, b[j], k, how, product_bits, addend);
      ASSERT_EQ(static_cast<std::uint32_t>(d[j]), expected)
          << "round " << round << ", column " << j;
    }
  }
  EXPECT_GT(answered, rounds / 10);
}

} // namespace
} // namespace heddle
