#include "support/ptx_text.h"
#include <gmock/gmock.h>

#include <bit>

namespace heddle::ptx {
namespace {

using testing::ElementsAre;

const std::string head = ".version 9.0\n.target sm_90a, debug\n.address_size 64\n";

// --- Module level

TEST(Parse, Header) {
  auto m =
      must_round_trip("//\n// comment\n//\n" + head + ".pragma \"x\";\n.file 1 \"a.cu\", 12, 34\n");
  EXPECT_EQ(m->version_major, 9);
  EXPECT_EQ(m->version_minor, 0);
  EXPECT_EQ(m->target, "sm_90a");
  EXPECT_THAT(m->target_options, ElementsAre("debug"));
  EXPECT_EQ(m->files.at(1), "a.cu");
  EXPECT_THAT(m->pragmas, ElementsAre("x"));
}

TEST(Parse, NamesOfFilesAsNvccWritesThem) {
  auto m = must_round_trip(head + R"(.file 1 "gr\303\266\303\237e/a \"b\" \\c.cu"
.file 2 "1\0612.cu"
)");
  EXPECT_EQ(m->files.at(1), "gr\u00f6\u00dfe/a \"b\" \\c.cu");
  EXPECT_EQ(m->files.at(2), "112.cu");
}

TEST(Parse, NulPaddingIsNotPartOfTheText) {
  std::string text = head + std::string(7, '\0');
  EXPECT_TRUE(parse(text, "padded"));
}

TEST(Parse, Variables) {
  auto m = must_round_trip(
      head + ".visible .global .align 4 .u32 x = 5;\n"
             ".extern .shared .align 16 .b8 dyn[];\n"
             ".const .align 8 .b8 table[4][2] = {{1, 2}, {3}, {}, {-1, 255}};\n"
             ".weak .global .f32 f[3] = {0f3F800000, 1.5, 0d4000000000000000};\n"
             ".global .f64 d = 0f3F800000;\n"
             ".global .v4 .f32 v = {1.0, 2.0, 3.0, 4.0};\n"
             ".common .global .b8 c[12];\n"
             ".global .attribute(.managed, .unified(19,95)) .align 4 .u32 man = 5;\n"
             ".global .b16 h[] = {1, 2, 3};\n"
             ".global .f16 hf = 1.5;\n"
             ".global .samplerref s = { addr_mode_0 = wrap, filter_mode = linear };\n"
             ".global .b128 q = -2;\n"
             ".global .u32 many<3>, last;\n"
  );
  auto find = [&](std::string_view name) { return m->find_variable(name); };
  EXPECT_EQ(find("x")->linkage, Linkage::Visible);
  EXPECT_THAT(find("x")->init, ElementsAre(5, 0, 0, 0));
  EXPECT_EQ(find("dyn")->byte_size(), 0U);
  EXPECT_EQ(find("dyn")->alignment(), 16U);
  EXPECT_EQ(find("dyn")->linkage, Linkage::Extern);
  EXPECT_THAT(find("table")->init, ElementsAre(1, 2, 3, 0, 0, 0, 255, 255));
  EXPECT_EQ(find("table")->byte_size(), 8U);
  EXPECT_EQ(find("f")->init[3], 0x3f);
  EXPECT_EQ(find("f")->init[6], 0xc0); // 1.5f = 3FC00000
  EXPECT_EQ(find("f")->init[11], 0x40);
  EXPECT_EQ(find("d")->init[7], 0x3f);
  EXPECT_EQ(find("v")->element_bytes(), 16U);
  EXPECT_EQ(find("v")->init.size(), 16U);
  EXPECT_EQ(find("c")->linkage, Linkage::Common);
  EXPECT_THAT(find("man")->attributes, ElementsAre("managed", "unified(19,95)"));
  EXPECT_EQ(find("h")->byte_size(), 6U);
  EXPECT_THAT(find("hf")->init, ElementsAre(0x00, 0x3e));
  EXPECT_EQ(find("q")->init[15], 0xff);
  EXPECT_NE(find("many2"), nullptr);
  EXPECT_NE(find("last"), nullptr);
}

TEST(Parse, AddressesInInitialisers) {
  auto m = must_round_trip(
      head + ".func (.param .b32 r) f(.param .b64 p);\n"
             ".global .align 4 .b8 gv[12];\n"
             ".global .u64 gp = generic(gv)+4;\n"
             ".global .u64 table[4] = {0, f, gv-8, generic(gv)};\n"
             ".global .align 1 .u8 pk[4] = {1, 0XFF(generic(gv)), 0xFF00(gv+4), 0xFF0000(f)};\n"
  );
  const Variable* table = m->find_variable("table");
  ASSERT_EQ(table->symbols.size(), 3U);
  EXPECT_EQ(table->symbols[0].symbol, "f");
  EXPECT_EQ(table->symbols[0].byte_offset, 8U);
  EXPECT_FALSE(table->symbols[0].generic);
  EXPECT_EQ(table->symbols[1].addend, -8);
  EXPECT_TRUE(table->symbols[2].generic);
  const Variable* gp = m->find_variable("gp");
  ASSERT_EQ(gp->symbols.size(), 1U);
  EXPECT_EQ(gp->symbols[0].addend, 4);
  EXPECT_EQ(gp->symbols[0].bytes, 8U);
  const Variable* pk = m->find_variable("pk");
  ASSERT_EQ(pk->symbols.size(), 3U);
  EXPECT_EQ(pk->symbols[0].mask, 0xffU);
  EXPECT_EQ(pk->symbols[1].mask, 0xff00U);
  EXPECT_EQ(pk->symbols[1].addend, 4);
  EXPECT_EQ(pk->symbols[2].bytes, 1U);
  EXPECT_EQ(pk->symbols[2].byte_offset, 3U);
}

TEST(Parse, ConstantExpressions) {
  auto m = must_round_trip(
      head +
      ".global .s64 e[12] = {1 + 2 * 3, (1 + 2) * 3, 1 << 4 | 3, -7 / 2, -7 % 4, 5 > 3 ? 10 : "
      "20, !0, ~0, 7 >= 7 && 0, (.u64) -1 >> 60, -16 >> 2, 0xffffffffffffffff > 1};\n"
      ".global .b8 n[WARP_SZ * 2];\n"
  );
  const Variable* e = m->find_variable("e");
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < 12; ++i) {
    std::uint64_t v = 0;
    for (std::size_t b = 0; b < 8; ++b) {
      v |= std::uint64_t{e->init[8 * i + b]} << (8 * b);
    }
    values.push_back(static_cast<std::int64_t>(v));
  }
  EXPECT_THAT(values, ElementsAre(7, 9, 19, -3, -3, 10, 1, -1, 0, 15, -4, 1));
  EXPECT_EQ(m->find_variable("n")->byte_size(), 64U);
}

TEST(Parse, DeclarationsAndDefinitionsAreMerged) {
  auto m = must_round_trip(
      head + ".extern .global .u32 x;\n.weak .func f(.param .b32 p) .noreturn;\n"
             ".global .u32 x = 3;\n"
             ".func f(.param .b32 p) { trap; }\n.extern .func g(.param .b32 p);\n"
             ".extern .func g(.param .b32 p);\n.alias h, f;\n.func h(.param .b32 p);\n"
  );
  EXPECT_EQ(m->variables.size(), 1U);
  EXPECT_TRUE(m->variables[0].has_init);
  EXPECT_EQ(m->functions.size(), 3U);
  EXPECT_TRUE(m->find_function("f")->defined);
  EXPECT_TRUE(m->find_function("f")->noreturn);
  EXPECT_EQ(m->find_function("f")->linkage, Linkage::Weak);
  EXPECT_FALSE(m->find_function("g")->defined);
  ASSERT_EQ(m->aliases.size(), 1U);
  EXPECT_EQ(m->aliases[0].aliasee, "f");
  EXPECT_EQ(m->find_function("h"), m->find_function("f"));
}

// --- Functions

TEST(Parse, FunctionHeaders) {
  auto m = must_round_trip(
      head + ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 b[24])\n"
             ".maxntid 256, 2\n.minnctapersm 3\n.maxnreg 40\n.reqnctapercluster 2, 1, 1\n"
             ".explicitcluster\n.maxclusterrank 8\n.pragma \"p\";\n{ ret; }\n"
             ".entry r() .reqntid 32 .blocksareclusters { exit; }\n"
             ".func (.param .align 4 .b8 ret[12]) s(.param .b32 x) { ret; }\n"
  );
  const Function* k = m->find_function("k");
  EXPECT_TRUE(k->entry);
  EXPECT_THAT(k->max_ntid, ElementsAre(256, 2, 1));
  EXPECT_THAT(k->req_cluster, ElementsAre(2, 1, 1));
  EXPECT_THAT(k->req_ntid, ElementsAre(0, 0, 0));
  EXPECT_EQ(k->min_nctapersm, 3U);
  EXPECT_EQ(k->max_nreg, 40U);
  EXPECT_EQ(k->max_cluster_rank, 8U);
  EXPECT_TRUE(k->explicit_cluster);
  EXPECT_THAT(k->parameters[0].attributes, ElementsAre(".ptr .global .align 16"));
  EXPECT_EQ(k->parameters[1].byte_size(), 24U);
  EXPECT_EQ(k->find_variable("b"), &k->parameters[1]);
  EXPECT_THAT(m->find_function("r")->req_ntid, ElementsAre(32, 1, 1));
  EXPECT_THAT(m->find_function("r")->directives, ElementsAre("blocksareclusters"));
  EXPECT_EQ(m->find_function("s")->returns[0].byte_size(), 12U);
}

