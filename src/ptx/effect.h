// Effect: what an instruction is to others, one row of effect.def for each opcode, or for each
// word of an opcode that makes a difference.
//
//   const Effect& effect = effect_of(instruction);
//   if (effect.kind == Effect::Kind::Load && effect.is_strong()) …
//   if (effect.meets != Effect::Meets::Nobody) …        // it waits for others
//   if (effect.step == StepKind::Volatile) …            // [STEP.3]
//
// Every analysis and every part of the machine asks this table which kind of instruction it sees.
// What an instruction computes is not here: that is in isa/. The build fails if an opcode or a form
// of opcode.def has no row.
//
// May be wrong: the table says nothing of addresses. An access without a state space may turn out
// to be one of local memory, which nobody else sees. Which function a call calls is the operand's
// matter: library_function().
#pragma once

#include "ptx/module.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace heddle::ptx {

/// Which step of a device thread an operation is ([STEP.1] to [STEP.4]).
enum class StepKind : std::uint8_t {
  None,
  End,
  Io,
  Volatile,
  Sync
};

/// Modifiers that an instruction must have for a row to apply to it.
struct Words {
  static constexpr std::size_t most = 2;
  std::array<Mod, most> words{};
  std::size_t count = 0;

  template <class... Mods>
  constexpr explicit Words(Mods... mods) : words{mods...},
                                           count(sizeof...(mods)) {}
};

struct Effect {
  enum class Kind : std::uint8_t {
    Compute,     // makes its destination from its operands; nothing can go wrong
    Hint,        // changes no value, whoever executes it and when: prefetches, nanosleep
    Stack,       // changes how much local memory the thread has
    Branch,      // bra
    BranchTable, // brx.idx
    Call,        // of a function; library_function() says which
    Return,      // ends the thread in a kernel
    Exit,        // ends the thread
    Trap,        // ends the grid with an error
    Load,        // one thread reads scalars or a vector at the address of its operand
    Store,       // … writes
    Update,      // … reads and writes in one operation
    Object,      // accesses an opaque object weakly, or asks about one, and may fault: textures,
                 // surfaces, tensor maps, places in the shared memory of a cluster
    Fence,       // orders the accesses of its thread
    Barrier,     // of a block, a cluster, or lanes of a warp; may reduce
    Collective,  // of the lanes of a warp that the last operand names
    WarpWide,    // of all lanes of a warp (.sync.aligned), or of four warps
    ActiveLanes, // the result depends on which lanes stand here
    Mbarrier,    // arrival at an mbarrier, a wait for it, its making and its end
    Copy,        // asynchronous copies of a thread, and waiting for one's own
    Dependency,  // between grids
    Other        // anything that others may see
  };
  /// What it does to memory, as bits.
  enum Memory : std::uint8_t {
    Nothing = 0,
    Reads = 1,
    Writes = 2,
    Strong = 4, // PTX ISA, memory consistency model: strong operations; else weak
    Async = 8,  // as if another thread did it, later
    Shared = 16 // shared memory, whatever its address looks like
  };
  /// Whom it waits for, or who may wait for it.
  enum class Meets : std::uint8_t {
    Nobody,
    Warp,
    Block,
    Cluster,
    Grid
  };

  Opcode opcode{};
  Words when;
  Kind kind{};
  std::uint8_t memory = Nothing;
  Meets meets{};
  StepKind step{};
  const char* name = ""; // in traces

  constexpr bool reads() const { return (memory & Reads) != 0; }
  constexpr bool writes() const { return (memory & Writes) != 0; }
  constexpr bool is_strong() const { return (memory & Strong) != 0; }
  constexpr bool is_async() const { return (memory & Async) != 0; }
  constexpr bool is(Kind k) const { return kind == k; }
  /// One thread's access to what its address operand points at.
  constexpr bool is_access() const {
    return kind == Kind::Load || kind == Kind::Store || kind == Kind::Update;
  }
  /// Lanes of one warp wait for each other.
  constexpr bool is_of_warp() const {
    return kind == Kind::Collective || kind == Kind::WarpWide ||
           (kind == Kind::Barrier && meets == Meets::Warp);
  }
};

/// Does it go on with the carry that an instruction with .cc left (PTX ISA 9.7.2)?
inline bool reads_carry(const Instruction& i) {
  return i.opcode == Opcode::Addc || i.opcode == Opcode::Subc || i.opcode == Opcode::Madc;
}

/// The first row of the opcode whose words the instruction has.
const Effect& effect_of(const Instruction& i);

/// A function of CUDA's device library that a call may name.
enum class LibraryFunction : std::uint8_t {
  None,    // the program's own, or one that the table does not have
  Output,  // [STEP.2]
  Memory,  // takes from the device heap or gives back
  Failure, // ends the grid with an error
};
LibraryFunction library_function(std::string_view name);
/// Of the function that a call names.
LibraryFunction library_function(const Instruction& call);

/// What a thread may learn by reading a special register.
enum class Asks : std::uint8_t {
  Nothing, // it is the same for all threads of a grid, as long as that runs
  Thread,  // which thread of its block it is
  Lane,    // which lane of which warp
  Block,   // which block it belongs to, or where that runs
  Shared,  // where the block's shared memory is
  Clock    // how much time has passed
};

} // namespace heddle::ptx
