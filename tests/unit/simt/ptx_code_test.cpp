// Which rule of spec/simt.md an instruction goes by.
#include "isa/program.h"
#include "ptx/parse.h"
#include "simt/ptx_code.h"

#include <gtest/gtest.h>

namespace heddle::simt {
namespace {

/// Of the line's last op.
Kind kind(const std::string& line) {
  auto module = ptx::parse(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n" +
          line + "\nret;\n}\n",
      "test.ptx"
  );
  EXPECT_TRUE(module) << line;
  memory::AddressSpace space;
  auto program =
      isa::Program::link({std::shared_ptr<const ptx::Module>(std::move(*module))}, space, 0);
  const isa::Code& code = *(*(*program)->kernel("k"))->code;
  EXPECT_TRUE(code.messages.empty()) << line;
  std::size_t last = 0;
  while (code.ops[last + 1].instruction == 0) {
    ++last;
  }
  CodeTable table(analysis::Ends::Leave);
  return table.facts(code).of[last].kind;
}

TEST(PtxCode, KindsOfInstructions) {
  EXPECT_EQ(kind("ret;"), Kind::Return);
  EXPECT_EQ(kind("exit;"), Kind::Exit);
  EXPECT_EQ(kind("bar.sync 0;"), Kind::Barrier);
  EXPECT_EQ(kind("barrier.cluster.wait;"), Kind::Barrier);
  EXPECT_EQ(kind("ldu.global.u32 %r0, [%rd0];"), Kind::Read);
  EXPECT_EQ(kind("st.global.u32 [%rd0], %r0;"), Kind::Write);
  EXPECT_EQ(kind("red.global.add.u32 [%rd0], %r0;"), Kind::Atomic);
  EXPECT_EQ(kind("add.u32 %r0, %r1, %r2;"), Kind::Plain);
  EXPECT_EQ(kind("activemask.b32 %r0;"), Kind::Plain);
}

// PTX ISA 9.0: .sync makes a thread wait until the lanes of its warp execute the same instruction.
TEST(PtxCode, CollectivesOfAWarp) {
  EXPECT_EQ(kind("bar.warp.sync -1;"), Kind::Collective);
  EXPECT_EQ(kind("elect.sync %r0|%p0, -1;"), Kind::Collective);
  EXPECT_EQ(kind("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], {%r1};"), Kind::Collective);
  EXPECT_EQ(
      kind(
          "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
          "[%rd0], [%rd1], 128;"
      ),
      Kind::Collective
  );
}

} // namespace
} // namespace heddle::simt
