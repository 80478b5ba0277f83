// ClusterStarts: how clusters start ([RED-START], [RED-THROUGH], [RED-STRAIGHT]). Nobody is obliged
// to take the first step of a cluster, so each thread's is a move of its own; but if what all of
// them come to first commutes with every move of others, it makes no difference which of them it
// is. (Where that is true of some threads only, see ClusterMoves.) Clusters that run through from
// there to their end, so that nobody ever can tell which of them have started, all start together.
//
//   ClusterStarts::Known known;
//   starts.find(work, cluster, known);          // for each cluster of a work that becomes ready
//   ClusterStarts::runs_through(work, cluster)
//   starts.start_at_once(n, cluster);           // where no state repeats
//
// To know that, the threads of a cluster that becomes ready are tried out, then everything is taken
// back. May be wrong: as with all plain accesses, of a program with a data race on what they read
// before their first step not every interleaving is explored.
#pragma once

#include "reduce/free_moves/lane_choices.h"
#include "reduce/free_moves/settling.h"
#include "reduce/states/present.h"

#include <cstddef>
#include <cstdint>
#include <map>

namespace heddle::reduce {

class ClusterStarts {
public:
  ClusterStarts(
      const StepperParts& parts,
      Present& present,
      LaneChoices& choices,
      Settling& settling
  )
      : parts_(parts),
        present_(present),
        choices_(choices),
        settling_(settling) {}

  /// The starts of clusters with the same memory, by what they look like.
  using Known = std::map<const Image*, Start>;
  void find(Work& work, std::size_t cluster, Known& known);
  /// Not if it would end at once: others may be submitted yet that are under way at the same time
  /// (sums.h).
  void start_at_once(std::size_t n, std::size_t cluster);
  /// Does the move start its cluster, and everything like it in its grid ([RED-THROUGH])?
  static bool runs_through(const Work& work, std::size_t cluster);
  /// Grids that were wrongly taken to run through, a bit each (Learned::lasting).
  std::uint64_t lasting() const { return lasting_; }

private:
  void find(Work& work, std::size_t cluster);
  bool first_steps_are_joins(Work& work, std::size_t cluster);

  StepperParts parts_;
  Present& present_;
  LaneChoices& choices_;
  Settling& settling_;
  std::uint64_t lasting_ = 0;
};

} // namespace heddle::reduce
