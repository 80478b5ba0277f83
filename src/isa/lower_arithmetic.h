// What the arithmetic lowering files share: reading an instruction's modifiers and emitting its op.
#pragma once

#include "isa/lanes.h"
#include "isa/lowering.h"

#include <initializer_list>
#include <string>

namespace heddle::isa {

/// One instruction while it is lowered. Each modifier must be taken by somebody: a form with a word
/// that nobody knows is answered with Unsupported, never executed without it.
class Form {
public:
  Form(Lowering& l, const ptx::Instruction& i);

  ptx::Opcode opcode() const { return instruction_.opcode; }
  const ptx::Instruction& instruction() const { return instruction_; }
  const ptx::Operand& operand(std::size_t n) const { return instruction_.operands[n]; }
  std::size_t operand_count() const { return instruction_.operands.size(); }
  Lowering& lowering() { return l_; }

  /// True if the modifier is there; it counts as understood from now on.
  bool take(ptx::Mod mod);
  /// The first modifier among these that is there.
  std::optional<ptx::Mod> take_one_of(std::initializer_list<ptx::Mod> mods);
  /// The n-th type (Mod::Pred, which nothing here has, if there is none).
  ptx::Type take_type(int n = 0);
  ptx::Type type(int n = 0) const; // looks only

  /// Ref of a source operand at a type. Clocks, negated predicates, 64-bit special registers and
  /// addresses of symbols get an op of their own; an operand that cannot be one makes the form
  /// unsupported.
  Ref source(std::size_t n, ptx::Type type);
  Ref source(const ptx::Operand& operand, ptx::Type type);
  /// Ref of operand 0.
  Ref destination();

  /// An op with guard, destination operand 0 and sources operands 1… at these types (a, b, c, e).
  Op op(Handler handler, std::initializer_list<ptx::Type> sources);
  /// Emits such an op, or answers Unsupported if the handler is null or a modifier was not taken.
  Result<void> emit(Handler handler, std::initializer_list<ptx::Type> sources);
  Result<void> emit(const Op& op);
  /// Unsupported, unless every modifier was taken.
  Result<void> check() const;
  tl::unexpected<Error> unsupported_form() const;
  std::string name() const; // "add.rn.ftz.f32"

private:
  Ref special(const ptx::Operand& operand, ptx::Type type);
  Ref symbol(const ptx::Operand& operand, ptx::Type type);

  Lowering& l_;
  const ptx::Instruction& instruction_;
  std::uint64_t taken_ = 0; // bit n: modifiers[n]
  bool bad_operand_ = false;
};

/// f.operator()<T>() for the C++ integer of this type, by width and sign; null if it is none of
/// them.
template <class F> Handler for_integer(ptx::Type type, F&& f) {
  switch (type) {
  case ptx::Mod::S16:
    return f.template operator()<std::int16_t>();
  case ptx::Mod::S32:
    return f.template operator()<std::int32_t>();
  case ptx::Mod::S64:
    return f.template operator()<std::int64_t>();
  case ptx::Mod::U16:
  case ptx::Mod::B16:
    return f.template operator()<std::uint16_t>();
  case ptx::Mod::U32:
  case ptx::Mod::B32:
    return f.template operator()<std::uint32_t>();
  case ptx::Mod::U64:
  case ptx::Mod::B64:
    return f.template operator()<std::uint64_t>();
  default:
    return nullptr;
  }
}
/// The same where only the width matters, for any type of 16, 32 or 64 bits.
template <class F> Handler for_width(ptx::Type type, F&& f) {
  switch (ptx::type_bits(type)) {
  case 16:
    return f.template operator()<std::uint16_t>();
  case 32:
    return f.template operator()<std::uint32_t>();
  case 64:
    return f.template operator()<std::uint64_t>();
  default:
    return nullptr;
  }
}
/// Of 32 and 64 bits only.
template <class F> Handler for_wide(ptx::Type type, F&& f) {
  switch (ptx::type_bits(type)) {
  case 32:
    return f.template operator()<std::uint32_t>();
  case 64:
    return f.template operator()<std::uint64_t>();
  default:
    return nullptr;
  }
}

/// Instructions that integers and floats share come here on a float type: lower_float.cpp (f32,
/// f64, f32x2) and lower_half.cpp (f16, bf16 and their packed forms).
Result<void> lower_float(Form& form);
Result<void> lower_half(Form& form);
bool is_half(ptx::Type type); // f16, f16x2, bf16, bf16x2

/// A comparison of PTX as a handler with operands swapped or result inverted. Null: no such
/// comparison.
struct Comparison {
  Handler handler = nullptr;
  bool swap = false;
  bool invert = false;
};
/// Picks a relation: F must offer equal, less, less_equal, unequal_ordered, ordered as Handlers.
struct Relations {
  Handler equal = nullptr;
  Handler less = nullptr;
  // Floats only:
  Handler less_equal = nullptr;
  Handler unequal_ordered = nullptr;
  Handler ordered = nullptr;
};
Comparison pick_relation(const Relations& relations, ptx::Mod relation);
Relations half_relations(ptx::Type type, bool ftz); // f16, bf16

/// The comparison among the modifiers, taken.
std::optional<ptx::Mod> take_relation(Form& form);

/// d = a, predicates.
const Op* copy_predicate(Exec& exec, const Op& op);

/// Op::imm bits for .and, .or, .xor of setp and lop3.
std::int64_t combine_bits(ptx::Mod operation);

/// cvt.pack and cvt with a packed or small type, .relu or .satfinite: lower_convert_packed.cpp.
bool is_packed_cvt(const Form& form);
Result<void> lower_packed_cvt(Form& form);

// The parts of register_integer and register_convert.
void register_bits(LowerTable& table);       // lower_integer_bits.cpp
void register_comparison(LowerTable& table); // lower_compare.cpp
void register_video(LowerTable& table);      // lower_integer_video.cpp
void register_cvt(LowerTable& table);        // lower_convert_cvt.cpp

} // namespace heddle::isa
