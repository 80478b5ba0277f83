// Stepper: the machine one move at a time, for whoever wants to choose every move (the explorer).
//
//   Stepper stepper(world);
//   stepper.submitted(command);                  // from Driver::submitted
//   for (const Stepper::Move& m : stepper.moves()) …
//   stepper.step(m);                             // false: stepper.failure() says what went wrong
//   stepper.hash(hasher);                        // equal fingerprints: equal futures
//
// A move is one *visible* operation of one thread (an access to memory that others see, an atomic,
// a barrier, its end) with everything invisible after it, or one command that is not a kernel.
// Threads of a grid can move as soon as everything before the grid has completed ([DEP]), each on
// its own; whether it must is told by `guarantee`. Done at once, because no order can make a
// difference: fences and sleeps (accesses are sequentially consistent here), accesses to a thread's
// own local memory, and, in a cluster whose threads are guaranteed anyway, ends, barriers, warp
// collectives and output, which commute with every move of others until all have arrived. May be
// wrong: plain accesses interleave like atomic ones, so a data race is explored, not found. Clocks
// advance with every reading, so that loops on a time limit end.
#pragma once

#include "base/hash.h"
#include "machine/block.h"
#include "machine/world.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::machine {

/// As what a device thread's operation counts ([STEP.1] to [STEP.4]).
enum class StepKind : std::uint8_t {
  None,
  End,
  Io,
  Volatile,
  Sync
};

class Stepper {
public:
  struct Options {
    // A grid does not wait for grids before it: as if there were no [DEP]. To learn whether a
    // verdict rests on it.
    bool ignore_grid_order = false;
  };
  Stepper(World& world, Options options);
  ~Stepper();

  void submitted(const CommandPtr& command);

  /// Why a thread is obliged to make progress.
  enum class Guarantee : std::uint8_t {
    None,
    Itself,     // [DEV]
    Cluster,    // [CLUSTER]
    Cooperative // [COOP]
  };

  struct Move {
    std::size_t work = 0; // which command
    bool thread = false;  // else the command itself; what follows is for threads
    bool endless = false; // loops without any visible operation: moving changes nothing
    Guarantee guarantee{};
    std::size_t cluster = 0, block = 0, warp = 0;
    int lane = 0;
  };
  /// Every move that could be made now, in a fixed order.
  std::vector<Move> moves() const;
  bool step(const Move& move);

  struct Failure {
    FaultReport report;     // of a device thread; kind Unsupported: Heddle's gap
    std::string incomplete; // not empty: no fault, but the search cannot go on from here
  };
  const std::optional<Failure>& failure() const { return failure_; }

  // --- For reports -----------------------------------------------------------------------------
  struct Description {
    StepKind step{};
    const char* what = "";       // "atomic read", "a loop without a step", …
    const isa::Op* op = nullptr; // where the thread stands; nullptr: a command
    const isa::Code* code = nullptr;
  };
  Description describe(const Move& move) const;
  std::string kernel_name(const Move& move) const;  // "kernel 'add<<<1,32>>>'", or the command's
  std::string cluster_name(const Move& move) const; // what is obliged to progress together
  std::string thread_name(const Move& move) const;  // "thread (0,0,0) of block (0,0,0)"
  std::vector<std::string> waits() const;           // who is blocked, and at what
  /// True once a grid had to wait for another one.
  bool saw_dependency() const { return saw_dependency_; }

  void hash(Hasher& hasher) const;

private:
  struct Work;
  enum class Class : std::uint8_t;
  struct Operation {
    Class kind{};
    StepKind step{};
    const char* what = "";
    bool local = false; // an object of automatic storage
  };
  struct Lane { // of a work's cluster
    Work* work;
    std::size_t cluster, block, warp;
    int lane;
  };

  Operation classify(const Lane& at) const;
  bool stands_at_visible(const Lane& at) const;
  bool is_choice(const Lane& at) const;
  isa::Stop run(const Lane& at, std::int64_t fuel);
  bool settle_lane(const Lane& at);
  bool loops_for_ever(const Lane& at);
  void settle(Work& work, std::size_t cluster);
  void settle(Work& work);
  bool held_back(const Command& command) const;
  void make_ready(Work& work);
  void advance();
  void complete(Work& work);
  void fail(const Lane& at, isa::Stop stop);
  void hash_lane(const isa::Warp& warp, int lane, Hasher& hasher) const;
  void hash_block(const Block& block, Hasher& hasher) const;
  static Block::WarpState& warp_state(const Lane& at);

  World& world_;
  Options options_;
  mutable isa::Exec exec_;
  std::vector<std::unique_ptr<Work>> works_; // not complete, in order of submission
  std::optional<Failure> failure_;
  bool saw_dependency_ = false;
};

} // namespace heddle::machine
