// What each instruction is to the monitor of memory that nobody has written: whether it has to
// watch what the instruction writes, or knows it from the operands.
#include "isa/program.h"
#include "ptx/parse.h"
#include "unwritten/values.h"

#include <gtest/gtest.h>

namespace heddle::unwritten {
namespace {

/// Of the last op of the line, which is the first instruction of a kernel; none: nothing matters.
std::optional<Kind> kind(const std::string& line) {
  auto module = ptx::parse(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b128 %q<2>;\n" +
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
  const auto use = use_of(code, code.ops[last]);
  return use ? std::optional(use->kind) : std::nullopt;
}

TEST(UnwrittenKinds, ScalarAccessesAreKnownByTheirOperands) {
  EXPECT_EQ(kind("ld.global.u32 %r0, [%rd0];"), Kind::Load);
  EXPECT_EQ(kind("ldu.global.u32 %r0, [%rd0];"), Kind::Load);
  EXPECT_EQ(kind("st.global.v2.u32 [%rd0], {%r0, %r1};"), Kind::Store);
  EXPECT_EQ(kind("atom.global.add.u32 %r0, [%rd0], %r1;"), Kind::Update);
  EXPECT_EQ(kind("red.global.add.u32 [%rd0], %r1;"), Kind::Update);
}

// How much of memory they write does not stand in their operands as a scalar does: they are
// watched.
TEST(UnwrittenKinds, WhatElseWritesIsWatched) {
  EXPECT_EQ(kind("st.bulk.weak.shared::cta [%rd0], %rd1, 0;"), Kind::Writes);
  EXPECT_EQ(
      kind(
          "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
          "[%rd0], [%rd1];"
      ),
      Kind::Writes
  );
  EXPECT_EQ(
      kind("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r0], %r1, [%r2];"),
      Kind::Writes
  );
  EXPECT_EQ(kind("cp.async.ca.shared.global [%r0], [%rd1], 4;"), Kind::Writes);
  EXPECT_EQ(kind("mbarrier.init.shared.b64 [%r0], 1;"), Kind::Writes);
  EXPECT_EQ(kind("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], {%r1};"), Kind::Writes);
}

TEST(UnwrittenKinds, WhatDecidesAndWhatComputes) {
  EXPECT_EQ(kind("bar.sync %r0;"), Kind::Decides);
  EXPECT_EQ(kind("@%p0 trap;"), Kind::Decides);
  EXPECT_EQ(kind("add.u32 %r0, %r1, %r2;"), Kind::Sum);
  EXPECT_EQ(kind("shfl.sync.idx.b32 %r0, %r1, 0, 31, -1;"), Kind::Shuffle);
  EXPECT_EQ(kind("mbarrier.pending_count.b64 %r0, %rd0;"), Kind::Opaque);
  EXPECT_EQ(kind("fence.sc.gpu; add.u32 %r0, %r1, %r2;"), std::nullopt);
}

} // namespace
} // namespace heddle::unwritten
