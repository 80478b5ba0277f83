// Stepper: the machine one move at a time, for whoever wants to choose every move (the explorer).
//
//   Stepper stepper(world);
//   stepper.submitted(command);                  // from Driver::submitted
//   for (const Stepper::Move& m : stepper.moves()) …
//   stepper.step(m);                             // false: stepper.failure() says what went wrong
//   stepper.hash(hasher);                        // equal fingerprints: equal futures
//
// A move is one *visible* operation of one thread (an atomic or volatile access, a barrier, its
// end) with everything invisible after it, or one command that is not a kernel. Threads of a grid
// can move as soon as everything before the grid has completed ([DEP]), each on its own; whether it
// must is told by `guarantee`. Done at once, because no order can make a difference:
// - fences and sleeps (accesses are sequentially consistent here) and accesses to local memory;
// - plain accesses: together with the next operation of the thread that is none, or at once where
// the
//   thread is guaranteed to make them. Both orders are the same in a program without data races;
// - in a cluster whose threads are guaranteed: ends, barriers, warp collectives and output, which
//   commute with every move of others until all have arrived.
// Clusters of kernels that have only plain accesses start in order, each by its first thread.
// May be wrong: of a program with a data race on plain accesses not every interleaving is explored
// (what is found is real). Clocks advance with every reading, so that loops on a time limit end.
#pragma once

#include "base/hash.h"
#include "machine/block.h"
#include "machine/world.h"
#include "ptx/liveness.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
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
  /// As what the last step() counts: known afterwards, since a move may begin with plain accesses.
  StepKind taken() const { return taken_; }

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
  struct Wait {
    Move first;                // one of those who are blocked at `op`
    std::uint64_t threads = 0; // how many they are
    const isa::Op* op = nullptr;
    const isa::Code* code = nullptr;
    const char* what = "";
  };
  std::vector<Wait> waits() const;
  /// True once a grid had to wait for another one.
  bool saw_dependency() const { return saw_dependency_; }
  /// True once a thread made a plain access to memory that others see.
  bool saw_plain_access() const { return saw_plain_access_; }

  void hash(Hasher& hasher) const;

private:
  struct Work;
  enum class Class : std::uint8_t;
  struct Operation {
    Class kind{};
    StepKind step{};
    const char* what = "";
    bool local = false;      // an object of automatic storage
    bool plain_read = false; // of memory that others see
  };
  struct Lane { // of a work's cluster
    Work* work;
    std::size_t cluster, block, warp;
    int lane;
  };

  void add_moves(std::size_t n, std::size_t c, std::vector<Move>& result) const;
  void add_wait(const Block::WarpState& state, const Move& move, std::vector<Wait>& result) const;
  Operation classify(const Lane& at) const;
  bool stands_at_visible(const Lane& at) const;
  bool is_choice(const Lane& at) const;
  isa::Stop run(const Lane& at, std::int64_t fuel, isa::LaneMask with = 0);
  isa::LaneMask together(const Lane& at) const;
  bool open_aligned(const Lane& at);
  bool waits_for_warp(const Move& move) const;
  bool settle_lane(const Lane& at);
  bool loops_for_ever(const Lane& at);
  void settle(Work& work, std::size_t cluster);
  void settle(Work& work);
  bool held_back(const Command& command) const;
  void make_ready(Work& work);
  void advance();
  void complete(Work& work);
  void fail(const Lane& at, isa::Stop stop);
  const ptx::BitVector& live_before(const ptx::Function& function, std::uint32_t instruction) const;
  void hash_lane(const isa::Warp& warp, int lane, Hasher& hasher) const;
  void hash_block(const Block& block, Hasher& hasher) const;
  static Block::WarpState& warp_state(const Lane& at);

  World& world_;
  Options options_;
  mutable isa::Exec exec_;
  std::vector<std::unique_ptr<Work>> works_; // not complete, in order of submission
  std::optional<Failure> failure_;
  bool saw_dependency_ = false;
  mutable bool saw_plain_access_ = false;
  bool bundling_ = false; // plain accesses of a thread that is about to take its next step
  StepKind taken_{};
  mutable std::unordered_map<const ptx::Function*, std::vector<ptx::BitVector>> live_;
};

} // namespace heddle::machine
