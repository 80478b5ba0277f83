#include "explore/strategy/evidence.h"

namespace heddle::explore {

namespace {

// So often a search begins again because an instruction conflicts at one place more; then it is
// contended everywhere. So often it does because a place is written again ([RED-SETTLED]); then all
// places are taken to be.
constexpr std::uint32_t most_place_rounds = 4;

bool rests_on_accesses(const Options& assumed) {
  return assumed.sums || assumed.orderly || assumed.by_decisions;
}

} // namespace

bool is_void(const Seen& seen, const Options& assumed) {
  return (rests_on_accesses(assumed) && seen.sums_clash) || seen.refuted ||
         (assumed.host_first && seen.host_clash);
}

void Evidence::add(const Seen& seen, Order order, Options& assumed) {
  const bool accesses = rests_on_accesses(assumed) && seen.sums_clash;
  const bool host = assumed.host_first && seen.host_clash;
  reduce::Learned blamed = assumed.learned;
  if (accesses || host || seen.refuted) {
    blamed |= seen.learned;
  }
  if (!assumed.places) {
    blamed.places = 0;
  } else if (
      blamed.places != assumed.learned.places && blamed.contended == assumed.learned.contended &&
      ++place_rounds > most_place_rounds
  ) {
    blamed.places = ~std::uint64_t{0};
  }
  if (blamed.rewritten != assumed.learned.rewritten && ++rewritten_rounds > most_place_rounds) {
    blamed.rewritten = ~std::uint64_t{0};
  }
  const bool news = blamed != assumed.learned;
  host_got_data = host_got_data || seen.host_got_data;
  contended |=
      accesses && order != Order::EveryYet ? blamed.contended & ~assumed.learned.contended : 0;
  if (order != Order::One) {
    could_be |= blamed.unordered;
    blamed.contended |= blamed.unordered;
    blamed.unordered = 0;
  }
  assumed.learned = blamed;
  // A clash that nothing is to blame for: the reduction is not used any more.
  assumed.by_decisions = assumed.by_decisions && (!seen.sums_clash || news);
  assumed.sums = assumed.sums && (!accesses || news);
  assumed.orderly = assumed.orderly && (!accesses || news);
  assumed.host_first = assumed.host_first && (!host || news);
}

} // namespace heddle::explore
