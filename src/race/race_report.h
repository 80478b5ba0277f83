// RaceReport: two accesses that nothing orders, with everything that a reader needs to know of
// them. Made by Races, put into words by runtime/diagnostics/race_diagnostic.cpp.
#pragma once

#include "machine/world.h"
#include "race/shadow.h"

#include <string>

namespace heddle::race {

/// Why two accesses are unordered, as far as it can be told.
enum class Why : std::uint8_t {
  // In ascending order of distance:
  Warp,       // lanes of one warp, nothing between them
  Block,      // threads of one block, no barrier between
  Blocks,     // threads of different blocks, nothing between
  Commands,   // commands that may run at the same time
  Scope,      // both are strong, but one's scope does not include the other thread
  Size,       // both are strong, but they overlap in part only
  Plain,      // one is atomic, the other one is not
  Async,      // an asynchronous copy that nobody has waited for
  Product,    // a wgmma that nobody has waited for reads what is written
  NoRelease,  // a flag was read, but written without a release
  NoAcquire,  // a flag was read that was released, but the reader does not acquire
  Record,     // commands, and another thread's record may come after the wait that would order them
  NarrowSync, // a flag was read that was released, but for a scope that leaves one of them out
};

/// What a side of a race does to the memory as a whole.
enum class Life : std::uint8_t {
  None,   // an access
  Begins, // an allocation in stream order
  Ends    // a free
};

/// One side of a race.
struct RaceSide {
  std::string who; // "thread (1,0,0) of block (0,0,0) of kernel 'k<<<1,32>>>'", "cudaMemcpyAsync"
  std::string action;         // "a write of 4 bytes", "an atomic update of 4 bytes at scope gpu"
  machine::FaultReport place; // source, inlined_at, instruction; unknown for API calls
  bool write = false;
  Life life = Life::None;
  const void* host_pc = nullptr;          // host code: where its access returns to
  std::vector<const void*> called_from{}; // of an API call: the host code that makes it
};

struct RaceReport {
  RaceSide first, second; // in the order of this execution
  Why why{};
  Why distance{}; // Warp, Block, Blocks or Commands
  bool same_value = false;
  bool unordered_value = false; // volatile accesses, of which one makes data: no race [RACE-VALUE]
  bool update = false;          // … by a read that is the first half of an update
  bool shared = false;
  std::string variable;        // of shared memory, if the instruction names it
  memory::Address address = 0; // shared: offset
  std::uint32_t bytes = 0;
  machine::FaultReport flag_write, flag_read; // NoRelease, NoAcquire, NarrowSync
  /// Who read the flag, if it is the thread of neither side: it has handed on too little.
  std::string flag_reader;
  std::uint64_t count = 0; // of pairs of accesses at these two places
  // What a missing barrier would have to be between, if both are in one function (else nullptr): in
  // the order in which a thread comes to them, `second` first if `reversed`; and whether it comes
  // to the other one in the next round of a loop.
  const isa::Code* code = nullptr;
  bool reversed = false;
  bool next_round = false;
  bool in_loop = false; // a thread may come from the later one to the earlier one again

  /// A call between the two that orders them if it waits, which it need not; nullptr: none.
  const char* hoped_call = nullptr;

  /// Of the side that is host code; nullptr: none is.
  const void* host_pc() const { return first.host_pc != nullptr ? first.host_pc : second.host_pc; }
  /// Of the side that allocates or frees, if one does.
  Life life() const { return first.life != Life::None ? first.life : second.life; }
};

} // namespace heddle::race
