// Probe: does a cluster that takes steps ever get anywhere?
//
//   Probe probe(exec);                                    // exec must be idle
//   for (Cluster& c : resident) settled &= probe.cluster(c) >= Probed::Settled;
//   probe.begin_pass();
//   for (Cluster& c : resident) stuck &= probe.cluster(c) == Probed::Circles;
//   if (stuck && probe.nobody_reads_counters()) …         // an endless loop
//
// Each warp runs on alone, with time standing still, until its state (program counters, frames,
// live registers, local memory) is one it had before while every byte it wrote in between has its
// old value again. If that holds for all clusters that are resident and nothing else can run, the
// run has reached an endless loop: nobody will ever write what they wait for.
//
// A *counter* is a place to which a warp only made atomic updates whose result it does not use:
// `atomicAdd(&spins, 1)` in a loop that waits. Its value need not come back. For let s and t be two
// states that differ only in counters and in registers that are not live ([RED-FAINT]). The same
// moves lead from t to a state u that differs from t in the same way only: no move reads a counter
// except to update it, and nobody uses what an update returns. So the way from s to t can be gone
// again from t, and forever. That needs a pass in which no warp accesses a counter in another way:
// nobody_reads_counters() says whether it was one. Reads that are no plain accesses (textures,
// copies, calls of other modules) are not noted; where a module has any, counters do not count.
//
// Nor need registers come back by which nothing is decided ([RED-CONE]), such as a count of polls
// that is stored behind the loop, if no access on the way has a value or an address from them. For
// then the same argument holds: each instruction on the way does the same again, but for what it
// makes of those registers and puts into them.
//
// Misses: a program that stores its count of polls in each round, and one that asks a clock which
// may decide something: it may wait for a time limit ([CLOCK]). It invents no hang.
#pragma once

#include "machine/block.h"
#include "machine/live_state.h"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace heddle::machine {

enum class Probed : std::uint8_t {
  Moves,   // something may still happen
  Settled, // every warp repeats itself now, but memory has changed on the way there
  Circles  // every warp repeats itself, and not one byte differs from before, but for counters
};

class Probe {
public:
  explicit Probe(isa::Exec& exec) : exec_(exec) {}

  /// Executes steps of the cluster's threads (allowed at any time: they are resident) to find out.
  /// A warp on its way into its cycle may write what frees a warp that was looked at before, so a
  /// run is stuck only if all resident clusters answer Circles in one pass.
  Probed cluster(Cluster& cluster);

  void begin_pass();
  bool nobody_reads_counters() const;
  bool saw_counters() const { return !counted_.empty(); }

private:
  class Notes;
  Probed warp(Block& block, std::size_t w);
  void look_at_modules(const isa::Warp& warp);
  enum class Registers : std::uint8_t {
    Decisive,
    Live
  };
  Hash128
  state_of(const Block& block, std::size_t w, const Block::WarpState& state, Registers which);

  isa::Exec& exec_;
  LiveState live_{analysis::Liveness::Of::Effects, {.by_decisions = true}};
  // In this pass, as words of 4 bytes by their number.
  std::unordered_set<std::uintptr_t> counted_, accessed_;
  std::unordered_map<const ptx::Module*, bool> reads_otherwise_; // seen so far
};

} // namespace heddle::machine
