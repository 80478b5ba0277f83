// FreeMoves: the classes that make free moves at once (spec/reductions.md, "Lemma: free moves"),
// and say what is left to be chosen.
#pragma once

#include "reduce/free_moves/cluster_moves.h"
#include "reduce/free_moves/lane_choices.h"
#include "reduce/free_moves/lane_runner.h"
#include "reduce/free_moves/settling.h"
#include "reduce/free_moves/warp_settling.h"

namespace heddle::reduce {

struct FreeMoves {
  explicit FreeMoves(const StepperParts& parts)
      : runner(parts),
        choices(parts),
        warps(parts, runner, choices),
        settling(parts, runner, choices, warps),
        left(parts, choices, warps) {}
  FreeMoves(const FreeMoves&) = delete;
  FreeMoves& operator=(const FreeMoves&) = delete;

  LaneRunner runner;
  LaneChoices choices;
  WarpSettling warps;
  Settling settling;
  ClusterMoves left;
};

} // namespace heddle::reduce
