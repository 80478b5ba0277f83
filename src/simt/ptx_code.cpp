// Implements ptx_code.h. A wrong kind cannot make a program go wrong unseen: the rules check that
// lanes part only where they may.
#include "simt/ptx_code.h"

#include "ptx/effect.h"

#include <algorithm>

namespace heddle::simt {
namespace {

Kind kind_of(const ptx::Instruction& i) {
  using What = ptx::Effect::Kind;
  const ptx::Effect& effect = ptx::effect_of(i);
  if (effect.is_of_warp()) {
    return Kind::Collective;
  }
  switch (effect.kind) {
  case What::Branch:
  case What::BranchTable:
    return Kind::Branch;
  case What::Call:
    return Kind::Call;
  case What::Return:
    return Kind::Return;
  case What::Exit:
    return Kind::Exit;
  case What::Barrier:
    return Kind::Barrier;
  case What::Dependency: // [DEP-WAIT] blocks lanes as a barrier does
    return i.has(ptx::Mod::LaunchDependents) ? Kind::Plain : Kind::Barrier;
  case What::Update:
    return Kind::Atomic;
  case What::Store:
    return Kind::Write;
  case What::Load:
    return Kind::Read;
  case What::Fence:
    return Kind::Fence;
  default:
    return Kind::Plain;
  }
}

std::unique_ptr<CodeFacts> compute(const isa::Code& code, analysis::Ends ends) {
  const ptx::Function& function = *code.function;
  auto facts = std::make_unique<CodeFacts>(CodeFacts{{}, analysis::Cfg(function, ends)});
  facts->of.resize(code.ops.size());
  // The first op of each instruction; instructions that lower to nothing have that of the next.
  std::vector<const isa::Op*> first(function.body.size(), nullptr);
  const std::size_t end = code.ops.size() - 1; // the op behind the body, which returns
  for (std::size_t n = end; n-- > 0;) {
    first[code.ops[n].instruction] = &code.ops[n];
  }
  for (std::size_t i = first.size(); i-- > 0;) {
    if (first[i] == nullptr) {
      first[i] = i + 1 < first.size() ? first[i + 1] : &code.ops[end];
    }
  }
  facts->of[end].kind = Kind::Return;
  facts->of[end].block = facts->cfg.exit();
  for (std::size_t n = 0; n < end; ++n) {
    const std::uint32_t i = code.ops[n].instruction;
    CodeFacts::Fact& fact = facts->of[n];
    fact.kind = kind_of(function.body[i]);
    fact.indirect = fact.kind == Kind::Call &&
                    std::ranges::any_of(function.body[i].operands, [](const ptx::Operand& operand) {
                      return operand.kind == ptx::OperandKind::Register;
                    });
    fact.block = facts->cfg.block_of(i);
    if (fact.kind == Kind::Branch) {
      const auto join = facts->cfg.reconvergence(i);
      fact.reconvergence = join ? first[*join] : nullptr;
    }
  }
  return facts;
}

} // namespace

const CodeFacts& CodeTable::facts(const isa::Code& code) {
  std::lock_guard lock(mutex_);
  auto& entries = entries_[&code];
  for (const Entry& entry : entries) {
    if (entry.ops == code.ops.data() && entry.count == code.ops.size()) {
      return *entry.facts;
    }
  }
  entries.push_back({code.ops.data(), code.ops.size(), compute(code, ends_)});
  return *entries.back().facts;
}

} // namespace heddle::simt
