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
  explicit Search(MicroDevice& device) : walk_(device, unreduced()) {}

  Outcome run() {
    visit();
    return graph_.outcome();
  }

private:
  StateId visit() {
    const auto [state, is_new] = graph_.state(walk_.fingerprint());
    if (!is_new) {
      return state;
    }
    Walk::Place here = walk_.here();
    const std::vector<Stepper::Move> moves = walk_.stepper().moves();
    graph_.describe(state, moves, walk_);
    std::vector<unsigned> hosts;
    for (unsigned t = 0; t < walk_.host().threads(); ++t) {
      if (walk_.host().live(t) && walk_.host().at(t).can_go_on) {
        hosts.push_back(t);
      }
    }
    for (const Stepper::Move& move : moves) {
      walk_.back_to(here);
      const explore::ActorId actor = graph_.actor(walk_.stepper(), move);
      if (walk_.step(move)) {
        const Step step = explore::step_of(walk_.stepper().taken());
        const std::vector<Stepper::Change> changes = walk_.stepper().changes();
        const StateId to = visit();
        graph_.add_edge(actor, state, to, move, step, changes);
      } else {
        graph_.add_fault(actor, walk_.stepper(), state, move);
      }
    }
    for (const unsigned t : hosts) {
      walk_.back_to(here);
      const std::uint32_t site = walk_.host().site(t);
      walk_.move_host(t);
      graph_.add_host_edge(state, visit(), t, site);
    }
    return state;
  }

  Walk walk_;
  Graph graph_;
};

} // namespace

Outcome reference_search(MicroDevice& device) {
  return Search(device).run();
}

} // namespace heddle::reduce
