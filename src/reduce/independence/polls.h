// Polls: loops that wait by reading one word again and again ([RED-POLLS]), if not each of their
// rounds is the same: a compiler has unrolled some, or the first ones do not sleep yet. libcu++
// waits so for an atomic, with sixteen reads before the loop that sleeps.
//
// A read that finds what it has found before is then made without going on: the thread stays where
// it is, as in a loop of one read. That is as good as going on if from each of the reads that
// follow, up to where the thread goes round forever, it comes to the same state when the word
// changes, whatever it holds then (any_value.h). One that may wait for a deadline comes
// to something else: what the clock shows is chosen.
#pragma once

#include "memory/address_space.h"
#include "reduce/independence/trial.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace heddle::reduce {

struct Polled { // a word that is read again and again
  std::byte* at = nullptr;
  std::size_t bytes = 0;
  bool operator==(const Polled&) const = default;
};

using TrialPlaces = std::vector<TrialPlace>;

class Polls {
public:
  /// `tries`: false, nothing is a loop of that kind.
  Polls(Trials& trials, const memory::AddressSpace& space, bool tries)
      : trials_(trials),
        space_(space),
        tries_(tries) {}

  /// Does the lane, by reading the word as it is, come to nothing but to reading it again, whenever
  /// it changes?
  bool reads_in_vain(const Lane& at);
  /// What the lane is about to read; none: that is no strong read, or nobody chooses when it
  /// happens.
  std::optional<Polled> polled(const Lane& at);

private:
  std::optional<Hash128>
  polls_until(Trial& trial, const Lane& at, const Polled& word, TrialPlaces& places);

  Trials& trials_;
  const memory::AddressSpace& space_;
  bool tries_;
  std::unordered_map<std::uint64_t, bool> in_vain_; // by state of a lane
};

} // namespace heddle::reduce
