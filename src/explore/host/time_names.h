// TimeNames: the times that a state of the host contains, named by their distance from now.
//
//   hash_with_times(clock, hasher, [&](TimeNames& times, Hasher& to) {   // is called twice
//     times.bytes(p, count, to); …                                       // every part of the state
//   });
//
// Two states with the same names differ by a number of periods of the settled clock (host_clock.h)
// that is added to each recent time, or by how much more than a period lies between older ones:
// spec/clocks.md ("Clocks of the host") says why they are one state.
//
// A time is a word of eight bytes at an address that eight divides, whose value is a time that a
// clock may have shown, or a later one, in s, ms, us, ns, cycles, or seconds as a double. What is
// taken for one and is none is told apart by the rest that remains when periods are taken away. May
// be wrong: a deadline that a program keeps in another form and that lies periods ahead.
#pragma once

#include "base/hash.h"
#include "explore/host/host_clock.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::explore {

class TimeNames {
public:
  /// While the clock is not settled, there is nothing to name: bytes() only hashes.
  explicit TimeNames(const HostClock& clock) : now_(clock.is_settled() ? clock.now() : 0) {}
  bool needed() const { return now_ != 0; }

  /// Before collected(): looks for times, and hashes nothing.
  void bytes(const void* p, std::size_t count, Hasher& hasher);
  void value(std::uint64_t word, Hasher& hasher) { bytes(&word, sizeof word, hasher); }
  void collected();

private:
  struct Time {
    std::int64_t periods = 0;    // from now, rounded down
    std::uint64_t remainder = 0; // and what remains, in its unit
    std::uint64_t unit = 0;
  };
  std::optional<Time> time_in(std::uint64_t word) const;
  std::uint64_t name_of(const Time& time) const;

  std::uint64_t now_;
  bool collected_ = false;
  std::vector<std::int64_t> periods_; // that were found: any order, then ascending
  std::vector<std::int64_t> names_;   // the same once collected(): at which distance it is named
};

/// Both rounds: hash(times, hasher) must do the same in each.
template <class Hash>
void hash_with_times(const HostClock& clock, Hasher& hasher, const Hash& hash) {
  TimeNames times(clock);
  if (times.needed()) {
    Hasher unused;
    hash(times, unused);
    times.collected();
  }
  hash(times, hasher);
}

} // namespace heddle::explore
