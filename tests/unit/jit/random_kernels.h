// RandomKernel: the body of a kernel for OneKernel (unit/isa/one_kernel.h) and what it needs
// besides.
//
//   OneKernel kernel(".local .align 4 .b8 l[16];\n" + RandomKernel(seed).body(),
//   random_kernel_variables);
//
// Arithmetic of several types, guards, branches on which all, some or no lanes part, one within the
// other, loops whose number of rounds differs from lane to lane, with several ways through their
// bodies, memory of all spaces by regular and irregular addresses, barriers, also in loops and with
// results, collectives, atomic and volatile accesses, calls, threads that end early.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>

namespace heddle::test {

inline constexpr const char* random_kernel_variables =
    ".shared .align 4 .b8 s[4096]; .shared .align 4 .b8 t[4]; .shared .align 8 .b8 u[112];\n"
    ".func (.param .b32 o) helper(.param .b32 a)\n{ .reg .b32 %x<3>; .reg .pred %y;"
    "ld.param.u32 %x1, [a]; mul.lo.u32 %x2, %x1, 0x9e3779b1; and.b32 %x1, %x2, 96;"
    "setp.eq.u32 %y, %x1, 0; @%y add.u32 %x2, %x2, 1; shr.u32 %x1, %x2, 3;"
    "xor.b32 %x2, %x2, %x1; st.param.b32 [o], %x2; ret; }\n"
    // Calls itself, as deep as the lanes want.
    ".func (.param .b32 o) turns(.param .b32 a, .param .b32 n)\n{ .reg .b32 %x<5>; .reg .pred %y;"
    "ld.param.u32 %x1, [a]; ld.param.s32 %x2, [n]; setp.lt.s32 %y, %x2, 1;"
    "mad.lo.u32 %x1, %x1, 0x9e3779b1, 7; st.param.b32 [o], %x1; @%y ret; shr.u32 %x3, %x1, 29;"
    "sub.u32 %x2, %x2, 1; setp.gt.u32 %y, %x3, 2;\n"
    "{ .param .b32 p; .param .b32 r; .param .b32 q; st.param.b32 [p], %x1; st.param.b32 [r], %x2;"
    "@%y call (q), turns, (p, r); @%y ld.param.b32 %x4, [q]; } @%y xor.b32 %x1, %x1, %x4;\n"
    "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %x1; call (q), helper, (p);"
    "ld.param.b32 %x1, [q]; } setp.lt.u32 %y, %x3, 5; @%y bra L; bra END;\n"
    "L: { .param .b32 p; .param .b32 r; .param .b32 q; st.param.b32 [p], %x1;"
    "st.param.b32 [r], %x2; call (q), turns, (p, r); ld.param.b32 %x4, [q]; }"
    "add.u32 %x1, %x1, %x4; END: st.param.b32 [o], %x1; ret; }\n"
    // Lanes part in it, some return early, and it has memory of its own.
    ".func (.param .b32 o) rounds(.param .b32 a, .param .b32 n)\n{ .reg .b32 %x<5>; .reg .pred "
    "%y; .reg .b64 %a; .local .align 4 .b8 w[8];"
    "ld.param.u32 %x1, [a]; ld.param.u32 %x2, [n]; and.b32 %x3, %x1, 3; add.u32 %x2, %x2, %x3;"
    "st.local.u32 [w], %x1; st.local.u32 [w+4], %x2; st.param.b32 [o], %x1;"
    "setp.eq.u32 %y, %x3, 1; @%y ret; and.b32 %x4, %x1, 4; mov.u64 %a, w;\n"
    "L: cvt.u64.u32 %a, %x4; ld.local.u32 %x3, [w]; mul.lo.u32 %x3, %x3, 0x9e3779b1;"
    "st.local.u32 [w], %x3; sub.u32 %x2, %x2, 1; setp.gt.s32 %y, %x2, 0; @%y bra L;\n"
    "{ .param .b32 p; .param .b32 q; ld.local.u32 %x3, [w]; st.param.b32 [p], %x3;"
    "call (q), helper, (p); ld.param.b32 %x3, [q]; } and.b32 %x4, %x3, 3;\n"
    "{ .param .b32 p; .param .b32 r; .param .b32 q; st.param.b32 [p], %x3; st.param.b32 [r], %x4;"
    "call (q), turns, (p, r); ld.param.b32 %x3, [q]; } ld.local.u32 %x4, [w+4];"
    "add.u32 %x3, %x3, %x4; st.param.b32 [o], %x3; ret; }\n";

class RandomKernel {
public:
  /// `shares`: threads also access what others access, in whatever order.
  explicit RandomKernel(unsigned seed, bool shares = false)
      : random_(seed),
        narrow_(seed % 2 != 0),
        updates_(seed % 5 == 3),
        floats_(seed % 3 == 1),
        shares_(shares) {}

