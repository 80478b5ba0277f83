#include "ptx/equal.h"

#include "ptx/parse.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::ptx {
namespace {

bool same(const Operand& a, const Operand& b) {
  return a.kind == b.kind && a.negated == b.negated && a.float_bits == b.float_bits &&
         a.part == b.part && a.index == b.index && a.offset == b.offset && a.bits == b.bits &&
         a.name == b.name &&
         std::equal(
             a.elements.begin(),
             a.elements.end(),
             b.elements.begin(),
             b.elements.end(),
             same
         );
}

bool same(const SymbolInit& a, const SymbolInit& b) {
  return a.byte_offset == b.byte_offset && a.bytes == b.bytes && a.mask == b.mask &&
         a.generic == b.generic && a.symbol == b.symbol && a.addend == b.addend;
}

bool same(const Variable& a, const Variable& b) {
  return a.name == b.name && a.space == b.space && a.type == b.type && a.vector == b.vector &&
         a.extents == b.extents && a.align == b.align && a.linkage == b.linkage &&
         a.has_init == b.has_init && a.init == b.init && a.attributes == b.attributes &&
         std::equal(
             a.symbols.begin(),
             a.symbols.end(),
             b.symbols.begin(),
             b.symbols.end(),
             [](const SymbolInit& x, const SymbolInit& y) { return same(x, y); }
         );
}

bool same(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return same(x, y);
  });
}

bool same_location(const Module& a, std::uint32_t i, const Module& b, std::uint32_t j) {
  while (i != Instruction::no_location && j != Instruction::no_location) {
    const SourceLocation& x = a.source_locations[i];
    const SourceLocation& y = b.source_locations[j];
    if (x.file != y.file || x.line != y.line || x.column != y.column || x.function != y.function) {
      return false;
    }
    i = x.inlined_at.value_or(Instruction::no_location);
    j = y.inlined_at.value_or(Instruction::no_location);
  }
  return i == j;
}

bool same_attributes(const Function& a, const Function& b) {
  return a.entry == b.entry && a.defined == b.defined && a.noreturn == b.noreturn &&
         a.linkage == b.linkage && std::equal(a.max_ntid, a.max_ntid + 3, b.max_ntid) &&
         std::equal(a.req_ntid, a.req_ntid + 3, b.req_ntid) &&
         std::equal(a.req_cluster, a.req_cluster + 3, b.req_cluster) &&
         a.max_cluster_rank == b.max_cluster_rank && a.min_nctapersm == b.min_nctapersm &&
         a.max_nreg == b.max_nreg && a.explicit_cluster == b.explicit_cluster &&
         a.directives == b.directives && a.pragmas == b.pragmas;
}

std::optional<std::string>
difference(const Module& ma, const Function& a, const Module& mb, const Function& b) {
  auto differ = [&](std::string_view what) {
    return fmt::format("function {}: {} differ", a.name, what);
  };
  if (!same_attributes(a, b)) {
    return differ("linkage or directives");
  }
  if (!same(a.returns, b.returns) || !same(a.parameters, b.parameters)) {
    return differ("parameters");
  }
  if (!std::equal(
          a.registers.begin(),
          a.registers.end(),
          b.registers.begin(),
          b.registers.end(),
          [](const Register& x, const Register& y) { return x.name == y.name && x.type == y.type; }
      )) {
    return differ("registers");
  }
  if (!same(a.variables, b.variables)) {
    return differ("variables");
  }
  if (!std::equal(
          a.labels.begin(),
          a.labels.end(),
          b.labels.begin(),
          b.labels.end(),
          [](const Label& x, const Label& y) {
            return x.name == y.name && x.instruction == y.instruction;
          }
      )) {
    return differ("labels");
  }
  if (!std::equal(
          a.targets.begin(),
          a.targets.end(),
          b.targets.begin(),
          b.targets.end(),
          [](const TargetList& x, const TargetList& y) {
            return x.name == y.name && x.targets == y.targets && x.labels == y.labels;
          }
      )) {
    return differ("target lists");
  }
  if (!std::equal(
          a.prototypes.begin(),
          a.prototypes.end(),
          b.prototypes.begin(),
          b.prototypes.end(),
          [](const CallPrototype& x, const CallPrototype& y) {
            return x.name == y.name && x.noreturn == y.noreturn && same(x.returns, y.returns) &&
                   same(x.parameters, y.parameters);
          }
      )) {
    return differ("prototypes");
  }
  for (std::size_t i = 0; i < std::min(a.body.size(), b.body.size()); ++i) {
    const Instruction& x = a.body[i];
    const Instruction& y = b.body[i];
    bool guards = x.guard.has_value() == y.guard.has_value() &&
                  (!x.guard || (x.guard->register_index == y.guard->register_index &&
                                x.guard->negated == y.guard->negated));
    bool equal = guards && x.opcode == y.opcode && x.form == y.form && x.modifiers == y.modifiers &&
                 std::equal(
                     x.operands.begin(),
                     x.operands.end(),
                     y.operands.begin(),
                     y.operands.end(),
                     [](const Operand& p, const Operand& q) { return same(p, q); }
                 );
    if (!equal) {
      return fmt::format(
          "function {}, instruction {}: '{}' and '{}'",
          a.name,
          i,
          print(ma, a, x),
          print(mb, b, y)
      );
    }
    if (!same_location(ma, x.location, mb, y.location)) {
      return fmt::format(
          "function {}, instruction {} ({}): source locations differ",
          a.name,
          i,
          print(ma, a, x)
      );
    }
  }
  if (a.body.size() != b.body.size()) {
    return differ("numbers of instructions");
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> difference(const Module& a, const Module& b) {
  if (a.version_major != b.version_major || a.version_minor != b.version_minor ||
      a.target != b.target || a.target_options != b.target_options ||
      a.address_size != b.address_size || a.pragmas != b.pragmas || a.files != b.files) {
    return "headers differ";
  }
  if (!std::equal(
          a.aliases.begin(),
          a.aliases.end(),
          b.aliases.begin(),
          b.aliases.end(),
          [](const Alias& x, const Alias& y) { return x.name == y.name && x.aliasee == y.aliasee; }
      )) {
    return "aliases differ";
  }
  for (std::size_t i = 0; i < std::min(a.variables.size(), b.variables.size()); ++i) {
    if (!same(a.variables[i], b.variables[i])) {
      return fmt::format("variables {} and {} differ", a.variables[i].name, b.variables[i].name);
    }
  }
  if (a.variables.size() != b.variables.size() || a.functions.size() != b.functions.size()) {
    return "numbers of variables or functions differ";
  }
  for (const auto& function : a.functions) {
    const Function* other = nullptr;
    for (const auto& candidate : b.functions) {
      if (candidate->name == function->name) {
        other = candidate.get();
      }
    }
    if (other == nullptr) {
      return fmt::format("function {} is missing", function->name);
    }
    if (auto found = difference(a, *function, b, *other)) {
      return found;
    }
  }
  return std::nullopt;
}

} // namespace heddle::ptx
