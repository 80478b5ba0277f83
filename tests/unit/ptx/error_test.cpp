// Malformed PTX: what the message says and where it points.
#include "support/ptx_text.h"

#include <random>

namespace heddle::ptx {
namespace {

const std::string registers =
    ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<4>; .reg .b16 %h<4>;\n";

std::string in_kernel(const std::string& instruction) {
  return error_of(kernel(registers + instruction));
}

TEST(Errors, ShowTheLineAndACaret) {
  auto module = parse(kernel(".reg .b32 %r<4>;\n\tadd.s32 %r0, %r1, foo;"), "app.ptx");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, ErrorKind::Input);
  EXPECT_EQ(
      module.error().message,
      "app.ptx:7:20: error: operand 3 of add must be a register or a constant, not the name of a "
      "variable\n\tadd.s32 %r0, %r1, foo;\n\t                  ^"
  );
}

TEST(Errors, LongLinesAreCut) {
  std::string line = "add.s32 %r0" + std::string(100000, ' ') + ", foo;";
  auto module = parse(kernel(registers + line), "app.ptx");
  ASSERT_FALSE(module);
  EXPECT_LT(module.error().message.size(), 1000U);
}

TEST(Errors, Opcodes) {
  EXPECT_EQ(
      in_kernel("mull.s32 %r0;"),
      "7:1: error: 'mull' is not an instruction (did you mean 'mul'?)"
  );
  EXPECT_EQ(in_kernel("frobnicate %r0;"), "7:1: error: 'frobnicate' is not an instruction");
}

TEST(Errors, Modifiers) {
  EXPECT_EQ(in_kernel("ld.foo.u32 %r0, [%rd0];"), "7:3: error: ld has no modifier '.foo'");
  EXPECT_EQ(
      in_kernel("ld.globl.u32 %r0, [%rd0];"),
      "7:3: error: ld has no modifier '.globl' (did you mean '.global'?)"
  );
  EXPECT_EQ(in_kernel("add.rn.s32 %r0, %r1, %r2;"), "7:7: error: add has no modifier '.s32' here");
  EXPECT_EQ(
      in_kernel("add.global.s32 %r0, %r1, %r2;"),
      "7:4: error: add has no modifier '.global'"
  );
  EXPECT_EQ(
      in_kernel("ld.global.global.u32 %r0, [%rd0];"),
      "7:10: error: ld has no modifier '.global' here"
  );
  EXPECT_EQ(in_kernel("fma.f32 %r0, %r1, %r2, %r3;"), "7:1: error: fma.f32 lacks a modifier: rnd");
  EXPECT_EQ(
      in_kernel("div.f32 %r0, %r1, %r2;"),
      "7:1: error: div.f32 lacks a modifier: rnd|.approx|.full"
  );
}

TEST(Errors, OperandCounts) {
  EXPECT_EQ(in_kernel("add.s32 %r0, %r1;"), "7:1: error: add takes 3 operands, not 2");
  EXPECT_EQ(in_kernel("add.s32 %r0, %r1, %r2, %r3;"), "7:24: error: add takes 3 operands, not 4");
  EXPECT_EQ(in_kernel("bar.sync;"), "7:1: error: bar takes 1 to 2 operands, not 0");
  EXPECT_EQ(in_kernel("ret 1;"), "7:5: error: ret takes 0 operands, not 1");
}

TEST(Errors, OperandKinds) {
  EXPECT_EQ(in_kernel("add.s32 5, %r1, %r2;"), "7:9: error: operand 1 of add must be a register");
  EXPECT_EQ(
      in_kernel("ld.global.u32 %r0, %rd0;"),
      "7:20: error: operand 2 of ld must be an address in [ ]"
  );
  EXPECT_EQ(
      in_kernel("ld.global.v2.u32 %r0, [%rd0];"),
      "7:18: error: operand 1 of ld must be a vector { }"
  );
  EXPECT_EQ(
      in_kernel("ld.global.v2.u32 {%r0}, [%rd0];"),
      "7:18: error: operand 1 of ld: 2 elements, not 1"
  );
  EXPECT_EQ(in_kernel("add.s32 _, %r1, %r2;"), "7:9: error: operand 1 of add must be a register");
  EXPECT_EQ(
      in_kernel("add.s32 %r0, !%r1, %r2;"),
      "7:14: error: operand 2 of add: '!' is for predicates"
  );
  EXPECT_EQ(
      in_kernel("call !%rd1, (%r0);"),
      "7:6: error: operand 1 of call: '!' is for predicates"
  );
  EXPECT_EQ(
      in_kernel("st.v2.u32 [%rd0], {%r0, !%r1};"),
      "7:19: error: operand 2 of st: '!' is for predicates"
  );
  EXPECT_EQ(in_kernel("bra %r0;"), "7:5: error: label '%r0' is not declared in this function");
}

TEST(Errors, RegisterWidths) {
  EXPECT_EQ(
      in_kernel("add.s32 %r0, %rd1, %r2;"),
      "7:14: error: operand 2 of add: %rd1 is 64 bits wide, 32 wanted"
  );
  EXPECT_EQ(
      in_kernel("mul.wide.s32 %r0, %r1, %r2;"),
      "7:14: error: operand 1 of mul: %r0 is 32 bits wide, 64 wanted"
  );
  EXPECT_EQ(
      in_kernel("setp.eq.s32 %r0, %r1, %r2;"),
      "7:13: error: operand 1 of setp: %r0 is not a predicate register"
  );
  EXPECT_EQ(
      in_kernel("mov.u32 %r0, %p0;"),
      "7:14: error: operand 2 of mov: %p0 is a predicate register"
  );
  EXPECT_EQ(
      in_kernel("ld.global.u32 %h0, [%rd0];"),
      "7:15: error: operand 1 of ld: %h0 is 16 bits wide, 32 or more wanted"
  );
  EXPECT_EQ(in_kernel("ld.global.u8 %r0, [%rd0];"), "no error");
  EXPECT_EQ(
      in_kernel("mov.b64 %rd0, {%r0, %h1};"),
      "7:15: error: operand 2 of mov: %h1 is 16 bits wide, 32 wanted"
  );
  EXPECT_EQ(
      in_kernel("ld.global.u32 %r0, [%h1];"),
      "7:20: error: operand 2 of ld: %h1 is 16 bits wide, an address has 32 or 64"
  );
  EXPECT_EQ(in_kernel("@%r0 ret;"), "7:2: error: '%r0' is not a predicate register");
}

TEST(Errors, Names) {
  EXPECT_EQ(in_kernel("add.s32 %r0, %x1, %r2;"), "7:14: error: '%x1' is not declared");
  EXPECT_EQ(in_kernel("mov.u64 %rd0, nothing;"), "7:15: error: 'nothing' is not declared");
  EXPECT_EQ(in_kernel("mov.u32 %r0, %tid.q;"), "7:14: error: '%tid.q' is not declared");
  EXPECT_EQ(
      in_kernel("bra Nowhere;"),
      "7:5: error: label 'Nowhere' is not declared in this function"
  );
  EXPECT_EQ(
      in_kernel("{ L: ret; } bra L;"),
      "7:17: error: label 'L' is not declared in this function"
  );
  EXPECT_EQ(in_kernel("L: ret;\nL: ret;"), "8:1: error: label 'L' is declared twice");
  EXPECT_EQ(in_kernel(".reg .b32 a; .reg .b64 a;"), "7:24: error: 'a' is declared twice");
  EXPECT_EQ(in_kernel(".reg .b32 %r<2>;"), "7:11: error: '%r' is declared twice");
  EXPECT_EQ(in_kernel("@q ret;"), "7:2: error: 'q' is not declared");
  std::string twice = ".version 9.0\n.target sm_90\n.global .u32 x;\n.global .u32 x;\n";
  EXPECT_EQ(error_of(twice), "4:14: error: 'x' is defined twice");
  EXPECT_EQ(
      error_of(kernel("ret;") + ".entry k() { ret; }"),
      "8:8: error: function 'k' is defined twice"
  );
}

TEST(Errors, Syntax) {
  EXPECT_EQ(error_of(""), "1:1: error: PTX starts with .version");
  EXPECT_EQ(error_of("int main() {}"), "1:1: error: a directive is expected, 'int' found");
  EXPECT_EQ(
      error_of(".version 9"),
      "1:10: error: a version number such as 9.0 is expected, '9' found"
  );
  EXPECT_EQ(error_of(".version 9.0\n.frob 1"), "2:1: error: no such directive, '.frob' found");
  EXPECT_EQ(
      in_kernel("add.s32 %r0, %r1, %r2"),
      "8:1: error: ';' expected after the operands, '}' found"
  );
  EXPECT_EQ(
      in_kernel("add.s32 %r0 %r1;"),
      "7:13: error: ';' expected after the operands, '%r1' found"
  );
  EXPECT_EQ(in_kernel("{ ret;"), "9:1: error: the body of 'k' is not closed, the text ends");
  EXPECT_EQ(in_kernel("mov.u32 %r0, 0xZZ;"), "7:14: error: this is not an integer constant");
  EXPECT_EQ(
      in_kernel("mov.f32 %r0, 0f12;"),
      "7:14: error: a float constant is 0f and 8 hexadecimal digits"
  );
  EXPECT_EQ(
      error_of(".version 9.0\n.global .b8 x[2] = {1, 2, 3};"),
      "2:20: error: more values than elements in this initialiser"
  );
  EXPECT_EQ(
      error_of(".version 9.0\n.global .u32 x = 1 / 0;"),
      "2:20: error: division has no result"
  );
  EXPECT_EQ(error_of(".version 9.0\n.global .u32 x = y;"), "2:18: error: 'y' is not declared");
  EXPECT_EQ(
      error_of(".version 9.0\n.global .b8 x[99999999999999999];"),
      "2:14: error: the array is too large"
  );
  EXPECT_EQ(
      error_of(".version 9.0\n.global .b8 x[2][44444444442] = {{1}, {2}};"),
      "2:40: error: a value is more than 1 GiB behind the beginning of its variable"
  );
}

TEST(Errors, DeepNestingIsRefused) {
  std::string parentheses = ".version 9.0\n.global .u32 x = " + std::string(100000, '(') + "1;";
  EXPECT_NE(error_of(parentheses).find("nested too deeply"), std::string::npos);
  std::string minus = ".version 9.0\n.global .u32 x = " + std::string(100000, '-') + "1;";
  EXPECT_NE(error_of(minus).find("nested too deeply"), std::string::npos);
  std::string braces = ".version 9.0\n.global .b8 x[1] = " + std::string(100000, '{') + "1;";
  EXPECT_NE(error_of(braces).find("nested too deeply"), std::string::npos);
  EXPECT_NE(in_kernel(std::string(100000, '{')).find("nested too deeply"), std::string::npos);
  EXPECT_NE(
      in_kernel("mov.b32 " + std::string(100000, '{')).find("nested too deeply"),
      std::string::npos
  );
  EXPECT_NE(
      in_kernel("ld.u32 " + std::string(100000, '[')).find("nested too deeply"),
      std::string::npos
  );
  std::string question = ".version 9.0\n.global .u32 x = ";
  for (int i = 0; i < 100000; ++i) {
    question += "1?";
  }
  EXPECT_NE(error_of(question).find("nested too deeply"), std::string::npos);
}

} // namespace
} // namespace heddle::ptx