TEST(Parse, ParametersInRegistersAreRegisters) {
  auto m = must_round_trip(
      head + ".func (.reg .b32 d) f(.reg .b64 a, .reg .pred p)\n"
             "{ @p cvt.u32.u64 d, a; ret; }\n"
  );
  const Function* f = m->find_function("f");
  ASSERT_EQ(f->registers.size(), 3U);
  EXPECT_EQ(f->registers[0].name, "d");
  EXPECT_EQ(f->registers[1].type, Mod::B64);
  EXPECT_EQ(f->body[0].guard->register_index, 2U);
  EXPECT_EQ(f->body[0].operands[0].index, 0U);
}

TEST(Parse, ScopesHideNames) {
  auto m = must_round_trip(kernel(
      ".reg .b32 t, %r<3>; .local .b32 x;\n"
      "mov.u32 t, 1;\n"
      "{ .reg .b32 t, %r<5>; .local .b64 x;\n"
      "  mov.u32 t, %r2; mov.u32 t, %r4; st.local.u64 [x], 0;\n"
      "  { .reg .b64 t; mov.u64 t, 2; bra L; L: }\n"
      "  bra L; L: mov.u32 t, 3; }\n"
      "mov.u32 t, %r2; st.local.u32 [x+4], t;\n"
      "{ .reg .b16 t; mov.u16 t, 4; }"
  ));
  const Function& f = *m->functions[0];
  auto reg = [&](std::size_t i, std::size_t o) {
    return f.registers[f.body[i].operands[o].index].name;
  };
  EXPECT_EQ(reg(0, 0), "t");
  EXPECT_EQ(reg(1, 0), "t$1");
  EXPECT_EQ(reg(1, 1), "%r$1$2");
  EXPECT_EQ(f.body[3].operands[0].elements[0].name, "x$1");
  EXPECT_EQ(reg(4, 0), "t$2");
  EXPECT_EQ(f.registers[f.body[4].operands[0].index].type, Mod::B64);
  EXPECT_EQ(f.labels[f.body[5].operands[0].index].instruction, 6U); // the inner L
  EXPECT_EQ(f.labels[f.body[6].operands[0].index].instruction, 7U);
  EXPECT_EQ(reg(8, 0), "t");
  EXPECT_EQ(reg(8, 1), "%r2");
  EXPECT_EQ(f.body[9].operands[0].elements[0].name, "x");
  EXPECT_EQ(f.body[9].operands[0].offset, 4);
  EXPECT_EQ(reg(10, 0), "t$3");
}

