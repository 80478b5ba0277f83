// effect.def says of each instruction what it is to others; here is that it says so of all, and
// the right thing of those on which the search depends.
#include "ptx/effect.h"
#include "ptx/special_register.h"

#include "form_generator.h"
#include "support/ptx_text.h"
#include <gmock/gmock.h>

namespace heddle::ptx {
namespace {

using Kind = Effect::Kind;
using Meets = Effect::Meets;

/// The instruction, with registers that the generator of forms declares.
class One {
public:
  explicit One(const std::string& line)
      : module_(must_parse(
            ".version 9.0\n.target sm_100a\n.address_size 64\n.func callee();\n.visible .entry "
            "k()\n{\n" +
            generated_declarations() + "\t" + line + "\n" + generated_labels() + "}\n"
        )) {}
  const Instruction& instruction() const { return module_->functions[1]->body.front(); }

private:
  std::unique_ptr<Module> module_;
};

const Effect& effect(const std::string& line) {
  return effect_of(One(line).instruction());
}

TEST(Effect, EveryInstructionThatAFormDescribesHasARowOfItsOwn) {
  std::size_t instructions = 0;
  for (const Form& form : form_table().all()) {
    for (const std::string& line : generate(form)) {
      const One one(line);
      const Effect& row = effect_of(one.instruction());
      ++instructions;
      EXPECT_EQ(row.opcode, form.opcode) << line;
      for (std::size_t w = 0; w < row.when.count; ++w) {
        EXPECT_TRUE(one.instruction().has(row.when.words[w])) << line;
      }
    }
  }
  EXPECT_GT(instructions, 5000U);
}

// PTX ISA, memory consistency model: volatile and .mmio operations count as relaxed ones. Nobody
// else reaches local memory (.volatile.local: PTX 9.1).
TEST(Effect, ScalarAccessesAreStrongIfTheySaySo) {
  for (const Opcode opcode : {Opcode::Ld, Opcode::Ldu, Opcode::St}) {
    for (const Form& form : form_table().of(opcode)) {
      for (const std::string& line : generate(form)) {
        const One one(line);
        const Instruction& i = one.instruction();
        const bool says_so = (i.has(Mod::Volatile) && !i.has(Mod::Local)) || i.has(Mod::Relaxed) ||
                             i.has(Mod::Acquire) || i.has(Mod::Release) || i.has(Mod::Mmio);
        EXPECT_EQ(effect_of(i).is_strong(), says_so) << line;
        EXPECT_TRUE(effect_of(i).is_access()) << line;
        EXPECT_EQ(effect_of(i).is_async(), i.has(Mod::Async)) << line;
      }
    }
  }
  for (const Opcode opcode : {Opcode::Atom, Opcode::Red}) {
    for (const Form& form : form_table().of(opcode)) {
      for (const std::string& line : generate(form)) {
        EXPECT_TRUE(effect(line).is(Kind::Update) && effect(line).is_strong()) << line;
      }
    }
  }
}

TEST(Effect, StepsOfADeviceThread) {
  const auto step = [](const std::string& line) { return effect(line).step; };
  // [STEP.1]
  EXPECT_EQ(step("ret;"), StepKind::End);
  EXPECT_EQ(step("exit;"), StepKind::End);
  EXPECT_EQ(step("trap;"), StepKind::None);
  // [STEP.2]
  EXPECT_EQ(library_function("vprintf"), LibraryFunction::Output);
  EXPECT_EQ(library_function("malloc"), LibraryFunction::Memory);
  EXPECT_EQ(library_function("__assertfail"), LibraryFunction::Failure);
  EXPECT_EQ(library_function("printf"), LibraryFunction::None);
  EXPECT_EQ(library_function(One("call callee;").instruction()), LibraryFunction::None);
  // [STEP.3]
  EXPECT_EQ(step("ld.volatile.global.u32 %w32_0, [%w64_0];"), StepKind::Volatile);
  EXPECT_EQ(step("st.global.volatile.u32 [%w64_0], %w32_0;"), StepKind::Volatile);
  EXPECT_EQ(step("st.volatile.local.u32 [%w64_0], %w32_0;"), StepKind::Volatile);
  // [STEP.4]
  EXPECT_EQ(step("ld.relaxed.gpu.global.u32 %w32_0, [%w64_0];"), StepKind::Sync);
  EXPECT_EQ(step("ld.mmio.relaxed.sys.global.u32 %w32_0, [%w64_0];"), StepKind::Sync);
  EXPECT_EQ(step("atom.global.add.u32 %w32_0, [%w64_0], 1;"), StepKind::Sync);
  EXPECT_EQ(step("bar.sync 0;"), StepKind::Sync);
  EXPECT_EQ(step("barrier.cluster.arrive;"), StepKind::Sync);
  EXPECT_EQ(step("shfl.sync.idx.b32 %w32_0, %w32_1, 0, 31, -1;"), StepKind::Sync);
  EXPECT_EQ(step("mbarrier.test_wait.shared.b64 %w1_0, [%w64_0], %w64_1;"), StepKind::Sync);
  // Atomic writes, fences, and what goes on by itself are none.
  EXPECT_EQ(step("st.relaxed.gpu.global.u32 [%w64_0], %w32_0;"), StepKind::None);
  EXPECT_EQ(step("fence.sc.gpu;"), StepKind::None);
  EXPECT_EQ(step("membar.gl;"), StepKind::None);
  EXPECT_EQ(step("nanosleep.u32 5;"), StepKind::None);
  EXPECT_EQ(step("ld.global.u32 %w32_0, [%w64_0];"), StepKind::None);
  EXPECT_EQ(step("cp.async.mbarrier.arrive.shared.b64 [%w64_0];"), StepKind::None);
}

TEST(Effect, WhoMeetsWhom) {
  const auto meets = [](const std::string& line) { return effect(line).meets; };
  EXPECT_EQ(meets("bar.sync 0;"), Meets::Block);
  EXPECT_EQ(meets("bar.warp.sync -1;"), Meets::Warp);
  EXPECT_EQ(meets("barrier.sync 0;"), Meets::Block);
  EXPECT_EQ(meets("barrier.cluster.wait;"), Meets::Cluster);
  EXPECT_EQ(meets("griddepcontrol.wait;"), Meets::Grid);
  EXPECT_EQ(meets("atom.global.add.u32 %w32_0, [%w64_0], 1;"), Meets::Nobody);
  EXPECT_EQ(meets("mbarrier.pending_count.b64 %w32_0, %w64_0;"), Meets::Nobody);
  EXPECT_TRUE(effect("bar.warp.sync -1;").is_of_warp());
  EXPECT_FALSE(effect("bar.sync 0;").is_of_warp());
  // Those with .sync wait for the lanes of their warp (PTX ISA 9.0), all of them.
  for (const Form& form : form_table().all()) {
    for (const std::string& line : generate(form)) {
      const One one(line);
      const Instruction& i = one.instruction();
      const Effect& row = effect_of(i);
      if (i.has(Mod::Sync) && !row.is(Kind::Other) && !row.is(Kind::Barrier)) {
        EXPECT_TRUE(row.is_of_warp()) << line;
      }
    }
  }
}

TEST(Effect, TheFirstRowThatFitsIsTaken) {
  EXPECT_TRUE(effect("mbarrier.pending_count.b64 %w32_0, %w64_0;").is(Kind::Compute));
  EXPECT_TRUE(effect("mbarrier.init.shared.b64 [%w64_0], 1;").is(Kind::Mbarrier));
  EXPECT_TRUE(effect("cp.async.mbarrier.arrive.shared.b64 [%w64_0];").is(Kind::Mbarrier));
  EXPECT_TRUE(effect("cp.async.bulk.prefetch.L2.global [%w64_0], 16;").is(Kind::Hint));
  EXPECT_FALSE(effect("cp.async.wait_all;").reads());
  EXPECT_TRUE(effect("cp.async.ca.shared.global [%w64_0], [%w64_1], 4;").reads());
  EXPECT_FALSE(effect("cp.async.ca.shared.global [%w64_0], [%w64_1], 4;").is_strong());
  EXPECT_STREQ(effect("ldu.global.u32 %w32_0, [%w64_0];").name, "a plain read");
}

TEST(Effect, SpecialRegistersSayWhatTheyTell) {
  const auto asks = [](std::string_view name) { return find_special_register(name)->asks; };
  EXPECT_EQ(asks("%tid.x"), Asks::Thread);
  EXPECT_EQ(asks("%laneid"), Asks::Lane);
  EXPECT_EQ(asks("%lanemask_lt"), Asks::Lane);
  EXPECT_EQ(asks("%warpid"), Asks::Lane);
  EXPECT_EQ(asks("%ctaid.y"), Asks::Block);
  EXPECT_EQ(asks("%cluster_ctarank"), Asks::Block);
  EXPECT_EQ(asks("%smid"), Asks::Block);
  EXPECT_EQ(asks("%reserved_smem_offset_0"), Asks::Shared);
  EXPECT_EQ(asks("%clock64"), Asks::Clock);
  EXPECT_EQ(asks("%globaltimer"), Asks::Clock);
  EXPECT_EQ(asks("%ntid.x"), Asks::Nothing);
  EXPECT_EQ(asks("%nctaid"), Asks::Nothing);
  EXPECT_EQ(asks("%envreg3"), Asks::Nothing);
}

} // namespace
} // namespace heddle::ptx
