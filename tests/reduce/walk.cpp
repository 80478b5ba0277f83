// Implements walk.h.
#include "reduce/walk.h"

namespace heddle::enumeration {

using reduce::Stepper;

Walk::Walk(MicroDevice& device, const Stepper::Options& options)
    : device_(device),
      options_(options),
      learned_(options.learned) {
  run_ = std::make_unique<MicroDevice::Run>(device_, options_);
}

Hash128 Walk::with_host(const Hash128& device) const {
  Hasher hasher;
  hasher.value(device.low);
  hasher.value(device.high);
  run_->stepper().works().hash_contents(hasher);
  run_->host().hash(hasher);
  return hasher.finish();
}

bool Walk::make(const Done& done, const Stepper::Again& again) {
  Stepper& stepper = run_->stepper();
  if (!done.move) {
    ++life_;
    const MicroHost& host = run_->host();
    if (options_.persistent.starts_at_once &&
        host.at(done.thread).kind == explore::HostPoint::Kind::Wait && host.only_one()) {
      stepper.persistent().early_commands().host_waited([&host, &done] {
        return host.at(done.thread).can_go_on;
      });
    }
    run_->host().move(done.thread, done.way);
    return true;
  }
  if (!stepper.can_undo(*done.move)) {
    ++life_;
  }
  const machine::CommandPtr function = stepper.works().host_function(*done.move);
  const bool fine = stepper.step(*done.move, again);
  if (function != nullptr) {
    run_->host().begin(function);
  }
  return fine;
}

bool Walk::step(const Stepper::Move& move, const Stepper::Again& again) {
  trail_.push_back({.move = move});
  return make(trail_.back(), again);
}

void Walk::move_host(unsigned thread, unsigned way) {
  trail_.push_back({.thread = thread, .way = way});
  make(trail_.back(), {});
}

void Walk::back_to(Place& place) {
  trail_.resize(place.length);
  if (place.life == life_) {
    stepper().undo_to(place.mark);
    return;
  }
  learned_ |= stepper().learned();
  for (reduce::Sums::Note& note : stepper().sums().take_news()) {
    notes_.push_back(std::move(note));
  }
  run_.reset();
  run_ = std::make_unique<MicroDevice::Run>(device_, options_);
  for (const reduce::Sums::Note& note : notes_) {
    stepper().sums().learn(note);
  }
  for (const Done& done : trail_) {
    make(done, {});
  }
  ++life_;
  place.mark = stepper().mark();
  place.life = life_;
}

reduce::Learned Walk::learned() const {
  reduce::Learned result = learned_;
  result |= run_->stepper().learned();
  return result;
}

} // namespace heddle::enumeration