TEST(Parse, BranchesLeaveScopes) {
  auto m = must_round_trip(kernel("{ { bra Out; } } Out: { bra In; In: ret; }"));
  const Function& f = *m->functions[0];
  EXPECT_EQ(f.labels[f.body[0].operands[0].index].name, "Out");
  EXPECT_EQ(f.labels[f.body[1].operands[0].index].name, "In");
}

TEST(Parse, RegistersOutsideTheirRangeAreOtherNames) {
  auto m = must_round_trip(kernel(
      ".reg .b32 %r<3>; .reg .b32 %r7; .reg .b64 %r10<2>;\n"
      "mov.u32 %r7, %r2; mov.u64 %r101, 1;"
  ));
  const Function& f = *m->functions[0];
  EXPECT_EQ(f.body[0].operands[0].index, 3U);
  EXPECT_EQ(f.registers[f.body[1].operands[0].index].type, Mod::B64);
  EXPECT_EQ(
      error_of(kernel(".reg .b32 %r<3>;\nmov.u32 %r0, %r3;")),
      "7:14: error: '%r3' is not declared"
  );
  EXPECT_EQ(
      error_of(kernel(".reg .b32 %r<3>;\nmov.u32 %r0, %r01;")),
      "7:14: error: '%r01' is not declared"
  );
}

