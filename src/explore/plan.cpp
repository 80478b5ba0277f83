// Implements plan.h.
#include "explore/plan.h"

#include <algorithm>

namespace heddle::explore {

using reduce::Mutant;

namespace {

constexpr double share_of_straight = 1.0 / 6;
constexpr double share_with_ptx_memory = 0.8; // the search that follows is only larger
// For a search of all orders where one may do.
constexpr double share_of_every_order = 1.0 / 20;
// So often a search begins again because an instruction conflicts at one place more; then it is
// contended everywhere. So often it does because a place is written again ([RED-SETTLED]); then all
// places are taken to be.
constexpr unsigned most_place_rounds = 4;

/// May it be searched with blocks that start at once if no state comes back? Only where somebody is
/// always owed the start of a block, as long as nobody waits for a thread of another block.
bool may_be_straight(const Options& options) {
  return options.straight && options.eager && options.progress == ProgressModel::Cuda &&
         options.host_progress && !options.other_processes && !options.lockstep &&
         !options.ignore_grid_order;
}

} // namespace

Plan::Plan(const Options& asked, Mutant mutant)
    : asked_(asked),
      options_(asked),
      mutant_(mutant),
      contended_(asked.learned.contended),
      every_order_(asked.data_order && asked.learned.unordered == 0),
      straight_(may_be_straight(asked)),
      cone_(asked.cone && !asked.by_decisions && asked.eager && !asked.lockstep) {}

void Plan::with_less() {
  if (cone_) {
    options_.by_decisions = options_.host_decides = true;
    cone_ = false;
    return;
  }
  if (one_order_may_do()) {
    every_order_ = false;
    options_.learned.contended = contended_;
    options_.learned.unordered = could_be_;
  }
  if (options_.host_decides && host_got_data_) {
    options_.learned.kept = options_.learned.deciding = 0; // the host's among them
  }
  options_.host_decides = false;
}

Plan::Attempt Plan::next(double left) {
  one_order_might_have_done_ = one_order_may_do();
  less_might_have_done_ = less_may_do();
  const bool first = small_ && !options_.starts_at_once;
  const double share = options_.ptx_memory ? share_with_ptx_memory : share_of_straight;
  Attempt attempt{options_, options_.starts_at_once ? std::min(left, share) : left};
  if (less_might_have_done_ && (first || options_.starts_at_once)) {
    attempt.share = std::min(left, share_of_every_order);
    attempt.options.max_states = std::min(asked_.max_states, asked_.one_order_after);
  }
  attempt.options.gives_up = first && straight_;
  return attempt;
}

/// Without what has turned out to be wrong.
void Plan::begin_again(const Seen& seen) {
  const bool sums = (options_.sums || options_.orderly || options_.by_decisions) && seen.sums_clash;
  const bool host = options_.host_first && seen.host_clash;
  reduce::Learned blamed = options_.learned;
  if (sums || host || seen.refuted) {
    blamed |= seen.learned;
  }
  if (!options_.places) {
    blamed.places = 0;
  } else if (
      blamed.places != options_.learned.places && blamed.contended == options_.learned.contended &&
      ++place_rounds_ > most_place_rounds
  ) {
    blamed.places = ~std::uint64_t{0};
  }
  if (blamed.rewritten != options_.learned.rewritten && ++rewritten_rounds_ > most_place_rounds) {
    blamed.rewritten = ~std::uint64_t{0};
  }
  const bool news = blamed != options_.learned;
  host_got_data_ = host_got_data_ || seen.host_got_data;
  contended_ |=
      sums && !one_order_might_have_done_ ? blamed.contended & ~options_.learned.contended : 0;
  if (every_order_) {
    could_be_ |= blamed.unordered;
    blamed.contended |= blamed.unordered;
    blamed.unordered = 0;
  }
  options_.learned = blamed;
  options_.by_decisions = options_.by_decisions && (!seen.sums_clash || news);
  options_.sums = options_.sums && (!sums || news);
  options_.orderly = options_.orderly && (!sums || news);
  options_.host_first = options_.host_first && (!host || news);
}

bool Plan::is_void(const Seen& seen) const {
  return ((options_.sums || options_.orderly || options_.by_decisions) && seen.sums_clash) ||
         seen.refuted || (options_.host_first && seen.host_clash);
}

Plan::Next Plan::stop(const Seen& seen) {
  if (kept_) {
    options_ = kept_with_;
    return Next::Kept;
  }
  if (is_void(seen)) { // the next one says only what is true
    begin_again(seen);
    return Next::Again;
  }
  return Next::This;
}

Plan::Next Plan::after(const Seen& seen, const std::function<Found()>& judge) {
  if (is_void(seen)) {
    begin_again(seen);
    return Next::Again;
  }
  const bool less = less_might_have_done_;
  const bool retried = options_.retries && seen.retries;
  const bool last = !options_.starts_at_once && !seen.gave_up && (!less || !small_);
  if (last && !kept_ && !retried) {
    return Next::This;
  }
  const Found found = judge();
  if (retried && !found.straight && mutant_ != Mutant::RetriesForgetCircles) {
    options_.retries = false; // somebody may change a place for ever that another one updates
    return Next::Again;
  }
  if (last && !kept_) {
    return Next::This;
  }
  if (last) {
    if (!found.clean || found.complete) {
      return Next::This;
    }
    options_ = kept_with_; // later ones have learned more
    return Next::Kept;
  }
  const bool circles =
      (seen.circle || !found.straight) && mutant_ != Mutant::StraightForgetsCircles;
  if (found.complete && (!options_.starts_at_once || (!circles && found.clean))) {
    return Next::This;
  }
  Next next = Next::Again;
  if (!found.clean) { // nothing must be lost
    if (options_.starts_at_once) {
      kept_ = true;
      kept_with_ = options_;
      next = Next::KeepAndAgain;
    }
    small_ = straight_ = options_.starts_at_once = false;
  } else if (straight_ && !circles) {
    straight_ = false;
    options_.starts_at_once = true;
  } else if (options_.starts_at_once && !circles && less) {
    with_less();
  } else {
    straight_ = options_.starts_at_once = false;
    if (less) {
      with_less();
    }
    small_ = less_may_do();
  }
  return next;
}

} // namespace heddle::explore