  std::string body() {
    text_ = "mov.u32 %r31, %tid.y; mad.lo.u32 %r0, %r31, 64, %r0; and.b32 %r0, %r0, 1023;"
            "mul.wide.u32 %rd4, %r0, 4; add.s64 %rd4, %rd4, %rd2; mov.u32 %r32, %ctaid.x;"
            "mov.u32 %r33, %laneid; mov.u32 %r30, s;\n";
    for (int n = 0; n < registers; ++n) {
      text_ += n % 3 == 0
                   ? fmt::format("mad.lo.u32 %r{}, %r0, {}, {};\n", 10 + n, 1 + below(9), below(99))
                   : fmt::format("mov.u32 %r{}, {};\n", 10 + n, random_());
    }
    for (int n = 0; floats_ && n < floats; ++n) {
      text_ += fmt::format("cvt.rn.f32.u32 %f{}, %r{};\n", first_float + n, reg());
      text_ += fmt::format("cvt.rn.f64.s32 %fd{}, %r{};\n", n, reg());
    }
    collectives_ = below(2) == 0;
    calls_ = below(3) == 0;
    if (below(4) == 0) { // some threads end at once: whole warps where others ask their own
      text_ += fmt::format(
          "mov.u32 %r8, %tid.x; setp.ge.u32 %p9, %r8, {}; @%p9 ret;\n",
          collectives_ ? 32 * (1 + below(2)) : 4 + below(60)
      );
    }
    statements(6, 0);
    if (below(2) == 0) {
      text_ += "bar.sync 0;\n";
      statements(4, 0);
    }
    if (below(2) == 0) {
      rounds_with_barriers();
    }
    text_ += "mov.u32 %r9, 0;\n";
    for (int n = 0; n < registers; ++n) {
      text_ += fmt::format("mad.lo.u32 %r9, %r9, 31, %r{};\n", 10 + n);
    }
    for (int n = 0; floats_ && n < floats; ++n) {
      text_ += fmt::format(
          "mov.b32 %r8, %f{}; mad.lo.u32 %r9, %r9, 31, %r8; mov.b64 {{%r7, %r8}}, %fd{};"
          "mad.lo.u32 %r9, %r9, 31, %r7; mad.lo.u32 %r9, %r9, 31, %r8;\n",
          first_float + n,
          n
      );
    }
    text_ += "bar.sync 0; ld.shared.u32 %r8, [t]; add.u32 %r9, %r9, %r8;\n";
    if (updates_) {
      for (int n = 0; n < 28; ++n) {
        text_ += fmt::format("ld.shared.u32 %r8, [u+{}]; mad.lo.u32 %r9, %r9, 31, %r8;\n", 4 * n);
      }
    }
    return text_ + "st.global.u32 [%rd4], %r9;";
  }

private:
  static constexpr int registers = 10;  // %r10 … %r19 hold values
  static constexpr int first_float = 4; // %f4 … %f9 and %fd0 … %fd5, too
  static constexpr int floats = 6;
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  int reg() { return 10 + static_cast<int>(below(registers)); }
  std::string source() {
    switch (below(6)) {
    case 0:
      return fmt::format("{}", below(2) == 0 ? below(40) : static_cast<unsigned>(random_()));
    case 1:
      return below(2) == 0 ? "%r0" : below(2) == 0 ? "%r33" : "%r32";
    default:
      return fmt::format("%r{}", reg());
    }
  }
  void line(const std::string& what) {
    if (below(6) == 0) {
      text_ += condition("%p4");
      text_ += below(2) == 0 ? "@%p4 " : "@!%p4 ";
    }
    text_ += what + "\n";
  }
  std::string condition(const char* p) {
    static constexpr const char* compare[] = {"lt.u32", "ge.s32", "eq.u32", "ne.u32", "gt.u32"};
    const std::string bits = below(3) == 0 ? "63" : "7";
    return fmt::format(
        "and.b32 %r8, {}, {}; setp.{} {}, %r8, {};\n",
        source(),
        bits,
        compare[below(5)],
        p,
        below(8)
    );
  }
  /// Results are often NaN or infinite, and other NaN than those of operations come from integers.
  void floating_point() {
    static constexpr const char* f32[] = {
        "add.f32",
        "sub.f32",
        "mul.f32",
        "div.rn.f32",
        "min.f32",
        "max.f32",
        "add.ftz.f32",
        "mul.ftz.f32",
        "add.rz.f32",
        "copysign.f32"
    };
    static constexpr const char* f64[] = {"add.f64", "sub.f64", "mul.f64", "div.rn.f64", "min.f64"};
    static constexpr const char* one[] = {
        "neg.f32",
        "abs.f32",
        "sqrt.rn.f32",
        "rsqrt.approx.f32",
        "rcp.approx.ftz.f32",
        "ex2.approx.ftz.f32",
        "mov.f32",
        "cvt.rni.f32.f32",
        "cvt.sat.f32.f32"
    };
    static constexpr const char* words[] = {
        "0x7fc01234",
        "0xff812345",
        "0x7fffffff",
        "0x7f800000",
        "0xff800000",
        "0x80000000",
        "0x00012345",
        "0xbf8147ae"
    };
    const auto f = [this] {
      return fmt::format("%f{}", first_float + static_cast<int>(below(floats)));
    };
    const auto d = [this] { return fmt::format("%fd{}", below(floats)); };
    switch (below(14)) {
    case 0:
      line(fmt::format("mov.b32 {}, {};", f(), words[below(8)]));
      break;
    case 1:
      line(fmt::format("mov.b32 {}, {};", f(), "%r" + std::to_string(reg())));
      break;
    case 2:
      line(fmt::format("mov.b32 %r{}, {};", reg(), f()));
      break;
    case 3:
      line(fmt::format("cvt.rzi.s32.f32 %r{}, {};", reg(), f()));
      break;
    case 4:
      text_ += fmt::format("setp.{}.f32 %p5, {}, {};", below(2) == 0 ? "lt" : "neu", f(), f());
      line(fmt::format("selp.f32 {}, {}, {}, %p5;", f(), f(), f()));
      break;
    case 5:
      text_ += "shl.b32 %r7, %r0, 2; add.u32 %r7, %r7, %r30;";
      line(fmt::format("st.shared.f32 [%r7], {};", f()));
      line(fmt::format("ld.shared.f32 {}, [%r7];", f()));
      break;
    case 6:
      line(fmt::format("cvt.f64.f32 {}, {};", d(), f()));
      break;
    case 7:
      line(fmt::format("cvt.rn.f32.f64 {}, {};", f(), d()));
      break;
    case 8:
      line(fmt::format("{} {}, {}, {};", f64[below(5)], d(), d(), d()));
      break;
    case 9:
      line(fmt::format("fma.rn.f64 {}, {}, {}, {};", d(), d(), d(), d()));
      break;
    case 10:
      line(fmt::format("{} {}, {};", one[below(9)], f(), f()));
      break;
    case 11:
    case 12:
      line(
          fmt::format(
              "fma.rn{}.f32 {}, {}, {}, {};",
              below(3) == 0 ? ".ftz" : "",
              f(),
              f(),
              f(),
              f()
          )
      );
      break;
    default:
      line(fmt::format("{} {}, {}, {};", f32[below(10)], f(), f(), f()));
      break;
    }
  }
  void arithmetic() {
    if (floats_ && below(4) != 0) {
      floating_point();
      return;
    }
    static constexpr const char* two[] = {
        "add.u32",
        "sub.u32",
        "mul.lo.u32",
        "xor.b32",
        "and.b32",
        "or.b32",
        "min.s32",
        "max.u32",
        "shl.b32",
        "shr.u32",
        "shr.s32",
        "div.u32",
        "rem.s32",
        "mul.hi.s32"
    };
    switch (below(7)) {
    case 0:
      line(fmt::format("mad.lo.s32 %r{}, {}, {}, {};", reg(), source(), source(), source()));
      break;
    case 1:
      text_ += fmt::format("cvt.rn.f32.s32 %f1, {}; cvt.rn.f32.u32 %f2, {};", source(), source());
      text_ += "fma.rn.f32 %f3, %f1, %f2, %f1; add.f32 %f3, %f3, 0f3e200000;";
      line(fmt::format("mov.b32 %r{}, %f3;", reg()));
      break;
    case 2:
      text_ +=
          fmt::format("mul.wide.s32 %rd10, {}, {}; shr.u64 %rd10, %rd10, 7;", source(), source());
      line(fmt::format("cvt.u32.u64 %r{}, %rd10;", reg()));
      break;
    case 3:
      text_ += condition("%p5");
      line(fmt::format("selp.b32 %r{}, {}, {}, %p5;", reg(), source(), source()));
      break;
    default:
      line(fmt::format("{} %r{}, {}, {};", two[below(14)], reg(), source(), source()));
      break;
    }
  }
  /// %r7: offset of a word below 1024 bytes.
  void offset() {
    switch (below(4)) {
    case 0:
      text_ += fmt::format("and.b32 %r7, {}, 252;", source());
      break;
    case 1:
      text_ += fmt::format("mov.u32 %r7, {};", 4 * below(64));
      break;
    default:
      text_ += "and.b32 %r7, %r0, 63; shl.b32 %r7, %r7, 2;";
      break;
    }
  }
  /// Of words, and of parts of them, that other threads access, too; and of what they decide.
  void shared_memory() {
    offset();
    text_ += "add.u32 %r6, %r7, %r30; cvt.u64.u32 %rd11, %r7; add.s64 %rd11, %rd11, %rd3;\n";
    switch (below(10)) {
    case 0:
      line(fmt::format("st.shared.u32 [%r6], {};", source()));
      break;
    case 1:
      line(fmt::format("ld.shared.u32 %r{}, [%r6];", reg()));
      break;
    case 2:
      line(fmt::format("st.global.u32 [%rd11], {};", source()));
      break;
    case 3:
      line(fmt::format("st.global.u32 [%rd3+{}], 5;", 4 * below(64)));
      break;
    case 4:
      text_ += "and.b32 %r6, %r7, 240; add.u32 %r6, %r6, %r30;";
      line(fmt::format("ld.shared.v2.u32 {{%r{}, %r{}}}, [%r6+8];", 10 + below(5), 15 + below(5)));
      break;
    case 5:
      text_ += "and.b32 %r6, %r7, 240; cvt.u64.u32 %rd11, %r6; add.s64 %rd11, %rd11, %rd3;";
      line(fmt::format("st.global.v4.u32 [%rd11], {{%r{}, %r0, %r{}, %r33}};", reg(), reg()));
      break;
    case 6:
      text_ += fmt::format("cvt.u16.u32 %h1, {};", source());
      line(fmt::format("st.shared.u8 [%r6+{}], %h1;", below(4)));
      break;
    case 7:
      line(fmt::format("ld.volatile.shared.u32 %r{}, [%r6];", reg()));
      break;
    case 8:
      line(fmt::format("atom.global.add.u32 %r{}, [%rd3+{}], 1;", reg(), 4 * below(64)));
      break;
    default:
      line(fmt::format("st.volatile.global.u32 [%rd11], {};", source()));
      text_ += below(2) == 0 ? "membar.gl;\n" : "bar.warp.sync -1;\n";
      break;
    }
  }
  void memory() {
    if (shares_ && below(2) == 0) {
      shared_memory();
      return;
    }
    offset();
    switch (below(narrow_ ? 7 : 5)) {
    case 0: // a word of one's own
      text_ += "shl.b32 %r7, %r0, 2; add.u32 %r7, %r7, %r30;";
      line(fmt::format("st.shared.u32 [%r7], {};", source()));
      line(fmt::format("ld.shared.u32 %r{}, [%r7];", reg()));
      break;
    case 1:
      text_ += "cvt.u64.u32 %rd11, %r7; add.s64 %rd11, %rd11, %rd3;";
      line(fmt::format("ld.global.u32 %r{}, [%rd11];", reg()));
      break;
    case 2:
      text_ += "and.b32 %r7, %r7, 240; cvt.u64.u32 %rd11, %r7; add.s64 %rd11, %rd11, %rd3;";
      line(
          fmt::format("ld.global.v2.u32 {{%r{}, %r{}}}, [%rd11+8];", 10 + below(5), 15 + below(5))
      );
      break;
    case 3:
      text_ += "and.b32 %r7, %r7, 12; cvt.u64.u32 %rd11, %r7; mov.u64 %rd12, l; add.s64 %rd11, "
               "%rd11, %rd12;";
      line(fmt::format("st.local.u32 [%rd11], {};", source()));
      line(fmt::format("ld.local.u32 %r{}, [l+{}];", reg(), 4 * below(4)));
      break;
    case 5: // parts of one's own word
      text_ += "shl.b32 %r7, %r0, 2; add.u32 %r7, %r7, %r30;";
      text_ += fmt::format("cvt.u16.u32 %h1, {};", source());
      line(fmt::format("st.shared.u8 [%r7+{}], %h1;", below(4)));
      line(fmt::format("st.shared.u16 [%r7+{}], %h1;", 2 * below(2)));
      line(fmt::format("ld.shared.s8 %r{}, [%r7+{}];", reg(), below(4)));
      break;
    case 6:
      text_ += "and.b32 %r7, %r7, 12; cvt.u64.u32 %rd11, %r7; mov.u64 %rd12, l; add.s64 %rd11, "
               "%rd11, %rd12;";
      text_ += fmt::format("cvt.u16.u32 %h1, {};", source());
      line(fmt::format("st.local.v2.u16 [l+{}], {{%h1, %h1}};", 4 * below(4)));
      line(fmt::format("st.local.u8 [%rd11+{}], %h1;", below(4)));
      line(fmt::format("ld.local.s16 %r{}, [%rd11+{}];", reg(), 2 * below(2)));
      line(fmt::format("ld.local.u8 %r{}, [l+{}];", reg(), below(16)));
      break;
    default:
      text_ += "cvt.u64.u32 %rd11, %r7; add.s64 %rd11, %rd11, %rd3;";
      line(fmt::format("ld.global.s8 %r{}, [%rd11+{}];", reg(), below(4)));
      break;
    }
  }
  void branch(int depth) {
    const int label = labels_++;
    text_ += condition("%p1");
    text_ += fmt::format("@%p1 bra ELSE{};\n", label);
    statements(3, depth + 1);
    const bool other = below(2) == 0;
    if (other) {
      text_ += fmt::format("bra END{};\n", label);
    }
    text_ += fmt::format("ELSE{}:\n", label);
    if (other) {
      statements(3, depth + 1);
    }
    text_ += fmt::format("END{}:\n", label);
  }
  void loop(int depth) {
    const int label = labels_++;
    const int counter = 20 + depth;
    text_ += fmt::format(
        "and.b32 %r{}, {}, {};\nLOOP{}:\n",
        counter,
        source(),
        below(2) == 0 ? 3 : 15,
        label
    );
    statements(3, depth + 1);
    text_ += fmt::format(
        "sub.u32 %r{0}, %r{0}, 1; setp.gt.s32 %p2, %r{0}, 0; @%p2 bra LOOP{1};\n",
        counter,
        label
    );
  }
  /// As compilers lay out some loops: the ways through the body meet above it. Lanes go on with the
  /// next round from two places, and leave in the middle.
  void turned_loop(int depth) {
    const int label = labels_++;
    const int counter = 20 + depth;
    text_ += fmt::format(
        "and.b32 %r{0}, {1}, 7;\nbra HEAD{2};\nAGAIN{2}: sub.u32 %r{0}, %r{0}, 1;\nHEAD{2}:\n",
        counter,
        source(),
        label
    );
    statements(2, depth + 1);
    if (below(2) == 0) {
      text_ += condition("%p3") + fmt::format("@%p3 bra OUT{};\n", label);
    }
    text_ += fmt::format("setp.le.s32 %p2, %r{}, 0; @%p2 bra OUT{};\n", counter, label);
    statements(2, depth + 1);
    text_ += condition("%p3") + fmt::format("@%p3 bra AGAIN{};\n", label);
    statements(2, depth + 1);
    text_ += fmt::format("bra AGAIN{0};\nOUT{0}:\n", label);
  }
  /// Those that take part in a collective: all of the warp, or eight and eight.
  const char* some_lanes() {
    if (below(2) == 0) {
      return "-1";
    }
    text_ +=
        "mov.u32 %r7, %laneid; and.b32 %r7, %r7, 24; mov.u32 %r8, 255; shl.b32 %r7, %r8, %r7;\n";
    return "%r7";
  }

