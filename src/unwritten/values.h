// Values: how an instruction propagates bits that were never written.
//
//   std::optional<Use> use = use_of(code, op);
//   Bits bits = spread(*use, sources, computes);   // of the result, for one lane
//
// Exact for each bit of moves, bitwise logic, shifts, bit fields, permutations and selections, and
// for comparisons that the written bits already decide. For sums, an unwritten bit makes all higher
// bits of the result unwritten. For every other instruction, one unwritten source bit makes the
// whole result unwritten. That may cause a false report where the operation ignores a source
// (x * 0).
#pragma once

#include "isa/op.h"
#include "ptx/module.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heddle::unwritten {

/// A bit for each bit of a register, which has up to 128.
__extension__ using Bits = unsigned __int128;

enum class Kind : std::uint8_t {
  Load,
  Store,
  Update,  // atom, red
  Decides, // its guard or a register decides about control flow: branches, barriers
  Call,
  Writes, // to memory; the monitor watches its accesses
  Move,
  Pack,    // mov of elements into one register
  Unpack,  // mov of one register into elements
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
  bool at_parameters = false;         // … of parameters,
  bool in_shared = false;             // … by an offset in shared memory,
  bool in_local = false;              // … or in local memory
  std::vector<std::uint32_t> results; // registers; Input::none: not wanted
  std::vector<Input> sources;         // not those of addresses
  std::vector<std::uint32_t> address; // registers in addresses

  /// Load, Store, Update: by each lane.
  std::uint64_t bytes_accessed() const {
    const std::uint64_t count = kind == Kind::Store ? sources.size() : results.size();
    return kind == Kind::Update || count == 0 ? element : count * element;
  }
};

/// nullopt: the instruction has no effect on the monitor.
std::optional<Use> use_of(const isa::Code& code, const isa::Op& op);

struct Source {
  std::uint64_t value = 0; // of a register of 128 bits the lower half: nothing computes with it
  Bits bits = 0;           // the unwritten ones
};

/// The unwritten bits of the result. `computes`: the instruction does more than move bits.
Bits spread(const Use& use, std::span<const Source> sources, bool& computes);

/// All bits of a register of that width.
inline Bits ones(unsigned bits) {
  return bits >= 128 ? ~Bits{0} : (Bits{1} << bits) - 1;
}

} // namespace heddle::unwritten
