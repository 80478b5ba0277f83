// Move: one visible operation of one thread, or warp, with everything invisible after it, or one
// command that is not a kernel. What a search chooses among, and what reports say of it.
#pragma once

#include "isa/program.h"
#include "ptx/effect.h"

#include <cstddef>
#include <cstdint>

namespace heddle::model {

using ptx::StepKind;

/// Names threads that are alike: equal within a state if and only if they behave alike in it, and
/// from state to state as long as nothing about the thread and its cluster changes.
using ThreadClass = std::uint64_t;

/// Why a thread is obliged to make progress.
enum class Guarantee : std::uint8_t {
  None,
  Itself,     // [DEV]
  Cluster,    // [CLUSTER]
  Cooperative // [COOP]
};

/// What a clock shows to a thread that looks at it ([CLOCK]).
enum class Time : std::uint8_t {
  None, // it looks at none, or what that shows decides nothing
  Soon, // what it has shown to it before
  Late  // so much more that every time limit is over
};

struct Move {
  std::size_t work = 0;      // which command
  std::uint64_t command = 0; // its number; that of `work` is used again
  bool thread = false;       // else the command itself; what follows is for threads
  bool endless = false;      // loops without any visible operation: moving changes nothing
  // Clusters that have only plain accesses and joins start and end: their grid is over, or what
  // is left of it nobody has started yet.
  bool through = false;
  // Nothing obliges it to be made before others have come to an end: it may wait, whoever waits
  // for it ([DEP-EARLY], [HOST-CALL]).
  bool may_wait = false;
  Guarantee guarantee{};
  std::size_t cluster = 0, block = 0, warp = 0;
  int lane = 0;
  std::size_t ready = 0; // number among the moves of its cluster
  ThreadClass who = 0;
  std::uint64_t count = 1; // threads that are alike and could make this move
  // For reports: what it does and where; op is nullptr for a command.
  StepKind step{};
  const char* what = ""; // "an atomic read", "a loop without a step", …
  const isa::Op* op = nullptr;
  const isa::Code* code = nullptr;
  bool heap = false; // see can_undo
  // With warp rules; `lane` is then the lowest of those that go.
  // With the PTX memory model: which way to make the access.
  std::uint32_t pick = 0; // which of the warp's choices; 0: there is none
  // Who moves. Without warp rules: `lane` and those whose activemask names it; 0: only `lane`.
  isa::LaneMask lanes = 0;
  isa::LaneMask first = 0; // who goes first, or writes last
  Time time{};
  // With the PTX memory model: the number of the place of which it reads an older value, or the
  // newest one; 0: it reads none.
  std::uint32_t stale = 0, fresh = 0;
  bool alone = false; // with it: no other move of the state need be tried ([RED-SETTLED])
};

/// The class of a thread that a move changes.
struct Change {
  ThreadClass from = 0, to = 0; // to 0: it has ended
  bool operator==(const Change&) const = default;
};

} // namespace heddle::model