TEST(Parse, VectorRegistersBecomeScalars) {
  auto m = must_round_trip(kernel(
      ".reg .v4 .f32 v; .reg .b64 %rd; .reg .v2 .b32 w;\n"
      "ld.global.v4.f32 v, [%rd]; mov.f32 v.y, v.w; mov.b64 %rd, w;"
  ));
  const Function& f = *m->functions[0];
  ASSERT_EQ(f.body[0].operands[0].elements.size(), 4U);
  EXPECT_EQ(f.registers[f.body[1].operands[0].index].name, "v$y");
  EXPECT_EQ(f.registers[f.body[1].operands[1].index].name, "v$w");
  EXPECT_EQ(f.body[2].operands[1].elements.size(), 2U);
}

// --- Calls

TEST(Parse, Calls) {
  auto m = must_round_trip(
      head + ".extern .func (.param .b32 r) callee (.param .b64 a, .param .b32 b);\n"
             ".func nothing();\n"
             ".visible .entry k(.param .u64 f)\n{\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
             "{ // callseq 0, 0\n.reg .b32 temp_param_reg;\n.param .b64 param0;\n"
             "st.param.b64 [param0+0], %rd1;\n.param .b32 param1;\n.param .b32 retval0;\n"
             "call.uni (retval0), \ncallee, \n(\nparam0, \nparam1\n);\n"
             "ld.param.b32 %r1, [retval0+0];\n}\n"
             "{ .param .b64 param0; .param .b32 retval0;\n"
             "prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 "
             "_[16]) .noreturn;\n"
             "call (retval0), %rd1, (param0), prototype_0; }\n"
             "ts: .calltargets callee, nothing;\ncall %rd0, (), ts;\n"
             "call nothing;\ncall (%r0), callee, (%rd0, 5);\n}\n"
  );
  const Function* k = m->find_function("k");
  ASSERT_EQ(k->variables.size(), 5U);
  EXPECT_EQ(k->variables[0].name, "param0");
  EXPECT_EQ(k->variables[3].name, "param0$1");
  const Instruction& first = k->body[1];
  ASSERT_EQ(first.operands.size(), 3U);
  EXPECT_EQ(first.operands[0].kind, OperandKind::List);
  EXPECT_EQ(first.operands[0].elements[0].name, "retval0");
  EXPECT_EQ(first.operands[1].name, "callee");
  EXPECT_EQ(first.operands[2].elements[1].name, "param1");
  const Instruction& indirect = k->body[3];
  EXPECT_EQ(indirect.operands[1].kind, OperandKind::Register);
  EXPECT_EQ(indirect.operands[2].elements[0].name, "param0$1");
  EXPECT_EQ(indirect.operands[3].name, "prototype_0");
  ASSERT_EQ(k->prototypes.size(), 1U);
  EXPECT_TRUE(k->prototypes[0].noreturn);
  EXPECT_EQ(k->prototypes[0].parameters[1].byte_size(), 16U);
  ASSERT_EQ(k->targets.size(), 1U);
  EXPECT_THAT(k->targets[0].targets, ElementsAre("callee", "nothing"));
}

