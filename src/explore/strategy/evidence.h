// Evidence: what the searches of a plan have met (plan.h), and what follows for their assumptions.
//
//   if (is_void(seen, assumed)) {              // what the search has found is not known to be true
//     evidence.add(seen, order, assumed);      // … the next one assumes less
//   }
//
// What has been refuted only grows, so there are finitely many searches.
#pragma once

#include "explore/options.h"

#include <cstdint>

namespace heddle::explore {

/// What a search has met.
struct Seen {
  bool sums_clash = false, refuted = false, host_clash = false;
  bool retries = false, gave_up = false; // Fact::Retries and so on
  bool host_got_data = false, circle = false;
  reduce::Learned learned{}; // what is to blame for clashes
};

/// Has a search of these assumptions shown that one of them does not hold?
bool is_void(const Seen& seen, const Options& assumed);

struct Evidence {
  /// Which orders of accesses a search looks at on whose order only data may depend.
  enum class Order : std::uint8_t {
    Every,    // and one of them would not do
    EveryYet, // … might do
    One
  };
  /// The search was void. Takes away from `assumed` what has turned out to be wrong.
  void add(const Seen& seen, Order order, Options& assumed);
  /// Instructions on whose order only data depends, as far as is known.
  std::uint64_t only_data() const { return could_be & ~contended; }

  std::uint64_t could_be = 0;  // instructions on whose order only data may depend …
  std::uint64_t contended = 0; // … and on whose order more does
  bool host_got_data = false;  // in a search by decisions
  // How often a search was void only because of one more place …
  std::uint32_t place_rounds = 0;
  std::uint32_t rewritten_rounds = 0; // … or of one that was written again
};

} // namespace heddle::explore
