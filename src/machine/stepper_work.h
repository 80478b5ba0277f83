// What the stepper keeps for each command; shared by its two source files, included by nobody else.
#pragma once

#include "machine/stepper.h"

namespace heddle::machine {

/// What the stepper has to know of an operation.
enum class Stepper::Class : std::uint8_t {
  Silent,  // nobody else can tell whether it has happened
  Plain,   // a plain access to memory that others see
  Access,  // any other one
  Aligned, // a barrier that the warp executes together
  Join,    // arrives somewhere: only whether all have arrived matters
  End,
  Io
};

/// A command that is not complete.
struct Stepper::Work {
  CommandPtr command;
  bool ready = false;                             // everything before it has completed
  std::vector<std::unique_ptr<Cluster>> clusters; // of a kernel that is ready
  struct Progress {
    bool made = false; // some thread has taken a step
    // The threads meet at barriers for ever: from now on each arrival is a move, so that the search
    // sees the circle.
    bool joins_are_moves = false;
    struct Loops {                                         // of a warp
      isa::LaneMask endless = 0;                           // lanes in a loop without choices
      isa::LaneMask stepping = 0, local = 0, sleeping = 0; // what they do in it
      isa::LaneMask plain = 0; // lanes that loop on plain reads: each of those is a choice
    };
    std::vector<std::vector<Loops>> loops; // [block][warp]
  };
  std::vector<Progress> progress; // by cluster

  // The kernel has no operation but plain accesses, barriers and output: what its clusters do does
  // not depend on when they start.
  bool plain_only = false;

  bool kernel() const { return command->kind == CommandKind::Kernel; }
  bool cooperative() const { return command->grid->config().cooperative; }
};

} // namespace heddle::machine