TEST(Parse, BranchTables) {
  auto m = must_round_trip(kernel(
      ".reg .b32 %r<1>;\nT: .branchtargets A, B, A;\nbrx.idx %r0, T;\n"
      "A: ret; B: exit;"
  ));
  const Function& f = *m->functions[0];
  EXPECT_THAT(f.targets[0].labels, ElementsAre(0, 1, 0));
  EXPECT_EQ(f.body[0].operands[1].name, "T");
}

// --- Operands

TEST(Parse, Operands) {
  auto m = must_round_trip(kernel(
      ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<4>; .reg .b16 %h<2>; .local .b8 x[8];\n"
      "@!%p0 mov.u32 %r0, %tid.x;\n"
      "setp.eq.and.s32 %p1|_, %r0, -5, !%p2;\n"
      "ld.global.u32 %r0, [%rd0+-8];\n"
      "ld.global.u32 %r0, [%rd0-8];\n"
      "ld.local.u32 %r0, [x+4];\n"
      "mov.u64 %rd0, x+4;\n"
      "ld.shared.u32 %r0, [16];\n"
      "mov.b32 {%h0, _}, %r0;\n"
      "add.f32 %r0, %r1, 0fBF800000;\n"
      "add.f64 %rd0, %rd1, -1.5;\n"
      "add.u64 %rd0, %rd1, 18446744073709551615;\n"
      "atom.global.add.u32 _, [%rd0], 1;\n"
      "vadd.u32.u32.s32.sat %r0, %r1.b3, %r2.h1;\n"
      "vadd4.u32.u32.u32 %r0, %r1.b3210, %r2.b7654, %r3;\n"
      "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}|%p0, [%rd0, {%r0, %r1}];\n"
      "mov .u32 %r0, WARP_SZ;\n"
      "mov.u32 %r0, 4 * (2 + 1);\n"
      "mov.v4.u32 {%r0, %r1, %r2, _}, %tid;"
  ));
  const auto& body = m->functions[0]->body;
  EXPECT_TRUE(body[0].guard->negated);
  EXPECT_EQ(body[0].operands[1].kind, OperandKind::Special);
  EXPECT_EQ(body[0].operands[1].name, "%tid.x");
  EXPECT_EQ(body[1].operands[0].kind, OperandKind::PredicatePair);
  EXPECT_EQ(static_cast<std::int64_t>(body[1].operands[2].bits), -5);
  EXPECT_TRUE(body[1].operands[3].negated);
  EXPECT_EQ(body[2].operands[1].offset, -8);
  EXPECT_EQ(body[3].operands[1].offset, -8);
  EXPECT_EQ(body[4].operands[1].elements[0].name, "x");
  EXPECT_EQ(body[4].operands[1].offset, 4);
  EXPECT_EQ(body[5].operands[1].offset, 4);
  EXPECT_EQ(body[6].operands[1].elements[0].bits, 16U);
  EXPECT_EQ(body[7].operands[0].elements[1].kind, OperandKind::Sink);
  EXPECT_EQ(body[8].operands[2].float_bits, 32);
  EXPECT_EQ(body[9].operands[2].bits, std::bit_cast<std::uint64_t>(-1.5));
  EXPECT_EQ(body[10].operands[2].bits, ~0ULL);
  EXPECT_EQ(body[11].operands[0].kind, OperandKind::Sink);
  EXPECT_EQ(body[12].operands[1].part, 4);
  EXPECT_EQ(body[12].operands[2].part, 6);
  EXPECT_NE(body[13].operands[1].part, body[13].operands[2].part);
  EXPECT_EQ(body[14].operands[0].elements[0].kind, OperandKind::Vector);
  EXPECT_EQ(body[14].operands[1].elements.size(), 2U);
  EXPECT_EQ(body[15].operands[1].bits, 32U);
  EXPECT_EQ(body[16].operands[1].bits, 12U);
  EXPECT_EQ(body[17].one_of(Category::Vector), Mod::V4);
}

