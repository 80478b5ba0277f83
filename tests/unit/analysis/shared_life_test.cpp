#include "analysis/shared_life.h"

#include "support/ptx_text.h"
#include <gmock/gmock.h>

#include <array>

namespace heddle::analysis {
namespace {

const std::array<SharedName, 2> variables{{{"item", 4}, {"tile", 64}}};
constexpr std::uint64_t item = 1, tile = 2;

/// Of the first instruction of a kernel with that body: what is read, what is written.
std::pair<std::uint64_t, std::uint64_t> at_entry(const std::string& body) {
  const auto module = ptx::must_parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".shared .align 4 .u32 item; .shared .align 4 .b8 tile[64];\n"
      ".reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<6>;\n" +
      body + "\nret; }\n"
  );
  const ptx::Function& function = *module->functions[0];
  const SharedLife life(function, Cfg(function), variables);
  return {life.may_read(0), life.certainly_writes(0)};
}

TEST(SharedLife, UpToTheBarrier) {
  EXPECT_EQ(
      at_entry("st.shared.u32 [item], %r0; bar.sync 0; ld.shared.u32 %r1, [item];"),
      std::pair(0UL, item)
  );
  EXPECT_EQ(
      at_entry("bar.sync 0; ld.shared.u32 %r1, [item]; st.shared.u32 [item], %r0;"),
      std::pair(0UL, 0UL)
  );
  EXPECT_EQ(
      at_entry("ld.shared.u32 %r1, [item]; st.shared.u32 [item], %r0; bar.sync 0;"),
      std::pair(item, item)
  );
}

TEST(SharedLife, OnAllWaysOrOnSome) {
  EXPECT_EQ(at_entry("@%p0 bra L; st.shared.u32 [item], %r0; L: bar.sync 0;"), std::pair(0UL, 0UL));
  EXPECT_EQ(
      at_entry(
          "@%p0 bra L; st.shared.u32 [item], 1; bra M; L: st.shared.u32 [item], 2; M: bar.sync 0;"
      ),
      std::pair(0UL, item)
  );
  EXPECT_EQ(
      at_entry("@%p0 bra L; ld.shared.u32 %r0, [tile+4]; L: bar.sync 0;"),
      std::pair(tile, 0UL)
  );
  EXPECT_EQ(at_entry("@%p0 exit; st.shared.u32 [item], 1; bar.sync 0;"), std::pair(0UL, 0UL));
  EXPECT_EQ(at_entry("st.shared.u32 [item], 1; @%p0 exit; bar.sync 0;").second, item);
}

TEST(SharedLife, OnlyWholeWritesAndTheBarrierOfAll) {
  EXPECT_EQ(at_entry("st.shared.u16 [item], %r0; bar.sync 0;").second, 0UL);
  EXPECT_EQ(at_entry("st.shared.u32 [tile], %r0; bar.sync 0;").second, 0UL);
  EXPECT_EQ(at_entry("@%p0 st.shared.u32 [item], %r0; bar.sync 0;").second, 0UL);
  EXPECT_EQ(at_entry("bar.sync 0, 64; ld.shared.u32 %r1, [item];").first, item);
  EXPECT_EQ(at_entry("bar.sync 1; ld.shared.u32 %r1, [item];").first, item);
  EXPECT_EQ(at_entry("bar.warp.sync -1; ld.shared.u32 %r1, [item];").first, item);
}

TEST(SharedLife, AddressesThatAreNotKnown) {
  EXPECT_EQ(at_entry("ld.shared.u32 %r1, [%r0]; bar.sync 0;").first, ~0UL);
  EXPECT_EQ(at_entry("ld.param.u64 %rd0, [p]; ld.u32 %r1, [%rd0]; bar.sync 0;").first, 0UL);
  EXPECT_EQ(
      at_entry(
          "mov.u32 %r2, %tid.x; mov.u32 %r0, tile; add.u32 %r3, %r0, %r2; ld.shared.u32 %r1, "
          "[%r3]; bar.sync 0;"
      )
          .first,
      tile
  );
}

} // namespace
} // namespace heddle::analysis
