// Implements reduced_search.h. As explore/explorer_search.cpp does it, for device threads only.
#include "reduce/reduced_search.h"

#include "explore/few_moves.h"
#include "explore/judged_move.h"
#include "explore/plan.h"
#include "explore/stepper_options.h"

#include "reduce/graph.h"

#include <algorithm>
#include <numeric>

namespace heddle::reduce {

using explore::Plan;
using machine::Stepper;

namespace {

Stepper::Options with_mutant(Stepper::Options options, machine::Mutant mutant) {
  options.mutant = mutant;
  return options;
}

/// One attempt of the plan.
class Attempt {
public:
  Attempt(MicroDevice& device, const explore::Options& options, const Manner& manner)
      : options_(options),
        manner_(manner),
        run_(device, with_mutant(explore::stepper_options(options), manner.mutant)),
        stepper_(run_.stepper()) {}

  void run() {
    visit(0);
    seen_.sums_clash = seen_.sums_clash || stepper_.sums_clash();
    if (seen_.sums_clash || stepper_.some_last() || seen_.refuted) {
      seen_.learned = stepper_.learned();
    }
  }
  const Plan::Seen& seen() const { return seen_; }
  Outcome outcome() const {
    Outcome outcome = graph_.outcome();
    outcome.complete = outcome.complete && !over_;
    return outcome;
  }

private:
  struct Known { // what a move leads to, without making it
    Hash128 state;
    Stepper::Again again;
    Step step{};
    std::vector<Stepper::Change> changes;
  };

  void note_facts() {
    seen_.retries = seen_.retries || stepper_.saw_retries();
    seen_.refuted = seen_.refuted || stepper_.refuted();
    seen_.host_clash = seen_.host_clash || stepper_.some_last();
    if (options_.starts_at_once && stepper_.choice_met_command()) {
      note_circle();
    }
    if (stepper_.sums_clash()) {
      seen_.sums_clash = true;
      over_ = over_ || ++since_clash_ > after_clash;
    }
    over_ = over_ || seen_.refuted || seen_.host_clash;
  }

  void note_circle() {
    seen_.circle = true;
    over_ = over_ ||
            (options_.starts_at_once && manner_.mutant != machine::Mutant::StraightForgetsCircles);
  }

  void look_for_circle(StateId state) {
    if (std::ranges::find(path_, state) != path_.end()) {
      note_circle();
    }
  }

  std::optional<StateId> leads_to(StateId from, const Stepper::Move& move, const Known& known) {
    const auto to = graph_.find(known.state);
    if (to) {
      graph_.add_edge(stepper_, from, *to, move, known.step, known.changes);
      look_for_circle(*to);
    }
    return to;
  }

  std::optional<Known> look_ahead(const Stepper::Move& move, const Hash128& now) {
    const auto ahead = stepper_.look_ahead(move, now);
    if (!ahead) {
      return std::nullopt;
    }
    return Known{
        ahead->fingerprint,
        ahead->again,
        explore::step_of(ahead->taken),
        {ahead->changes.begin(), ahead->changes.end()}
    };
  }

  /// The state that the machine is in; nothing: the search is over.
  std::optional<StateId> visit(std::uint64_t left) {
    note_facts();
    if (over_) {
      return std::nullopt;
    }
    const Hash128 now = stepper_.fingerprint();
    if (graph_.size() >= options_.max_states && !graph_.find(now)) {
      over_ = true;
      return std::nullopt;
    }
    const auto [state, is_new] = graph_.state(now);
    if (!is_new) {
      look_for_circle(state);
      return state;
    }
    if (options_.gives_up && !seen_.circle && graph_.size() > options_.straight_after) {
      seen_.gave_up = over_ = true;
      return std::nullopt;
    }
    path_.push_back(state);
    expand(state, now, left);
    path_.pop_back();
    return state;
  }

  void expand(StateId state, const Hash128& now, std::uint64_t left) {
    const Stepper::Mark here = stepper_.mark();
    const std::vector<Stepper::Move> moves = stepper_.moves();
    std::vector<std::size_t> tried(moves.size());
    std::iota(tried.begin(), tried.end(), 0);
    std::uint64_t alike = 0;
    if (options_.starts_at_once && !moves.empty()) {
      alike = explore::keep_few(stepper_, moves, tried, left);
    }
    graph_.describe(state, moves, stepper_);
    for (const std::size_t m : tried) {
      if (over_) {
        return;
      }
      make(state, now, moves[m], alike > stepper_.last_ones() ? alike - 1 : 0);
      stepper_.undo_to(here);
    }
  }

  void make(StateId state, const Hash128& now, const Stepper::Move& move, std::uint64_t left) {
    const auto known = manner_.looks_ahead ? look_ahead(move, now) : std::nullopt;
    if (known && leads_to(state, move, *known)) {
      return;
    }
    if (!(known ? stepper_.step(move, known->again) : stepper_.step(move))) {
      note_facts();
      graph_.add_fault(stepper_, state, move);
      return;
    }
    const bool again = known && stepper_.made_again();
    const Step step = again ? known->step : explore::step_of(stepper_.taken());
    const std::vector<Stepper::Change> changes = again ? known->changes : stepper_.changes();
    if (const auto to = visit(left)) {
      graph_.add_edge(stepper_, state, *to, move, step, changes);
    }
  }

  static constexpr int after_clash = 200; // states, as in the explorer

  explore::Options options_;
  const Manner& manner_;
  MicroDevice::Run run_;
  Stepper& stepper_;
  Graph graph_;
  std::vector<StateId> path_;
  Plan::Seen seen_;
  int since_clash_ = 0;
  bool over_ = false;
};

} // namespace

Outcome reduced_search(MicroDevice& device, const Manner& manner) {
  Plan plan(manner.options, manner.mutant);
  std::optional<Outcome> kept;
  for (;;) {
    const Plan::Attempt next = plan.next(/*left=*/1);
    Attempt attempt(device, next.options, manner);
    attempt.run();
    Outcome outcome = attempt.outcome();
    const Plan::Next then = plan.after(attempt.seen(), [&] {
      return Plan::Found{
          .clean = !outcome.hangs(),
          .complete = outcome.complete,
          .straight = outcome.straight
      };
    });
    switch (then) {
    case Plan::Next::Again:
      break;
    case Plan::Next::KeepAndAgain:
      kept = std::move(outcome);
      break;
    case Plan::Next::This:
      return outcome;
    case Plan::Next::Kept:
      return *kept;
    }
  }
}

} // namespace heddle::reduce
