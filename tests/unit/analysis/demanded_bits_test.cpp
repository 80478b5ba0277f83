#include "analysis/demanded_bits.h"

#include "support/ptx_text.h"
#include <gmock/gmock.h>

#include <map>

namespace heddle::analysis {
namespace {

constexpr std::uint64_t all = ~std::uint64_t{0};

std::map<std::string, std::uint64_t> demanded(const std::string& body, std::uint32_t before = 0) {
  const auto module =
      ptx::must_parse(ptx::kernel(".reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<6>;\n" + body));
  const ptx::Function& function = *module->functions[0];
  const Cfg cfg(function);
  const DemandedBits::Bits bits = DemandedBits(function, cfg).before(before);
  std::map<std::string, std::uint64_t> result;
  for (std::size_t r = 0; r < bits.size(); ++r) {
    result[function.registers[r].name] = bits[r];
  }
  return result;
}

// The token of a barrier that counts in the upper half of a word, its phase in the highest bit.
TEST(DemandedBits, SignOfAToken) {
  const std::string body =
      "atom.add.u64 %rd0, [%rd4], %rd5; add.s64 %rd1, %rd0, 4294967296; xor.b64 %rd1, %rd1, %rd0;\n"
      "setp.gt.s64 %p1, %rd1, -1; @%p1 bra Loop; shl.b64 %rd1, %rd0, 32; red.add.u64 [%rd4], "
      "%rd1;\n"
      "Loop: ld.acquire.gpu.b64 %rd2, [%rd4]; xor.b64 %rd3, %rd2, %rd0;\n"
      "setp.gt.s64 %p0, %rd3, -1; @%p0 bra Loop; ret;";
  EXPECT_EQ(demanded(body, 1)["%rd0"], all);
  EXPECT_EQ(demanded(body, 5)["%rd0"], 0x8000'0000'ffff'ffff);
  EXPECT_EQ(demanded(body, 6)["%rd1"], all);
  EXPECT_EQ(demanded(body, 7)["%rd0"], 0x8000'0000'0000'0000);
  EXPECT_EQ(demanded(body, 8)["%rd2"], 0x8000'0000'0000'0000);
  EXPECT_EQ(demanded(body, 7)["%rd4"], all);
}

TEST(DemandedBits, Integers) {
  auto bits = demanded(
      "and.b32 %r1, %r0, 6; add.s32 %r3, %r2, 1; and.b32 %r4, %r3, 255;\n"
      "st.global.u32 [%rd0], %r1; st.global.u32 [%rd0], %r4; ret;"
  );
  EXPECT_EQ(bits["%r0"], 6U);
  EXPECT_EQ(bits["%r2"], 255U);
  bits = demanded(
      "shr.s32 %r1, %r0, 4; and.b32 %r2, %r1, 0x80000001; st.global.u32 [%rd0], %r2; ret;"
  );
  EXPECT_EQ(bits["%r0"], 0x8000'0010U);
  bits = demanded(
      "shr.u32 %r1, %r0, 4; and.b32 %r2, %r1, 0x80000001; st.global.u32 [%rd0], %r2; ret;"
  );
  EXPECT_EQ(bits["%r0"], 0x10U);
  bits = demanded(
      "setp.gt.s32 %p0, %r0, 0; @%p0 bra End; setp.lt.u32 %p1, %r1, 0; @%p1 bra End; End: ret;"
  );
  EXPECT_EQ(bits["%r0"], all);
  EXPECT_EQ(bits["%r1"], all);
}

} // namespace
} // namespace heddle::analysis
