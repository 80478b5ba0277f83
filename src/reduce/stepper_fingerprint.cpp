// Implements the part of stepper.h that is about fingerprints: what a state is known by. It is a
// sum, so that what a move changes can be put in the place of what was there.
#include "machine/device_launches.h"
#include "reduce/stepper_work.h"

namespace heddle::reduce {

/// What the images of a work's clusters add to the fingerprint. A thread that is a thread of one
/// work is none of another one: each counts in a way of its own.
void Stepper::add_images(HashSum& state, const Work& work, const Hash128& images) {
  state.low += images.low * (work.identity << 1 | 1);
  state.high += images.high * (work.identity << 1 | 1);
}

/// A sum, so that what a move changes can be put in the place of what was there.
Hash128 Stepper::fingerprint() const {
  const auto number = [&](const CommandPtr& command) { // among those that are not complete
    std::uint64_t n = 0;
    for (const auto& work : works_) {
      if (work->command == command) {
        break;
      }
      n += work->done ? 0 : 1;
    }
    return n;
  };
  constexpr std::uint64_t end_of_list = ~std::uint64_t{0};
  HashSum state = journal_.fingerprint();
  if (weak_) {
    state.add(weak_->name());
  }
  std::uint64_t place = 0;
  for (const auto& work : works_) {
    if (work->done) {
      continue;
    }
    scratch_.words.clear();
    scratch_.words.push_back(place++);
    scratch_.words.push_back(work->identity);
    scratch_.words.push_back(work->begun ? 2 : work->ready ? 1 : 0);
    for (const CommandPtr& before : work->after) {
      if (!before->done.load()) {
        scratch_.words.push_back(number(before));
      }
    }
    scratch_.words.push_back(end_of_list);
    for (const EarlyDependency& early : work->command->early) {
      if (!early.grid->done.load()) {
        scratch_.words.push_back(
            number(early.grid) << 2 | 1 | static_cast<std::uint64_t>(early.on) << 1
        );
      }
    }
    scratch_.words.push_back(end_of_list);
    for (const Overlap& overlap : work->command->overlaps) {
      if (!overlap.grid->done.load()) {
        scratch_.words.push_back(
            number(overlap.grid) << 1 | static_cast<std::uint64_t>(overlap.awaited)
        );
      }
    }
    scratch_.words.push_back(end_of_list);
    scratch_.words.push_back(work->parts.size());
    for (const CommandPtr& part : work->parts) {
      if (!part->done.load()) {
        scratch_.words.push_back(number(part));
      }
    }
    if (const auto* launches =
            work->ready && work->kernel() ? work->command->grid->launches() : nullptr;
        launches != nullptr && launches->used()) {
      launches->write_state(scratch_.words, number);
    }
    state.add(hash_of(scratch_.words.data(), scratch_.words.size() * sizeof(std::uint64_t)));
    add_images(state, *work, {work->sum.low, work->sum.high});
  }
  return {state.low, state.high};
}

/// What `fingerprint` would be if no thread and no cluster kept its number because of [RED-OWNED].
Hash128 Stepper::unnumbered(const Hash128& fingerprint) const {
  HashSum state{fingerprint.low, fingerprint.high};
  for (const auto& work : works_) {
    if (!work->done && !(work->unnumbered == work->sum) &&
        !mutant_is(Mutant::SchedulesKeepNumbers)) {
      HashSum less = work->unnumbered;
      less.subtract({work->sum.low, work->sum.high});
      add_images(state, *work, {less.low, less.high});
    }
  }
  return {state.low, state.high};
}

/// The fingerprint after `now` if that were written, and an image of one work became another one.
Hash128 Stepper::fingerprint_after(
    const Hash128& now,
    std::span<const WordPart> writes,
    const Work& work,
    const Hash128& before,
    const Hash128& after
) const {
  HashSum state{now.low, now.high};
  journal_.change_after(writes, state);
  add_images(state, work, {after.low - before.low, after.high - before.high});
  return {state.low, state.high};
}

} // namespace heddle::reduce
