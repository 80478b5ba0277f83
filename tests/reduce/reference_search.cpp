// Implements reference_search.h.
#include "reduce/reference_search.h"

#include "explore/judged_move.h"

#include "reduce/graph.h"

namespace heddle::reduce {

using machine::Stepper;

namespace {

Stepper::Options unreduced() {
  Stepper::Options options;
  options.symmetry = false;
  options.eager = false;
  options.sums = false;
  options.orderly = false;
  options.data_order = false;
  options.retries = false;
  options.phases = false;
  options.allocations = false;
  options.neighbours = false;
  options.starts_at_once = false;
  return options;
}

class Search {
public:
  explicit Search(MicroDevice& device) : run_(device, unreduced()), stepper_(run_.stepper()) {}

  Outcome run() {
    visit();
    return graph_.outcome();
  }

private:
  StateId visit() {
    const auto [state, is_new] = graph_.state(stepper_.fingerprint());
    if (!is_new) {
      return state;
    }
    const Stepper::Mark here = stepper_.mark();
    const std::vector<Stepper::Move> moves = stepper_.moves();
    graph_.describe(state, moves, stepper_);
    for (const Stepper::Move& move : moves) {
      if (stepper_.step(move)) {
        const Step step = explore::step_of(stepper_.taken());
        const std::vector<Stepper::Change> changes = stepper_.changes();
        graph_.add_edge(stepper_, state, visit(), move, step, changes);
      } else {
        graph_.add_fault(stepper_, state, move);
      }
      stepper_.undo_to(here);
    }
    return state;
  }

  MicroDevice::Run run_;
  Stepper& stepper_;
  Graph graph_;
};

} // namespace

Outcome reference_search(MicroDevice& device) {
  return Search(device).run();
}

} // namespace heddle::reduce
