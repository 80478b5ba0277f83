// What the stepper keeps for each command; shared by its source files, included by nobody else.
#pragma once

#include "ptx/module.h"

#include "reduce/stepper.h"

#include <algorithm>
#include <array>

namespace heddle::reduce {

/// How often lanes have looked at clocks ([CLOCK], stepper_clocks.cpp).
using Looks = std::array<std::uint8_t, isa::warp_size>;
inline constexpr std::uint8_t most_soon = 8;

/// Backward branches that a thread may take in one go before it is asked whether it loops for ever.
inline constexpr std::int64_t plain_fuel = 1 << 14;
/// How often it is asked that until we give up.
inline constexpr std::uint64_t loop_rounds = 1 << 22;

inline Hash128 hash_of(const void* p, std::size_t bytes) {
  const XXH128_hash_t h = XXH3_128bits(p, bytes);
  return {h.low64, h.high64};
}
template <class... T> Hash128 combine(const T&... values) {
  const std::uint64_t words[] = {values...};
  return hash_of(words, sizeof words);
}

/// What a thread adds to the sum that its cluster is known by.
inline Hash128 name_in_sum(const Hash128& lane) {
  return combine(lane.low, lane.high);
}

/// Does an instruction's result depend on which other lanes stand at it ([WARP-MASK])?
inline bool asks_for_active(const isa::Code& code, const isa::Op& op) {
  const auto& body = code.function->body;
  return op.instruction < body.size() &&
         ptx::effect_of(body[op.instruction]).is(ptx::Effect::Kind::ActiveLanes);
}

inline bool all_done(const std::vector<CommandPtr>& commands) {
  return std::ranges::all_of(commands, [](const CommandPtr& command) {
    return command->done.load();
  });
}

/// Complete as soon as what is before them is?
bool happens_by_itself(const Command& command);

/// Has a grid whose threads have ended launched what has not completed?
bool launches_anything(const Command& command);

/// What the stepper has to know of an operation.
enum class Stepper::Class : std::uint8_t {
  Silent,  // nobody else can tell whether it has happened
  Plain,   // a plain access to memory that others see
  Access,  // any other one
  Aligned, // a barrier that the warp executes together
  Join,    // arrives somewhere: only whether all have arrived matters
  Sum,     // see sums.h
  Orderly, // the same
  Phase,   // of an mbarrier: see phases.h
  Wait,    // for a phase of an mbarrier that has not completed
  Clock,   // reads a clock, and more than one answer makes a difference
  End,
  Io,
  Allocation, // of the device's heap, or its end
  Heap        // changes what is allocated, which cannot be taken back in this process
};

/// How a cluster starts of which nobody has taken a step.
enum class Stepper::Start : std::uint8_t {
  Free,   // it matters who goes first
  Alike,  // whoever goes first, it comes to the same state
  Through // and that state is its end
};

/// One cluster between two moves: everything its future depends on, memory and the clocks aside.
/// Immutable; there is one image for each content. It consists of parts that many images have.
struct Stepper::Image {
  struct Ready { // a move
    std::uint32_t block = 0, warp = 0;
    int lane = 0;
    bool endless = false;
    Operation operation;
    const isa::Op* op = nullptr;
    const isa::Code* code = nullptr;
    ThreadClass who = 0;
    std::uint32_t count = 1;                   // so many threads of this class
    std::uint32_t pick = 0;                    // in `picks`, from 1; 0: nothing is left open
    isa::LaneMask lanes = 0;                   // Move::lanes
    Time time{};                               // Move::time
    std::shared_ptr<const WeakNext> weak_next; // Options::weak: the strong access that it is
    mutable Transitions<Outcome>::Hint hint;
  };
  Hash128 content; // of its parts
  const ImageRest* rest = nullptr;
  const ImageShared* shared = nullptr;
  std::vector<const ImageThread*> parts; // by thread, 32 for each warp; nullptr: it has ended
  HashSum sum_of_bytes;                  // of the threads, each in its place
  std::vector<std::byte> history;        // with warp rules: what is loaded and tells nothing apart
  Hash128 hash;                          // equal: alike, but for the places of equal threads
  HashSum sum;                           // of the threads' names
  bool made = false;                     // some thread has taken a step
  bool ended = false;
  bool joins_are_moves = false;
  bool owner = false;      // Progress::owner
  bool places = false;     // threads are told apart by their places
  std::uint64_t where = 0; // told from other clusters by its number, from 1; 0: it is not
  // Variables in shared memory, by bits, whose contents are no part of the hash ([RED-CONE],
  // [RED-OVERWRITTEN]).
  std::uint64_t left_out = 0;
  // The first image of this hash, or itself. Others differ in what nothing is decided by.
  mutable const Image* alike = this;
  // Its threads have nothing more to do with each other, and none can tell which cluster it is in:
  // threads of different clusters that are loose may be alike, see set_hash().
  bool loose = false;
  // Without warp rules, if the cluster has several threads: does what one of them does depend on
  // nothing of the others but what is in `rest`? See stepper_ahead.cpp.
  bool by_thread = false;
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
  /// A look at a clock is two moves: `look` becomes the late one. False: there is no other one,
  /// because so many have been soon without anything else.
  bool add_soon(Ready& look, std::uint8_t looks) {
    look.time = Time::Soon;
    if (looks < most_soon) {
      ready.push_back(look);
    }
    look.time = Time::Late;
    look.operation.what = "a look at a clock, much later";
    return looks < most_soon;
  }
  mutable std::uint64_t looked_at = 0; // in which pass of moves()
  mutable std::uint32_t like_it = 0;   // clusters with this image, in that pass
};

/// The shared memory of a cluster: of its blocks, one after the other; zeros of those that have
/// ended.
struct Stepper::ImageShared {
  Hash128 content; // sum
  HashSum sum;     // of the words' hashes, and of the size's
  std::vector<std::byte> bytes;
  HashSum after(std::span<const WordPart> writes) const;
  // By what is left out, and where that lies: sums without it that have been asked for.
  mutable std::unordered_map<std::uint64_t, HashSum> without;
};

/// What else an image holds that belongs to no thread, and what warps know of their threads.
struct Stepper::ImageRest {
  Hash128 content; // of bytes, and of who it is where somebody can still ask
  std::vector<std::byte> bytes;
  Hash128 hash;                       // without what warps know of their threads
  bool lets_dependents_begin = false; // Block's, of all of its blocks
  // No thread of the cluster waits for others: an odd number that stands for all that follows it
  // when it goes its own way. 0: some do.
  std::uint64_t apart = 0;
};

/// What an image holds of one thread.
struct Stepper::ImageThread {
  Hash128 content; // of all that follows
  std::vector<std::byte> bytes;
  Hash128 summand;                                   // of Image::sum_of_bytes
  Hash128 lane;                                      // what it is called within its cluster
  Hash128 in_sum;                                    // name_in_sum(lane)
  std::uint8_t identity = 0;                         // what it may learn about itself
  std::uint64_t reads_shared = 0, writes_shared = 0; // as in LiveState::At
  bool placed = false;                               // it is told from others by its place
  bool can_move = false; // without warp rules: it does `ready`, `who` and `count` aside
  Image::Ready ready;
};

/// A command, and the part of the state that belongs to it.
struct Stepper::Work {
  CommandPtr command;
  std::vector<CommandPtr> after;
  std::uint64_t identity = 0; // hash of what the command is

