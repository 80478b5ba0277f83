// Implements reference_search.h.
#include "reduce/reference_search.h"

#include "explore/judge/judged_move.h"
#include "reduce/graph.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace heddle::enumeration {

using reduce::Stepper;

namespace {

Stepper::Options unreduced(model::ProgressModel progress, std::uint64_t clock_step) {
  Stepper::Options options;
  options.model.progress = progress;
  options.renaming.symmetry = false;
  options.independence.eager = false;
  options.independence.sums = false;
  options.independence.orderly = false;
  options.independence.data_order = false;
  options.independence.retries = false;
  options.independence.phases = options.independence.peeks = false;
  options.independence.allocations = false;
  options.independence.neighbours = false;
  options.persistent.starts_at_once = false;
  options.model.same_value_races = false; // as the searches take it
  options.model.clock_step = clock_step;
  options.learned.refute(reduce::Assumption::Copies);
  return options;
}

class Search {
public:
  Search(MicroDevice& device, const ReferenceOptions& options, std::uint64_t clock_step = 0)
      : walk_(device, unreduced(device.progress(), clock_step)),
        options_(options) {}

  std::optional<Outcome> run() {
    if (walk_.failed_at_once()) {
      graph_.add_fault(walk_.stepper());
    } else {
      visit();
    }
    if (too_large()) {
      return std::nullopt;
    }
    Outcome outcome = graph_.outcome();
    outcome.one_name = one_name_;
    return outcome;
  }

private:
  /// Where a move leads, and as what it counts.
  using Ways = std::multiset<std::pair<std::uint64_t, std::uint64_t>>;

  bool too_large() const { return graph_.size() > options_.most; }

  std::vector<Graph::HostMove> host_moves(bool due) {
    std::vector<Graph::HostMove> moves;
    for (unsigned t = 0; t < walk_.host().threads(); ++t) {
      for (unsigned way = 0; walk_.host().live(t) && way < 2; ++way) {
        if ((walk_.host().ways(t) >> way & 1) != 0) {
          moves.push_back(Graph::host_move(walk_, due, t, way));
        }
      }
    }
    return moves;
  }

  Ways ways_on(const std::vector<Stepper::Move>& moves, const std::vector<Graph::HostMove>& hosts) {
    Ways ways;
    Walk::Place here = walk_.here();
    for (const Stepper::Move& move : moves) {
      walk_.back_to(here);
      const bool fine = walk_.step(move);
      const auto taken = static_cast<std::uint64_t>(walk_.stepper().taken());
      ways.emplace(fine ? walk_.fingerprint().low : 0, taken);
    }
    for (const Graph::HostMove& host : hosts) {
      walk_.back_to(here);
      walk_.move_host(host.thread, host.way);
      ways.emplace(walk_.fingerprint().low, ~std::uint64_t{0});
    }
    walk_.back_to(here);
    return ways;
  }

  StateId visit() {
    const auto [state, is_new] = graph_.state(walk_.fingerprint());
    if (too_large()) {
      return state;
    }
    Walk::Place here = walk_.here();
    const std::vector<Stepper::Move> moves = walk_.stepper().moves();
    const std::vector<Graph::HostMove> hosts = host_moves(explore::some_is_due(moves));
    // The first way to a state is not taken for all ways: they go on alike, or it has no name.
    if (!is_new) {
      one_name_ = one_name_ && (!options_.checks_names || ways_on(moves, hosts) == ways_[state]);
      return state;
    }
    if (options_.checks_names) {
      ways_[state] = ways_on(moves, hosts);
    }
    graph_.describe(state, moves, walk_);
    for (const Graph::NamedMove& next : Graph::named(moves)) {
      const Stepper::Move& move = next.move;
      walk_.back_to(here);
      const explore::ActorId actor = graph_.actor(walk_.stepper(), move);
      if (walk_.step(move)) {
        const Step step = explore::step_of(walk_.stepper().taken());
        const std::vector<Stepper::Change> changes = walk_.stepper().changes();
        const StateId to = visit();
        graph_.add_edge(actor, state, to, next, step, changes);
      } else {
        graph_.add_fault(actor, walk_.stepper(), state, next);
      }
    }
    for (const Graph::HostMove& host : hosts) {
      walk_.back_to(here);
      walk_.move_host(host.thread, host.way);
      graph_.add_host_edge(state, visit(), host);
    }
    return state;
  }

  Walk walk_;
  ReferenceOptions options_;
  Graph graph_;
  std::map<StateId, Ways> ways_;
  bool one_name_ = true;
};

} // namespace

/// Clocks have no two answers here that stand for all: they go forward by steps, some of them below
/// the limits of the programs and some above.
std::optional<Outcome> reference_search(MicroDevice& device, const ReferenceOptions& options) {
  if (!device.asks_clocks()) {
    return Search(device, options).run();
  }
  constexpr std::uint64_t steps[] = {1, 4, std::uint64_t{1} << 31, std::uint64_t{1} << 57};
  Outcome all;
  for (const std::uint64_t step : steps) {
    const std::optional<Outcome> one = Search(device, options, step).run();
    if (!one) {
      return std::nullopt;
    }
    all.complete = all.complete && one->complete;
    all.one_name = all.one_name && one->one_name;
    all.states += one->states;
    for (const auto& [what, finding] : one->findings) {
      const auto [known, is_new] = all.findings.try_emplace(what, finding);
      known->second.guilty.insert(finding.guilty.begin(), finding.guilty.end());
    }
  }
  return all;
}

} // namespace heddle::enumeration
