// Effect: what an instruction does that other threads can observe. effect.def has one row per
// opcode, or one row per modifier that changes the answer.
//
//   const Effect& effect = effect_of(instruction);
//   if (effect.is(Effect::Kind::Load) && effect.is_strong()) …
//   if (effect.meets != Effect::Meets::Nobody) …        // the thread waits for other threads
//   if (effect.step == StepKind::Volatile) …            // [STEP.3]
//
// Every analysis, every monitor and the search read this table; none of them tests opcodes to learn
// the same facts. What an instruction computes is defined in isa/. The build fails if an opcode or
// an instruction form has no row, or if a row contradicts itself.
//
// Limits: the table knows no addresses. An access without a state space may turn out to access
// local memory, which no other thread sees. A call depends on its callee: see library_function().
#pragma once

#include "ptx/module.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace heddle::ptx {

/// What kind of step an operation of a device thread is ([STEP.1] to [STEP.4]).
enum class StepKind : std::uint8_t {
  None,
  End,
  Io,
  Volatile,
  Sync
};

/// The modifiers that an instruction needs so that a row applies to it.
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
    Compute,     // computes its destination from its operands; cannot fault
    Hint,        // has no observable effect: prefetch, nanosleep
    Stack,       // allocates or frees local memory of the thread
    Branch,      // bra
    BranchTable, // brx.idx
    Call,        // of a function; library_function() says which
    Return,      // returns from a function; ends the thread in a kernel
    Exit,        // ends the thread
    Trap,        // ends the grid with an error
    Load,        // reads a scalar or a vector at the address operand
    Store,       // writes a scalar or a vector there
    Update,      // atomic read-modify-write of a scalar or a vector there
    Object,      // weak access to an opaque object, or a query of one; may fault: textures,
                 // surfaces, tensor maps, addresses in the shared memory of a cluster
    Fence,       // orders the accesses of its thread
    Barrier,     // barrier of a block, a cluster or a warp; may reduce a value
    Collective,  // warp collective whose last operand is the membermask
    WarpWide,    // executed by all lanes of a warp together (.sync.aligned)
    ActiveLanes, // its result depends on which lanes execute it together
    Mbarrier,    // initialises or invalidates an mbarrier, arrives at it, or tests it
    Copy,        // asynchronous copy, or a wait for the copies of the same thread
    Dependency,  // programmatic dependency between grids
    Other        // any other observable effect
  };
  /// How it accesses memory, as bits.
  enum Memory : std::uint8_t {
    Nothing = 0,
    Reads = 1,
    Writes = 2,
    Strong = 4, // a strong operation of PTX's memory consistency model; weak without this bit
    Async = 8,  // completes later, as if another thread performed it
    Shared = 16 // accesses or names shared memory, even if the address is generic
  };
  /// The threads it may wait for, or that may wait for it.
  enum class Meets : std::uint8_t {
    Nobody,
    Warp,
    Block,
    Cluster,
    Grid
  };

  /// What a computation makes of the values of its operands, where more is known than that it is a
  /// function of all of them. Which types and modifiers that holds for is for the reader to look
  /// at.
  enum class Makes : std::uint8_t {
    Anything,
    Copy,         // the same bits; packed or unpacked if one side is a vector
    Address,      // the same place by another address
    Converted,    // the same number in another type
    Sum,          // of both
    Difference,   // of the first and the second
    ProductSum,   // of the first two, and the third
    Extreme,      // one of both
    Choice,       // one of the first two, by the third
    And,          // bit by bit
    Or,           // bit by bit
    Xor,          // bit by bit
    Not,          // bit by bit
    ShiftedLeft,  // the first by the second
    ShiftedRight, // the first by the second
    Comparison    // whether a relation holds between the first and the second
  };

  Opcode opcode{};
  Words when;
  Kind kind{};
  std::uint8_t memory = Nothing;
  Meets meets{};
  StepKind step{};
  const char* name = ""; // in traces
  Makes makes = Makes::Anything;

  constexpr bool reads() const { return (memory & Reads) != 0; }
  constexpr bool writes() const { return (memory & Writes) != 0; }
  constexpr bool is_strong() const { return (memory & Strong) != 0; }
  constexpr bool is_async() const { return (memory & Async) != 0; }
  constexpr bool is(Kind k) const { return kind == k; }
  /// One thread accesses what its address operand points at.
  constexpr bool is_access() const {
    return kind == Kind::Load || kind == Kind::Store || kind == Kind::Update;
  }
  /// The lanes of one warp wait for each other.
  constexpr bool is_of_warp() const {
    return kind == Kind::Collective || kind == Kind::WarpWide ||
           (kind == Kind::Barrier && meets == Meets::Warp);
  }
};

/// Does it read the carry flag that an instruction with .cc has set (PTX ISA 9.7.2)?
inline bool reads_carry(const Instruction& i) {
  return i.opcode == Opcode::Addc || i.opcode == Opcode::Subc || i.opcode == Opcode::Madc;
}

/// The first row of the opcode whose modifiers the instruction has.
const Effect& find_effect(const Instruction& i);
/// The same, found once for each instruction that was parsed: a search asks this of each access.
inline const Effect& effect_of(const Instruction& i) {
  return i.effect != nullptr ? *i.effect : find_effect(i);
}

/// A function of CUDA's device library.
enum class LibraryFunction : std::uint8_t {
  None,    // the program's own function, or one that the table lacks
  Output,  // [STEP.2]
  Memory,  // allocates on the device heap or frees there
  Failure, // ends the grid with an error
};
LibraryFunction library_function(std::string_view name);
/// The library function that a call names.
LibraryFunction library_function(const Instruction& call);

/// What a thread learns by reading a special register.
enum class Asks : std::uint8_t {
  Nothing, // the same value for all threads of a grid, as long as the grid runs
  Thread,  // which thread of its block it is
  Lane,    // which lane of which warp it is
  Block,   // which block it belongs to, or on which multiprocessor
  Shared,  // where the block's shared memory is
  Clock    // how much time has passed
};

} // namespace heddle::ptx
