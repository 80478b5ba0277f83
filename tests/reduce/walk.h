// Walk: a run of a micro-program, one move after the other and back again. What cannot be taken
// back (copies, the host) is done again from the start, as processes of `heddle check` do it; what
// the machine has noted meanwhile is not lost.
//
//   Walk walk(device, options);
//   Walk::Place here = walk.here();
//   for (const Stepper::Move& move : walk.stepper().moves()) {
//     walk.back_to(here);                    // before a move: whoever has none left need not
//     walk.step(move);                       // or walk.move_host(thread)
//   }
#pragma once

#include "reduce/micro_device.h"

#include <optional>
#include <vector>

namespace heddle::enumeration {

class Walk {
public:
  Walk(MicroDevice& device, const reduce::Stepper::Options& options);
  reduce::Stepper& stepper() { return run_->stepper(); }
  const reduce::Stepper& stepper() const { return run_->stepper(); }
  const MicroDevice& device() const { return device_; }
  MicroHost& host() { return run_->host(); }
  bool failed_at_once() const { return run_->failed(); }
  Hash128 fingerprint() const { return with_host(run_->stepper().fingerprint()); }
  /// That of a state in which the device is as `device` says, and the host as now.
  Hash128 with_host(const Hash128& device) const;

  bool step(const reduce::Stepper::Move& move, const reduce::Stepper::Again& again = {});
  void move_host(unsigned thread, unsigned way = 0);
  struct Place {
    reduce::Stepper::Mark mark;
    std::size_t length = 0;
    std::uint64_t life = 0;
  };
  Place here() const { return {stepper().mark(), trail_.size(), life_}; }
  void back_to(Place& place);
  /// What all that has been done has refuted.
  reduce::Learned learned() const;

private:
  struct Done {
    std::optional<reduce::Stepper::Move> move{}; // none: the host's
    unsigned thread = 0, way = 0;
  };
  bool make(const Done& done, const reduce::Stepper::Again& again);

  MicroDevice& device_;
  reduce::Stepper::Options options_;
  std::unique_ptr<MicroDevice::Run> run_;
  std::vector<Done> trail_;
  std::uint64_t life_ = 1; // marks of another one are void
  std::vector<reduce::Sums::Note> notes_;
  reduce::Learned learned_;
};

} // namespace heddle::enumeration
