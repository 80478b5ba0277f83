// Copies of tensors: boxes inside and across the edge, swizzles, reductions (PTX ISA 9.0, 5.5 and
// 9.7.9.27).
#include "isa/tensor_map.h"

#include "unit/isa/one_kernel.h"

#include <algorithm>
#include <cstring>

namespace heddle {
namespace {

using isa::TensorMap;
using test::OneKernel;
using test::warp;

constexpr std::size_t map_words = sizeof(TensorMap) / 4;

/// Words for OneKernel::in: a map of a matrix of 32-bit integers, 8 columns and 6 rows with 100·row
/// + column in them, which follows; the kernel puts its address into the map.
std::vector<std::uint32_t> matrix(std::uint16_t box_columns, std::uint16_t box_rows) {
  TensorMap map;
  map.magic = TensorMap::known;
  map.type = 3; // CU_TENSOR_MAP_DATA_TYPE_INT32
  map.rank = 2;
  map.stride[0] = 32;
  map.last[0] = 7;
  map.last[1] = 5;
  map.box[0] = box_columns;
  map.box[1] = box_rows;
  map.step[0] = map.step[1] = 1;
  std::vector<std::uint32_t> words(map_words + 48);
  std::memcpy(words.data(), &map, sizeof map);
  for (std::uint32_t i = 0; i < 48; ++i) {
    words[map_words + i] = i / 8 * 100 + i % 8;
  }
  return words;
}

const std::string start =
    ".shared .align 128 .b8 s[1024]; .shared .align 8 .b8 bar[8]; mov.u32 %r1, s; mov.u32 %r2, "
    "bar;\n"
    "add.s64 %rd6, %rd3, 128; st.global.u64 [%rd3+8], %rd6; mbarrier.init.shared.b64 [%r2], 1;\n";

std::string wait_for(int bytes) {
  return "mbarrier.arrive.expect_tx.shared.b64 %rd7, [%r2], " + std::to_string(bytes) +
         ";\nWAIT: mbarrier.try_wait.shared.b64 %p1, [%r2], %rd7; @!%p1 bra WAIT;\n";
}

const std::string show = // 32 words of shared memory
    "mov.u32 %r3, 0;\nSHOW: add.u32 %r4, %r1, %r3; ld.shared.u32 %r5, [%r4]; cvt.u64.u32 %rd8, "
    "%r3;\nadd.s64 %rd9, %rd2, %rd8; st.global.u32 [%rd9], %r5; add.u32 %r3, %r3, 4; setp.lt.u32 "
    "%p2, %r3, 256; @%p2 bra SHOW;\n";

TEST(Tensor, LoadsABoxAcrossTheEdge) {
  OneKernel k(
      start +
      "mov.u32 %r6, 4; mov.u32 %r7, -1;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], "
      "[%rd3, {%r6, %r7}], [%r2];\n" +
      wait_for(96) + show
  );
  k.in = matrix(8, 3);
  ASSERT_EQ(k.run(warp(1)), "");
  std::vector<std::uint32_t> expected(24);
  for (std::uint32_t column = 0; column < 4; ++column) {
    expected[8 + column] = 4 + column;
    expected[16 + column] = 104 + column;
  }
  EXPECT_EQ(std::vector(k.out.begin(), k.out.begin() + 24), expected);
}

TEST(Tensor, StoresAndAddsOnlyInside) {
  OneKernel k(
      start +
      "mov.u32 %r6, 4; mov.u32 %r7, 4;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd3, "
      "{0, 0}], [%r2];\n" +
      wait_for(48) +
      "fence.proxy.async.shared::cta;\n"
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {%r6, %r7}], [%r1];\n"
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%rd3, {0, 5}], [%r1];\n"
      "cp.async.bulk.prefetch.tensor.2d.L2.global [%rd3, {0, 0}];\n"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
      "mov.u32 %r3, 0;\nSHOW: cvt.u64.u32 %rd8, %r3; add.s64 %rd9, %rd6, %rd8; ld.global.u32 %r5, "
      "[%rd9];\nadd.s64 %rd9, %rd2, %rd8; st.global.u32 [%rd9], %r5; add.u32 %r3, %r3, 4;\n"
      "setp.lt.u32 %p2, %r3, 192; @%p2 bra SHOW;\n"
  );
  k.in = matrix(4, 3);
  ASSERT_EQ(k.run(warp(1)), "");
  std::vector<std::uint32_t> expected(48);
  for (std::uint32_t i = 0; i < 48; ++i) {
    const std::uint32_t row = i / 8;
    const std::uint32_t column = i % 8;
    expected[i] = row >= 4 && column >= 4 ? (row - 4) * 100 + column - 4 : row * 100 + column;
    if (row == 5 && column < 4) {
      expected[i] += column;
    }
  }
  EXPECT_EQ(std::vector(k.out.begin(), k.out.begin() + 48), expected);
}

