// Replayer: repeats an execution by its schedule, instead of a search.
//
//   if (search.enter(replayer.arrival({.host = true})) && replayer.go_on()) …   // the host goes on
#pragma once

#include "explore/search/search.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::explore {

class Replayer {
public:
  Replayer(
      Ground& ground,
      const Search::Parts& parts,
      Search& search,
      std::vector<std::uint32_t> choices
  );
  /// From the last state of the way on. True: the host goes on.
  bool go_on();
  /// With what the schedule says of the state.
  Arrival arrival(Arrival how) const;

private:
  const Choice* find(const Node& node, std::uint32_t number, std::uint32_t check);
  bool make(const Node& node, const Choice& choice);

  Ground& ground_;
  Stepper& stepper_;
  Search::Parts parts_;
  Search& search_;
  std::vector<std::uint32_t> choices_;
  std::size_t taken_ = 0;
  std::uint32_t expected_ = unchecked; // what the state that is reached must look like
};

} // namespace heddle::explore
