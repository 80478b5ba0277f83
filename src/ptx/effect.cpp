// Implements effect.h: the rows of effect.def, and static_asserts so that the build fails if a row
// is missing or contradicts itself.
#include "ptx/effect.h"

#include "ptx/form.h"

#include <algorithm>
#include <span>

namespace heddle::ptx {
namespace {

using Kind = Effect::Kind;
using Meets = Effect::Meets;

constexpr Effect rows[] = {
#define HEDDLE_COMPUTES(code, what)                                                                \
  {Opcode::code,                                                                                   \
   Words(),                                                                                        \
   Kind::Compute,                                                                                  \
   Effect::Nothing,                                                                                \
   Meets::Nobody,                                                                                  \
   StepKind::None,                                                                                 \
   "a computation",                                                                                \
   Effect::Makes::what},
#define HEDDLE_EFFECT(code, words, what, memory, whom, counts_as, name)                            \
  {Opcode::code,                                                                                   \
   [] {                                                                                            \
     using enum Mod;                                                                               \
     return Words words;                                                                           \
   }(),                                                                                            \
   Kind::what,                                                                                     \
   [] {                                                                                            \
     using enum Effect::Memory;                                                                    \
     return static_cast<std::uint8_t>(memory);                                                     \
   }(),                                                                                            \
   Meets::whom,                                                                                    \
   StepKind::counts_as,                                                                            \
   name,                                                                                           \
   Effect::Makes::Anything},
#include "ptx/effect.def"
};

/// Where the rows of each opcode begin; one more than there are opcodes.
constexpr auto first_rows = [] {
  std::array<std::uint16_t, opcode_count + 1> first{};
  std::size_t at = 0;
  for (std::size_t o = 0; o < opcode_count; ++o) {
    first[o] = static_cast<std::uint16_t>(at);
    while (at < std::size(rows) && rows[at].opcode == static_cast<Opcode>(o)) {
      ++at;
    }
  }
  first[opcode_count] = static_cast<std::uint16_t>(at);
  return first;
}();

constexpr std::span<const Effect> rows_of(Opcode opcode) {
  const auto o = static_cast<std::size_t>(opcode);
  return std::span(rows).subspan(first_rows[o], first_rows[o + 1] - first_rows[o]);
}

// --- Checks ------------------------------------------------------------------------------------

static_assert(
    first_rows[opcode_count] == std::size(rows),
    "effect.def: rows stand in the order of opcode_name.def"
);

constexpr bool every_opcode_has_a_row() {
  for (std::size_t o = 0; o < opcode_count; ++o) {
    if (first_rows[o] == first_rows[o + 1]) {
      return false;
    }
  }
  return true;
}
static_assert(every_opcode_has_a_row(), "effect.def lacks a row for an opcode of opcode_name.def");

constexpr std::string_view mod_texts[] = {
#define HEDDLE_MODIFIER(name, text, category) text,
#include "ptx/modifier.def"
#undef HEDDLE_MODIFIER
};

struct FormRow {
  Opcode opcode{};
  std::string_view modifiers; // in the language of opcode.def
};
constexpr FormRow forms[] = {
#define HEDDLE_FORM(opcode, modifiers, operands, status) {Opcode::opcode, modifiers},
#include "ptx/opcode.def"
#undef HEDDLE_FORM
};

/// Does f hold for one of the elements that every instruction of the form must have?
template <class F> constexpr bool any_mandatory(std::string_view modifiers, F f) {
  while (!modifiers.empty()) {
    const std::size_t end = std::min(modifiers.find(' '), modifiers.size());
    const std::string_view element = modifiers.substr(0, end);
    modifiers.remove_prefix(std::min(end + 1, modifiers.size()));
    if (element.starts_with('.') && f(element)) {
      return true;
    }
  }
  return false;
}

/// Does every instruction of the form that has the word `chosen` also have `mod`?
constexpr bool must_have(std::string_view modifiers, Mod mod, std::string_view chosen) {
  const std::string_view word = mod_texts[static_cast<std::size_t>(mod)];
  return chosen == word || any_mandatory(modifiers, [&](std::string_view element) {
           return element.substr(1) == word;
         });
}

constexpr bool has_row(const FormRow& form, std::string_view chosen) {
  return std::ranges::any_of(rows_of(form.opcode), [&](const Effect& row) {
    for (std::size_t w = 0; w < row.when.count; ++w) {
      if (!must_have(form.modifiers, row.when.words[w], chosen)) {
        return false;
      }
    }
    return true;
  });
}

/// Does every instruction of the form have a row, whichever of its alternatives it uses?
constexpr bool is_covered(const FormRow& form) {
  return has_row(form, {}) || any_mandatory(form.modifiers, [&](std::string_view element) {
           while (!element.empty()) {
             const std::size_t end = std::min(element.find('|'), element.size());
             const std::string_view word = element.substr(0, end);
             element.remove_prefix(std::min(end + 1, element.size()));
             if (!word.starts_with('.') || !has_row(form, word.substr(1))) {
               return false;
             }
           }
           return true;
         });
}
static_assert(
    std::ranges::all_of(forms, is_covered),
    "effect.def lacks a row for a form of opcode.def"
);

constexpr bool has_word(const Effect& row, Mod mod) {
  return std::ranges::find(row.when.words.begin(), row.when.words.begin() + row.when.count, mod) !=
         row.when.words.begin() + row.when.count;
}

constexpr bool is_possible(const Effect& row) {
  const bool ends = row.kind == Kind::Return || row.kind == Kind::Exit;
  const bool meets = row.meets != Meets::Nobody;
  switch (row.kind) {
  case Kind::Compute:
  case Kind::Hint:
  case Kind::Stack:
  case Kind::Branch:
  case Kind::BranchTable:
  case Kind::Call:
  case Kind::Trap:
  case Kind::Fence:
    if (row.reads() || row.writes() || meets || row.step != StepKind::None) {
      return false;
    }
    break;
  case Kind::Load:
    if (!row.reads() || row.writes()) {
      return false;
    }
    break;
  case Kind::Store:
    if (row.reads() || !row.writes()) {
      return false;
    }
    break;
  case Kind::Update:
    if (!row.reads() || !row.writes() || !row.is_strong()) {
      return false;
    }
    break;
  case Kind::Object:
    if (row.is_strong() || meets) {
      return false;
    }
    break;
  case Kind::Barrier:
  case Kind::Collective:
  case Kind::WarpWide:
  case Kind::Mbarrier: // [STEP.4]; an asynchronous operation need not be a step
    if (!meets || (row.step != StepKind::Sync && !row.is_async())) {
      return false;
    }
    break;
  default:
    break;
  }
  return ends == (row.step == StepKind::End) &&                              // [STEP.1]
         has_word(row, Mod::Volatile) == (row.step == StepKind::Volatile) && // [STEP.3]
         (!row.is_strong() || row.reads() || row.writes()) && *row.name != 0;
}
static_assert(std::ranges::all_of(rows, is_possible), "a row of effect.def contradicts itself");

// --- The device library ------------------------------------------------------------------------

struct LibraryRow {
  std::string_view name;
  LibraryFunction function{};
};
constexpr LibraryRow library[] = {
#define HEDDLE_LIBRARY(name, what) {name, LibraryFunction::what},
#include "ptx/effect.def"
};

} // namespace

const Effect& find_effect(const Instruction& i) {
  const std::span<const Effect> of_opcode = rows_of(i.opcode);
  for (const Effect& row : of_opcode) {
    bool applies = true;
    for (std::size_t w = 0; applies && w < row.when.count; ++w) {
      applies = i.has(row.when.words[w]);
    }
    if (applies) {
      return row;
    }
  }
  return of_opcode.back(); // not reached: is_covered() holds for every form
}

LibraryFunction library_function(std::string_view name) {
  const auto* row = std::ranges::find(library, name, &LibraryRow::name);
  return row != std::end(library) ? row->function : LibraryFunction::None;
}

LibraryFunction library_function(const Instruction& call) {
  for (const Operand& operand : call.operands) {
    const LibraryFunction function = library_function(operand.name);
    if (function != LibraryFunction::None) {
      return function;
    }
  }
  return LibraryFunction::None;
}

} // namespace heddle::ptx
