// StateNames: what a state is known by, its fingerprint: a sum, so that what a move changes can be
// put in the place of what was there. Equal fingerprints: equal futures.
#pragma once

#include "base/hash.h"
#include "model/memory_journal.h"
#include "model/weak_order.h"
#include "reduce/mutant.h"
#include "reduce/states/image.h"
#include "reduce/states/works.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heddle::reduce {

class StateNames {
public:
  StateNames(const Works& works, const MemoryJournal& journal, Mutant mutant)
      : works_(works),
        journal_(journal),
        mutant_(mutant) {}
  /// … is a part of all states.
  void tell(const WeakOrder& weak) { weak_ = &weak; }

  /// Of the state as it is.
  Hash128 fingerprint();
  /// What that would be if no thread and no cluster kept its number because of [RED-OWNED].
  Hash128 unnumbered(const Hash128& fingerprint) const;

  /// The fingerprint after `now` if that were written, and an image of one work became another one.
  Hash128 fingerprint_after(
      const Hash128& now,
      std::span<const WordPart> writes,
      const Work& work,
      const Hash128& before,
      const Hash128& after
  ) const;
  /// unnumbered() of the state `after`, in which an image of this one is called `hash`, or
  /// `unnumbered`.
  Hash128 unnumbered_after(
      const Hash128& after,
      const Work& work,
      const Image& before,
      const Hash128& hash,
      const Hash128& unnumbered
  ) const;

private:
  static void add_images(HashSum& state, const Work& work, const Hash128& images);

  const Works& works_;
  const MemoryJournal& journal_;
  const WeakOrder* weak_ = nullptr;
  Mutant mutant_;
  std::vector<std::uint64_t> words_; // memory that is used again
};

} // namespace heddle::reduce
