#include "ptx/form.h"
#include "ptx/module.h"
#include "ptx/special_register.h"

#include <gtest/gtest.h>

namespace heddle::ptx {
namespace {

TEST(Words, EveryWordIsFoundAgain) {
  for (std::size_t m = 0; m < modifier_count; ++m) {
    auto mod = static_cast<Mod>(m);
    EXPECT_EQ(find_modifier(text(mod)), mod) << text(mod);
  }
  for (std::size_t o = 0; o < opcode_count; ++o) {
    auto opcode = static_cast<Opcode>(o);
    EXPECT_EQ(find_opcode(text(opcode)), opcode) << text(opcode);
  }
  EXPECT_EQ(find_modifier("nonsense"), std::nullopt);
  EXPECT_EQ(find_modifier(""), std::nullopt);
  EXPECT_EQ(find_opcode("adds"), std::nullopt);
}

TEST(Words, LoIsHalfAndComparison) {
  EXPECT_EQ(category(Mod::Lo), Category::Half);
  EXPECT_TRUE(is(Mod::Lo, Category::Compare));
  EXPECT_TRUE(is(Mod::Or, Category::Bool));
  EXPECT_FALSE(is(Mod::Add, Category::Bool));
}

TEST(Words, EveryTypeHasAWidthAndOneKind) {
  for (std::size_t m = 0; m < modifier_count; ++m) {
    auto mod = static_cast<Mod>(m);
    EXPECT_EQ(category(mod) == Category::Type, type_bits(mod) != 0) << text(mod);
    int kinds = (is_signed(mod) ? 1 : 0) + (is_unsigned(mod) ? 1 : 0) + (is_bits(mod) ? 1 : 0) +
                (is_float(mod) ? 1 : 0);
    EXPECT_LE(kinds, 1) << text(mod);
  }
  EXPECT_EQ(type_bits(Mod::Pred), 1);
  EXPECT_EQ(type_bits(Mod::F16x2), 32);
  EXPECT_EQ(type_bits(Mod::B128), 128);
  EXPECT_TRUE(is_float(Mod::Bf16x2));
  EXPECT_FALSE(is_float(Mod::Texref));
}

TEST(SpecialRegisters, NamesAndComponents) {
  auto tid = find_special_register("%tid.y");
  ASSERT_TRUE(tid);
  EXPECT_EQ(tid->name, "tid");
  EXPECT_EQ(tid->component, 1);
  EXPECT_EQ(find_special_register("%tid")->component, -1);
  EXPECT_EQ(find_special_register("%clock64")->type, Mod::U64);
  EXPECT_TRUE(find_special_register("%envreg0"));
  EXPECT_TRUE(find_special_register("%envreg31"));
  EXPECT_FALSE(find_special_register("%envreg32"));
  EXPECT_FALSE(find_special_register("%envreg01"));
  EXPECT_FALSE(find_special_register("%laneid.x"));
  EXPECT_FALSE(find_special_register("%tid.q"));
  EXPECT_FALSE(find_special_register("tid.x"));
}

} // namespace
} // namespace heddle::ptx
