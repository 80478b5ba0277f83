// Repeating an execution by its schedule.
#include "explore/search/explorer_impl.h"
#include "explore/witness/accesses.h"
#include "explore/witness/schedule.h"
#include "explore/witness/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace heddle::explore {

/// Takes the choices of the schedule, one after the other. Equal threads may have changed places
/// since it was recorded: then it is the move that leads to the state which was seen.
bool Explorer::repeat() {
  for (;;) {
    const Node node = std::move(path_.back());
    path_.clear();
    if (replay_->taken == replay_->choices.size()) {
      reached(node.state);
      finish();
    }
    const auto [number, check] = unpack_choice(replay_->choices[replay_->taken++]);
    std::vector<Choice> candidates = node.choices;
    const auto named = std::ranges::find(candidates, number, &Choice::number);
    if (named == candidates.end()) {
      table_.add_event(
          EventKind::Nondeterminism,
          node.state,
          0,
          fmt::format(
              "step {} of the schedule takes move {}, but there are {}",
              replay_->taken,
              number + 1,
              node.choices.size()
          )
      );
      finish();
    }
    std::rotate(candidates.begin(), named, named + 1);
    Choice chosen = candidates.front();
    if (chosen.kind == Choice::Kind::Thread && check != unchecked) {
      const auto fits = std::ranges::find_if(candidates, [&](const Choice& candidate) {
        if (candidate.kind != Choice::Kind::Thread) {
          return false;
        }
        stepper_.step(node.moves[candidate.move]);
        const bool same = check_of_state(stepper_.fingerprint()) == check || stepper_.failure();
        stepper_.undo_to(node.mark);
        return same;
      });
      chosen = fits != candidates.end() ? *fits : chosen;
    }
    expected_ = check;
    model::MemoryJournal::Accesses accesses;
    std::string owner;
    const bool traced = replay_->trace >= 0;
    if (traced && chosen.kind == Choice::Kind::Thread) {
      owner = stepper_.names().cluster(node.moves[chosen.move]);
      stepper_.collect_accesses(&accesses);
    }
    const bool host = go(node, chosen);
    if (traced) {
      stepper_.collect_accesses(nullptr);
      const std::string reason =
          chosen.kind == Choice::Kind::Thread ? to_text(stepper_.weak_reason()) : std::string();
      append_row(
          replay_->trace,
          {.from = last_->from,
           .actor = last_->actor,
           .site = last_->site,
           .note = table_.intern(to_text(accesses, world_.space(), owner) + reason),
           .choice = chosen.number}
      );
    }
    if (host) {
      return true;
    }
    if (!enter({.host = false, .open = node.open})) {
      return false;
    }
  }
}

void Explorer::reached(StateId state) {
  if (replay_ && replay_->trace >= 0) {
    append_row(replay_->trace, {.from = state});
  }
}

} // namespace heddle::explore
