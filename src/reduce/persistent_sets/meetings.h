// Meetings: which threads come to which place with a chosen access, noted for the whole search, and
// at which places a search has let those who stand there go first, since nobody else comes there
// ([RED-GROUPS]).
//
//   meetings.comes(place, who);              // for each move of each state
//   for (const Meetings::Who& who : meetings.those_at(place)) …
//   meetings.rely_on(place);                 // that these are all
//   if (meetings.is_refuted()) …             // somebody else came there after all
//   for (const Meetings::Note& note : meetings.take_news()) …  // for other processes: learn()
//
// A place is 4 bytes of global or shared memory, by a number that is the same in every process of a
// search. What is known only grows. So if somebody new comes to a place, what has been relied on
// there is refuted, whatever came first.
#pragma once

#include "reduce/mutant.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::reduce {

class Meetings {
public:
  using Place = std::uint64_t;
  struct Who {              // a thread of a grid
    std::uint64_t grid = 0; // Work::identity: the same for each launch that is the same
    std::uint32_t cluster = 0, thread = 0;
    bool operator==(const Who&) const = default;
  };
  struct Note {
    enum class Kind : std::uint8_t {
      Comes,
      ComesAnywhere, // somebody accesses memory, and it is not known where
      ReliedOn,
      PathEnded // of the search, the first one: now it is known who comes where
    } kind{};
    Place place = 0;
    Who who;
  };

  explicit Meetings(Mutant mutant) : mutant_(mutant) {}

  void comes(Place place, const Who& who) { note({Note::Kind::Comes, place, who}); }
  void comes_anywhere() { note({.kind = Note::Kind::ComesAnywhere, .who = {}}); }
  void rely_on(Place place) { note({Note::Kind::ReliedOn, place, {}}); }
  void path_ended() { note({.kind = Note::Kind::PathEnded, .who = {}}); }

  std::span<const Who> those_at(Place place) const;
  /// Somebody may come to any place, or hardly anything is known yet.
  bool all_may_come() const { return anywhere_ || !some_path_ended_; }
  bool is_refuted() const { return refuted_; }

  /// What was noted for the first time since the last call, but for what was learned.
  std::vector<Note> take_news() { return std::exchange(news_, {}); }
  void learn(const Note& note) { add(note); }

private:
  struct At {
    std::vector<Who> who;
    bool relied_on = false;
  };
  void note(const Note& note) {
    if (add(note)) {
      news_.push_back(note);
    }
  }
  bool add(const Note& note);

  Mutant mutant_;
  std::unordered_map<Place, At> places_;
  std::vector<Note> news_;
  bool anywhere_ = false, some_path_ended_ = false, some_relied_on_ = false, refuted_ = false;
};

} // namespace heddle::reduce
