// Implements meetings.h.
#include "reduce/persistent_sets/meetings.h"

#include <algorithm>

namespace heddle::reduce {

std::span<const Meetings::Who> Meetings::those_at(Place place) const {
  const auto known = places_.find(place);
  return known == places_.end() ? std::span<const Who>() : known->second.who;
}

/// True: it was not known.
bool Meetings::add(const Note& note) {
  bool is_news = false, refutes = false;
  switch (note.kind) {
  case Note::Kind::Comes: {
    At& at = places_[note.place];
    is_news = std::ranges::find(at.who, note.who) == at.who.end();
    if (is_news) {
      at.who.push_back(note.who);
      refutes = at.relied_on;
    }
    break;
  }
  case Note::Kind::ComesAnywhere:
    is_news = !std::exchange(anywhere_, true);
    refutes = some_relied_on_;
    break;
  case Note::Kind::PathEnded:
    is_news = !std::exchange(some_path_ended_, true);
    break;
  case Note::Kind::ReliedOn:
    is_news = !std::exchange(places_[note.place].relied_on, true);
    refutes = anywhere_;
    some_relied_on_ = true;
    break;
  }
  refuted_ = refuted_ || (refutes && mutant_ != Mutant::GroupsUnwatched);
  return is_news;
}

} // namespace heddle::reduce
