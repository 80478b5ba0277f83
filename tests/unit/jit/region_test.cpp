// Compiled code against the interpreter: same bytes, same faults, the same guarantees of progress.
#include "unit/jit/compared.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace heddle::test {
namespace {

constexpr const char* load_word =
    "and.b32 %r1, %r0, 63; mul.wide.u32 %rd6, %r1, 4; add.s64 %rd6, %rd6, %rd3;"
    "ld.global.u32 %r2, [%rd6]; ld.global.u32 %r3, [%rd3+20];";

TEST(Region, ArithmeticOfAllWidths) {
  for (const char* body : {
           "add.u32 %r4, %r2, %r3; st.global.u32 [%rd4], %r4;",
           "mad.lo.s32 %r4, %r2, %r3, %r0; st.global.u32 [%rd4], %r4;",
           "mul.wide.s32 %rd7, %r2, %r3; st.global.u64 [%rd5], %rd7;",
           "cvt.u64.u32 %rd7, %r2; mul.hi.u64 %rd7, %rd7, %rd3; cvt.u32.u64 %r4, %rd7;"
           "st.global.u32 [%rd4], %r4;",
           "div.s32 %r4, %r2, %r0; st.global.u32 [%rd4], %r4;", // by zero, too
           "rem.u32 %r4, %r2, 7; st.global.u32 [%rd4], %r4;",
           "shl.b32 %r4, %r2, %r0; shr.s32 %r5, %r2, 40; xor.b32 %r4, %r4, %r5;"
           "st.global.u32 [%rd4], %r4;",
           "mov.b32 %f1, %r2; mov.b32 %f2, %r3; fma.rn.f32 %f3, %f1, %f2, %f1;"
           "st.global.f32 [%rd4], %f3;",
           "cvt.rn.f64.s32 %fd1, %r2; div.rn.f64 %fd2, %fd1, 0d4008000000000000;"
           "st.global.f64 [%rd5], %fd2;",
           "cvt.rn.f32.u32 %f1, %r2; sqrt.rn.f32 %f2, %f1; cvt.rzi.s32.f32 %r4, %f2;"
           "st.global.u32 [%rd4], %r4;",
           "cvt.u16.u32 %h1, %r2; mul.lo.u16 %h2, %h1, %h1; cvt.u32.u16 %r4, %h2;"
           "st.global.u32 [%rd4], %r4;",
           "setp.lt.s32 %p1, %r2, %r3; setp.gt.u32 %p2, %r2, 77; and.pred %p3, %p1, %p2;"
           "selp.b32 %r4, %r2, %r0, %p3; st.global.u32 [%rd4], %r4;",
           "vabsdiff4.u32.u32.u32.add %r4, %r2, %r3, %r0; vavrg4.s32.s32.s32 %r5, %r2, %r3, %r0;"
           "vadd2.s32.s32.s32.sat %r6, %r4, %r5, %r0; xor.b32 %r4, %r4, %r6;"
           "st.global.u32 [%rd4], %r4;",
           "setp.lt.s32 %p1, %r2, %r3; mov.pred %p2, -1; @%p1 mov.pred %p2, 0; mov.pred %p3, %p2;"
           "selp.b32 %r4, %r2, %r0, %p3; st.global.u32 [%rd4], %r4;",
           "popc.b32 %r4, %r2; clz.b32 %r5, %r2; bfe.u32 %r6, %r2, 3, 9; add.u32 %r4, %r4, %r5;"
           "xor.b32 %r4, %r4, %r6; st.global.u32 [%rd4], %r4;",
       }) {
    both(std::string(load_word) + body);
  }
}

// Where its bits are looked at, a NaN that an operation has made is PTX's, and one that was loaded
// or copied is as it was.
TEST(Region, NanIsThatOfPtxWhereItIsLookedAt) {
  const std::string words = // NaN with bits of their own, infinite, numbers
      "and.b32 %r6, %r0, 3; mov.b32 %f1, 0xff812345; setp.eq.u32 %p1, %r6, 1;"
      "@%p1 mov.b32 %f1, 0x7f800000; setp.eq.u32 %p1, %r6, 2; @%p1 mov.b32 %f1, 0x40490fdb;"
      "mov.b32 %f2, 0xff800000; cvt.rn.f32.u32 %f3, %r0; mov.f32 %f4, 0f00000000;";
  for (const char* body : {
           "add.f32 %f5, %f1, %f2; mul.f32 %f6, %f5, %f3; st.global.f32 [%rd4], %f6;",
           "add.f32 %f5, %f1, %f2; mul.f32 %f6, %f5, %f3; mov.b32 %r7, %f5; mov.b32 %r8, %f6;"
           "mad.lo.u32 %r7, %r7, 3, %r8; st.global.u32 [%rd4], %r7;",
           "mov.f32 %f5, %f1; setp.eq.u32 %p1, %r6, 3; @%p1 add.f32 %f5, %f1, %f2;"
           "st.global.f32 [%rd4], %f5;",
           "sub.f32 %f5, %f2, %f2; neg.f32 %f6, %f5; abs.f32 %f7, %f6; sqrt.rn.f32 %f8, %f7;"
           "cvt.f64.f32 %fd1, %f8; st.global.f64 [%rd5], %fd1;",
           "fma.rn.f32 %f5, %f1, %f4, %f2; min.f32 %f6, %f5, %f3; max.f32 %f7, %f5, %f5;"
           "add.f32 %f6, %f6, %f7; st.global.f32 [%rd4], %f6;",
           "add.ftz.f32 %f5, %f1, %f2; fma.rn.ftz.f32 %f6, %f5, %f3, %f1; mul.ftz.f32 %f7, %f6, "
           "%f5;"
           "copysign.f32 %f8, %f7, %f2; add.f32 %f8, %f8, %f3; st.global.f32 [%rd4], %f8;",
           "add.f32 %f5, %f1, %f2; shfl.sync.bfly.b32 %f6, %f5, 1, 31, -1; add.f32 %f7, %f6, %f3;"
           "st.global.f32 [%rd4], %f7;",
           "add.f32 %f5, %f1, %f2; shfl.sync.bfly.b32 %f6, %f5, 1, 31, -1; mov.b32 %r7, %f6;"
           "st.global.u32 [%rd4], %r7;",
           "sub.f32 %f5, %f2, %f2; copysign.f32 %f6, %f5, %f3; st.global.f32 [%rd4], %f6;",
           "add.f32 %f5, %f1, %f2; setp.num.f32 %p1, %f5, %f5; selp.f32 %f6, %f5, %f1, %p1;"
           "st.global.f32 [%rd4], %f6;",
           // Sums of a loop, which go on behind barriers and are looked at when it is over.
           "mov.u32 %r7, 0; LOOP: fma.rn.f32 %f4, %f1, %f2, %f4; bar.sync 0;"
           "fma.rn.f32 %f4, %f3, %f1, %f4; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 5;"
           "@%p1 bra LOOP; st.global.f32 [%rd4], %f4;",
           // … and when the fuel is used up in the middle, or lanes leave the loop one by one.
           "mov.u32 %r7, 0; LOOP: add.f32 %f5, %f1, %f2; fma.rn.f32 %f4, %f3, %f3, %f5;"
           "mul.f32 %f5, %f4, %f2; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 70000;"
           "@%p1 bra LOOP; st.global.f32 [%rd4], %f5;",
           "mov.u32 %r7, 0; LOOP: add.f32 %f5, %f4, %f2; fma.rn.f32 %f4, %f3, %f1, %f5;"
           "add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %r0; @%p1 bra LOOP;"
           "st.global.f32 [%rd4], %f4;",
           // The interpreter's handler is called between.
           "add.f32 %f5, %f1, %f2; mov.b32 %r7, %f5; redux.sync.max.u32 %r8, %r7, -1;"
           "add.f32 %f6, %f5, %f3; st.global.f32 [%rd4], %f6; st.global.u32 [%rd5+2048], %r8;",
           "add.f32 %f5, %f1, %f2; mul.f32 %f6, %f5, %f3; atom.shared.add.f32 %f7, [s], %f6;"
           "ld.shared.f32 %f8, [s]; st.global.f32 [%rd4], %f8;",
           "add.f32 %f5, %f1, %f2; mul.f32 %f6, %f5, %f3; st.shared.f32 [s], %f6;"
           "ld.shared.f32 %f8, [s]; st.global.f32 [%rd4], %f8;",
           // Doubles hand on the bits of a NaN, of which there are several.
           "mov.b64 %fd1, 0xfff8000000012345; setp.lt.u32 %p1, %r6, 2; @%p1 mov.b64 %fd1, "
           "0x7ff0000000000001; mov.b64 %fd2, 0x7ff8000000054321; cvt.rn.f64.u32 %fd3, %r0;"
           "@%p1 mov.f64 %fd2, %fd3; add.f64 %fd4, %fd1, %fd2; mul.f64 %fd5, %fd2, %fd1;"
           "fma.rn.f64 %fd6, %fd4, %fd3, %fd5; div.rn.f64 %fd7, %fd3, %fd6; sub.f64 %fd8, %fd7, "
           "%fd3;"
           "st.global.f64 [%rd5], %fd8;",
           "mov.b64 %fd1, 0x7ff0000000000000; cvt.rn.f64.u32 %fd3, %r6; sub.f64 %fd2, %fd1, %fd1;"
           "mul.f64 %fd4, %fd1, %fd3; fma.rn.f64 %fd5, %fd4, %fd3, %fd3; neg.f64 %fd6, %fd5;"
           "fma.rn.f64 %fd7, %fd6, %fd3, %fd2; add.f64 %fd7, %fd7, %fd5; st.global.f64 [%rd5], "
           "%fd7;",
           // With the bits of the other operand, the address would be a fault.
           "cvt.u64.u32 %rd7, %r6; or.b64 %rd8, %rd7, 0x7ff8000000f00000; mov.b64 %fd1, %rd8;"
           "mul.lo.u64 %rd7, %rd7, 4; or.b64 %rd8, %rd7, 0x7ff8000000000000; mov.b64 %fd2, %rd8;"
           "add.f64 %fd3, %fd1, %fd2; mul.f64 %fd4, %fd3, %fd3; mov.b64 %rd6, %fd4;"
           "and.b64 %rd6, %rd6, 0xffffff; add.s64 %rd6, %rd6, %rd3; ld.global.u32 %r7, [%rd6];"
           "st.global.u32 [%rd4], %r7;",
           // A number in the place of a NaN does not show that its operands were numbers.
           "cvt.u64.u32 %rd7, %r6; or.b64 %rd8, %rd7, 0x7ff8000000f00000; mov.b64 %fd1, %rd8;"
           "or.b64 %rd8, %rd7, 0x7ff8000000000000; mov.b64 %fd2, %rd8; cvt.rn.f64.u32 %fd5, %r0;"
           "setp.lt.u32 %p1, %r6, 9; add.f64 %fd3, %fd1, %fd2; mul.f64 %fd4, %fd3, %fd5;"
           "@%p1 mov.f64 %fd4, %fd5; mul.f64 %fd6, %fd4, %fd5; mov.b64 %rd6, %fd3;"
           "mov.b64 %rd7, %fd6; xor.b64 %rd6, %rd6, %rd7; st.global.u64 [%rd5], %rd6;",
       }) {
    both(words + body, {.block = {64}}, ".shared .align 4 .b8 s[4];");
    both(words + body, {.block = {24}}, ".shared .align 4 .b8 s[4];");
  }
}

// What compiled code takes for granted of rows and columns holds for some of these warps, and for
// others not.
TEST(Region, GuessesThatHoldAndThatDoNot) {
  const auto stores = [](std::string_view address) {
    return fmt::format(
        "and.b32 %r8, {0}, 63; mul.wide.u32 %rd6, %r8, 4; add.s64 %rd6, %rd6, %rd3;"
        "ld.global.u32 %r9, [%rd6]; mad.lo.u32 %r9, {0}, 77, %r9; st.global.u32 [%rd4], %r9;",
        address
    );
  };
  for (const char* first : {
           "mov.u32 %r4, %r0;",
           "add.u32 %r4, %r0, 5;",
           "sub.u32 %r4, %r0, 40;",         // below 0
           "add.u32 %r4, %r0, 2147483600;", // beyond the largest int
           "add.u32 %r4, %r0, 4294967280;", // wraps around
           "shl.b32 %r4, %r0, 3;",
           "mul.lo.u32 %r4, %r0, -3;",
       }) {
    for (const char* then : {
             "and.b32 %r5, %r4, 31;",
             "and.b32 %r5, %r4, 511;",
             "and.b32 %r5, %r4, 7;",
             "and.b32 %r5, %r4, -32;",
             "and.b32 %r5, %r4, -8;",
             "and.b32 %r5, %r4, 12;",
             "ld.global.u32 %r6, [%rd3+4]; and.b32 %r6, %r6, 255; and.b32 %r5, %r4, %r6;",
             "shr.u32 %r5, %r4, 3;",
             "shr.u32 %r5, %r4, 5;",
             "shr.s32 %r5, %r4, 6;",
             "shr.s32 %r5, %r4, 31; shr.u32 %r5, %r5, 27; add.s32 %r5, %r5, %r4;"
             "and.b32 %r5, %r5, -32; sub.s32 %r5, %r4, %r5;",
             "mul.hi.u32 %r5, %r4, 1374389535; shr.u32 %r5, %r5, 5; mad.lo.u32 %r5, %r5, -100, "
             "%r4;",
             "mul.hi.s32 %r5, %r4, 1717986919; shr.u32 %r6, %r5, 31; shr.s32 %r5, %r5, 8;"
             "add.s32 %r5, %r5, %r6; mad.lo.s32 %r5, %r5, -640, %r4;",
             "mul.wide.u32 %rd7, %r4, 3435973837; shr.u64 %rd7, %rd7, 34; cvt.u32.u64 %r5, %rd7;",
             "rem.u32 %r5, %r4, 40; div.u32 %r6, %r4, 64; mad.lo.u32 %r5, %r6, 100, %r5;",
             "rem.s32 %r5, %r4, 40; div.s32 %r6, %r4, 64; mad.lo.u32 %r5, %r6, 100, %r5;",
             "ld.global.u32 %r6, [%rd3]; add.u32 %r6, %r6, 48; rem.u32 %r5, %r4, %r6;"
             "div.u32 %r7, %r4, %r6; mad.lo.u32 %r5, %r7, 100, %r5;",
             "ld.global.u32 %r6, [%rd3]; sub.u32 %r6, %r6, 48; rem.s32 %r5, %r4, %r6;"
             "div.s32 %r7, %r4, %r6; mad.lo.u32 %r5, %r7, 100, %r5;",
         }) {
      both(std::string(first) + then + stores("%r5"), {.block = {96}});
    }
  }
  both("rem.u32 %r5, %r0, 24;" + stores("%r5"), {.block = {24, 5}});
  both("rem.u32 %r5, %r0, 24; shr.u32 %r5, %r5, 3;" + stores("%r5"), {.block = {16, 5}});
}

// One generic address, but each lane's own memory: the region is left in front of the ops that the
// interpreter can execute once more.
TEST(Region, WhatIsLoadedFromOneAddressDiffers) {
  constexpr const char* own =
      ".local .align 8 .b8 l[8]; cvt.u64.u32 %rd7, %r0; add.s64 %rd7, %rd7, 1000;"
      "st.local.u64 [l], %rd7; mov.u64 %rd8, l; cvta.local.u64 %rd8, %rd8;";
  for (const char* body : {
           "add.u32 %r5, %r0, 7; mul.lo.u32 %r6, %r5, 3; ld.u64 %rd9, [%rd8];",
           "mov.u32 %r6, 5; add.u32 %r6, %r6, %r0; ld.u64 %rd9, [%rd8]; add.u32 %r6, %r6, 2;",
           // Behind a store: what follows it may be executed again, but has changed %r6 or %rd8.
           "mov.u32 %r6, %r0; st.global.u32 [%rd4], %r0; add.u32 %r6, %r6, 3; ld.u64 %rd9, [%rd8];",
           "mov.u32 %r6, 1; st.global.u32 [%rd4], %r0; ld.u64 %rd8, [%rd8]; mov.u64 %rd9, %rd8;",
           "setp.lt.u32 %p1, %r0, 40; mov.u64 %rd9, 1; mov.u32 %r6, %r0; @%p1 ld.u64 %rd9, [%rd8];",
           "mov.u32 %r6, 0; AGAIN: ld.u64 %rd9, [%rd8]; add.u32 %r6, %r6, 1;"
           "setp.lt.u32 %p1, %r6, 9; @%p1 bra AGAIN;",
       }) {
    const std::string store = "cvt.u32.u64 %r8, %rd9; mad.lo.u32 %r8, %r6, 100, %r8;"
                              "st.global.u32 [%rd4], %r8;";
    both(std::string(own) + body + store);
    both(std::string(own) + body + store, {.block = {16, 4}});
  }
}

TEST(Region, ConstantsInRegisters) {
  for (const unsigned threads : {64U, 40U}) {
    for (const char* body : {
             "mov.u32 %r4, 3; shl.b32 %r5, %r0, %r4; st.global.u32 [%rd4], %r5;",
             "setp.lt.u32 %p1, %r0, 9; @%p1 mov.u32 %r4, 7; add.u32 %r5, %r4, %r0;"
             "st.global.u32 [%rd4], %r5;",
             "mov.u32 %r6, 0; mov.u32 %r5, 0; LOOP: mad.lo.u32 %r5, %r5, 9, %r4; mov.u32 %r4, 5;"
             "add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 3; @%p1 bra LOOP;"
             "st.global.u32 [%rd4], %r5;",
             "setp.gt.u32 %p1, %r0, 20; @%p1 bra SKIP; mov.u32 %r4, 5; SKIP: add.u32 %r5, %r4, %r0;"
             "st.global.u32 [%rd4], %r5;",
             "mov.u32 %r4, 5; mov.u32 %r6, 31; mov.u32 %r7, -1;"
             "shfl.sync.bfly.b32 %r5|%p1, %r0, %r4, %r6, %r7; @%p1 add.u32 %r5, %r5, 1000;"
             "st.global.u32 [%rd4], %r5;",
             "mov.u32 %r4, 3; mov.u32 %r6, 0x1807; mov.u32 %r7, -1;"
             "shfl.sync.down.b32 %r5|%p1, %r0, %r4, %r6, %r7; @%p1 add.u32 %r5, %r5, 1000;"
             "setp.lt.u32 %p2, %r0, 11; vote.sync.ballot.b32 %r8, %p2, %r7;"
             "add.u32 %r5, %r5, %r8; st.global.u32 [%rd4], %r5;",
         }) {
      both(body, {.block = {threads}});
    }
  }
}

// Bits that a constant chooses, for lanes that a guard or a branch chooses.
TEST(Region, BitsOfSomeLanes) {
  for (const char* op : {
           "copysign.f32 %f2, %f1, %f2;",
           "copysign.f32 %f2, %f2, %f1;",
           "lop3.b32 %r4, %r2, %r4, 0x7fff0f3f, 0xe4;",
           "lop3.b32 %r4, %r4, %r2, 0x7fff0f3f, 0xe4;",
           "lop3.b32 %r4, %r2, %r4, 0x7fff0f3f, 0xd8;",
           "lop3.b32 %r4, %r4, %r2, 0x7fff0f3f, 0xd8;",
           "lop3.b32 %r4, 0x7fff0f3f, %r4, %r2, 0xca;",
           "lop3.b32 %r4, 0x7fff0f3f, %r2, %r4, 0xca;",
           "bfi.b32 %r4, %r2, %r4, 3, 9;",
           "bfi.b32 %r4, %r4, %r2, 3, 9;",
           "and.b32 %r5, %r2, 0xff00ff0; and.b32 %r4, %r4, 0xf00ff00f; or.b32 %r4, %r4, %r5;",
       }) {
    const std::string begin =
        std::string(load_word) +
        "mov.u32 %r8, %tid.y; mad.lo.u32 %r0, %r8, 16, %r0; mul.wide.u32 %rd4, %r0, 4; add.s64 "
        "%rd4, %rd4, %rd2; mov.b32 %f1, %r2; mov.b32 %f2, %r3; mov.u32 %r4, %r3;"
        "and.b32 %r6, %r0, 5; setp.eq.u32 %p1, %r6, 4;";
    const std::string end = "mov.b32 %r5, %f2; mad.lo.u32 %r4, %r4, 31, %r5;"
                            "st.global.u32 [%rd4], %r4;";
    both(begin + "@%p1 bra SKIP; " + op + " SKIP: " + end, {.block = {16, 4}});
    both(
        begin + "mov.u32 %r7, 0; LOOP: " + op + "add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %r6;" +
            "@%p1 bra LOOP; " + end,
        {.block = {16, 4}}
    );
  }
}

TEST(Region, GuardsKeepWhatWasThere) {
  both(
      std::string(load_word) +
      "mov.u32 %r4, 5; setp.lt.u32 %p1, %r0, 11; @%p1 add.u32 %r4, %r2, 1;"
      "@!%p1 add.u32 %r4, %r4, %r0; setp.eq.u32 %p2, %r4, %r4;"
      "@%p1 setp.eq.u32 %p2, %r4, 1; selp.u32 %r5, 1, 0, %p2; add.u32 %r4, %r4, %r5;"
      "@%p1 st.global.u32 [%rd4], %r4;"
  );
}

TEST(Region, LanesThatPartAndMeet) {
  both(
      "mov.u32 %r4, 0; mov.u32 %r5, 0;"
      "LOOP: and.b32 %r6, %r5, 1; setp.eq.u32 %p1, %r6, 0; @%p1 bra EVEN;"
      "add.u32 %r4, %r4, %r0; bra NEXT;"
      "EVEN: mad.lo.u32 %r4, %r4, 3, 1;"
      "NEXT: add.u32 %r5, %r5, 1; setp.le.u32 %p2, %r5, %r0; @%p2 bra LOOP;"
      "st.global.u32 [%rd4], %r4;"
  );
}

// Rows of a block that end in the middle of a group.
TEST(Region, BlocksOfAllShapes) {
  for (const machine::Dim3 block : {
           machine::Dim3{1},
           machine::Dim3{5},
           machine::Dim3{13},
           machine::Dim3{47},
           machine::Dim3{100},
           machine::Dim3{8, 5},
           machine::Dim3{16, 3},
           machine::Dim3{16, 2, 2},
           machine::Dim3{20, 3},
           machine::Dim3{1, 37},
       }) {
    both(
        std::string(load_word) +
            "mov.u32 %r5, %tid.y; mov.u32 %r7, %ntid.x; mov.u32 %r8, %tid.z; mov.u32 %r9, %ntid.y;"
            "mad.lo.u32 %r8, %r8, %r9, %r5; mad.lo.u32 %r6, %r8, %r7, %r0;"
            "mul.wide.u32 %rd7, %r6, 4; add.s64 %rd7, %rd7, %rd2;"
            "atom.shared.add.u32 %r4, [s], %r2; bar.sync 0; ld.shared.u32 %r4, [s];"
            "atom.global.add.u32 %r5, [%rd7], %r2; mad.lo.u32 %r4, %r4, 3, %r5; membar.gl;"
            "add.u32 %r4, %r4, %r6; st.volatile.global.u32 [%rd7], %r4;",
        {.block = block},
        ".shared .align 4 .b8 s[4];"
    );
  }
}

TEST(Region, WarpsThatAreNotFull) {
  for (const unsigned threads : {1U, 5U, 31U, 33U, 48U}) {
    both(
        std::string(load_word) + "setp.gt.u32 %p1, %r0, 2; @%p1 add.u32 %r2, %r2, 9;"
                                 "st.global.u32 [%rd4], %r2;",
        {.block = {threads}}
    );
  }
}

TEST(Region, ThreadsThatEndEarly) {
  both("setp.lt.u32 %p1, %r0, 9; @%p1 exit; add.u32 %r4, %r0, 100; st.global.u32 [%rd4], %r4;");
}

TEST(Region, SharedMemoryAndBarriers) {
  const Ran r = both(
      "mov.u32 %r4, s; shl.b32 %r5, %r0, 2; add.u32 %r6, %r4, %r5; st.shared.u32 [%r6], %r0;"
      "mov.u32 %r7, 0; mov.u32 %r8, 0; bar.sync 0;"
      "LOOP: xor.b32 %r9, %r0, %r8; shl.b32 %r9, %r9, 2; add.u32 %r9, %r9, %r4;"
      "ld.shared.u32 %r10, [%r9]; mad.lo.u32 %r7, %r7, 5, %r10;"
      "add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 64; @%p1 bra LOOP;"
      "bar.sync 0; st.global.u32 [%rd4], %r7;",
      {.block = {64}},
      ".shared .align 4 .b8 s[256];"
  );
  EXPECT_NE(r.out[5], 0U);
}

TEST(Region, VariablesOfTheProgram) {
  both(
      "mov.u64 %rd6, table; mul.wide.u32 %rd7, %r0, 4; add.s64 %rd6, %rd6, %rd7;"
      "ld.global.u32 %r4, [%rd6]; ld.global.u32 %r5, [table+8]; add.u32 %r4, %r4, %r5;"
      "st.global.u32 [table+4], %r4; st.global.u32 [%rd4], %r5;",
      {.block = {4}},
      ".global .u32 table[4] = {5, 6, 7, 8};"
  );
}

// The order of lanes shows in what each finds, and in the last bit of a sum.
TEST(Region, UpdatesAreMadeByLaneAfterLane) {
  constexpr const char* places[] = {
      "mov.u32 %r4, 0;",      // one
      "shl.b32 %r4, %r0, 2;", // each its own
      "rem.u32 %r4, %r0, 3; shl.b32 %r4, %r4, 2;",
      "xor.b32 %r4, %r0, 9; and.b32 %r4, %r4, 13; shl.b32 %r4, %r4, 2;",
  };
  constexpr const char* updates[] = {
      "atom{0}.add.u32 %r5, [{1}], %r2;",
      "atom{0}.min.s32 %r5, [{1}], %r2;",
      "atom{0}.max.u32 %r5, [{1}], %r2;",
      "atom{0}.and.b32 %r5, [{1}], %r2;",
      "atom{0}.xor.b32 %r5, [{1}], %r2;",
      "atom{0}.inc.u32 %r5, [{1}], 7;",
      "atom{0}.dec.u32 %r5, [{1}], 7;",
      "atom{0}.exch.b32 %r5, [{1}], %r2;",
      "atom{0}.cas.b32 %r5, [{1}], 0, %r2;",
      "atom{0}.add.f32 %f5, [{1}], %f1; mov.b32 %r5, %f5;",
      "@%p1 atom{0}.add.u32 %r5, [{1}], %r2;",
      "@%p1 red{0}.add.f32 [{1}], %f1;",
      "red{0}.or.b32 [{1}], %r2;",
      "@!%p1 red{0}.max.s32 [{1}], %r2;",
      "red{0}.add.u32 [{1}], 3;",
  };
  for (const char* place : places) {
    for (const bool shared : {true, false}) { // each update 128 bytes of its own
      const unsigned threads = shared ? 32 : 20;
      std::string body = std::string(load_word) +
                         "setp.lt.u32 %p1, %r3, %r2; cvt.rn.f32.s32 %f1, %r2;"
                         "mul.f32 %f1, %f1, 0f3e99999a; mov.u32 %r5, 0; mov.u32 %r9, 0;" +
                         place + "mov.u32 %r6, s; add.u32 %r6, %r6, %r4;" +
                         "cvt.u64.u32 %rd7, %r4; add.s64 %rd7, %rd7, %rd2;";
      for (std::size_t n = 0; n < std::size(updates); ++n) {
        const std::string at = fmt::format("{}+{}", shared ? "%r6" : "%rd7", 128 * n);
        const char* space = shared ? ".shared" : ".global";
        body += fmt::format(fmt::runtime(updates[n]), space, at);
        body += fmt::format("ld{}.u32 %r7, [{}];", space, at);
        body += "mad.lo.u32 %r9, %r9, 31, %r5; mad.lo.u32 %r9, %r9, 31, %r7;";
      }
      both(
          body + "st.global.u32 [%rd4+2048], %r9;",
          {.block = {threads}},
          ".shared .align 4 .b8 s[2048];"
      );
    }
  }
  // Beyond the end of the memory, and not aligned.
  for (const char* offset : {"4096", "2"}) {
    const Ran r = both(
        fmt::format(
            "setp.eq.u32 %p1, %r0, 7; mul.wide.u32 %rd7, %r0, 4; @%p1 add.s64 %rd7, %rd7, {};"
            "add.s64 %rd7, %rd7, %rd2; atom.global.add.u32 %r5, [%rd7], %r0;",
            offset
        )
    );
    EXPECT_NE(r.error, "");
  }
}

TEST(Region, BarriersWithResults) {
  for (const unsigned threads : {64U, 96U, 40U}) {
    for (const char* body : {
             "setp.lt.u32 %p1, %r0, 37; bar.red.popc.u32 %r4, 0, %p1; st.global.u32 [%rd4], %r4;",
             "setp.lt.u32 %p1, %r0, 37; bar.red.and.pred %p1, 0, %p1; bar.red.or.pred %p2, 0, !%p1;"
             "selp.u32 %r4, 1, 0, %p1; selp.u32 %r5, 2, 0, %p2; add.u32 %r4, %r4, %r5;"
             "st.global.u32 [%rd4], %r4;",
             "mov.u32 %r4, 0; L: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r0; mad.lo.u32 %r5, "
             "%r5, 3, %r4; bar.red.or.pred %p2, 0, %p1; @%p2 bra L; add.u32 %r4, %r4, %r5;"
             "st.global.u32 [%rd4], %r4;",
             // A region that is left between, when some have been counted.
             "setp.lt.u32 %p1, %r0, 33; @%p1 bra S; mov.u32 %r9, %clock; S: bar.red.popc.u32 %r4, "
             "0, %p1;"
             "bar.red.and.pred %p1, 0, %p1; selp.u32 %r5, 100, 0, %p1; add.u32 %r4, %r4, %r5;"
             "st.global.u32 [%rd4], %r4;",
             "setp.gt.u32 %p1, %r0, 33; bar.red.popc.u32 %r4, 0, %p1; setp.ne.u32 %p2, %r0, 35;"
             "@%p2 bra S; mov.u32 %r9, %clock; S: add.u32 %r4, %r4, %r0; bar.red.or.pred %p3, 0, "
             "%p1; @%p3 add.u32 %r4, %r4, 1000; st.global.u32 [%rd4], %r4;",
         }) {
      both(body, {.block = {threads}});
    }
  }
}

TEST(Region, VectorsAndLocalMemory) {
  both(
      "mul.wide.u32 %rd6, %r0, 16; and.b64 %rd6, %rd6, 255; add.s64 %rd6, %rd6, %rd3;"
      "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd6]; ld.global.v2.u32 {%r8, %r9}, [%rd6+8];"
      ".local .align 8 .b8 l[16]; st.local.v2.u32 [l], {%r4, %r9}; ld.local.u32 %r10, [l+4];"
      "xor.b32 %r4, %r5, %r6; add.u32 %r4, %r4, %r7; add.u32 %r4, %r4, %r10;"
      "st.global.u32 [%rd4], %r4;",
      {.block = {64}},
      ""
  );
}

TEST(Region, FaultsAreTheInterpretersOwn) {
  for (const char* body : {
           // Thread 40 only.
           "setp.eq.u32 %p1, %r0, 40; @%p1 mov.u64 %rd4, 64; st.global.u32 [%rd4], %r0;",
           "mul.wide.u32 %rd6, %r0, 100000; add.s64 %rd6, %rd6, %rd2; ld.global.u32 %r1, [%rd6];",
           "add.s64 %rd6, %rd2, 2; ld.global.u32 %r1, [%rd6];", // misaligned
           "shl.b32 %r1, %r0, 12; ld.shared.u32 %r2, [%r1];",
       }) {
    same_faults(std::string(body) + "st.global.u32 [%rd4], %r0;");
  }
}

// One of several accesses by one register is wrong, or would be if its guard let it happen; the
// others have been made.
TEST(Region, OneCheckForSeveralAccesses) {
  const std::string begin =
      "mul.wide.u32 %rd6, %r0, 4; add.s64 %rd6, %rd6, %rd3; mov.u32 %r1, s; shl.b32 %r2, %r0, 2;"
      "add.u32 %r2, %r2, %r1; mov.u32 %r9, 0;";
  const std::string end = "st.global.u32 [%rd4], %r9;";
  for (const char* body : {
           "ld.global.u32 %r3, [%rd6]; add.u32 %r9, %r9, %r3; st.global.u32 [%rd4+1024], %r9;"
           "ld.global.u32 %r4, [%rd6+4]; add.u32 %r9, %r9, %r4; st.global.u32 [%rd4+2048], %r9;"
           "ld.global.u32 %r5, [%rd6-4]; add.u32 %r9, %r9, %r5; st.global.u32 [%rd4+3072], %r9;",
           "setp.lt.u32 %p1, %r0, 40; ld.global.u32 %r3, [%rd6]; @%p1 ld.global.u32 %r4, [%rd6+64];"
           "@%p1 add.u32 %r3, %r3, %r4; add.u32 %r9, %r9, %r3;",
           "ld.global.u32 %r3, [%rd3+252]; ld.global.v2.u32 {%r4, %r5}, [%rd3+8];"
           "ld.global.u32 %r6, [%rd3+256]; add.u32 %r9, %r3, %r6;",
           "ld.global.u32 %r3, [%rd3+12]; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3+16];"
           "add.u32 %r9, %r3, %r7;",
           "add.s64 %rd7, %rd6, 2; ld.global.u16 %r3, [%rd7]; ld.global.u32 %r4, [%rd7+4];",
           "st.global.u32 [%rd4+1024], %r0; ld.global.u32 %r4, [%rd4+1024]; add.u32 %r9, %r3, %r4;"
           "st.global.u32 [%rd4+3976], %r9;",
           "st.shared.u32 [%r2], %r0; ld.shared.u32 %r3, [%r2]; ld.shared.u32 %r4, [%r2+256];"
           "ld.shared.u32 %r5, [%r2+252]; add.u32 %r9, %r3, %r4; ld.shared.u32 %r6, [%r2+300];",
           "st.shared.u32 [%r1+500], %r1; ld.shared.u32 %r3, [%r1+508]; st.shared.u32 [%r1+504], "
           "%r3;"
           "ld.shared.u32 %r5, [%r1+500]; add.u32 %r9, %r3, %r5; ld.shared.u32 %r6, [%r1+512];",
           // Below zero, what is only a distance less.
           "st.shared.u32 [%r2], %r0; sub.u32 %r5, %r2, 64; ld.shared.u32 %r3, [%r5+64];"
           "ld.shared.u32 %r4, [%r5+320]; add.u32 %r9, %r3, %r4;",
           "sub.u32 %r5, %r2, 64; ld.shared.u32 %r3, [%r5+64]; ld.shared.u32 %r4, [%r5+60];",
           "mov.u32 %r5, -2147483648; ld.shared.u32 %r3, [%r5]; ld.shared.u32 %r4, [%r5+4];",
           // The register changes, or another way leads there.
           "st.shared.u32 [%r2], %r0; ld.shared.u32 %r3, [%r2]; add.u32 %r2, %r2, 256;"
           "ld.shared.u32 %r4, [%r2]; add.u32 %r2, %r2, 744; ld.shared.u32 %r5, [%r2];",
           "mov.u32 %r8, 0; LOOP: ld.shared.u32 %r3, [%r1]; ld.shared.u32 %r4, [%r1+32];"
           "add.u32 %r9, %r9, %r3; add.u32 %r9, %r9, %r4; add.u32 %r1, %r1, 16; add.u32 %r8, %r8, "
           "1;"
           "setp.lt.u32 %p1, %r8, 31; @%p1 bra LOOP;",
           "mov.u32 %r8, 0; LOOP: ld.global.u32 %r3, [%rd3]; ld.global.u32 %r4, [%rd3+8];"
           "st.global.u32 [%rd4+1024], %r8; add.u32 %r9, %r9, %r3; add.u32 %r9, %r9, %r4;"
           "add.s64 %rd3, %rd3, 4; add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 62; @%p1 bra LOOP;",
           // Wrong in the middle of a loop.
           "mov.u32 %r8, 0; LOOP: ld.shared.u32 %r3, [%r1]; add.u32 %r9, %r9, %r3;"
           "ld.shared.u32 %r4, [%r1+32]; add.u32 %r1, %r1, 16; add.u32 %r8, %r8, 1;"
           "setp.lt.u32 %p1, %r8, 40; @%p1 bra LOOP;",
           "mov.u32 %r8, 0; LOOP: ld.global.u32 %r3, [%rd3]; st.global.u32 [%rd4+1024], %r8;"
           "ld.global.u32 %r4, [%rd3+8]; add.s64 %rd3, %rd3, 4; add.u32 %r8, %r8, 1;"
           "setp.lt.u32 %p1, %r8, 80; @%p1 bra LOOP;",
           "st.shared.u32 [%r2], %r0; setp.lt.u32 %p1, %r0, 20; ld.shared.u32 %r3, [%r2];"
           "@%p1 bra OTHER; ld.shared.u32 %r4, [%r2]; ld.shared.u32 %r5, [%r2+256]; bra ALL;"
           "OTHER: ld.shared.u32 %r4, [%r2+256]; ld.shared.u32 %r5, [%r2];"
           "ALL: ld.shared.u32 %r6, [%r2]; add.u32 %r9, %r4, %r5; add.u32 %r9, %r9, %r6;",
       }) {
    same_faults(begin + body + end, ".shared .align 16 .b8 s[512];");
  }
}

// A block whose second warp leaves compiled code between two barriers, while the first one waits
// and the third one has not begun: what they hold in registers is still there.
TEST(Region, ABlockIsLeftBetweenBarriers) {
  for (const char* leaves : {
           "setp.ge.u32 %p2, %r0, 60; @!%p2 bra ON; and.b32 %r7, %r0, 3;"
           "ROUND: add.u32 %r5, %r5, %r7; sub.s32 %r7, %r7, 1; setp.gt.s32 %p3, %r7, 0;"
           "@%p3 bra ROUND; ON:",
           "setp.eq.u32 %p2, %r0, 40; @%p2 nanosleep.u32 20;",
           "setp.eq.u32 %p2, %r0, 40; @%p2 trap;",
           "setp.eq.u32 %p2, %r0, 3; @%p2 nanosleep.u32 20; setp.ge.u32 %p3, %r0, 70; @%p3 trap;",
           "setp.lt.u32 %p2, %r0, 40; @%p2 nanosleep.u32 20;",
           "setp.lt.u32 %p2, %r0, 64; @!%p2 bra ON; bar.sync 1, 64; ON:",
       }) {
    both(
        std::string(
            "mul.lo.u32 %r4, %r0, 3; mov.u32 %r5, 7; setp.lt.u32 %p4, %r0, 50; mov.u32 %r6, s;"
            "shl.b32 %r8, %r0, 2; add.u32 %r8, %r8, %r6; st.shared.u32 [%r8], %r4; bar.sync 0;"
        ) + leaves +
            "bar.sync 0; ld.shared.u32 %r9, [%r6+160]; @%p4 add.u32 %r5, %r5, %r9;"
            "add.u32 %r5, %r5, %r4; st.global.u32 [%rd4], %r5;",
        {.grid = {2}, .block = {96}},
        ".shared .align 4 .b8 s[1024];"
    );
  }
}

// The first thread of each block waits until those of all blocks have come, the others of its block
// at a barrier, as in a cooperative grid.
TEST(Region, BlocksWaitForEachOther) {
  for (const std::uint32_t threads : {32U, 96U, 100U}) {
    const Ran r = both(
        "mov.u32 %r4, 0; mov.u32 %r8, 1; mov.u32 %r10, %tid.x; mov.u32 %r11, %nctaid.x;"
        "ROUND: mad.lo.u32 %r8, %r8, 3, %r0; bar.sync 0; setp.ne.u32 %p1, %r10, 0; @%p1 bra MET;"
        "membar.gl; atom.global.add.u32 %r5, [%rd2], 1; mad.lo.u32 %r6, %r4, %r11, %r11;"
        "WAIT: ld.volatile.global.u32 %r7, [%rd2]; setp.lt.u32 %p2, %r7, %r6; @%p2 bra WAIT;"
        "membar.gl; MET: bar.sync 0; ld.volatile.global.u32 %r9, [%rd2]; setp.lt.u32 %p2, %r9, %r6;"
        "@%p2 trap; add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 6; @%p3 bra ROUND;"
        "setp.eq.u32 %p1, %r0, 0; @%p1 bra END; st.global.u32 [%rd4], %r8; END:",
        {.grid = {3}, .block = {threads}}
    );
    EXPECT_EQ(r.out[0], 18U);
  }
}

// Lanes poll a place each, in a loop that also does something else.
TEST(Region, PollsThatAreAnsweredAsBefore) {
  both(
      "mov.u32 %r4, 95; sub.u32 %r4, %r4, %r0; mul.wide.u32 %rd6, %r4, 4; add.s64 %rd6, %rd6, %rd2;"
      "setp.eq.u32 %p1, %r4, 0; @%p1 bra GO; mov.u32 %r8, 0;"
      "WAIT: ld.volatile.global.u32 %r5, [%rd6+-4]; setp.eq.u32 %p2, %r5, 0;"
      "setp.ne.u32 %p3, %r5, 0; @%p3 add.u32 %r8, %r8, %r5; @%p3 st.global.u32 [%rd4+512], %r8;"
      "@%p2 bra WAIT;"
      "GO: st.volatile.global.u32 [%rd6], 7;",
      {.grid = {1}, .block = {96}}
  );
}

// Which lanes have the same value, and what all of them make together: of a warp, of a part of it,
// of several parts at once.
TEST(Region, LanesOfOneValueAndReductions) {
  const std::string begin = std::string(load_word) +
                            "mov.u32 %r12, %laneid; and.b32 %r7, %r12, 24; mov.u32 %r8, 255;"
                            "shl.b32 %r7, %r8, %r7; mov.u32 %r9, 99; and.b32 %r4, %r2, 7;"
                            "cvt.u64.u32 %rd7, %r4; shl.b64 %rd7, %rd7, 33;"
                            "setp.lt.u32 %p1, %r12, 11; setp.ge.u32 %p3, %r12, 8;";
  const std::string end = " st.global.u32 [%rd4], %r9;";
  for (const char* lanes : {"-1", "%r7"}) {
    for (const char* f : {
             "match.any.sync.b32 %r9, %r4, ",
             "match.any.sync.b32 %r9, %r2, ",
             "match.any.sync.b32 %r9, %r3, ",
             "match.any.sync.b64 %r9, %rd7, ",
             "redux.sync.add.s32 %r9, %r2, ",
             "redux.sync.and.b32 %r9, %r2, ",
             "redux.sync.or.b32 %r9, %r4, ",
             "redux.sync.xor.b32 %r9, %r2, ",
             "redux.sync.min.u32 %r9, %r2, ",
             "redux.sync.max.u32 %r9, %r2, ",
             "redux.sync.min.s32 %r9, %r2, ",
             "redux.sync.max.s32 %r9, %r2, ",
             "redux.sync.add.u32 %r9, %r3, ",
         }) {
      both(begin + f + lanes + ";" + end);
      both(begin + f + lanes + ";" + end, {.block = {40}});
    }
    for (const char* value : {"%r4", "%r3", "%r2"}) {
      both(
          begin + fmt::format("match.all.sync.b32 %r9|%p2, {}, {};", value, lanes) +
          "@%p2 add.u32 %r9, %r9, 5;" + end
      );
    }
  }
  for (const char* f : {"match.any.sync.b32 %r9, %r4, ", "redux.sync.max.s32 %r9, %r2, "}) {
    both(begin + "@%p1 " + f + "0x7ff;" + end);
    both(begin + "@!%p3 bra ON; " + f + "0xffffff00; ON:" + end);
    both(begin + "@!%p3 bra ON; " + f + "%r7; ON:" + end);
  }
}

// Thread n waits, without any atomic access of its own in the loop but a volatile load, until
// thread n + 1 has written: also within one warp.
TEST(Region, ARelayOfThreadsEnds) {
  both(
      "mov.u32 %r4, 127; sub.u32 %r4, %r4, %r0; mul.wide.u32 %rd6, %r4, 4; add.s64 %rd6, %rd6, "
      "%rd2;"
      "setp.eq.u32 %p1, %r4, 0; @%p1 bra GO;"
      "WAIT: ld.volatile.global.u32 %r5, [%rd6+-4]; setp.eq.u32 %p2, %r5, 0; @%p2 bra WAIT;"
      "GO: st.volatile.global.u32 [%rd6], 7;",
      {.block = {128}}
  );
}

// A thread that computes forever, until another one of its warp says stop.
TEST(Region, AnEndlessLoopLetsOthersGoOn) {
  both(
      "setp.eq.u32 %p1, %r0, 1; @%p1 bra SAY;"
      "SPIN: add.u32 %r4, %r4, 1; xor.b32 %r5, %r4, 3; ld.global.u32 %r6, [%rd2+128];"
      "setp.eq.u32 %p2, %r6, 0; @%p2 bra SPIN; st.global.u32 [%rd4], %r6; bra END;"
      "SAY: st.global.u32 [%rd2+128], 9;"
      "END: bar.warp.sync 0xffffffff;",
      {.block = {32}}
  );
}

TEST(Region, ALockIsTakenByEveryThread) {
  const Ran r = both(
      "LOCK: atom.global.cas.b32 %r4, [%rd2], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra LOCK;"
      "ld.volatile.global.u32 %r5, [%rd2+4]; add.u32 %r5, %r5, 1;"
      "st.volatile.global.u32 [%rd2+4], %r5; membar.gl; atom.global.exch.b32 %r6, [%rd2], 0;",
      {.grid = {3}, .block = {96}}
  );
  EXPECT_EQ(r.out[1], 288U);
}

// Objects on the stack by generic addresses, of which some are elsewhere, or wrong.
TEST(Region, GenericAddressesOfTheStack) {
  const std::string begin =
      ".local .align 8 .b8 l[32]; mov.u64 %rd5, l; cvta.local.u64 %rd6, %rd5; and.b32 %r1, %r0, 1;"
      "add.u32 %r3, %r0, 5; st.u32 [%rd6+8], %r3; st.u32 [%rd6+12], %r0; add.s64 %rd7, %rd6, 8;"
      "setp.eq.u32 %p1, %r1, 0; selp.b64 %rd8, %rd6, %rd7, %p1;";
  const std::string end = "add.u32 %r9, %r9, %r8; st.global.u32 [%rd4], %r9;";
  for (const char* body : {
           "ld.u32 %r9, [%rd7]; ld.v2.u32 {%r7, %r8}, [%rd6+8];",
           "st.u32 [%rd8], %r0; ld.u32 %r9, [%rd7+4]; ld.u32 %r8, [%rd6+8];",
           "mov.u64 %rd9, %rd6; mov.u32 %r9, 0; L: ld.u32 %r8, [%rd9]; add.u32 %r9, %r9, %r8;"
           "add.s64 %rd9, %rd9, 4; add.u32 %r3, %r3, 1; and.b32 %r7, %r3, 7; setp.ne.u32 %p2, %r7, "
           "0; sub.s64 %rd10, %rd9, %rd6; setp.lt.u64 %p3, %rd10, 32; and.pred %p2, %p2, %p3;"
           "@%p2 bra L; mov.u32 %r8, 0;",
           "add.s64 %rd9, %rd6, 4096; setp.eq.u32 %p2, %r0, 40; ld.u32 %r9, [%rd7];"
           "@%p2 ld.u32 %r8, [%rd9];",
           "ld.u32 %r9, [%rd7]; add.s64 %rd9, %rd6, 10; ld.u32 %r8, [%rd9];",
           "ld.u32 %r9, [%rd7]; ld.global.u32 %r8, [%rd6];",
           "sub.s64 %rd9, %rd6, %rd6; add.s64 %rd9, %rd9, %rd3; ld.u32 %r9, [%rd9];"
           "ld.u32 %r8, [%rd7];",
       }) {
    same_faults(begin + body + end);
  }
}

TEST(Region, FunctionsThatAreCalled) {
  both(
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call (b), twice, (a);"
      "ld.param.b32 %r4, [b]; } st.global.u32 [%rd4], %r4;",
      {.block = {64}},
      ".func (.param .b32 y) twice(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r0, [x];"
      "mad.lo.s32 %r1, %r0, 2, %r0; st.param.b32 [y], %r1; ret; }"
  );
}

} // namespace
} // namespace heddle::test
