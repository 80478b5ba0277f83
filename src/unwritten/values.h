// Values: what an instruction makes of bits that nobody has written.
//
//   std::optional<Use> use = use_of(code, op);
//   std::uint64_t bits = spread(*use, sources);     // of the result, for one lane
//
// Exact bit by bit for what only moves bits or combines them one by one (moves, logic, shifts,
// fields, permutations, selections), for comparisons that written bits decide already, and for
// sums, where a bit reaches those above it. Everything else makes a result of which no bit counts
// as written if one of a source does not: this may invent where an operation ignores a source (x *
// 0).
#pragma once

#include "isa/op.h"
#include "ptx/module.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heddle::unwritten {

enum class Kind : std::uint8_t {
  Load,
  Store,
  Update,  // atom, red
  Decides, // by its guard, or a register: branches, barriers
  Call,
  Writes, // to memory, in other ways
  Move,
  Pack,    // mov of elements into one register
  Unpack,  // … and out of one
  Convert, // between integers
  Bitwise, // up to three sources
  ShiftLeft,
  ShiftRight,
  Funnel,
  Extract, // bfe
  Insert,  // bfi
  Permute,
  Select,
  Equal, // of integers
  Sum,
  Shuffle,
  Opaque
};

/// A source register: operand by operand, elements of vectors one after the other.
struct Input {
  std::uint32_t index = none; // of the register
  bool negated = false;
  std::uint64_t value = 0; // where there is no register
  static constexpr std::uint32_t none = ~0U;
};

struct Use {
  isa::Handler handler = nullptr; // the original
  const isa::Code* code = nullptr;
  const isa::Op* op = nullptr;
  const ptx::Instruction* instruction = nullptr;
  Kind kind{};
  std::uint8_t table = 0;             // Bitwise: of three inputs
  bool is_signed = false;             // the source's type
  std::uint8_t bits = 0;              // of the result's type
  std::uint8_t source_bits = 0;       // Convert, ShiftRight, Extract: of the source's type
  std::uint8_t element = 0;           // Load, Store, Update: bytes of an element
  std::vector<std::uint32_t> results; // registers; Input::none: not wanted
  std::vector<Input> sources;         // not those of addresses
  std::vector<std::uint32_t> address; // registers in addresses
};

/// nullopt: nothing that matters.
std::optional<Use> use_of(const isa::Code& code, const isa::Op& op);

struct Source {
  std::uint64_t value = 0;
  std::uint64_t bits = 0; // that nobody has written
};

/// Which bits of the result nobody has written. `computes`: it is more than moved.
std::uint64_t spread(const Use& use, std::span<const Source> sources, bool& computes);

/// All bits of a register of that width.
inline std::uint64_t ones(unsigned bits) {
  return bits >= 64 ? ~0ULL : (1ULL << bits) - 1;
}

} // namespace heddle::unwritten
