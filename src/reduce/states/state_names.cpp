#include "reduce/states/state_names.h"

#include "machine/device_launches.h"

#include <utility>

namespace heddle::reduce {

/// What the images of a work's clusters add to the fingerprint. A thread that is a thread of one
/// work is none of another one: each counts in a way of its own.
void StateNames::add_images(HashSum& state, const Work& work, const Hash128& images) {
  state.low += images.low * (work.identity << 1 | 1);
  state.high += images.high * (work.identity << 1 | 1);
}

Hash128 StateNames::fingerprint() {
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
    words_.clear();
    words_.push_back(place++);
    words_.push_back(work->identity);
    words_.push_back(work->begun ? 2 : work->ready ? 1 : 0);
    for (const CommandPtr& before : work->after) {
      if (!before->done.load()) {
        words_.push_back(number(before));
      }
    }
    words_.push_back(end_of_list);
    for (const EarlyDependency& early : work->command->early) {
      if (!early.grid->done.load()) {
        words_.push_back(number(early.grid) << 2 | 1 | static_cast<std::uint64_t>(early.on) << 1);
      }
    }
    words_.push_back(end_of_list);
    for (const Overlap& overlap : work->command->overlaps) {
      if (!overlap.grid->done.load()) {
        words_.push_back(number(overlap.grid) << 1 | static_cast<std::uint64_t>(overlap.awaited));
      }
    }
    words_.push_back(end_of_list);
    words_.push_back(work->parts.size());
    for (const CommandPtr& part : work->parts) {
      if (!part->done.load()) {
        words_.push_back(number(part));
      }
    }
    if (const auto* launches =
            work->ready && work->kernel() ? work->command->grid->launches() : nullptr;
        launches != nullptr && launches->used()) {
      launches->write_state(words_, number);
    }
    state.add(hash_of(words_.data(), words_.size() * sizeof(std::uint64_t)));
    add_images(state, *work, {work->sum.low, work->sum.high});
  }
  return {state.low, state.high};
}

Hash128 StateNames::unnumbered(const Hash128& fingerprint) const {
  HashSum state{fingerprint.low, fingerprint.high};
  for (const auto& work : works_) {
    if (!work->done && !(work->unnumbered == work->sum) &&
        mutant_ != Mutant::SchedulesKeepNumbers) {
      HashSum less = work->unnumbered;
      less.subtract({work->sum.low, work->sum.high});
      add_images(state, *work, {less.low, less.high});
    }
  }
  return {state.low, state.high};
}

Hash128 StateNames::fingerprint_after(
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

Hash128 StateNames::unnumbered_after(
    const Hash128& after,
    const Work& work,
    const Image& before,
    const Hash128& hash,
    const Hash128& unnumbered
) const {
  const Hash128 here = this->unnumbered(after); // as far as the others are concerned
  HashSum state{here.low, here.high};
  HashSum change{unnumbered.low, unnumbered.high};
  change.subtract(hash);
  change.subtract(before.unnumbered);
  change.add(before.hash);
  add_images(state, work, {change.low, change.high});
  return {state.low, state.high};
}

} // namespace heddle::reduce
