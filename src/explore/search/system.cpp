// Implements system.h.
#include "explore/search/system.h"

#include <bit>

namespace heddle::explore {

namespace {

/// Does what the call there waits or asks for hold?
bool has_come_true(const HostPoint& point, std::uint64_t ways) {
  return point.kind == HostPoint::Kind::MayWait ? (*point.condition)()
                                                : point.condition != nullptr && (ways & 1) != 0;
}

} // namespace

System::System(Ground& ground)
    : world_(ground.world),
      stepper_(ground.stepper),
      threads_(ground.threads),
      files_(ground.files),
      purpose_(ground.purpose),
      host_functions_(ground) {}

std::uint64_t System::open_waits() {
  std::uint64_t open = 0;
  ++ways_seen_;
  ways_vary_ = false;
  for (unsigned t = 0; t < threads_.count(); ++t) {
    ways_[t] = threads_.ways(t);
    if (threads_.state(t) != HostThreads::State::Live) {
      continue;
    }
    if (wake_mutant_is("never")) { // here and elsewhere: for tests of tests
      ways_[t] = owed_ways(t);
    }
    const HostPoint& point = threads_.point(t);
    ways_vary_ = ways_vary_ || point.kind == HostPoint::Kind::Sync; // a futex may be on the device
    if (has_come_true(point, ways_[t])) {
      open |= std::uint64_t{1} << t;
    }
  }
  return open;
}

void System::keep_ways(const Node& before) {
  if (ways_vary_ || before.ways != ways_seen_) {
    open_waits();
  }
}

Unprovoked System::unprovoked_by(const Choice& choice) const {
  if (choice.kind != Choice::Kind::Host) {
    return Unprovoked::Nothing;
  }
  const HostPoint& point = threads_.point(choice.host);
  return (ways_without_reason(point) >> choice.way & 1) == 0 ? Unprovoked::Nothing
         : point.may_fail                                    ? Unprovoked::Failure
                                                             : Unprovoked::WakeUp;
}

std::vector<HostAt> System::stand() const {
  std::vector<HostAt> result;
  for (unsigned t = 0; t < threads_.count(); ++t) {
    if (threads_.state(t) == HostThreads::State::Live) {
      const HostPoint& point = threads_.point(t);
      result.push_back({point.kind, point.device_visible, owed_ways(t) != 0, t});
    }
  }
  return result;
}

void System::all_choices(Node& node) const {
  std::vector<Choice>& result = node.choices;
  result.clear();
  const auto add = [&](Choice::Kind kind, std::size_t move) {
    Choice& choice = result.emplace_back();
    choice.kind = kind;
    choice.number = static_cast<std::uint32_t>(result.size() - 1);
    choice.move = move;
  };
  bool others = false;
  for (std::size_t m = 0; m < node.moves.size(); ++m) {
    if (stepper_.can_undo(node.moves[m])) {
      add(Choice::Kind::Thread, m);
    } else {
      others = true;
    }
  }
  for (std::size_t m = 0; others && m < node.moves.size(); ++m) {
    if (!stepper_.can_undo(node.moves[m])) {
      add(Choice::Kind::Command, m);
    }
  }
  for (unsigned t = 0; t < threads_.count(); ++t) {
    for (std::uint64_t ways = ways_[t]; ways != 0; ways &= ways - 1) {
      add(Choice::Kind::Host, 0);
      result.back().host = t;
      result.back().way = static_cast<unsigned>(std::countr_zero(ways));
    }
  }
}

// --- What a state is known by --------------------------------------------------------------------

std::uint32_t System::check_of_state(const Hash128& fingerprint) const {
  return stepper_.saw_host_addresses() ? unchecked : check_of(stepper_.unnumbered(fingerprint));
}

Look System::look_around() {
  Look look;
  look.open = open_waits();
  look.device = stepper_.fingerprint();
  look.beside = beside_device(look.open);
  look.check = check_of_state(look.device);
  if (purpose_.kind == Purpose::Kind::Replay) {
    look.device = stepper_.unnumbered(look.device); // as what was recorded
  }
  return look;
}

Hash128 System::beside_device(std::uint64_t open) {
  // The move that led here, or going back, may have completed a kernel that a stream ends with.
  if (const auto commands = stepper_.works().names_of_commands(); commands != named_commands_) {
    hash_commands();
  }
  const std::uint64_t words[] =
      {host_hash_.low, host_hash_.high, command_hash_.low, command_hash_.high, open};
  const XXH128_hash_t h = XXH3_128bits(words, sizeof words);
  return {h.low64, h.high64};
}

void System::host_moved() {
  Hasher hasher;
  threads_.hash(hasher);
  files_.hash(hasher);
  hasher.value(changed_);
  host_hash_ = hasher.finish();
  hash_commands();
}

/// What commands that are not complete will do, and how the API's objects and calls that wait refer
/// to them.
void System::hash_commands() {
  named_commands_ = stepper_.works().names_of_commands();
  Hasher hasher;
  stepper_.works().hash_contents(hasher);
  world_.hash_api_state(hasher, [this](const machine::Command& command) {
    return stepper_.works().name_of(command);
  });
  host_functions_.hash(hasher);
  for (unsigned t = 0; t < threads_.count(); ++t) {
    if (threads_.state(t) != HostThreads::State::Live) {
      continue;
    }
    // A call that began before another thread submitted more does not wait for that.
    for (const machine::CommandPtr& command : threads_.point(t).commands) {
      if (const std::uint64_t name = stepper_.works().name_of(*command); name != 0) {
        hasher.value(t);
        hasher.value(name);
      }
    }
  }
  command_hash_ = hasher.finish();
}

} // namespace heddle::explore
