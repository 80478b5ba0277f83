// HostClock: what the clocks of host threads show in `heddle check`. Time is virtual.
//
//   HostClock clock; clock.look();        // ns since the start, as the program sees it
//   clock.look_from(place, looks);        // the same, of a thread that stands there
//   clock.pass(deadline); clock.hash(h);
//
// Any amount of time may pass between two steps, so which time a clock shows is ours to choose.
// Each look finds it later, and the later the more: the time since the start grows 64-fold, until a
// day, and from then on a day passes with each look. So a loop with a deadline ends after a handful
// of rounds, and the clock adds few states (each time that a thread remembers, as libcu++'s waits
// do, multiplies them). Who goes on looking from one place, with no look from elsewhere in between,
// after that has no deadline: for that thread the clock stands still, or its loop would never come
// back to a state. Misses: what a program does only if it looks often before a deadline. Could
// invent a hang of a loop that looks from one place only and ends after so many periods of more
// than the clock then shows.
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

  /// How often a thread has looked from one place, since days pass.
  struct Looks {
    std::uint64_t place = 0;
    unsigned count = 0;
    bool stand_still() const { return count >= most; }
    static constexpr unsigned most = 6;
    void hash(Hasher& hasher) const {
      hasher.value(count > 1 ? place : 0);
      hasher.value(count);
    }
  };
  std::uint64_t look_from(std::uint64_t place, Looks& looks) {
    if (now_ >= day) {
      looks = {place, looks.place == place ? std::min(looks.count + 1, Looks::most) : 1};
    }
    return looks.stand_still() ? now_ : look();
  }

  /// At least until then; rounded up to the times that a look may show.
  void pass(std::uint64_t until) {
    until = std::min(until, never);
    while (now_ < until) {
      now_ = now_ < day ? now_ * growth : now_ + (until - now_ + day - 1) / day * day;
    }
  }

  /// A clock that nobody has looked at is no part of the state, and past the first day the loops
  /// that look at it would never come back to a state if it were.
  void hash(Hasher& hasher) const { hasher.value(looked_at_ ? std::min(now_, 2 * day) : 0); }

private:
  static constexpr std::uint64_t growth = 64;
  static constexpr std::uint64_t first = 1'000, day = first << 36; // 19 hours: first · 64⁶
  static constexpr std::uint64_t never = std::uint64_t{1} << 62;

  std::uint64_t now_ = first;
  bool looked_at_ = false;
};

} // namespace heddle::explore
