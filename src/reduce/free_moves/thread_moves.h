// ThreadMoves: makes the move of a thread, or of a warp: its operation, the plain accesses before
// it, and everything free after it.
//
//   if (!threads.make(move)) …                // UnderWay says why it failed
#pragma once

#include "reduce/free_moves/free_moves.h"
#include "reduce/independence/grid_settling.h"
#include "reduce/states/present.h"

#include <cstdint>

namespace heddle::reduce {

class ThreadMoves {
public:
  ThreadMoves(const StepperParts& parts, FreeMoves& free, Present& present, GridSettling& grids)
      : parts_(parts),
        free_(free),
        present_(present),
        grids_(grids) {}

  bool make(const Move& move);

private:
  /// What remains to be done of a move.
  enum class Made : std::uint8_t {
    Settles, // whoever may go on without a choice does
    Stays,   // nothing: it is where it was
    GivesUp, // nothing: it failed, and is where it was
    Failed
  };
  Made operate(const Move& move, const Lane& at, const isa::Op* from, bool was_made);
  Made run_on(const Lane& at, bool allocates);
  bool end(const Move& move, bool was_made);

  StepperParts parts_;
  FreeMoves& free_;
  Present& present_;
  GridSettling& grids_;
};

} // namespace heddle::reduce
