// Queries on a Module: what an instruction carries, sizes of variables, lookup by name.
//
// Sizes and natural alignments follow PTX ISA 9.0 sections 5.2 and 5.4.
#include "ptx/module.h"

#include <algorithm>

namespace heddle::ptx {
namespace {

template <class Range> const Variable* find_named(const Range& variables, std::string_view name) {
  auto it = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) {
    return v.name == name;
  });
  return it == variables.end() ? nullptr : &*it;
}

} // namespace

bool Instruction::has(Mod mod) const {
  return std::find(modifiers.begin(), modifiers.end(), mod) != modifiers.end();
}

std::optional<Mod> Instruction::one_of(Category wanted) const {
  auto it =
      std::find_if(modifiers.begin(), modifiers.end(), [&](Mod mod) { return is(mod, wanted); });
  return it == modifiers.end() ? std::nullopt : std::optional(*it);
}

std::optional<Type> Instruction::type(int n) const {
  for (Mod mod : modifiers) {
    if (category(mod) == Category::Type && n-- == 0) {
      return mod;
    }
  }
  return std::nullopt;
}

std::uint64_t Variable::element_bytes() const {
  // A predicate in memory does not exist; a .pred parameter in register space counts as one byte.
  return (static_cast<std::uint64_t>(type_bits(type)) + 7) / 8 * vector;
}

std::uint64_t Variable::byte_size() const {
  std::uint64_t bytes = element_bytes();
  for (std::uint64_t extent : extents) {
    bytes *= extent;
  }
  return bytes;
}

std::uint32_t Variable::alignment() const {
  return align != 0 ? align
                    : std::max<std::uint32_t>(1, static_cast<std::uint32_t>(element_bytes()));
}

const Variable* Function::find_variable(std::string_view wanted) const {
  for (const auto* list : {&parameters, &returns, &variables}) {
    if (const Variable* found = find_named(*list, wanted)) {
      return found;
    }
  }
  return nullptr;
}

const Function* Module::find_function(std::string_view wanted) const {
  // An alias is declared as a function without a body; calls of it go to the aliasee. An alias of
  // an alias is followed as often as there are aliases, which ends cycles.
  for (std::size_t hop = 0; hop <= aliases.size(); ++hop) {
    auto it = std::find_if(functions.begin(), functions.end(), [&](const auto& function) {
      return function->name == wanted;
    });
    const Function* found = it == functions.end() ? nullptr : it->get();
    auto alias = std::find_if(aliases.begin(), aliases.end(), [&](const Alias& candidate) {
      return candidate.name == wanted;
    });
    if ((found != nullptr && found->defined) || alias == aliases.end()) {
      return found;
    }
    wanted = alias->aliasee;
  }
  return nullptr;
}

const Variable* Module::find_variable(std::string_view wanted) const {
  return find_named(variables, wanted);
}

} // namespace heddle::ptx
