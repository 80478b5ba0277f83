// wgmma gives the bits that an H200 gives (wgmma_h200.inc, recorded by mma_record.cu); what is said
// of warpgroups of which a part is missing.
#include "unit/isa/one_kernel.h"
#include "unit/isa/wgmma_cases.h"

namespace heddle {
namespace {

constexpr std::uint64_t recorded[][test::wgmma_rounds] = {
#include "unit/isa/wgmma_h200.inc"
};
static_assert(std::size(recorded) == std::size(test::wgmma_cases));

class Wgmma : public testing::TestWithParam<std::size_t> {};

TEST_P(Wgmma, BitsOfAnH200) {
  const test::WgmmaCase& c = test::wgmma_cases[GetParam()];
  test::KernelRunner runner(test::wgmma_ptx(c));
  for (int round = 0; round < test::wgmma_rounds; ++round) {
    const auto words = test::wgmma_input(GetParam(), round);
    const auto in = runner.buffer<std::uint32_t>(test::wgmma_in_words);
    const auto out = runner.buffer<std::uint32_t>(test::wgmma_out_words);
    std::copy(words.begin(), words.end(), in.data);
    const auto result = runner.launch("k", test::warp(128), {out.address, in.address});
    ASSERT_EQ(result.error, "");
    ASSERT_FALSE(result.fault) << result.fault->fault.text;
    EXPECT_EQ(test::wgmma_digest(out.data), recorded[GetParam()][round])
        << c.name << ", round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Wgmma,
    testing::Range<std::size_t>(0, std::size(test::wgmma_cases)),
    [](const auto& info) {
      return test::replaced(std::string(test::wgmma_cases[info.param].name), " ", "_");
    }
);

/// A block of so many threads multiplies with zeros; `before` stands before it, %w is the warp, %a
/// and %b the descriptors. Answers the fault's text.
std::string fault_of(std::string_view before, std::uint32_t threads, std::string_view after = "") {
  test::OneKernel k(
      "mov.u32 %r1, memory; shr.u32 %r1, %r1, 4; cvt.u64.u32 %rd10, %r1; mov.u64 %rd11, %rd10;\n"
      "shr.u32 %r2, %r0, 5; setp.eq.u32 %p0, %r0, %r0;\n" +
          test::replaced(
              test::replaced(test::replaced(std::string(before), "%w", "%r2"), "%a", "%rd10"),
              "%b",
              "%rd11"
          ) +
          "\nTOGETHER: wgmma.fence.sync.aligned;\n"
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd10, %rd11, "
          "%p0, 1, 1, 0, 0;\n"
          "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n" +
          std::string(after) + "END:",
      ".shared .align 1024 .b8 memory[4096];"
  );
  return k.run(test::warp(threads));
}

TEST(Warpgroup, FourWholeWarps) {
  EXPECT_EQ(fault_of("", 128), "");
  EXPECT_EQ(fault_of("", 256), "");
  EXPECT_EQ(fault_of("", 64), "warps 0 to 3 are not a warpgroup: the block has 64 threads");
  EXPECT_EQ(fault_of("", 120), "warps 0 to 3 are not a warpgroup: the block has 120 threads");
  EXPECT_EQ(
      fault_of("setp.lt.u32 %p1, %w, 4; @%p1 bra END;", 192),
      "warps 4 to 7 are not a warpgroup: the block has 192 threads"
  );
}

TEST(Warpgroup, AWarpThatDoesNotTakePart) {
  // Warp 2 ends before the others come, or after they have gone.
  const std::string_view leaves = "setp.eq.u32 %p1, %w, 2; @%p1 bra END;";
  EXPECT_NE(fault_of(leaves, 128).find("has ended without"), std::string::npos);
  EXPECT_NE(
      fault_of(
          "setp.eq.u32 %p1, %w, 2; @%p1 bra LATE; bra TOGETHER; LATE: nanosleep.u32 20; bra END;",
          128
      )
          .find("has ended without"),
      std::string::npos
  );
  // The other warpgroup has nothing to do with it.
  EXPECT_EQ(fault_of("setp.ge.u32 %p1, %w, 4; @%p1 bra END;", 256), "");
}

TEST(Warpgroup, OneInstruction) {
  EXPECT_NE(
      fault_of(
          "setp.eq.u32 %p1, %w, 1; @%p1 bra ALONE;",
          128,
          "bra END;\nALONE: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
          "{%f0, %f1, %f2, %f3}, %rd10, %rd11, %p0, 1, 1, 0, 0;\n"
      )
          .find("of the warpgroup executes this one, warp"),
      std::string::npos
  );
}

TEST(Warpgroup, OneDescriptor) {
  EXPECT_NE(
      fault_of("cvt.u64.u32 %rd12, %w; add.u64 %b, %b, %rd12;", 128)
          .find("give different descriptors"),
      std::string::npos
  );
  EXPECT_EQ(
      fault_of("cvt.u64.u32 %rd12, %r0; add.u64 %a, %a, %rd12;", 128),
      "the lanes of a warp give different descriptors"
  );
}

TEST(Wgmma, ReadsWithinSharedMemory) {
  // 64 rows of A, 256 bytes from eight to eight.
  EXPECT_EQ(fault_of("mov.u64 %rd12, 0x1000080000; or.b64 %a, %a, %rd12;", 128), "");
  EXPECT_EQ(fault_of("mov.u64 %rd12, 0x2000080000; or.b64 %a, %a, %rd12;", 128), "");
  EXPECT_EQ(fault_of("mov.u64 %rd12, 0x3000080000; or.b64 %a, %a, %rd12;", 128), "fault");
}

TEST(Wgmma, WhatIsNotThereIsNamed) {
  const auto answer = [](std::string_view instruction) {
    test::OneKernel k("setp.eq.u32 %p0, %r0, %r0; mov.u64 %rd10, 0;\n" + std::string(instruction));
    return k.run(test::warp(128));
  };
  EXPECT_NE(
      answer(
          "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%r1, %r1, %r1, %r1}, %rd10, "
          "%rd10, %r1, 1, %p0;"
      )
          .find("a sparse wgmma with this selector"),
      std::string::npos
  );
  EXPECT_NE(
      answer(
          "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%r1, %r1, %r1, %r1, %r1, %r1, %r1, "
          "%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1}, %rd10, %rd10, %p0;"
      )
          .find("m64n40k32"),
      std::string::npos
  );
}

} // namespace
} // namespace heddle
