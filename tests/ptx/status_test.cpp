// The status of a form (opcode.def) is what the interpreter does: every instruction a Run row
// describes is lowered, every Parse row becomes an op that answers `unsupported`. Nothing crashes
// on the way.
#include "isa/lowering.h"
#include "ptx/parse.h"

#include "../unit/ptx/form_generator.h"
#include <gtest/gtest.h>

namespace heddle::ptx {
namespace {

/// Every function exists; no variable is named by generated instructions.
class NoSymbols : public isa::SymbolResolver {
public:
  Result<Symbol> resolve(const Module&, const Function&, std::string_view) override {
    return Symbol{Symbol::Kind::Function, 0x1000, nullptr};
  }
  Result<const isa::Code*> callee(const Module&, std::string_view) override { return &code_; }

private:
  isa::Code code_;
};

/// Why the interpreter would not execute it; "" if it would.
std::string refusal(const std::string& line) {
  std::string text = ".version 9.0\n.target sm_100a\n.address_size 64\n.func callee();\n"
                     ".visible .entry k()\n{\n" +
                     generated_declarations() + "\t" + line + "\n" + generated_labels() + "}\n";
  auto module = parse(text, "form.ptx");
  if (!module) {
    return module.error().message;
  }
  isa::Code code;
  code.module = module->get();
  code.function = (*module)->functions[1].get();
  NoSymbols symbols;
  isa::Lowering lowering(code, symbols);
  auto done = lowering.run();
  if (!done) {
    return done.error().message;
  }
  return code.messages.empty() ? "" : code.messages.front();
}

TEST(FormStatus, AgreesWithTheInterpreter) {
  for (const Form& form : form_table().all()) {
    auto lines = generate(form);
    // Rows of matrices describe more combinations of shape and types than exist; which of them are
    // executed is tested where they are defined (tests/unit/isa).
    if (form.status == FormStatus::Part) {
      continue;
    }
    std::size_t refused = 0;
    std::string example;
    for (const std::string& line : lines) {
      std::string why = refusal(line);
      if (!why.empty()) {
        ++refused;
        example = line + "  // " + why;
      }
    }
    if (form.status == FormStatus::Run) {
      EXPECT_EQ(refused, 0U) << refused << " of " << lines.size() << " instructions of "
                             << text(form.opcode) << " (" << form.modifiers
                             << ") are not executed, such as\n"
                             << example;
    } else {
      EXPECT_EQ(refused, lines.size())
          << text(form.opcode) << " (" << form.modifiers << ") is executed: mark it Run";
    }
  }
}

} // namespace
} // namespace heddle::ptx
