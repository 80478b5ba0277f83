#include "analysis/object_stores.h"

#include "support/ptx_text.h"
#include <gmock/gmock.h>

namespace heddle::analysis {
namespace {

/// Is the last instruction but `ret` of a kernel with that body a store into an object that is
/// known?
bool known(const std::string& body) {
  const auto module = ptx::must_parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .global .align 4 .b8 a[64]; .visible .global .align 8 .u64 table[2];\n"
      ".visible .entry k(.param .u64 p, .param .u64 q, .param .align 8 .b8 s[16]) {\n"
      ".local .align 8 .b8 depot[8];\n"
      ".reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<6>;\n" +
      body + "\nret; }\n"
  );
  const ptx::Function& function = *module->functions[0];
  return stores_into_known_objects(function).test(function.body.size() - 2);
}

TEST(ObjectStores, KnownObjects) {
  EXPECT_TRUE(known("mov.u32 %r0, 1; st.global.u32 [a], %r0;"));
  EXPECT_TRUE(known("ld.param.u64 %rd0, [p]; st.global.u32 [%rd0+4], 1;"));
  EXPECT_TRUE(
      known("ld.param.u64 %rd0, [s+8]; cvta.to.global.u64 %rd1, %rd0; st.global.u32 [%rd1], 1;")
  );
  EXPECT_TRUE(known(
      "mov.u32 %r0, %ctaid.x; mul.wide.u32 %rd1, %r0, 4; mov.u64 %rd2, a; add.s64 %rd3, %rd2, "
      "%rd1;\n"
      "st.global.u32 [%rd3], %r0;"
  ));
  // A pointer that moves through an array.
  EXPECT_TRUE(known(
      "ld.param.u64 %rd0, [p]; Loop: add.s64 %rd0, %rd0, 4; setp.eq.u32 %p0, %r1, 0; @%p0 bra "
      "Loop;\n"
      "st.global.u32 [%rd0], 1;"
  ));
  EXPECT_TRUE(known(
      "ld.global.u32 %r0, [a]; mul.wide.u32 %rd1, %r0, 4; ld.param.u64 %rd0, [p]; add.s64 %rd2, "
      "%rd1, %rd0;\n"
      "st.global.u32 [%rd2], 1;"
  ));
}

TEST(ObjectStores, UnknownObjects) {
  // A pointer from memory; one of two; a sum of two; the thread's own memory; a strong store.
  EXPECT_FALSE(known("ld.global.u64 %rd0, [table]; st.global.u32 [%rd0], 1;"));
  EXPECT_FALSE(known(
      "ld.param.u64 %rd0, [p]; ld.param.u64 %rd1, [q]; selp.b64 %rd2, %rd0, %rd1, %p0; "
      "st.global.u32 [%rd2], 1;"
  ));
  EXPECT_FALSE(
      known("ld.param.u64 %rd0, [p]; @%p0 ld.param.u64 %rd0, [q]; st.global.u32 [%rd0], 1;")
  );
  EXPECT_FALSE(known(
      "ld.param.u64 %rd0, [p]; ld.param.u64 %rd1, [q]; add.s64 %rd2, %rd0, %rd1; st.global.u32 "
      "[%rd2], 1;"
  ));
  EXPECT_FALSE(known("mov.u64 %rd0, depot; cvta.local.u64 %rd1, %rd0; st.u32 [%rd1], 1;"));
  EXPECT_FALSE(known("st.volatile.global.u32 [a], 1;"));
  // A word that was a pointer, and a pointer that was made a number.
  EXPECT_FALSE(
      known("ld.global.u64 %rd0, [table]; add.s64 %rd0, %rd0, 4; st.global.u32 [%rd0], 1;")
  );
  EXPECT_FALSE(known("ld.param.u64 %rd0, [p]; and.b64 %rd0, %rd0, -16; st.global.u32 [%rd0], 1;"));
}

} // namespace
} // namespace heddle::analysis
