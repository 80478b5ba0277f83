// CommandFlow: what happens to commands: they are submitted, become ready when what they wait for
// has completed, are carried out, and complete. What nobody can choose about happens at once.
//
//   flow.submitted(command);                 // from Driver::submitted
//   flow.make(move);                         // a command that is not a kernel is carried out
//   flow.advance();                          // after each move
#pragma once

#include "reduce/free_moves/free_moves.h"
#include "reduce/independence/grid_settling.h"
#include "reduce/persistent_sets/persistent_sets.h"
#include "reduce/states/present.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace heddle::reduce {

class CommandFlow {
public:
  CommandFlow(
      const StepperParts& parts,
      FreeMoves& free,
      Present& present,
      GridSettling& grids,
      PersistentSets& persistent
  )
      : parts_(parts),
        free_(free),
        present_(present),
        grids_(grids),
        persistent_(persistent) {}

  void submitted(const CommandPtr& command);
  /// A host function that a move has begun has returned.
  void returned(const CommandPtr& command);
  /// Makes a command's move. False: nothing can have become possible by it.
  bool make(const Move& move);
  /// Does whatever nobody can choose about: readiness, completion, records and orders.
  void advance();

private:
  void note_overlaps(const Work& work);
  void note_host_parameters(const Work& work);
  void complete(Work& work);
  void make_ready(std::size_t n);
  bool make_clusters(Work& work, const std::function<bool(std::size_t)>& fits);
  void start_cluster(Work& work, std::size_t cluster);
  void leave_grid_wait(std::size_t n);
  bool advance(std::size_t n);
  void note_reads(const Command& command);
  bool has_ended(const Work& work) const;

  StepperParts parts_;
  FreeMoves& free_;
  Present& present_;
  GridSettling& grids_;
  PersistentSets& persistent_;
};

} // namespace heddle::reduce
