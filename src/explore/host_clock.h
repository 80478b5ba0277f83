// HostClock: what the clocks of host threads show in `heddle check`. Time is virtual.
//
//   HostClock clock; clock.look();        // ns since the start, as the program sees it
//   clock.pass(deadline); clock.hash(h);
//
// Any amount of time may pass between two steps, so which time a clock shows is ours to choose.
// Each look finds it later, and the later the more: the time since the start doubles, until a day,
// and from then on a day passes with each look. So a loop with a deadline ends after a few dozen
// rounds, and the clock adds few states. Misses: what a program does only if it looks often before
// a deadline.
#pragma once

#include "base/hash.h"

#include <algorithm>
#include <cstdint>

namespace heddle::explore {

class HostClock {
public:
  std::uint64_t now() const { return now_; }

  std::uint64_t look() {
    looked_at_ = true;
    const std::uint64_t shown = now_;
    pass(now_ + 1);
    return shown;
  }

  /// At least until then; rounded up to the times that a look may show.
  void pass(std::uint64_t until) {
    until = std::min(until, never);
    while (now_ < until) {
      const std::uint64_t steps = now_ < day ? 1 : (until - now_ + day - 1) / day;
      now_ += steps * std::min(now_, day);
    }
  }

  /// A clock that nobody has looked at is no part of the state, and past the first day the loops
  /// that look at it would never come back to a state if it were.
  void hash(Hasher& hasher) const { hasher.value(looked_at_ ? std::min(now_, 2 * day) : 0); }

private:
  static constexpr std::uint64_t first = 1'000, day = first << 37; // 1.6 days
  static constexpr std::uint64_t never = std::uint64_t{1} << 62;

  std::uint64_t now_ = first;
  bool looked_at_ = false;
};

} // namespace heddle::explore
