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

void expect_recorded_bits(std::size_t number, const std::string& ptx) {
  const test::MmaCase& c = test::mma_cases[number];
  test::KernelRunner runner(ptx);
  for (int round = 0; round < test::mma_rounds; ++round) {
    const auto words = test::mma_input(number, round);
    const auto in = runner.buffer<std::uint32_t>(test::mma_in_words);
    const auto out = runner.buffer<std::uint32_t>(test::mma_out_words);
    std::copy(words.begin(), words.end(), in.data);
    const auto result = runner.launch("k", test::warp(), {out.address, in.address});
    ASSERT_EQ(result.error, "");
    ASSERT_FALSE(result.fault) << result.fault->fault.text;
    EXPECT_EQ(test::mma_digest(out.data), recorded[number][round]) << c.name << ", round " << round;
  }
}

TEST_P(Mma, BitsOfAnH200) {
  expect_recorded_bits(GetParam(), test::mma_ptx(test::mma_cases[GetParam()]));
}

// Seven lanes stand at another instruction than the others: each part hands over what it has.
TEST_P(Mma, BitsOfAnH200WhereTheWarpHasParted) {
  std::string ptx = test::mma_ptx(test::mma_cases[GetParam()]);
  const std::size_t begin = std::min(ptx.find("\nmma."), ptx.find("\nwmma.mma.")) + 1;
  const std::size_t end = ptx.find(';', begin) + 1;
  const std::string multiply = ptx.substr(begin, end - begin);
  ptx.replace(
      begin,
      end - begin,
      ".reg .pred %apart; setp.lt.u32 %apart, %lane, 7; @%apart bra FIRST;\n" + multiply +
          "\nbra.uni BOTH;\nFIRST:\n" + multiply + "\nBOTH:"
  );
  expect_recorded_bits(GetParam(), ptx);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Mma,
    testing::Range<std::size_t>(0, std::size(test::mma_cases)),
    [](const auto& info) {
      return test::replaced(std::string(test::mma_cases[info.param].name), " ", "_");
    }
);

// What is computed for eight columns and some rows at once is what is defined for one element, or
// nothing.
TEST(Mma, ColumnsOfRowsAreElements) {
  namespace ops = isa::ops;
  std::mt19937 random(1);
  int answered = 0;
  constexpr int rounds = 20000;
  struct FloatType {
    ops::Format format;
    ops::FactorColumns (*factors)(ops::Columns);
  };
  const FloatType types[] = {
      {ops::f16_format, ops::factor_columns<ops::f16_format>},
      {ops::bf16_format, ops::factor_columns<ops::bf16_format>},
      {ops::tf32_format, ops::factor_columns<ops::tf32_format>},
      {ops::e4m3_format, ops::factor_columns<ops::e4m3_format>},
      {ops::e5m2_format, ops::factor_columns<ops::e5m2_format>},
  };
  for (int round = 0; round < rounds; ++round) {
    const auto& [format, factors_of] = types[round % 5];
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
      return any % 512 == 0  ? (any >> 8) & ((1U << (bits + 1)) - 1)
             : any % 16 == 1 ? 0U
                             : near | (any >> 31) << bits;
    };
    constexpr int rows = 4;
    ops::Factor a[rows][32];
    float values[rows][32];
    std::int32_t tops[rows][32];
    ops::Factor b[ops::columns_at_once][32];
    ops::FactorColumns factors[32];
    for (int i = 0; i < k; ++i) {
      for (int row = 0; row < rows; ++row) {
        const std::uint32_t of_a = word();
        a[row][i] = ops::factor(of_a, format);
        const auto same = factors_of(ops::all_columns(static_cast<std::int32_t>(of_a)));
        values[row][i] = same.value[0];
        tops[row][i] = same.top[0];
      }
      ops::Columns words;
      for (int j = 0; j < ops::columns_at_once; ++j) {
        const std::uint32_t of_b = word();
        b[j][i] = ops::factor(of_b, format);
        words[j] = static_cast<std::int32_t>(of_b);
      }
      factors[i] = factors_of(words);
    }
    ops::FactorRow of_a[rows];
    ops::Columns c[rows];
    for (int row = 0; row < rows; ++row) {
      of_a[row] = {values[row], tops[row]};
      for (int j = 0; j < ops::columns_at_once; ++j) {
        const std::uint32_t any = random();
        c[row][j] = static_cast<std::int32_t>(
            any % 32 == 0   ? 0U
            : any % 32 == 1 ? random()
                            : (any & 0x81ff'ffffU) + 0x3e00'0000U
        );
      }
    }
    ops::Columns d[rows];
    const int product_bits = 2 * format.mantissa_bits;
    if (eight && !short_sums ? !ops::matrix_dot_f8_columns<rows>(of_a, factors, k, c, d)
                             : !ops::matrix_dot_columns<rows>(of_a, factors, k, how, half, c, d)) {
      continue;
    }
    ++answered;
    for (int at = 0; at < rows * ops::columns_at_once; ++at) {
      const int row = at / ops::columns_at_once;
      const int j = at % ops::columns_at_once;
      const auto addend = static_cast<std::uint32_t>(c[row][j]);
      const ops::Factor* x = a[row];
      const std::uint32_t expected =
          eight && !short_sums ? ops::matrix_dot_f8(x, b[j], k, product_bits, addend)
          : half               ? ops::matrix_dot<true>(x, b[j], k, how, product_bits, addend)
                               : ops::matrix_dot<false>(x, b[j], k, how, product_bits, addend);
      ASSERT_EQ(static_cast<std::uint32_t>(d[row][j]), expected)
          << "round " << round << ", row " << row << ", column " << j;
    }
  }
  EXPECT_GT(answered, rounds / 10);
}

// 16 products that are nearly 4 fit in 32 bits when they are aligned, with an addend that is nearly
// 2 they do not.
TEST(Mma, SumsOfColumnsThatDoNotFitAreNotAnswered) {
  namespace ops = isa::ops;
  constexpr int k = 16;
  constexpr std::uint32_t below_two = 0x3fffU;
  const auto column = ops::factor_columns<ops::f16_format>(ops::all_columns(below_two));
  const std::vector<ops::FactorColumns> b(k, column);
  const std::vector<float> values(k, column.value[0]);
  const std::vector<std::int32_t> tops(k, column.top[0]);
  const std::vector<ops::Factor> factors(k, ops::factor(below_two, ops::f16_format));
  const ops::FactorRow row{values.data(), tops.data()};
  ops::Columns c = ops::all_columns(0);
  ops::Columns d;
  ASSERT_TRUE(ops::matrix_dot_columns<1>(&row, b.data(), k, {k}, /*half=*/false, &c, &d));
  const int product_bits = 2 * ops::f16_format.mantissa_bits;
  EXPECT_EQ(
      static_cast<std::uint32_t>(d[0]),
      ops::matrix_dot<false>(factors.data(), factors.data(), k, {k}, product_bits, 0)
  );
  c = ops::all_columns(0x3fff'ffff);
  EXPECT_FALSE(ops::matrix_dot_columns<1>(&row, b.data(), k, {k}, /*half=*/false, &c, &d));
}

} // namespace
} // namespace heddle
