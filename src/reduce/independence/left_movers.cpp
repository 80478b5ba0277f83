// Implements left_movers.h.
#include "reduce/independence/left_movers.h"

#include "reduce/independence/owned.h"

#include <algorithm>
#include <bit>

namespace heddle::reduce {

std::uint64_t places_of(const OpenAccess& access) {
  return places_of(memory::Address{access.place}, access.bytes);
}

std::uint64_t places_of(const OpenAccesses& open) {
  std::uint64_t places = 0;
  for (const OpenAccess& access : open) {
    places |= places_of(access);
  }
  return places;
}

void OpenPlaces::add(std::uint64_t places) {
  for (std::uint64_t left = places; left != 0; left &= left - 1) {
    ++count_[static_cast<std::size_t>(std::countr_zero(left))];
  }
  all_ |= places;
}

void OpenPlaces::subtract(std::uint64_t places) {
  for (std::uint64_t left = places; left != 0; left &= left - 1) {
    const int place = std::countr_zero(left);
    if (--count_[static_cast<std::size_t>(place)] == 0) {
      all_ &= ~(std::uint64_t{1} << place);
    }
  }
}

void LeftMovers::meet(const OpenAccess& access, const OpenAccesses& open) {
  if (mutant_ == Mutant::MoversUnwatched || clash()) {
    return;
  }
  for (const OpenAccess& other : open) {
    const bool apart =
        access.place + access.bytes <= other.place || other.place + other.bytes <= access.place;
    const bool same_place = access.place == other.place && access.bytes == other.bytes;
    if (!apart && !kinds_commute(access.kind, other.kind, same_place)) {
      blame(other);
    }
  }
}

void LeftMovers::open(OpenAccesses& own, const OpenAccess& access) {
  constexpr std::size_t most = 64; // in a state
  const auto at = std::ranges::lower_bound(own, access);
  const bool again = at != own.end() && *at == access; // it waits for others
  if (again || own.size() == most) {
    blame(access);
  } else {
    own.insert(at, access);
  }
}

void LeftMovers::end(OpenAccesses& own) {
  if (mutant_ != Mutant::MoversForgetEnds && !clash()) {
    std::ranges::for_each(own, [this](const OpenAccess& access) { blame(access); });
  }
  own.clear();
}

} // namespace heddle::reduce
