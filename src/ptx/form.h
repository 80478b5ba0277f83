// Instruction forms: the rows of opcode.def, compiled for matching.
//
//   const FormTable& table = form_table();
//   for (const Form& form : table.of(Opcode::Add)) { if (form.match_modifiers(mods).ok()) … }
//
// The grammar of a row is described in opcode.def. A malformed row is an internal error.
#pragma once

#include "ptx/module.h"

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ptx {

enum class FormStatus : std::uint8_t {
  Run,  // executed, every instruction of the row
  Part, // executed for some combinations of shape and types, unsupported for the others
  Parse // read and printed only
};

inline constexpr std::size_t modifier_count = [] {
  std::size_t count = 0;
#define HEDDLE_MODIFIER(name, text, category) ++count;
#include "ptx/modifier.def"
#undef HEDDLE_MODIFIER
  return count;
}();
inline constexpr std::size_t opcode_count = [] {
  std::size_t count = 0;
#define HEDDLE_OPCODE(name, text) ++count;
#include "ptx/opcode_name.def"
#undef HEDDLE_OPCODE
  return count;
}();

using ModSet = std::bitset<modifier_count>;

/// One element of a row's modifiers.
struct Slot {
  ModSet accepts;
  bool optional = false;
  bool type = false;           // accepts types: these are filled in their order
  bool after_previous = false; // written without a blank: must stand behind the previous slot's
  std::string_view text;       // as in the row
};

enum class TypeRule : std::uint8_t {
  Indexed,
  Double,
  Fixed,
  Any
};

struct OperandRule {
  char kind = 'x';
  bool optional = false;
  bool conditional = false; // there exactly if a modifier of `when` is
  bool loose = false;       // a register may be wider than the type
  TypeRule type_rule = TypeRule::Indexed;
  std::uint8_t type_index = 0;
  Type type{};
  ModSet when;
};

struct ModifierMatch {
  std::size_t matched = 0;       // modifiers accepted before the first refusal
  bool accepted = false;         // every modifier found a slot
  const Slot* missing = nullptr; // a mandatory slot that was left empty
  bool ok() const { return accepted && missing == nullptr; }
};

struct Form {
  Opcode opcode{};
  FormStatus status{};
  std::uint16_t id = 0; // Instruction::form
  std::string_view modifiers;
  std::string_view operands;
  std::vector<Slot> slots;
  std::vector<OperandRule> rules;

  ModifierMatch match_modifiers(std::span<const Mod> written) const;
  /// Whether some slot takes this modifier.
  bool takes(Mod mod) const;
};

class FormTable {
public:
  FormTable();
  std::span<const Form> of(Opcode opcode) const;
  const Form& at(std::uint16_t id) const { return forms_[id]; }
  std::span<const Form> all() const { return forms_; }

private:
  std::vector<Form> forms_;          // sorted by opcode
  std::vector<std::uint32_t> first_; // by opcode; one more than there are opcodes
};

/// The table, compiled on first use; immutable and shared by all threads.
const FormTable& form_table();

} // namespace heddle::ptx
