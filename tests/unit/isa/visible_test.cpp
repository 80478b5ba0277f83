// An instruction has an op at which the search may stop (OpFlags::Visible) exactly if effect.def
// says that others may see it: the machine never looks at the row of one that has none.
#include "isa/program.h"
#include "ptx/effect.h"
#include "ptx/parse.h"

#include "unit/ptx/form_generator.h"
#include <gtest/gtest.h>

namespace heddle::isa {
namespace {

using ptx::Mod;
using Kind = ptx::Effect::Kind;

bool others_may_see(const ptx::Instruction& i) {
  const ptx::Effect& effect = ptx::effect_of(i);
  switch (effect.kind) {
  case Kind::Load:
  case Kind::Store:
  case Kind::Update:
    return !i.has(Mod::Const) && !i.has(Mod::Local) && !i.has(Mod::Param) &&
           !i.has(Mod::ParamEntry) && !i.has(Mod::ParamFunc);
  case Kind::Object: // what the texture path reads nobody writes meanwhile
    return i.opcode == ptx::Opcode::Suld || effect.writes();
  case Kind::Copy: // groups are the thread's own affair
    return effect.reads();
  case Kind::Return:
  case Kind::Exit:
  case Kind::Trap:
  case Kind::Fence:
  case Kind::Barrier:
  case Kind::Collective:
  case Kind::ActiveLanes:
  case Kind::Mbarrier:
  case Kind::Dependency:
    return true;
  case Kind::WarpWide: // how many registers a warp has makes no difference here
    return i.opcode != ptx::Opcode::Setmaxnreg;
  case Kind::Other: // what a discarded line holds is what it held
    return i.opcode != ptx::Opcode::Discard;
  default:
    return false;
  }
}

TEST(Visible, IsWhatOthersMaySee) {
  std::size_t compared = 0;
  for (const ptx::Form& form : ptx::form_table().all()) {
    if (form.status != ptx::FormStatus::Run || form.opcode == ptx::Opcode::Call) {
      continue; // what a call is depends on the function
    }
    for (const std::string& line : ptx::generate(form)) {
      auto module = ptx::parse(
          ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n" +
              ptx::generated_declarations() + line + "\n" + ptx::generated_labels() + "}\n",
          "test.ptx"
      );
      ASSERT_TRUE(module) << line;
      const ptx::Instruction instruction = (*module)->functions[0]->body.front();
      memory::AddressSpace space;
      auto program =
          Program::link({std::shared_ptr<const ptx::Module>(std::move(*module))}, space, 0);
      ASSERT_TRUE(program) << line;
      const auto kernel = (*program)->kernel("k");
      if (!kernel || !(*kernel)->code->messages.empty()) {
        continue; // operands that the generator cannot know
      }
      bool visible = false;
      for (const Op& op : (*kernel)->code->ops) {
        visible = visible || (op.instruction == 0 && (op.flags & Visible) != 0);
      }
      ++compared;
      EXPECT_EQ(visible, others_may_see(instruction)) << line;
    }
  }
  EXPECT_GT(compared, 2000U);
}

} // namespace
} // namespace heddle::isa
