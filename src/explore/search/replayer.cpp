// Implements replayer.h.
#include "explore/search/replayer.h"

#include "explore/witness/accesses.h"
#include "explore/witness/schedule.h"
#include "explore/witness/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace heddle::explore {

Replayer::Replayer(
    Ground& ground,
    const Search::Parts& parts,
    Search& search,
    std::vector<std::uint32_t> choices
)
    : ground_(ground),
      stepper_(ground.stepper),
      parts_(parts),
      search_(search),
      choices_(std::move(choices)) {}

Arrival Replayer::arrival(Arrival how) const {
  how.expected = expected_;
  how.step = taken_;
  return how;
}

/// Takes the choices of the schedule, one after the other.
bool Replayer::go_on() {
  for (;;) {
    const Node node = parts_.way.take_last();
    if (taken_ == choices_.size()) {
      parts_.record.reached(node.state);
      parts_.processes.finish();
    }
    const auto [number, check] = unpack_choice(choices_[taken_++]);
    const Choice* chosen = find(node, number, check);
    if (chosen == nullptr) {
      ground_.table.add_event(
          EventKind::Nondeterminism,
          node.state,
          0,
          fmt::format(
              "step {} of the schedule takes move {}, but there are {}",
              taken_,
              number + 1,
              node.choices.size()
          )
      );
      parts_.processes.finish();
    }
    expected_ = check;
    if (make(node, *chosen)) {
      return true;
    }
    if (!search_.enter(arrival({.host = false, .open = node.open}))) {
      return false;
    }
  }
}

/// Equal threads may have changed places since the schedule was recorded: then it is the move that
/// leads to the state which was seen. nullptr: there is no such choice.
const Choice* Replayer::find(const Node& node, std::uint32_t number, std::uint32_t check) {
  const auto named = std::ranges::find(node.choices, number, &Choice::number);
  if (named == node.choices.end() || named->kind != Choice::Kind::Thread || check == unchecked) {
    return named == node.choices.end() ? nullptr : &*named;
  }
  const auto fits = [&](const Choice& candidate) {
    if (candidate.kind != Choice::Kind::Thread) {
      return false;
    }
    stepper_.step(node.moves[candidate.move]);
    const bool same =
        parts_.system.check_of_state(stepper_.fingerprint()) == check || stepper_.failure();
    stepper_.undo_to(node.mark);
    return same;
  };
  if (fits(*named)) {
    return &*named;
  }
  const auto other = std::ranges::find_if(node.choices, [&](const Choice& candidate) {
    return candidate.number != number && fits(candidate);
  });
  return other != node.choices.end() ? &*other : &*named;
}

/// True: it was the host's.
bool Replayer::make(const Node& node, const Choice& choice) {
  const int trace = ground_.purpose.trace;
  model::MemoryJournal::Accesses accesses;
  std::string owner;
  const isa::Code* code = nullptr;
  const bool of_thread = choice.kind == Choice::Kind::Thread;
  if (trace >= 0 && of_thread) {
    owner = stepper_.names().cluster(node.moves[choice.move]);
    code = node.moves[choice.move].code;
    stepper_.collect_accesses(&accesses);
  }
  const bool host = parts_.mover.go(node, choice);
  if (trace >= 0) {
    stepper_.collect_accesses(nullptr);
    const std::string reason = of_thread && stepper_.weak() != nullptr
                                   ? to_text(stepper_.weak()->order().reason())
                                   : std::string();
    const std::string text = to_text(accesses, ground_.world.space(), owner, code) + reason;
    const Edge& last = *parts_.record.last();
    append_row(
        trace,
        {.from = last.from,
         .actor = last.actor,
         .site = last.site,
         .note = ground_.table.intern(std::string_view(text)),
         .choice = choice.number}
    );
  }
  return host;
}

} // namespace heddle::explore
