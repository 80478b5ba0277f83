// LaneRunner: lets lanes run, up to the next operation that others can see, and tells those who
// follow what they do: monitors, the memory model, the device's heap.
//
//   runner.run(lane, plain_fuel, others)     // together with those of `others`
//   runner.fail(lane);                       // why they cannot go on
#pragma once

#include "reduce/states/lane.h"
#include "reduce/stepper_parts.h"

#include <cstdint>

namespace heddle::reduce {

class LaneRunner {
public:
  explicit LaneRunner(const StepperParts& parts) : parts_(parts) {}

  /// Takes down whose accesses those are that are strong, too. (A turn ends before the second
  /// operation that others see, so all accesses are of the epoch in which it began.)
  isa::Stop run(const Lane& at, std::int64_t fuel, isa::LaneMask with = 0, bool reconverge = false);
  /// False: there is no later time left.
  bool look_at_clock(const Lane& at, isa::LaneMask lanes, Time time);
  void fail(const Lane& at);

private:
  isa::Stop run_noting(const Lane& at, std::int64_t fuel, isa::LaneMask with, bool reconverge);
  isa::Stop run_turn(const Lane& at, std::int64_t fuel, isa::LaneMask with, bool reconverge);

  StepperParts parts_;
};

} // namespace heddle::reduce
