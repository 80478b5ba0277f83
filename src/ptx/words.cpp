// Words of PTX: spelling, role and lookup of modifiers and opcodes, properties of types.
//
// Everything is generated from modifier.def, category.def and opcode_name.def. Widths of types are
// those of PTX ISA 9.0 section 5.2; a word that is not a type has width 0.
#include "ptx/module.h"

#include <algorithm>
#include <array>

namespace heddle::ptx {
namespace {

struct ModifierRow {
  std::string_view text;
  Category category;
};

constexpr ModifierRow modifier_rows[] = {
#define HEDDLE_MODIFIER(name, text, category) {text, Category::category},
#include "ptx/modifier.def"
#undef HEDDLE_MODIFIER
};

struct SecondRole {
  Mod mod;
  Category category;
};

constexpr SecondRole second_roles[] = {
#define HEDDLE_MODIFIER(name, text, category)
#define HEDDLE_MODIFIER_ALSO(name, category) {Mod::name, Category::category},
#include "ptx/modifier.def"
#undef HEDDLE_MODIFIER_ALSO
#undef HEDDLE_MODIFIER
};

constexpr std::string_view opcode_rows[] = {
#define HEDDLE_OPCODE(name, text) text,
#include "ptx/opcode_name.def"
#undef HEDDLE_OPCODE
};

constexpr std::uint32_t hash(std::string_view word) {
  std::uint32_t h = 2166136261U;
  for (char c : word) {
    h = (h ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return h ^ (h >> 15);
}

/// Open addressing over the rows of one table, built at compile time.
template <std::size_t slots> struct WordTable {
  static_assert((slots & (slots - 1)) == 0);
  std::array<std::uint16_t, slots> rows{}; // row + 1, 0 where free

  template <class Text> constexpr WordTable(std::size_t count, Text text_of) {
    for (std::size_t row = 0; row < count; ++row) {
      std::size_t slot = hash(text_of(row)) & (slots - 1);
      while (rows[slot] != 0) {
        slot = (slot + 1) & (slots - 1);
      }
      rows[slot] = static_cast<std::uint16_t>(row + 1);
    }
  }

  template <class Text>
  std::optional<std::uint16_t> find(std::string_view word, Text text_of) const {
    for (std::size_t slot = hash(word) & (slots - 1); rows[slot] != 0;
         slot = (slot + 1) & (slots - 1)) {
      if (text_of(rows[slot] - 1U) == word) {
        return static_cast<std::uint16_t>(rows[slot] - 1U);
      }
    }
    return std::nullopt;
  }
};

constexpr auto modifier_text = [](std::size_t row) { return modifier_rows[row].text; };
constexpr auto opcode_text = [](std::size_t row) { return opcode_rows[row]; };
constexpr WordTable<2048> modifier_table(std::size(modifier_rows), modifier_text);
constexpr WordTable<512> opcode_table(std::size(opcode_rows), opcode_text);

} // namespace

std::string_view text(Mod mod) {
  return modifier_rows[static_cast<std::size_t>(mod)].text;
}

std::string_view text(Opcode opcode) {
  return opcode_rows[static_cast<std::size_t>(opcode)];
}

Category category(Mod mod) {
  return modifier_rows[static_cast<std::size_t>(mod)].category;
}

bool is(Mod mod, Category wanted) {
  return category(mod) == wanted ||
         std::any_of(std::begin(second_roles), std::end(second_roles), [&](const SecondRole& row) {
           return row.mod == mod && row.category == wanted;
         });
}

std::optional<Mod> find_modifier(std::string_view word) {
  auto row = modifier_table.find(word, modifier_text);
  return row ? std::optional(static_cast<Mod>(*row)) : std::nullopt;
}

std::optional<Opcode> find_opcode(std::string_view word) {
  auto row = opcode_table.find(word, opcode_text);
  return row ? std::optional(static_cast<Opcode>(*row)) : std::nullopt;
}

int type_bits(Type type) {
  switch (type) {
  case Mod::Pred:
  case Mod::B1:
    return 1;
  case Mod::U2:
  case Mod::S2:
    return 2;
  case Mod::B4:
  case Mod::U4:
  case Mod::S4:
  case Mod::E2m1:
    return 4;
  case Mod::B6:
  case Mod::E3m2:
  case Mod::E2m3:
    return 6;
  case Mod::U8:
  case Mod::S8:
  case Mod::B8:
  case Mod::E4m3:
  case Mod::E5m2:
  case Mod::Ue8m0:
  case Mod::Ue4m3:
  case Mod::E2m1x2:
    return 8;
  case Mod::U16:
  case Mod::S16:
  case Mod::B16:
  case Mod::F16:
  case Mod::Bf16:
  case Mod::E4m3x2:
  case Mod::E5m2x2:
  case Mod::E3m2x2:
  case Mod::E2m3x2:
  case Mod::Ue8m0x2:
  case Mod::E2m1x4:
    return 16;
  case Mod::U32:
  case Mod::S32:
  case Mod::B32:
  case Mod::F32:
  case Mod::Tf32:
  case Mod::F16x2:
  case Mod::Bf16x2:
  case Mod::U16x2:
  case Mod::S16x2:
  case Mod::U8x4:
  case Mod::S8x4:
  case Mod::E4m3x4:
  case Mod::E5m2x4:
  case Mod::E3m2x4:
  case Mod::E2m3x4:
    return 32;
  case Mod::U64:
  case Mod::S64:
  case Mod::B64:
  case Mod::F64:
  case Mod::F32x2:
  case Mod::Texref:
  case Mod::Samplerref:
  case Mod::Surfref:
    return 64;
  case Mod::B128:
  case Mod::B8x16:
  case Mod::B4x16P64:
  case Mod::B6x16P32:
  case Mod::B6p2x16:
    return 128;
  case Mod::B1024:
    return 1024;
  default:
    return 0;
  }
}

bool is_signed(Type type) {
  switch (type) {
  case Mod::S2:
  case Mod::S4:
  case Mod::S8:
  case Mod::S16:
  case Mod::S32:
  case Mod::S64:
  case Mod::S16x2:
  case Mod::S8x4:
    return true;
  default:
    return false;
  }
}

bool is_unsigned(Type type) {
  switch (type) {
  case Mod::U2:
  case Mod::U4:
  case Mod::U8:
  case Mod::U16:
  case Mod::U32:
  case Mod::U64:
  case Mod::U16x2:
  case Mod::U8x4:
    return true;
  default:
    return false;
  }
}

bool is_bits(Type type) {
  switch (type) {
  case Mod::B1:
  case Mod::B4:
  case Mod::B6:
  case Mod::B8:
  case Mod::B16:
  case Mod::B32:
  case Mod::B64:
  case Mod::B128:
  case Mod::B1024:
    return true;
  default:
    return false;
  }
}

bool is_float(Type type) {
  return category(type) == Category::Type && type != Mod::Pred && type != Mod::Texref &&
         type != Mod::Samplerref && type != Mod::Surfref && type != Mod::B8x16 &&
         type != Mod::B4x16P64 && type != Mod::B6x16P32 && type != Mod::B6p2x16 &&
         !is_signed(type) && !is_unsigned(type) && !is_bits(type);
}

} // namespace heddle::ptx
