// What the stepper keeps for each command; shared by its source files, included by nobody else.
#pragma once

#include "machine/stepper.h"

#include <algorithm>

namespace heddle::machine {

/// Backward branches that a thread may take in one go before it is asked whether it loops for ever.
inline constexpr std::int64_t plain_fuel = 1 << 14;

/// What a thread adds to the sum that its cluster is known by.
inline Hash128 name_in_sum(const Hash128& lane) {
  const std::uint64_t words[] = {lane.low, lane.high};
  const XXH128_hash_t h = XXH3_128bits(words, sizeof words);
  return {h.low64, h.high64};
}

/// What the stepper has to know of an operation.
enum class Stepper::Class : std::uint8_t {
  Silent,  // nobody else can tell whether it has happened
  Plain,   // a plain access to memory that others see
  Access,  // any other one
  Aligned, // a barrier that the warp executes together
  Join,    // arrives somewhere: only whether all have arrived matters
  Sum,     // see sums.h
  Phase,   // of an mbarrier: see phases.h
  Wait,    // for a phase of an mbarrier that has not completed
  End,
  Io,
  Heap // changes what is allocated, which cannot be taken back in this process
};

/// One cluster between two moves: everything its future depends on, memory and the clocks aside.
/// Immutable; there is one image for each content.
struct Stepper::Image {
  std::vector<std::byte> bytes; // what load() reads
  Hash128 content;              // of those, and of who it is where somebody can still ask
  Hash128 hash;                 // equal: alike, but for the places of equal threads
  bool made = false;            // some thread has taken a step
  bool ended = false;
  // How it starts, if nobody has taken a step: found out once, see stepper_start.cpp.
  enum class Start : std::uint8_t {
    Unknown,
    Free,   // it matters who goes first
    Alike,  // whoever goes first, it comes to the same state
    Through // and that state is its end
  };
  mutable Start start = Start::Unknown;
  struct Ready { // a move
    std::uint32_t block = 0, warp = 0;
    int lane = 0;
    bool endless = false;
    Operation operation;
    const isa::Op* op = nullptr;
    const isa::Code* code = nullptr;
    ThreadClass who = 0;
    std::uint32_t count = 1; // so many threads of this class
    std::uint32_t pick = 0;  // in `picks`, from 1; 0: nothing is left open
    isa::LaneMask lanes = 0; // Move::lanes
  };
  std::vector<Ready> ready;
  std::vector<WarpRules::Pick> picks;
  struct Left { // behind
    std::uint32_t block = 0, warp = 0;
    WarpRules::Behind behind;
  };
  std::vector<Left> left;
  // Classes of all threads (with warp rules: warps), block by block and in order of their numbers;
  // 0: it has ended.
  std::vector<ThreadClass> threads;
  // Without warp rules, if the cluster has several threads and those have classes of their own:
  // what is needed to say what the cluster would be called if one thread of it changed.
  struct Parts {
    bool usable = false;
    Hash128 rest;         // of what belongs to no thread
    Hash128 context;      // of that, and of what warps know of their threads
    HashSum sum;          // of the threads
    bool places = false;  // threads are told apart by their places
    bool aligned = false; // some thread stands at a barrier that its warp executes together
    bool joins_are_moves = false;
    std::uint64_t where = 0;
    std::vector<Hash128> lanes;           // by thread
    std::vector<std::uint8_t> identities; // what they may learn about themselves
  } parts;
  mutable std::uint64_t looked_at = 0; // in which pass of moves()
  mutable std::uint32_t like_it = 0;   // clusters with this image, in that pass
};

/// A command, and the part of the state that belongs to it.
struct Stepper::Work {
  CommandPtr command;
  std::vector<CommandPtr> after;
  std::uint64_t identity = 0; // hash of what the command is

  // --- State -----------------------------------------------------------------------------------
  bool ready = false; // everything before it has completed
  bool begun = false; // a host function that is running
  bool done = false;
  std::vector<const Image*> images; // by cluster, of a kernel that is ready
  HashSum sum;                      // of their hashes

  // --- Where a cluster is while it moves; holds some image of it otherwise
  // ------------------------
  struct Progress {
    bool made = false;
    // The threads meet at barriers for ever: from now on each arrival is a move, so that the search
    // sees the circle.
    bool joins_are_moves = false;
    // Nobody is left who could complete a phase: those who wait for one go round in their loops.
    bool polls = false;
    Phases phases;
    struct Loops {                                         // of a warp
      isa::LaneMask endless = 0;                           // lanes in a loop without choices
      isa::LaneMask stepping = 0, local = 0, sleeping = 0; // what they do in it
      isa::LaneMask plain = 0; // lanes that loop on plain reads: each of those is a choice
    };
    std::vector<std::vector<Loops>> loops; // [block][warp]
  };
  std::vector<std::unique_ptr<Cluster>> clusters;
  std::vector<Progress> progress;
  std::vector<const Image*> loaded; // nullptr: nothing usable

  bool kernel() const { return command->kind == CommandKind::Kernel; }
  bool cooperative() const { return command->grid->config().cooperative; }
  bool starts_alike() const {
    return std::ranges::all_of(images, [](const Image* image) {
      return !image->made && image->start >= Image::Start::Alike;
    });
  }
};

} // namespace heddle::machine
