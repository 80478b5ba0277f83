// Implements kernel_reach.h.
#include "runtime/memory/kernel_reach.h"

#include "analysis/origins.h"
#include "ptx/effect.h"

#include <algorithm>
#include <set>
#include <string>

namespace heddle::runtime {
namespace {

using ptx::Mod;

bool is_elsewhere(const ptx::Instruction& i) { // in memory that only device code reaches
  return i.has(Mod::Shared) || i.has(Mod::SharedCta) || i.has(Mod::SharedCluster) ||
         i.has(Mod::Local) || i.has(Mod::Param);
}

bool does_talk(const ptx::Function& function) {
  return std::ranges::any_of(function.body, [](const ptx::Instruction& i) {
    return (i.has(Mod::Sys) || i.has(Mod::Volatile) || i.has(Mod::Mmio)) && !is_elsewhere(i);
  });
}

/// A strong access that only writes tells nothing without a fence.
bool does_wait(const ptx::Function& function) {
  return std::ranges::any_of(function.body, [](const ptx::Instruction& i) {
    const ptx::Effect& effect = ptx::effect_of(i);
    return effect.is(ptx::Effect::Kind::Fence) ||
           (effect.is_strong() && effect.reads() && !is_elsewhere(i) && !i.has(Mod::Cta));
  });
}

bool calls_its_own(const ptx::Function& function) {
  return std::ranges::any_of(function.body, [](const ptx::Instruction& i) {
    return ptx::effect_of(i).is(ptx::Effect::Kind::Call) &&
           ptx::library_function(i) == ptx::LibraryFunction::None;
  });
}

void add_symbols(const ptx::Operand& operand, std::set<std::string>& to) {
  if (!operand.name.empty() && operand.kind == ptx::OperandKind::Symbol) {
    to.insert(operand.name);
  }
  for (const ptx::Operand& element : operand.elements) {
    add_symbols(element, to);
  }
}

/// Objects that are written ("parameter+offset"); `all`: any may be.
struct Written {
  std::set<std::string> objects;
  bool all = false;
};

Written written_by(const ptx::Function& function) {
  Written result;
  const analysis::Origins origins(function);
  for (const ptx::Instruction& i : function.body) {
    const ptx::Effect& effect = ptx::effect_of(i);
    if (!effect.writes() || is_elsewhere(i)) {
      continue;
    }
    const auto address =
        std::ranges::find(i.operands, ptx::OperandKind::Address, &ptx::Operand::kind);
    const analysis::Origin to = effect.is_access() && address != i.operands.end()
                                    ? origins.of(*address)
                                    : analysis::Origin{};
    if (to.kind == analysis::Origin::Kind::Object) {
      result.objects.insert(to.object);
    } else {
      result.all = true;
    }
  }
  return result;
}

KernelReach look_at(const isa::Program& program, const isa::Kernel& kernel) {
  KernelReach result;
  const ptx::Function& function = *kernel.function;
  const bool calls = calls_its_own(function);
  std::set<std::string> symbols;
  result.talks = does_talk(function);
  result.waits = does_wait(function);
  for (const auto& module : program.modules()) {
    for (const auto& callee : module->functions) {
      if (calls && !callee->entry) {
        result.talks = result.talks || does_talk(*callee);
        result.waits = result.waits || does_wait(*callee);
      }
      if (callee.get() != &function && (!calls || callee->entry)) {
        continue;
      }
      for (const ptx::Instruction& i : callee->body) {
        std::ranges::for_each(i.operands, [&](const auto& o) { add_symbols(o, symbols); });
      }
    }
  }
  for (const std::string& name : symbols) {
    if (const auto place = program.variable(name)) {
      auto& variables = place->managed ? result.variables : result.others;
      variables.push_back({place->address, place->bytes, !place->constant});
    }
  }
  const Written written = written_by(function);
  for (std::size_t n = 0; n < kernel.parameters.size(); ++n) {
    const isa::KernelParameter& parameter = kernel.parameters[n];
    for (std::uint32_t at = 0; at + 8 <= parameter.bytes; at += 8) {
      const std::string object = function.parameters[n].name + "+" + std::to_string(at);
      result.pointers.push_back(
          {parameter.offset + at, calls || written.all || written.objects.contains(object)}
      );
    }
  }
  return result;
}

} // namespace

const KernelReach& KernelReaches::of(const isa::Program& program, const isa::Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  Known& known = known_[&kernel];
  if (known.program.lock().get() != &program) {
    known = {program.weak_from_this(), look_at(program, kernel)};
  }
  return known.reach;
}

} // namespace heddle::runtime
