// HostClock: what the clocks of host threads show in `heddle check`. Time is virtual.
//
//   HostClock clock(false); clock.look_from(place, looks);  // ns since the start, as a thread sees
//   clock.pass(deadline); clock.hash(h);                    // it that stands there
//
// Any amount of time may pass between two steps, so which time a clock shows is ours to choose.
// spec/clocks.md ("Clocks of the host") says what is chosen, and what that may miss:
//
// - At first each look finds it later, and the later the more: the time since the start grows
//   64-fold, until 19 hours. So a loop with a deadline ends after a handful of rounds.
// - From then on the clock is *settled*, and time passes in periods of 97 days, if at all: a thread
//   finds it later where it looks for the second time in a row, or for the third time
//   since time has passed; and a time limit that passes takes whole periods. So the rounds of a
//   loop see the same times, but for a number of periods, and states are named by how many periods
//   lie between the times that they contain (time_names.h).
// - Who goes on looking from one place, with no look from elsewhere in between, after that has no
//   deadline: for that thread the clock stands still, since it may keep durations, which grow.
//
// Misses: what a program does only if it looks often before a deadline. Could invent a hang of a
// loop that looks from one place only and ends after more periods than it looks.
#pragma once

#include "base/hash.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace heddle::explore {

class HostClock {
public:
  /// `always_later`: each look finds it later, by a day when it is settled. For an execution that
  /// is repeated alone, to find out whether times make a difference.
  explicit HostClock(bool always_later) : always_later_(always_later) {}

  std::uint64_t now() const { return now_; }
  /// Has it been looked at, and does time pass in periods?
  bool is_settled() const { return looked_at_ && now_ >= settled; }

  /// Where a thread has looked at the settled clock: since time has passed for the last time, and
  /// how often from one place.
  class Looks {
  public:
    bool stand_still() const { return in_a_row_ >= most; }
    void hash(Hasher& hasher, std::uint64_t now) const;

  private:
    friend class HostClock;
    static constexpr unsigned most = 6, known = 8;
    struct Place {
      std::uint64_t place = 0;
      unsigned looks = 0;
    };

    void begin(std::uint64_t now) {
      at_ = now;
      count_ = 0;
    }
    Place* find(std::uint64_t place);

    std::uint64_t last_ = 0; // the place of the last look …
    unsigned in_a_row_ = 0;  // … and how often it has been that, at most `most`
    std::uint64_t at_ = 0;   // the time that it was when `places_` were looked from
    unsigned count_ = 0;
    std::array<Place, known> places_{};
  };

  /// A thread looks.
  std::uint64_t look_from(std::uint64_t place, Looks& looks);

  /// At least until then; rounded up to the times that a look may show.
  void pass(std::uint64_t until) {
    until = std::min(until, never);
    const std::uint64_t step = always_later_ ? day : period;
    while (now_ < until) {
      now_ = now_ < settled ? now_ * growth : now_ + (until - now_ + step - 1) / step * step;
    }
  }

  /// A clock that no thread has looked at is not part of the state. Of a settled one only the
  /// distance from the times in the state counts, so that loops that look at it come back to a
  /// state.
  void hash(Hasher& hasher) const { hasher.value(looked_at_ ? std::min(now_, settled) : 0); }

  /// 97 days. Whole seconds: what no period changes looks alike in all units. And 2³² divides the
  /// nanoseconds: so does the lower half of a time, which is left behind where an `int` lies in the
  /// place of the upper one.
  static constexpr std::uint64_t period = std::uint64_t{1'000'000'000} << 23;
  /// From here on: 19 hours, 64⁶ times the first time.
  static constexpr std::uint64_t settled = std::uint64_t{1'000} << 36;

private:
  static constexpr std::uint64_t growth = 64, first = 1'000;
  static constexpr std::uint64_t day = 86'400'000'000'000;
  static constexpr std::uint64_t never = std::uint64_t{1} << 62;

  bool always_later_;
  std::uint64_t now_ = first;
  bool looked_at_ = false;
};

inline HostClock::Looks::Place* HostClock::Looks::find(std::uint64_t place) {
  const auto end = places_.begin() + count_;
  auto* const found = std::find_if(places_.begin(), end, [&](const Place& known_place) {
    return known_place.place == place;
  });
  return found == end ? nullptr : found;
}

inline void HostClock::Looks::hash(Hasher& hasher, std::uint64_t now) const {
  hasher.value(in_a_row_ != 0 ? last_ : 0);
  hasher.value(in_a_row_);
  std::uint64_t places = 0; // in any order
  for (unsigned n = 0; at_ == now && n < count_; ++n) {
    places += combined(places_[n].place, places_[n].looks);
  }
  hasher.value(places);
}

inline std::uint64_t HostClock::look_from(std::uint64_t place, Looks& looks) {
  looked_at_ = true;
  if (now_ < settled) {
    const std::uint64_t shown = now_;
    pass(now_ + 1);
    return shown;
  }
  const bool again = looks.in_a_row_ != 0 && looks.last_ == place;
  looks.in_a_row_ = again ? std::min(looks.in_a_row_ + 1, Looks::most) : 1;
  looks.last_ = place;
  if (looks.stand_still()) {
    return now_;
  }
  if (looks.at_ != now_) {
    looks.begin(now_);
  }
  Looks::Place* here = looks.find(place);
  const bool full = here == nullptr && looks.count_ == Looks::known;
  if (again || always_later_ || full || (here != nullptr && here->looks == 2)) {
    pass(now_ + 1);
    looks.begin(now_);
    here = nullptr;
  }
  if (here == nullptr) {
    here = &looks.places_[looks.count_++];
    *here = {place, 0};
  }
  ++here->looks;
  return now_;
}

} // namespace heddle::explore