TEST(Tensor, SwizzlesUnitsOf16Bytes) {
  OneKernel k(
      start +
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd3, "
      "{0, 0}], [%r2];\n" +
      wait_for(192) + show
  );
  k.in = matrix(8, 6); // 32 bytes a row: rows 4 to 7 are in the second line of 128 bytes
  k.in[1] |= std::uint32_t{TensorMap::Bytes32} << 16;
  ASSERT_EQ(k.run(warp(1)), "");
  EXPECT_EQ(k.out[0], 0U);
  EXPECT_EQ(k.out[4], 4U);
  EXPECT_EQ(k.out[32], 404U);
  EXPECT_EQ(k.out[36], 400U);
}

TEST(Tensor, RefusesWhatIsNoMap) {
  OneKernel k(
      start +
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd3, "
      "{0, 0}], [%r2];\n"
  );
  k.in = matrix(4, 3);
  k.in[0] = 0;
  EXPECT_NE(k.run(warp(1)).find("not made by cuTensorMapEncodeTiled"), std::string::npos);
}

/// What comes of a load from column `x` of the matrix to `offset` in shared memory.
std::string load_from(int x, int offset) {
  OneKernel k(
      start + "add.u32 %r1, %r1, " + std::to_string(offset) +
      ";\ncp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
      "[%rd3, {" +
      std::to_string(x) + ", 0}], [%r2];\n" + wait_for(48)
  );
  k.in = matrix(4, 3);
  return k.run(warp(1));
}

TEST(Tensor, RefusesWhatIsNotAligned) { // as an H200 does
  EXPECT_EQ(load_from(0, 0), "");
  EXPECT_EQ(load_from(-4, 128), "");
  EXPECT_NE(load_from(2, 0).find("not a multiple of 16 bytes"), std::string::npos);
  EXPECT_NE(load_from(0, 64).find("not a multiple of 128"), std::string::npos);
}

/// What comes of replacing a field of a map, and of a load with it then.
std::string replace(const std::string& field) {
  OneKernel k(
      start + "tensormap.replace.tile." + field +
      ";\ncp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
      "[%rd3, {0, 0}], [%r2];\n"
  );
  k.in = matrix(4, 3);
  return k.run(warp(1));
}

TEST(Tensor, RefusesMapsThatAreReplacedByWhatNoTensorHas) {
  EXPECT_EQ(replace("box_dim.global.b1024.b32 [%rd3], 0, 4"), "");
  EXPECT_NE(
      replace("box_dim.global.b1024.b32 [%rd3], 0, 257").find("cannot hold"),
      std::string::npos
  );
  EXPECT_NE(
      replace("element_stride.b1024.b32 [%rd3], 1, 0").find("cannot hold"),
      std::string::npos
  );
  EXPECT_NE(replace("rank.b1024.b32 [%rd3], 2").find("number of dimensions"), std::string::npos);
  EXPECT_NE(replace("rank.b1024.b32 [%rd3], 5").find("cannot hold"), std::string::npos);
  EXPECT_NE(
      replace("global_stride.b1024.b64 [%rd3], 0, 24").find("not a multiple of 16"),
      std::string::npos
  );
  EXPECT_NE(replace("elemtype.b1024.b32 [%rd3], 13"), "");
  EXPECT_NE(replace("swizzle_mode.b1024.b32 [%rd3], 4"), "");
}

TEST(Tensor, RefusesAMapMadeFromZerosInPart) {
  OneKernel k(
      start + "mov.u64 %rd7, 0; st.global.u64 [%rd3+8], %rd7;\n"
              "tensormap.replace.tile.global_address.b1024.b64 [%rd3], %rd3;\n"
              "tensormap.replace.tile.rank.b1024.b32 [%rd3], 1;\n"
              "tensormap.replace.tile.box_dim.b1024.b32 [%rd3], 0, 4;\n"
              "tensormap.replace.tile.element_stride.b1024.b32 [%rd3], 0, 1;\n"
              "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
              "[%rd3, {0, 0}], [%r2];\n"
  );
  k.in = matrix(4, 3);
  std::fill_n(k.in.begin(), 32, 0);
  EXPECT_NE(k.run(warp(1)).find("tensormap.replace has not set"), std::string::npos);
}

} // namespace
} // namespace heddle