TEST(Parse, PositionsCountFromOne) {
  auto m = must_parse(kernel(".reg .pred %p;\n\tret;\n  @%p exit;"));
  const auto& body = m->functions[0]->body;
  EXPECT_EQ(body[0].at.line, 7U);
  EXPECT_EQ(body[0].at.column, 2U);
  EXPECT_EQ(body[1].at.line, 8U);
  EXPECT_EQ(body[1].at.column, 7U);
}

// --- Source locations

TEST(Parse, SourceLocationsWithInlining) {
  auto m = must_round_trip(
      kernel(
          ".reg .b32 %r<2>;\nmov.u32 %r0, 0;\n"
          ".loc 1 10 3\nmov.u32 %r0, 1;\n"
          ".loc 2 20 5, function_name $L__info_string0, inlined_at 1 10 3\nmov.u32 %r0, 2;\n"
          ".loc 3 30 7, function_name $L__info_string1+2, inlined_at 2 20 5\nmov.u32 %r0, 3;\n"
          ".loc 1 10 3\nmov.u32 %r0, 4;"
      ) +
      ".file 1 \"a.cu\"\n.file 2 \"b.h\"\n.file 3 \"c.h\"\n"
      ".section .debug_info { .b32 4; { nested } }\n"
      ".section .debug_str\n{\n$L__info_string0:\n.b8 102,111,111,0\n$L__info_string1:\n"
      ".b8 120,120\n.b8 98,97,114,0\n}\n"
  );
  const Function& f = *m->functions[0];
  const auto& locations = m->source_locations;
  EXPECT_EQ(f.body[0].location, Instruction::no_location);
  EXPECT_EQ(f.body[1].location, f.body[4].location);
  const SourceLocation& inner = locations[f.body[3].location];
  EXPECT_EQ(inner.function, "bar");
  EXPECT_EQ(inner.line, 30U);
  const SourceLocation& middle = locations[*inner.inlined_at];
  EXPECT_EQ(middle.function, "foo");
  EXPECT_EQ(middle.column, 5U);
  EXPECT_EQ(*middle.inlined_at, f.body[1].location);
  EXPECT_EQ(locations[*middle.inlined_at].function, "");
}

TEST(Print, OneInstruction) {
  auto m = must_parse(kernel(
      ".reg .b32 %r<4>; .reg .pred %p; .shared .b8 s[4];\n"
      "@!%p ld.shared.v2.u32 {%r0, %r1}, [s+4];"
  ));
  const Function& f = *m->functions[0];
  EXPECT_EQ(print(*m, f, f.body[0]), "@!%p ld.shared.v2.u32 {%r0, %r1}, [s+4];");
}

TEST(Print, OneFunctionAlone) {
  const auto m = must_parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".func (.param .b32 o) f(.param .b32 a)\n{ st.param.b32 [o], 7; ret; }\n"
      ".visible .global .align 8 .u64 table[2] = {f, other};\n"
      ".visible .entry other(.param .u64 p)\n{ trap; }\n"
      ".visible .entry k(.param .u64 p)\n{ .reg .b64 %d; ld.param.u64 %d, [p]; ret; }\n"
  );
  const auto alone = must_parse(print_alone(*m, *m->find_function("k")));
  ASSERT_EQ(alone->functions.size(), 3U);
  EXPECT_FALSE(alone->find_function("f")->defined);
  EXPECT_FALSE(alone->find_function("other")->defined);
  EXPECT_EQ(alone->find_function("other")->parameters.size(), 1U);
  EXPECT_TRUE(alone->find_function("k")->defined);
  EXPECT_EQ(alone->find_function("k")->body.size(), 2U);
  EXPECT_EQ(alone->variables.size(), 1U);
}

TEST(Equal, SeesDifferences) {
  auto a = must_parse(kernel(".reg .b32 %r<2>;\nadd.u32 %r0, %r1, 1;"));
  auto b = must_parse(kernel(".reg .b32 %r<2>;\nadd.u32 %r0, %r1, 2;"));
  EXPECT_EQ(difference(*a, *a), std::nullopt);
  EXPECT_EQ(
      difference(*a, *b),
      "function k, instruction 0: 'add.u32 %r0, %r1, 1;' and 'add.u32 %r0, %r1, 2;'"
  );
}

} // namespace
} // namespace heddle::ptx
