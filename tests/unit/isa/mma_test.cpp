// mma.sync and wmma give the bits that an H200 gives (mma_h200.inc, recorded by mma_record.cu).
#include "unit/isa/mma_cases.h"
#include "unit/isa/one_kernel.h"

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

TEST(Mma, SparseFormsAreUnsupported) {
  test::OneKernel k(
      "mov.u32 %r1, 0; mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
      "{%f1,%f2,%f3,%f4}, {%r1,%r1,%r1,%r1}, {%r1,%r1,%r1,%r1}, {%f1,%f2,%f3,%f4}, %r1, 0;"
  );
  EXPECT_NE(k.run(test::warp()).find("this form of mma"), std::string::npos);
}

} // namespace
} // namespace heddle
