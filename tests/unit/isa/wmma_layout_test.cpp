// wmma.load gives each lane the elements that an H200 gives it (wmma_layout_h200.inc, recorded by
// mma_record.cu), and wmma.store puts them where they belong.
#include "unit/isa/one_kernel.h"
#include "unit/isa/wmma_layout_cases.h"

namespace heddle {
namespace {

constexpr std::uint64_t recorded_layouts[][test::wmma_layout_rounds] = {
#include "unit/isa/wmma_layout_h200.inc"
};

class WmmaLayout : public testing::TestWithParam<std::size_t> {};

TEST_P(WmmaLayout, ElementsOfAnH200) {
  ASSERT_EQ(std::size(recorded_layouts), test::wmma_layout_cases().size());
  const test::WmmaLayoutCase& c = test::wmma_layout_cases()[GetParam()];
  test::KernelRunner runner(test::wmma_layout_ptx(c));
  for (int round = 0; round < test::wmma_layout_rounds; ++round) {
    const auto words = test::wmma_layout_input(GetParam(), round);
    const auto in = runner.buffer<std::uint32_t>(test::wmma_layout_in_words);
    const auto out = runner.buffer<std::uint32_t>(test::wmma_layout_out_words);
    std::copy(words.begin(), words.end(), in.data);
    const auto result = runner.launch("k", test::warp(), {out.address, in.address});
    ASSERT_EQ(result.error, "");
    ASSERT_FALSE(result.fault) << result.fault->fault.text;
    EXPECT_EQ(
        test::mma_digest(out.data, test::wmma_layout_out_words),
        recorded_layouts[GetParam()][round]
    ) << c.name
      << ", round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    WmmaLayout,
    testing::Range<std::size_t>(0, test::wmma_layout_cases().size()),
    [](const auto& info) {
      return test::replaced(test::wmma_layout_cases()[info.param].name, " ", "_");
    }
);

// From one layout in memory to the other.
TEST(Wmma, StoresWhatItLoads) {
  for (const test::WmmaLayoutCase& c : test::wmma_layout_cases()) {
    if (c.fragment != 'c') {
      continue;
    }
    const std::string_view other = c.by_columns ? "row" : "col";
    const int other_stride = c.by_columns ? c.columns() : c.rows();
    std::string ptx = test::wmma_layout_ptx(c);
    const std::string store = "wmma.store.d.sync.aligned." + std::string(other) + "." + c.shape() +
                              ".global." + c.type + " [%o], " + test::mma_list('d', c.registers) +
                              ", " + std::to_string(other_stride) + ";\n";
    ptx.insert(ptx.find("ret;"), "ld.param.u64 %o, [out];\n" + store + store);
    test::KernelRunner runner(ptx);
    const auto in = runner.buffer<std::uint32_t>(test::wmma_layout_in_words);
    const auto out = runner.buffer<std::uint32_t>(test::wmma_layout_out_words);
    const int elements = c.rows() * c.columns();
    const auto element_bytes = static_cast<std::size_t>(c.bits / 8);
    auto* const from = reinterpret_cast<std::byte*>(in.data);
    for (int at = 0; at < elements; ++at) {
      std::memcpy(
          from + static_cast<std::size_t>(at) * element_bytes,
          &at,
          std::min<std::size_t>(element_bytes, 4)
      );
    }
    const auto result = runner.launch("k", test::warp(), {out.address, in.address});
    ASSERT_EQ(result.error, "") << c.name;
    ASSERT_FALSE(result.fault) << c.name << ": " << result.fault->fault.text;
    const auto* const to = reinterpret_cast<const std::byte*>(out.data);
    for (int row = 0; row < c.rows(); ++row) {
      for (int column = 0; column < c.columns(); ++column) {
        const int by_rows = row * c.columns() + column;
        const int by_columns = column * c.rows() + row;
        const auto at = static_cast<std::size_t>(c.by_columns ? by_rows : by_columns);
        std::uint32_t element = 0;
        std::memcpy(&element, to + at * element_bytes, std::min<std::size_t>(element_bytes, 4));
        ASSERT_EQ(element, static_cast<std::uint32_t>(c.by_columns ? by_columns : by_rows))
            << c.name;
      }
    }
  }
}

} // namespace
} // namespace heddle
