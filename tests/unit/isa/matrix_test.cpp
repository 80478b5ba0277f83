// ldmatrix, stmatrix, movmatrix: where each element goes (PTX ISA 9.0, 9.7.14.5.15 on).
#include "unit/isa/one_kernel.h"

namespace heddle {
namespace {

using test::OneKernel;
using test::warp;

// Shared memory holds four 8×8 matrices of 16-bit elements; element e of all has the value e.
constexpr std::string_view fill =
    ".shared .align 16 .b8 s[1024]; mov.u32 %r1, s; mov.u32 %r2, 0;\n"
    "FILL: mad.lo.u32 %r3, %r2, 32, %r0; shl.b32 %r4, %r3, 2; add.u32 %r4, %r4, %r1; shl.b32 %r5, "
    "%r3, 1;\n"
    "add.u32 %r6, %r5, 1; shl.b32 %r6, %r6, 16; or.b32 %r5, %r5, %r6; st.shared.u32 [%r4], %r5;\n"
    "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 4; @%p1 bra FILL; bar.warp.sync -1;\n"
    "shl.b32 %r7, %r0, 4; add.u32 %r7, %r7, %r1;\n"; // %r7: row of this lane

std::uint32_t pair(std::uint32_t low, std::uint32_t high) {
  return low | high << 16;
}

TEST(Ldmatrix, RowsOfFourMatrices) {
  OneKernel k(
      std::string(fill) +
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r7];\n"
      "mul.wide.u32 %rd6, %r0, 16; add.s64 %rd6, %rd6, %rd2; st.global.v4.u32 [%rd6], {%r10, %r11, "
      "%r12, %r13};"
  );
  ASSERT_EQ(k.run(warp()), "");
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t m = 0; m < 4; ++m) {
      const std::uint32_t first = m * 64 + lane / 4 * 8 + lane % 4 * 2;
      EXPECT_EQ(k.out[lane * 4 + m], pair(first, first + 1));
    }
  }
}

TEST(Ldmatrix, TransposedAndGeneric) {
  OneKernel k(
      std::string(fill) + "cvt.u64.u32 %rd7, %r7; cvta.shared.u64 %rd7, %rd7;\n"
                          "ldmatrix.sync.aligned.m8n8.x2.trans.b16 {%r10, %r11}, [%rd7]; "
                          "st.global.v2.u32 [%rd5], {%r10, %r11};"
  );
  ASSERT_EQ(k.run(warp()), "");
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t first = 64 + lane % 4 * 2 * 8 + lane / 4;
    EXPECT_EQ(k.out[lane * 2 + 1], pair(first, first + 8));
  }
}

TEST(Ldmatrix, OnlyTheNamedRowsNeedExist) {
  OneKernel k(
      std::string(fill) +
      "setp.ge.u32 %p2, %r0, 8; @%p2 mov.u32 %r7, 0x800000;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r7]; st.global.u32 [%rd4], %r10;"
  );
  ASSERT_EQ(k.run(warp()), "");
  EXPECT_EQ(k.out[31], pair(62, 63));
}

TEST(Ldmatrix, RowsAreAligned) {
  OneKernel k(
      std::string(fill) +
      "add.u32 %r7, %r7, 4; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r7];"
  );
  EXPECT_NE(k.run(warp()), "");
  ASSERT_TRUE(k.fault);
  EXPECT_EQ(k.fault->fault.kind, isa::FaultKind::Misaligned);
}

TEST(Stmatrix, UndoesLdmatrix) {
  for (const std::string_view trans : {"", ".trans"}) {
    OneKernel k(
        std::string(fill) + "ldmatrix.sync.aligned.m8n8.x2" + std::string(trans) +
        ".shared.b16 {%r10, %r11}, [%r7]; add.u32 %r8, %r7, 512;\n"
        "stmatrix.sync.aligned.m8n8.x2" +
        std::string(trans) +
        ".shared.b16 [%r8], {%r10, %r11};\n"
        "bar.warp.sync -1; shl.b32 %r9, %r0, 2; add.u32 %r9, %r9, %r1; ld.shared.u32 %r12, "
        "[%r9+512];\n"
        "ld.shared.u32 %r13, [%r9+640]; st.global.u32 [%rd4], %r12; st.global.u32 [%rd4+128], %r13;"
    );
    ASSERT_EQ(k.run(warp()), "");
    for (std::uint32_t i = 0; i < 64; ++i) {
      EXPECT_EQ(k.out[i], pair(2 * i, 2 * i + 1)) << i << trans;
    }
  }
}

TEST(Movmatrix, Transposes) {
  OneKernel k(
      std::string(fill) + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r7];\n"
                          "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r11}, [%r7];\n"
                          "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r10; xor.b32 %r10, %r10, "
                          "%r11; add.u32 %r10, %r10, 1;\n"
                          "st.global.u32 [%rd4], %r10;"
  );
  ASSERT_EQ(k.run(warp()), "");
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(k.out[i], 1U);
  }
}

} // namespace
} // namespace heddle
