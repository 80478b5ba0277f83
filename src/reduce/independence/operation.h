// Operation: what a thread stands at, and what the search makes of it.
#pragma once

#include "isa/op.h"
#include "ptx/effect.h"

#include <cstddef>
#include <cstdint>

namespace heddle::reduce {

using ptx::StepKind;
struct Work;

/// Which part an operation has in the search.
enum class OperationKind : std::uint8_t {
  Silent,  // nobody else can tell whether it has happened
  Plain,   // a plain access to memory that others see
  Access,  // any other one
  Aligned, // a barrier that the warp executes together
  Join,    // arrives somewhere: only whether all have arrived matters
  Sum,     // see sums.h
  Orderly, // the same
  Phase,   // of an mbarrier: see phases.h
  Wait,    // for a phase of an mbarrier that has not completed
  Clock,   // reads a clock, and more than one answer makes a difference
  End,
  Io,
  Allocation, // of the device's heap, or its end
  Heap        // changes what is allocated, which cannot be taken back in this process
};

struct Operation {
  OperationKind kind{};
  StepKind step{};
  const char* what = "";
  bool local = false;      // an object of automatic storage
  bool plain_read = false; // of memory that others see, or an orderly one
  // Of an access to global or shared memory: where; in shared memory the number of the block in its
  // cluster, and the offset there.
  bool is_shared = false;
  std::uint8_t bytes = 0; // 0: it is none, or it is not known where
  std::uint64_t place = 0;

  /// Is it a step that a thread makes at once as soon as it is guaranteed to make progress?
  /// `turns`: arrivals at barriers commute.
  bool is_free_step(bool turns) const {
    switch (kind) {
    case OperationKind::Join:
    case OperationKind::Sum:
    case OperationKind::Orderly:
    case OperationKind::Phase:
    case OperationKind::End:
    case OperationKind::Io:
      return step != StepKind::None;
    case OperationKind::Aligned:
      return turns && step != StepKind::None;
    default:
      return false;
    }
  }
};

struct Lane { // of a work's cluster
  Work* work;
  std::size_t cluster, block, warp;
  int lane;
};

} // namespace heddle::reduce