  /// All lanes of the warp, together; or those for which a condition holds, or eight and eight.
  void collective() {
    static constexpr const char* modes[] = {"up", "down", "bfly", "idx"};
    // Clamp and segments: of 32 lanes, of 8 for each mode, and something that nobody writes.
    static constexpr const char* segments[] = {"31", "0", "0x181f", "0x1800", "0x0b13"};
    switch (below(11)) {
    case 0:
      text_ += condition("%p6");
      text_ += fmt::format("vote.sync.ballot.b32 %r{}, %p6, -1;\n", reg());
      break;
    case 1:
      text_ += condition("%p6") + "vote.sync.any.pred %p7, %p6, -1;\n";
      text_ += fmt::format("selp.b32 %r{}, {}, {}, %p7;\n", reg(), source(), source());
      break;
    case 2: {
      static constexpr const char* folds[] =
          {"add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"};
      const char* members = some_lanes();
      text_ +=
          fmt::format("redux.sync.{} %r{}, %r{}, {};\n", folds[below(8)], reg(), reg(), members);
      break;
    }
    case 3:
      text_ += fmt::format(
          "bar.warp.sync -1; shfl.sync.down.b32 %r{}|%p6, %r{}, {}, 31, -1;\n",
          reg(),
          reg(),
          below(33)
      );
      text_ += fmt::format("@%p6 add.u32 %r{0}, %r{0}, 3;\n", reg());
      break;
    case 6:
      text_ += condition("%p6") +
               fmt::format("vote.sync.{}.pred %p7, !%p6, -1;\n", below(2) == 0 ? "all" : "uni");
      text_ += fmt::format("@%p7 add.u32 %r{0}, %r{0}, 5;\n", reg());
      break;
    case 7:
      text_ += fmt::format(
          "shfl.sync.{}.b32 %r{}|%p6, {}, {}, {}, -1;\n",
          modes[below(4)],
          reg(),
          source(),
          source(),
          segments[below(5)]
      );
      text_ += fmt::format("@%p6 add.u32 %r{0}, %r{0}, 7;\n", reg());
      break;
    case 8: {
      const int label = labels_++;
      text_ += condition("%p6") +
               fmt::format("vote.sync.ballot.b32 %r7, %p6, -1;\n@!%p6 bra OTHERS{};\n", label);
      text_ += fmt::format(
          "shfl.sync.{}.b32 %r{}, %r{}, {}, {}, %r7;\n",
          modes[below(4)],
          reg(),
          reg(),
          below(32),
          segments[below(5)]
      );
      text_ += condition("%p7") + fmt::format("vote.sync.ballot.b32 %r{}, %p7, %r7;\n", reg());
      text_ += fmt::format("OTHERS{}:\n", label);
      break;
    }
    case 9:
    case 10:
      text_ +=
          "mov.u32 %r7, %laneid; and.b32 %r7, %r7, 24; mov.u32 %r8, 255; shl.b32 %r7, %r8, %r7;\n";
      text_ += fmt::format(
          "shfl.sync.{}.b32 %r{}, %r{}, {}, 0x181f, %r7;\n",
          modes[below(4)],
          reg(),
          reg(),
          below(8)
      );
      text_ += condition("%p6") + fmt::format("vote.sync.ballot.b32 %r{}, %p6, %r7;\n", reg());
      text_ += fmt::format(
          "bar.warp.sync %r7; vote.sync.any.pred %p7, %p6, %r7; @%p7 add.u32 %r{0}, %r{0}, 9;\n",
          reg()
      );
      break;
    case 4: {
      const char* members = some_lanes();
      text_ += fmt::format("and.b32 %r8, %r{}, {};\n", reg(), below(2) == 0 ? "3" : "-1");
      if (below(2) == 0) {
        text_ += fmt::format("match.any.sync.b32 %r{}, %r8, {};\n", reg(), members);
      } else {
        text_ += fmt::format("match.all.sync.b32 %r{}|%p7, %r8, {};\n", reg(), members);
        text_ += fmt::format("@%p7 add.u32 %r{0}, %r{0}, 11;\n", reg());
      }
      break;
    }
    default:
      text_ += "mov.u32 %r7, -1;";
      text_ +=
          fmt::format("shfl.sync.bfly.b32 %r{}, %r{}, {}, 31, %r7;\n", reg(), reg(), below(32));
      break;
    }
  }
  /// Updates of all kinds: of places that have one kind, of which the order does not show, and of
  /// one's own; strong accesses to what nobody else writes.
  void update() {
    static constexpr const char* kinds[] = {
        "add.u32",
        "and.b32",
        "or.b32",
        "xor.b32",
        "min.s32",
        "max.u32",
        "max.s32",
        "min.u32",
    };
    switch (below(9)) {
    case 0: { // one place
      const unsigned kind = below(8);
      line(fmt::format("red.shared.{} [u+{}], {};", kinds[kind], 4 * kind, source()));
      break;
    }
    case 1: // some of sixteen
      text_ += fmt::format("and.b32 %r7, {}, 60; mov.u32 %r8, u; add.u32 %r7, %r7, %r8;", source());
      line(fmt::format("red.shared.add.u32 [%r7+48], {};", source()));
      break;
    case 2:
      line("red.shared.inc.u32 [u+32], 12;");
      break;
    case 3:
      text_ += fmt::format("mul.wide.u32 %rd10, {}, {};", source(), source());
      line("red.shared.add.u64 [u+40], %rd10;");
      break;
    case 4:
      text_ += "shl.b32 %r7, %r0, 2; add.u32 %r7, %r7, %r30;";
      line(fmt::format("atom.shared.{} %r{}, [%r7], {};", kinds[below(8)], reg(), source()));
      line(fmt::format("atom.shared.exch.b32 %r{}, [%r7], {};", reg(), source()));
      line(fmt::format("atom.shared.cas.b32 %r{}, [%r7], {}, {};", reg(), source(), source()));
      break;
    case 5: // in an order of places that nobody knows beforehand
      text_ += "xor.b32 %r7, %r0, 5; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r30;";
      text_ += "add.u32 %r7, %r7, 2048;";
      text_ += fmt::format("cvt.rn.f32.s32 %f1, {};", source());
      line("red.shared.add.f32 [%r7], %f1;");
      line(fmt::format("atom.shared.dec.u32 %r{}, [%r7], {};", reg(), source()));
      text_ += "bar.warp.sync -1;\n";
      break;
    case 6:
      line(fmt::format("atom.global.{} %r{}, [%rd4], {};", kinds[below(8)], reg(), source()));
      line(fmt::format("red.global.{} [%rd4], {};", kinds[below(8)], source()));
      break;
    case 7:
      line(fmt::format("st.volatile.global.u32 [%rd4], {};", source()));
      line(fmt::format("ld.relaxed.gpu.global.u32 %r{}, [%rd4];", reg()));
      break;
    default:
      offset();
      text_ += "cvt.u64.u32 %rd11, %r7; add.s64 %rd11, %rd11, %rd3;";
      line(fmt::format("ld.volatile.global.u32 %r{}, [%rd11];", reg()));
      break;
    }
  }
  /// Updates of which no order shows, and strong accesses to a word of one's own.
  void communicate() {
    if (updates_) {
      update();
      return;
    }
    switch (below(3)) {
    case 0:
      line(fmt::format("red.shared.add.u32 [t], {};", source()));
      break;
    case 1:
      text_ += "shl.b32 %r7, %r0, 2; add.u32 %r7, %r7, %r30;";
      line(fmt::format("atom.shared.add.u32 %r{}, [%r7], {};", reg(), source()));
      break;
    default:
      text_ += "shl.b32 %r7, %r0, 2; add.u32 %r7, %r7, %r30;";
      line(fmt::format("st.volatile.shared.u32 [%r7], {};", source()));
      line("membar.cta;");
      line(fmt::format("ld.volatile.shared.u32 %r{}, [%r7];", reg()));
      break;
    }
  }
  /// All threads of the block make the same number of rounds.
  void rounds_with_barriers() {
    const int label = labels_++;
    if (below(2) == 0) {
      text_ += fmt::format(
          "mov.u32 %r29, {1};\nbra HEAD{0};\nAGAIN{0}: sub.u32 %r29, %r29, 1;\nHEAD{0}: bar.sync "
          "0;\n",
          label,
          1 + below(4)
      );
      statements(2, 1);
      text_ += fmt::format("bar.sync 0; setp.eq.u32 %p8, %r29, 0; @%p8 bra OUT{};\n", label);
      text_ += condition("%p3") + fmt::format("@%p3 bra AGAIN{};\n", label);
      statements(2, 1);
      text_ += fmt::format("bra AGAIN{0};\nOUT{0}:\n", label);
      return;
    }
    text_ += fmt::format("mov.u32 %r29, {};\nROUND{}:\n", 1 + below(4), label);
    statements(3, 1);
    barrier();
    statements(2, 1);
    if (below(2) == 0) {
      barrier();
    }
    text_ +=
        fmt::format("sub.u32 %r29, %r29, 1; setp.ne.u32 %p8, %r29, 0; @%p8 bra ROUND{};\n", label);
  }
  /// One that gives a result is not part of compiled code.
  void barrier() {
    switch (below(6)) {
    case 0:
      text_ += condition("%p6") + fmt::format("bar.red.popc.u32 %r{}, 0, %p6;\n", reg());
      break;
    case 1:
      text_ +=
          condition("%p6") + fmt::format(
                                 "bar.red.{}.pred %p7, 0, !%p6; @%p7 add.u32 %r{}, %r{}, 11;\n",
                                 below(2) == 0 ? "and" : "or",
                                 reg(),
                                 reg()
                             );
      break;
    default:
      text_ += "bar.sync 0;\n";
      break;
    }
  }
  void call() {
    if (narrow_ && below(2) == 0) {
      text_ += condition("%p5");
      text_ += fmt::format(
          "{{ .param .b32 a0; .param .b32 a1; .param .b32 o0; st.param.b32 [a0], %r{}; "
          "st.param.b32 [a1], {}; @%p5 call (o0), rounds, (a0, a1); @%p5 ld.param.b32 %r{}, [o0]; "
          "}}\n",
          reg(),
          below(5),
          reg()
      );
      return;
    }
    text_ += fmt::format(
        "{{ .param .b32 a0; .param .b32 o0; st.param.b32 [a0], {}; call (o0), helper, (a0); "
        "ld.param.b32 %r{}, [o0]; }}\n",
        fmt::format("%r{}", reg()),
        reg()
    );
  }
  void statements(unsigned count, int depth) {
    for (unsigned n = 0; n < count; ++n) {
      const unsigned kind = below(10);
      if (kind == 0 && depth < 4) {
        below(2) == 0 ? loop(depth) : turned_loop(depth);
      } else if (kind <= 2 && depth < 4) {
        branch(depth);
      } else if (kind <= 4) {
        memory();
      } else if (kind == 5 && depth == 0 && collectives_) {
        collective();
      } else if (kind >= 8 && updates_ && below(2) == 0) {
        update();
      } else if (kind == 6 && collectives_) {
        communicate();
      } else if (kind == 7 && calls_) {
        call();
      } else {
        arithmetic();
      }
    }
  }

  std::mt19937 random_;
  bool narrow_;  // accesses of one and two bytes, too
  bool updates_; // of many kinds
  bool floats_;  // values of floating point, which stay in registers
  bool shares_;  // what is accessed
  std::string text_;
  int labels_ = 0;
  bool collectives_ = false;
  bool calls_ = false;
};

} // namespace heddle::test
