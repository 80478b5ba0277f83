// Recurrence: does something that goes on by itself come back to a state in which it has been? Then
// it goes round forever.
//
//   Recurrence circle(state());
//   for (…) {
//     …; circle.did(Recurrence::Steps);            // what it does on the way
//     if (circle.is_back(state())) …               // from now on it does what it did since then
//     circle.go_on(state());
//   }
//
// One state is remembered, which is renewed after 1, 2, 4, … more (Brent, "An improved Monte Carlo
// factorization algorithm", 1980): so whatever comes before the cycle, and however long it is, it
// is found within three times both together.
//
// The policy for clocks ([CLOCK]), which whoever asks has to keep: while it goes on, clocks stand
// still, or a thread whose clock decides nothing would never come back to a state. If what it has
// seen there may decide something, it is no cycle: a time limit may be over. In a search such a
// look is a choice, or late, before the question comes up here (reduce/persistent_sets/clocks.h);
// probe.cpp says that who looks moves. The bound is the caller's: what comes back later than that
// is not found, and is not called a cycle.
#pragma once

#include "base/hash.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace heddle::machine {

class Recurrence {
public:
  enum Act : std::uint8_t {
    Steps,
    AccessesLocals,
    ReadsPlain, // what others may write
    Sleeps
  };

  explicit Recurrence(const Hash128& first) : remembered_(first) { last_.fill(never); }

  /// On the way to the next state.
  void did(Act act) { last_[act] = round_; }

  bool is_back(const Hash128& state) const { return state == remembered_; }
  /// Of one that is back.
  bool does(Act act) const { return last_[act] != never && round_ - last_[act] <= length_; }

  /// True: this is the state that is remembered from now on.
  bool go_on(const Hash128& state) {
    ++round_;
    if (++length_ != power_) {
      return false;
    }
    remembered_ = state;
    power_ *= 2;
    length_ = 0;
    return true;
  }

private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  Hash128 remembered_;
  std::uint64_t power_ = 1, length_ = 0, round_ = 0;
  std::array<std::uint64_t, 4> last_{}; // in which round it did that
};

/// The same for few states, where each has to be looked at once: all of them are kept.
class ShortRecurrence {
public:
  /// False: it has been in that state.
  bool is_new(const Hash128& state) {
    const bool known = std::ranges::find(seen_, state) != seen_.end();
    if (!known) {
      seen_.push_back(state);
    }
    return !known;
  }
  std::size_t size() const { return seen_.size(); }

private:
  std::vector<Hash128> seen_;
};

} // namespace heddle::machine
