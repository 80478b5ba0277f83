// Implements the part of stepper.h that is about clusters of which only the last one does something
// else: each takes a ticket, ends, and the last one goes on with what all have left.
//
// In such a state each cluster has one move, which ends it and changes at most one word of memory,
// in the same way whoever makes it, as long as two more are left. So all moves but those of the
// last two commute, and what matters is who is last: with any two of the clusters that can move
// now, t and u, every execution is one that begins with t or with u, up to the order of moves that
// commute. (A persistent set, see Godefroid, "Partial-order methods for the verification of
// concurrent systems", 1996.) Nothing is assumed of the program: the moves are tried out with every
// value that the word has until two are left.
#include "machine/stepper_work.h"

#include <algorithm>

namespace heddle::machine {

namespace {

constexpr std::uint64_t most_tried = 1 << 16; // moves

bool same(const WordPart& a, const WordPart& b) {
  return a.at == b.at && a.mask == b.mask && a.value == b.value;
}

} // namespace

/// What the move changes in memory, if all that it does besides is to end its cluster. Everything
/// is as before.
std::optional<std::vector<WordPart>> Stepper::changed_at_end(const Move& move) {
  const Mark here = mark();
  std::optional<std::vector<WordPart>> result;
  const bool fine = step(move);
  const bool alone = log_.size() == here.log + 1; // no command has completed
  if (fine && alone && works_[move.work]->images[move.cluster]->ended) {
    result = journal_.changed_since(here.memory);
  }
  undo_to(here);
  return result;
}

std::uint64_t Stepper::only_last_matters(std::span<const Move> moves) {
  std::uint64_t clusters = 0;
  for (const Move& move : moves) {
    if (!move.thread || move.through || move.endless || move.heap || move.work != moves[0].work ||
        works_[move.work]->images[move.cluster]->ready.size() != 1) {
      return 0;
    }
    clusters += move.count;
  }
  if (clusters < 3 || clusters * moves.size() > most_tried) {
    return 0;
  }
  const Mark here = mark();
  bool holds = true;
  for (std::uint64_t left = clusters; holds && left > 2; --left) {
    std::vector<WordPart> changes;
    for (std::size_t m = 0; holds && m < moves.size(); ++m) {
      const auto changed = changed_at_end(moves[m]);
      holds = changed && changed->size() <= 1 &&
              (m == 0 || std::ranges::equal(*changed, changes, same));
      changes = holds ? *changed : changes;
    }
    if (holds && changes.empty()) {
      break; // nor do they change later
    }
    journal_.write(changes);
  }
  undo_to(here);
  return holds ? clusters : 0;
}

} // namespace heddle::machine
