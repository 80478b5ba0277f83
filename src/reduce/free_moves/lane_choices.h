// LaneChoices: which operations (operations.h) are moves that the search schedules ([RED-JOIN],
// [RED-PLAIN]), and which lanes make them together.
//
//   choices.is_choice(lane)                  // what it does next
//   choices.of(lane, group)                  // the same for a group that stands at one instruction
#pragma once

#include "reduce/states/lane.h"
#include "reduce/stepper_parts.h"

#include <vector>

namespace heddle::reduce {

class LaneChoices {
public:
  static constexpr int few_active = 4; // lanes at an activemask: all their sets are tried

  explicit LaneChoices(const StepperParts& parts) : parts_(parts) {}

  /// Is the thread's next operation a move that the explorer schedules?
  bool is_choice(const Lane& at);
  /// Is one of that kind? (A plain or orderly read of a thread that loops on such reads is a
  /// choice, whatever other such accesses are.)
  bool is_choice(const Lane& at, OperationKind kind);
  /// For which lanes of a group (same frame, same pc) is it one?
  isa::LaneMask of(const Lane& first, isa::LaneMask group);
  /// Lanes of the warp that loop on plain or orderly reads.
  static isa::LaneMask waiting(const Lane& at);
  /// What a thread in a loop that has no choices does in it.
  static Operation loop_operation(const Lane& at);

  // --- Together with others ----------------------------------------------------------------------
  /// [BAR-4]: threads of a warp execute an aligned barrier together. Lanes that have come to one
  /// wait for the others of their warp, wherever those go; when all that can run stand at some
  /// aligned barrier, each group of them executes its own.
  isa::LaneMask together(const Lane& at);
  /// Has the lane come to an aligned barrier and waits there for the rest of its warp, or has
  /// another lane of its group the move?
  bool waits_for_warp(const Lane& at);
  /// Does the thread wait for a phase like at a barrier?
  bool waits_for_phase(const Lane& at);
  /// [WARP-MASK]: activemask names the lanes that execute it together, which may be any of those
  /// that have come to it. Sets that contain the lane and others: all of them if so few have come,
  /// else one, of all. (Then only the first lane also goes alone.)
  std::vector<isa::LaneMask> active_with(const Lane& at);

private:
  StepperParts parts_;
};

} // namespace heddle::reduce
