#include "ptx/inline_calls.h"

#include "support/ptx_text.h"
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

namespace heddle::ptx {
namespace {

/// Module of `functions` and a kernel with `body`, inlined; printing and parsing keep it.
std::unique_ptr<Module>
inlined(const std::string& functions, const std::string& body, bool alone = true) {
  const std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n" + functions +
      ".visible .entry k()\n{ .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d;\n" + body +
      "\nret; }\n";
  std::unique_ptr<Module> result = must_parse(text);
  inline_calls(*result, alone);
  const std::string printed = print(*result);
  const auto again = must_parse(printed);
  const auto found = difference(*result, *again);
  EXPECT_FALSE(found) << *found << "\n" << printed;
  return result;
}

std::size_t count(const Module& module, Opcode opcode) {
  const Function& kernel = *module.find_function("k");
  return static_cast<std::size_t>(std::ranges::count(kernel.body, opcode, &Instruction::opcode));
}

const std::string twice =
    ".func (.param .b32 o) twice(.param .b32 a)\n{ .reg .b32 %r<3>; .reg .pred %q;\n"
    "ld.param.u32 %r1, [a]; setp.eq.u32 %q, %r1, 7; st.param.b32 [o], %r1; @%q ret;\n"
    "add.u32 %r2, %r1, %r1; st.param.b32 [o], %r2; ret; }\n";
const std::string call_twice = "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1;\n"
                               "call (y), twice, (x); ld.param.b32 %r2, [y]; }\n";

TEST(InlineCalls, what_is_handed_over_becomes_registers) {
  const auto module = inlined(twice, call_twice + call_twice);
  EXPECT_EQ(count(*module, Opcode::Call), 0);
  EXPECT_EQ(count(*module, Opcode::St), 0);
  EXPECT_EQ(count(*module, Opcode::Ld), 0);
  EXPECT_EQ(count(*module, Opcode::Add), 2);
  EXPECT_EQ(count(*module, Opcode::Ret), 1);
  EXPECT_TRUE(module->find_function("k")->variables.empty());
}

TEST(InlineCalls, parts_of_several_sizes_stay_in_memory) {
  const auto module = inlined(
      ".func pair(.param .align 8 .b8 a[8])\n{ .reg .b32 %r<3>; ld.param.u32 %r1, [a]; "
      "ld.param.u32 "
      "%r2, [a+4]; ret; }\n",
      "{ .param .align 8 .b8 x[8]; st.param.b64 [x], %d; call pair, (x); }\n"
  );
  EXPECT_EQ(count(*module, Opcode::Call), 0);
  EXPECT_EQ(count(*module, Opcode::Ld), 2);
  EXPECT_EQ(module->find_function("k")->variables.size(), 1);
}

TEST(InlineCalls, a_guarded_call_is_branched_over) {
  const auto module =
      inlined(".func nothing()\n{ .reg .b32 %r; mov.u32 %r, 1; ret; }\n", "@%p call nothing;\n");
  const Function& kernel = *module->find_function("k");
  EXPECT_EQ(count(*module, Opcode::Call), 0);
  ASSERT_EQ(kernel.body[0].opcode, Opcode::Bra);
  ASSERT_TRUE(kernel.body[0].guard);
  EXPECT_TRUE(kernel.body[0].guard->negated);
  EXPECT_EQ(kernel.labels[kernel.body[0].operands[0].index].instruction, 3);
}

TEST(InlineCalls, functions_that_stay) {
  const std::string body = "call f;\n";
  const auto calls = [&](const std::string& f, bool alone = true) {
    return count(*inlined(f, body, alone), Opcode::Call);
  };
  EXPECT_EQ(calls(".func f()\n{ ret; }\n"), 0);
  EXPECT_EQ(calls(".func f()\n{ call f; ret; }\n"), 1);
  EXPECT_EQ(calls(".func g();\n.func f()\n{ call g; ret; }\n.func g()\n{ call f; ret; }\n"), 1);
  EXPECT_EQ(calls(".func f()\n{ .reg .b64 %d; alloca.u64 %d, 16; ret; }\n"), 1);
  std::string long_one;
  for (int n = 0; n < 120; ++n) {
    long_one += "add.u32 %r, %r, 1;\n";
  }
  EXPECT_EQ(calls(".func f()\n{ .reg .b32 %r; L: " + long_one + "ret; }\n"), 0);
  EXPECT_EQ(calls(".func f()\n{ .reg .b32 %r; L: " + long_one + "bra L; }\n"), 1);
  EXPECT_EQ(calls(".extern .func f();\n"), 1);
  EXPECT_EQ(calls(".visible .func f()\n{ ret; }\n", /*alone=*/false), 1);
  EXPECT_EQ(calls(".func f()\n{ ret; }\n", /*alone=*/false), 0);
}

TEST(InlineCalls, a_parameter_whose_address_is_taken_is_not_the_callers) {
  const auto module = inlined(
      ".func f(.param .b32 a)\n{ .reg .b64 %d; mov.b64 %d, a; ret; }\n",
      "{ .param .b32 x; st.param.b32 [x], %r1; call f, (x); }\n"
  );
  EXPECT_EQ(count(*module, Opcode::Call), 1);
}

const std::string once = ".func (.param .b32 o) once(.param .b32 a)\n{ .reg .b32 %r<3>;\n"
                         "ld.param.u32 %r1, [a]; st.param.b32 [o], %r1; ret; }\n";
const std::string table = ".global .align 8 .u64 table[2] = {once, twice};\n";
const std::string call_by_address = "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1;\n"
                                    "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                                    "call (y), %d, (x), P; ld.param.b32 %r2, [y]; }\n";

TEST(InlineCalls, a_call_by_address_asks_which_function_it_means) {
  const auto module = inlined(once + twice + table, call_by_address);
  EXPECT_EQ(count(*module, Opcode::Call), 1); // of another function, or none
  EXPECT_EQ(count(*module, Opcode::Setp), 3); // two, and one of `twice`
  EXPECT_EQ(count(*module, Opcode::Add), 1);
  EXPECT_EQ(count(*module, Opcode::St), 1); // for that call
  EXPECT_EQ(count(*module, Opcode::Ld), 1);
  EXPECT_EQ(module->find_function("k")->variables.size(), 2);
}

TEST(InlineCalls, functions_that_no_call_by_address_means) {
  // Nobody takes an address; other parameters; too many functions.
  EXPECT_EQ(count(*inlined(once + twice, call_by_address), Opcode::Setp), 0);
  const std::string other = ".func (.param .b32 o) other(.param .b64 a)\n{ st.param.b32 [o], 1; "
                            "ret; }\n.global .align 8 .u64 t = other;\n";
  EXPECT_EQ(count(*inlined(other, call_by_address), Opcode::Setp), 0);
  std::string many;
  for (int n = 0; n < 9; ++n) {
    many += fmt::format(
        ".func (.param .b32 o) f{0}(.param .b32 a)\n{{ st.param.b32 [o], {0}; ret; }}\n"
        ".global .align 8 .u64 t{0} = f{0};\n",
        n
    );
  }
  EXPECT_EQ(count(*inlined(many, call_by_address), Opcode::Setp), 0);
}

TEST(InlineCalls, what_stays_in_memory_is_handed_over_there) {
  const auto module = inlined(
      ".func f(.param .align 8 .b8 a[8])\n{ .reg .b32 %r<3>; ld.param.u32 %r1, [a]; "
      "ld.param.u32 %r2, [a+4]; ret; }\n.global .align 8 .u64 t = f;\n",
      "{ .param .align 8 .b8 x[8]; st.param.b64 [x], %d;\n"
      "P: .callprototype _ (.param .align 8 .b8 _[8]);\ncall %d, (x), P; }\n"
  );
  EXPECT_EQ(count(*module, Opcode::Call), 1);
  EXPECT_EQ(count(*module, Opcode::St), 1);
  EXPECT_EQ(count(*module, Opcode::Ld), 2);
  EXPECT_EQ(module->find_function("k")->variables.size(), 1);
}

TEST(InlineCalls, a_location_says_where_the_function_was_called) {
  const auto module = inlined(
      ".file 1 \"a.cu\"\n.func f()\n{ .reg .b32 %r; .loc 1 3 5\nmov.u32 %r, 1; ret; }\n",
      ".loc 1 9 2\ncall f;\n"
  );
  const Instruction& moved = module->find_function("k")->body[0];
  ASSERT_NE(moved.location, Instruction::no_location);
  const SourceLocation& location = module->source_locations[moved.location];
  EXPECT_EQ(location.line, 3U);
  EXPECT_EQ(location.function, "f");
  ASSERT_TRUE(location.inlined_at);
  EXPECT_EQ(module->source_locations[*location.inlined_at].line, 9U);
}

} // namespace
} // namespace heddle::ptx
