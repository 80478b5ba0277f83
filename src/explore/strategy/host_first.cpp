// Implements host_first.h.
#include "explore/strategy/host_first.h"

namespace heddle::explore {

using reduce::Stepper;

// [RED-RETURNS]
Choices asked_by(
    const HostArrival& arrival,
    std::span<const HostAt> hosts,
    std::uint64_t open,
    reduce::Mutant mutant
) {
  const std::uint64_t arrived = arrival.host ? arrival.arrived : 0;
  std::uint64_t calls = 0; // what they do next need not commute with what another host thread did
  for (const HostAt& host : hosts) {
    if (arrival.host && host.kind == HostPoint::Kind::ApiCall) {
      calls |= std::uint64_t{1} << host.thread;
    }
  }
  const bool forgets = mutant == reduce::Mutant::ReturnsForgetOpened && !arrival.host;
  const std::uint64_t opened = forgets ? 0 : open & ~arrival.open;
  return {.first_ways = arrived | calls | opened, .other_ways = arrived};
}

Choices always_asked(std::span<const HostAt> hosts) {
  using Kind = HostPoint::Kind;
  Choices result;
  for (const HostAt& host : hosts) {
    if (host.kind == Kind::Start || host.kind == Kind::Access || host.kind == Kind::Sync) {
      result.first_ways |= std::uint64_t{1} << host.thread;
      result.other_ways |= std::uint64_t{1} << host.thread;
    }
    if (host.kind == Kind::Query) { // who asks forever does so while devices move
      result.other_ways |= std::uint64_t{1} << host.thread;
    }
  }
  return result;
}

bool hosts_are_alone(
    Stepper& stepper,
    const Options& options,
    std::span<const Stepper::Move> moves,
    std::span<const HostAt> hosts
) {
  using Kind = HostPoint::Kind;
  const bool at_once = starts_at_once(options);
  // What its calls wait for stays true.
  const bool only_one = at_once && hosts.size() == 1;
  // A host function is host code, too, once it may begin: it tells what other host threads do.
  const bool called = stepper.works().may_call_host();
  bool quiet = at_once || (options.host_first && stepper.works().waiting_may_run_through());
  for (const Stepper::Move& move : moves) {
    quiet = quiet && (move.thread ? move.through || at_once : !stepper.works().host_function(move));
  }
  bool some = false;
  bool relied = false;
  for (const HostAt& host : hosts) {
    const bool of_host = host.kind == Kind::Start || host.kind == Kind::Sync ||
                         (host.kind == Kind::Access && !host.device_visible);
    const bool alone = (of_host && !called) ||
                       (quiet && (host.kind == Kind::ApiCall || host.kind == Kind::Return)) ||
                       (only_one && host.kind == Kind::Wait);
    if (!alone) {
      return false;
    }
    some = some || host.can_go_on;
    relied = relied || host.kind == Kind::ApiCall || host.kind == Kind::Return;
  }
  if (some && relied && !at_once) {
    stepper.works().host_passes();
  }
  return some;
}

std::optional<unsigned>
goes_alone(const Stepper& stepper, const Options& options, std::span<const HostAt> hosts) {
  using Kind = HostPoint::Kind;
  if (!starts_at_once(options) || !options.host_first || hosts.size() < 2 ||
      stepper.works().may_call_host()) {
    return std::nullopt;
  }
  for (const HostAt& host : hosts) {
    const bool own = host.kind == Kind::Start || host.kind == Kind::Return ||
                     (host.kind == Kind::Wait && host.can_go_on);
    if (own) {
      return host.thread;
    }
  }
  return std::nullopt;
}

} // namespace heddle::explore