  // --- State -----------------------------------------------------------------------------------
  bool ready = false;            // everything before it has completed
  bool begun = false;            // a host function that is running
  bool grids_over = false;       // of a kernel that is ready: griddepcontrol.wait goes on
  bool passed = false;           // the host has gone first, as if this ran through
  std::vector<CommandPtr> parts; // what it has submitted: it goes on when these have completed
  bool done = false;
  std::vector<const Image*> images; // by cluster, of a kernel that is ready
  HashSum sum;                      // of their hashes
  // By cluster. With another memory it may start in another way, so it is found out whenever the
  // kernel becomes ready, see stepper_start.cpp.
  std::vector<Start> starts;

  // --- Where a cluster is while it moves; holds some image of it otherwise
  // ------------------------
  struct Progress {
    bool made = false;
    // The threads meet at barriers for ever: from now on each arrival is a move, so that the search
    // sees the circle.
    bool joins_are_moves = false;
    // Nobody is left who could complete a phase: those who wait for one go round in their loops.
    bool polls = false;
    // Some thread has made an owned access to memory outside of the cluster, and some may make
    // another one: the cluster is told apart by its number.
    bool owner = false;
    // Blocks, by bits of their ranks, whose shared memory others have accessed since the cluster's
    // threads met last; and by threads that have already arrived where they meet next.
    std::uint64_t visited = 0, visited_late = 0;
    bool visited_gone = false;    // one of them has ended before the threads met
    std::size_t running_warp = 0; // of the block that runs
    Phases phases;
    std::vector<std::uint64_t> epochs;                     // of blocks, see sums.h
    struct Loops {                                         // of a warp
      isa::LaneMask endless = 0;                           // lanes in a loop without choices
      isa::LaneMask stepping = 0, local = 0, sleeping = 0; // what they do in it
      isa::LaneMask plain = 0; // lanes that loop on plain reads: each of those is a choice
      // Lanes that have made an owned access and may make another one: they are told apart by their
      // numbers in the cluster ([RED-OWNED]).
      isa::LaneMask owners = 0;
      // By lane: late looks at clocks; soon ones of a loop that does nothing else, but counts.
      Looks late{}, soon{};
    };
    std::vector<std::vector<Loops>> loops; // [block][warp]
  };
  std::vector<std::unique_ptr<Cluster>> clusters;
  std::vector<Progress> progress;
  std::vector<const Image*> loaded; // nullptr: nothing usable

  bool kernel() const { return command->kind == CommandKind::Kernel; }
  bool cooperative() const { return command->grid->config().cooperative; }
  bool ended() const { // of a kernel that is ready
    return std::ranges::all_of(images, &Image::ended);
  }
  bool starts_alike() const {
    return std::ranges::none_of(images, &Image::made) &&
           std::ranges::find(starts, Start::Free) == starts.end();
  }
};

} // namespace heddle::reduce
