// Implements time_names.h.
#include "explore/host/time_names.h"

#include "base/check.h"
#include "hostwatch/hooks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace heddle::explore {

namespace {

constexpr std::uint64_t second = 1'000'000'000;

/// A unit in which a clock's times are kept: so many of them in `nanoseconds`.
struct Unit {
  std::uint64_t start; // of the clock, in ns
  std::uint64_t units, nanoseconds;

  constexpr std::uint64_t at(std::uint64_t elapsed) const {
    return (start + elapsed) / nanoseconds * units;
  }
  constexpr std::uint64_t period() const { return HostClock::period / nanoseconds * units; }
};

/// The times that are looked for: from the start of the program on, for so many periods.
constexpr std::uint64_t span = 64;

constexpr std::array<Unit, 9> units{{
    {HeddleMonotonicStart, 1, second},
    {HeddleRealtimeStart, 1, second},
    {HeddleMonotonicStart, 1, 1'000'000},
    {HeddleRealtimeStart, 1, 1'000'000},
    {HeddleMonotonicStart, 1, 1'000},
    {HeddleRealtimeStart, 1, 1'000},
    {HeddleMonotonicStart, 1, 1},
    {HeddleMonotonicStart, HeddleCyclesPerNanosecond, 1},
    {HeddleRealtimeStart, 1, 1},
}};
constexpr std::uint64_t seconds_as_double = units.size(); // for Time::unit, and the clock's number
static_assert(std::ranges::is_sorted(units, {}, [](const Unit& unit) { return unit.at(0); }));
static_assert(HostClock::period % second == 0);

/// Distances of at most so many periods into the future are told apart, and between past times.
constexpr std::int64_t ahead = 8, apart = 2;

} // namespace

std::optional<TimeNames::Time> TimeNames::time_in(std::uint64_t word) const {
  if (word < units.front().at(0)) {
    return std::nullopt;
  }
  const auto* const above =
      std::ranges::upper_bound(units, word, {}, [](const Unit& unit) { return unit.at(0); });
  const auto* const unit = above - 1;
  const auto period = static_cast<std::int64_t>(unit->period());
  if (word - unit->at(0) < span * unit->period()) {
    const auto distance = static_cast<std::int64_t>(word - unit->at(now_));
    const std::int64_t rest = (distance % period + period) % period;
    return Time{
        (distance - rest) / period,
        static_cast<std::uint64_t>(rest),
        static_cast<std::uint64_t>(unit - units.begin())
    };
  }
  const double seconds = std::bit_cast<double>(word);
  for (std::uint64_t clock = 0; clock < 2; ++clock) {
    constexpr auto period_seconds = static_cast<double>(HostClock::period / second);
    const auto start = static_cast<double>(units[clock].at(0));
    if (seconds >= start && seconds < start + span * period_seconds) {
      const double distance = seconds - static_cast<double>(units[clock].at(now_));
      const double periods = std::floor(distance / period_seconds);
      return Time{
          static_cast<std::int64_t>(periods),
          std::bit_cast<std::uint64_t>(distance - periods * period_seconds),
          seconds_as_double + clock
      };
    }
  }
  return std::nullopt;
}

void TimeNames::bytes(const void* p, std::size_t count, Hasher& hasher) {
  const auto* const begin = static_cast<const std::byte*>(p);
  if (now_ == 0) {
    hasher.bytes(begin, count);
    return;
  }
  constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  std::size_t done = 0;
  std::size_t at = (word_bytes - reinterpret_cast<std::uintptr_t>(p) % word_bytes) % word_bytes;
  for (; at + word_bytes <= count; at += word_bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, begin + at, word_bytes);
    const auto time = time_in(word);
    if (!time) {
      continue;
    }
    if (!collected_) {
      periods_.push_back(time->periods);
      continue;
    }
    hasher.bytes(begin + done, at - done);
    hasher.value(name_of(*time));
    done = at + word_bytes;
  }
  if (collected_) {
    hasher.bytes(begin + done, count - done);
  }
}

void TimeNames::collected() {
  periods_.push_back(0); // now
  std::ranges::sort(periods_);
  const auto repeated = std::ranges::unique(periods_);
  periods_.erase(repeated.begin(), repeated.end());
  names_.resize(periods_.size());
  const auto now =
      static_cast<std::size_t>(std::ranges::lower_bound(periods_, 0) - periods_.begin());
  for (std::size_t n = now + 1; n < periods_.size(); ++n) {
    names_[n] = names_[n - 1] + std::min(periods_[n] - periods_[n - 1], ahead);
  }
  for (std::size_t n = now; n-- > 0;) {
    names_[n] = names_[n + 1] - std::min(periods_[n + 1] - periods_[n], apart);
  }
  collected_ = true;
}

std::uint64_t TimeNames::name_of(const Time& time) const {
  const auto found = std::ranges::lower_bound(periods_, time.periods);
  HEDDLE_CHECK(found != periods_.end() && *found == time.periods, "a time that was not collected");
  const auto name =
      static_cast<std::uint64_t>(names_[static_cast<std::size_t>(found - periods_.begin())]);
  return combined(combined(name, time.unit), time.remainder);
}

} // namespace heddle::explore
