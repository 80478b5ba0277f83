// Every row of opcode.def parses what it describes, prints it back, and is needed.
#include "ptx/form.h"

#include "form_generator.h"
#include "support/ptx_text.h"
#include <fmt/format.h>

#include <set>

namespace heddle::ptx {
namespace {

std::string around(const std::string& instructions) {
  return ".version 9.0\n.target sm_100a\n.address_size 64\n.func callee();\n.visible .entry "
         "k()\n{\n" +
         generated_declarations() + instructions + generated_labels() + "}\n";
}

TEST(FormTable, RowsAreGroupedByOpcode) {
  for (std::size_t o = 0; o < opcode_count; ++o) {
    auto opcode = static_cast<Opcode>(o);
    EXPECT_FALSE(form_table().of(opcode).empty()) << text(opcode) << " has no form";
    for (const Form& form : form_table().of(opcode)) {
      EXPECT_EQ(form.opcode, opcode);
      EXPECT_EQ(&form_table().at(form.id), &form);
    }
  }
}

TEST(FormTable, EveryRowIsReachedByWhatItDescribes) {
  for (const Form& form : form_table().all()) {
    bool reached = false;
    for (const std::string& line : generate(form)) {
      auto module = parse(around("\t" + line + "\n"), "form.ptx");
      ASSERT_TRUE(module) << module.error().message << "\nrow: " << form.modifiers << " / "
                          << form.operands;
      const Instruction& i = (*module)->functions[1]->body.front();
      EXPECT_EQ(i.opcode, form.opcode);
      reached = reached || i.form == form.id;
    }
    EXPECT_TRUE(reached) << "no instruction needs the row of " << text(form.opcode) << ": "
                         << form.modifiers << " / " << form.operands;
  }
}

TEST(FormTable, EveryRowSurvivesPrinting) {
  std::string all;
  for (const Form& form : form_table().all()) {
    for (const std::string& line : generate(form)) {
      all += "\t" + line + "\n";
    }
  }
  must_round_trip(around(all));
}

TEST(FormTable, ModifiersMayComeInAnyOrderButTypesKeepTheirs) {
  auto module = must_round_trip(kernel(
      ".reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred %p<2>; .reg .b16 %h<2>;\n"
      "vote.ballot.sync.b32 %r0, %p0, -1;\n"
      "vote.sync.ballot.b32 %r0, %p0, -1;\n"
      "ld.volatile.global.u32 %r0, [%rd0];\n"
      "ld.global.volatile.u32 %r0, [%rd0];\n"
      "cvt.u32.u64 %r0, %rd0;\n"
      "cvt.f64.bf16.rp %rd0, %h1;"
  ));
  ASSERT_TRUE(module);
  const auto& body = module->functions[0]->body;
  EXPECT_EQ(body[0].form, body[1].form);
  EXPECT_EQ(body[2].form, body[3].form);
  EXPECT_EQ(body[4].type(0), Mod::U32);
  EXPECT_EQ(body[4].type(1), Mod::U64);
  EXPECT_EQ(body[4].type(2), std::nullopt);
  EXPECT_EQ(
      error_of(kernel(".reg .b32 %r<3>; .reg .b16 %h;\nadd.f16.f32 %r0, %h, %r1;")),
      "7:8: error: add has no modifier '.f32' here"
  );
  // Written together in the manual: both or none.
  EXPECT_EQ(
      error_of(kernel(".reg .b32 %r<3>;\nmin.xorsign.f32 %r0, %r1, %r2;")),
      "7:1: error: min.xorsign.f32 lacks a modifier: .abs"
  );
  // The order of spaces says which way a copy goes.
  EXPECT_EQ(
      error_of(kernel(".reg .b64 %rd<3>;\ncp.async.ca.global.shared [%rd0], [%rd1], 4;")),
      "7:12: error: cp has no modifier '.global' here"
  );
}

} // namespace
} // namespace heddle::ptx
