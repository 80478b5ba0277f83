// Probe: does a cluster that takes steps ever get anywhere?
//
// Each warp runs on alone, with time standing still, until its state (program counters, frames,
// registers, local memory) is one it had before while every byte it wrote in between has its old
// value again. If that holds for all clusters that are resident and nothing else can run, the run
// has reached an endless loop: nobody will ever write what they wait for. A program that counts its
// polls never repeats a state and is not reported; nor is one that asks a clock which may decide
// something: it may wait for a time limit ([CLOCK]). So hangs are missed, and none is invented.
#pragma once

#include "machine/block.h"

namespace heddle::machine {

enum class Probed : std::uint8_t {
  Moves,   // something may still happen
  Settled, // every warp goes in circles now, but memory has changed on the way there
  Circles  // every warp goes in circles, and not one byte differs from before
};

/// Executes steps of the cluster's threads (allowed at any time: they are resident) to find out. A
/// warp on its way into its circle may write what frees a warp that was looked at before, so a run
/// is stuck only if all resident clusters answer Circles in one pass. `exec` must be idle.
Probed probe_cluster(Cluster& cluster, isa::Exec& exec);

} // namespace heddle::machine
