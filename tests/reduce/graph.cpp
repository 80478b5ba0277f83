// Implements graph.h.
#include "reduce/graph.h"

#include "explore/judge/judged_move.h"

#include <fmt/format.h>

namespace heddle::enumeration {

using namespace explore;
using reduce::Stepper;

namespace {

/// The number of an instruction.
std::uint32_t site(const isa::Op* op) {
  return op != nullptr ? op->instruction : 0;
}

} // namespace

Graph::Graph() {
  graph_.actors.push_back({ActorKind::Host, "host thread", "", ""});
}

std::pair<StateId, bool> Graph::state(const Hash128& hash) {
  const auto [entry, is_new] = numbers_.try_emplace(hash.low, graph_.states.size());
  if (is_new) {
    graph_.states.emplace_back();
  }
  return {entry->second, is_new};
}

std::optional<StateId> Graph::find(const Hash128& hash) const {
  const auto entry = numbers_.find(hash.low);
  return entry == numbers_.end() ? std::nullopt : std::optional(entry->second);
}

void Graph::describe(StateId number, std::span<const Stepper::Move> moves, Walk& walk) {
  using Point = explore::HostPoint::Kind;
  const MicroHost& host = walk.host();
  State& state = graph_.states[number];
  state.expanded = true;
  state.terminal = !walk.stepper().works().busy() && host.all_ended();
  const bool due = some_is_due(moves);
  std::vector<Demand> demands;
  bool host_goes_on = false;
  if (host.none() && !moves.empty()) {
    demands.push_back({Rule::Api, 0});
  }
  for (unsigned t = 0; t < host.threads(); ++t) {
    const explore::HostAt at = host.at(t);
    if (!host.live(t)) {
      continue;
    }
    host_goes_on = host_goes_on || at.can_go_on;
    const bool call =
        at.kind == Point::ApiCall || at.kind == Point::Return || at.kind == Point::Query;
    if (at.kind == Point::Wait || (call && !host.prompt())) {
      if (at.can_go_on || due) {
        demands.push_back({Rule::Api, t});
      }
    } else if (at.can_go_on) {
      demands.push_back({Rule::Host, t});
    }
  }
  std::ranges::sort(demands);
  if (!demands.empty()) {
    state.demands = graph_.demands.add(demands);
  }
  if (moves.empty() && !host_goes_on && !state.terminal) {
    for (const Stepper::Wait& wait : walk.stepper().report().waits()) {
      blocked_[number].insert(
          {fmt::format("{}", site(wait.op)), walk.stepper().names().actor(wait.first)}
      );
    }
  }
}

ActorId Graph::host_actor(unsigned thread) {
  const auto [entry, is_new] = actors_.try_emplace(
      {~std::uint64_t{0}, thread},
      static_cast<std::uint32_t>(graph_.actors.size())
  );
  if (is_new) {
    graph_.actors.push_back({ActorKind::Host, fmt::format("host thread {}", thread), "", ""});
  }
  return entry->second;
}

Graph::HostMove Graph::host_move(Walk& walk, bool due, unsigned thread, unsigned way) {
  const MicroHost& host = walk.host();
  const bool not_ready = host.at(thread).kind == explore::HostPoint::Kind::Query && way != 0;
  return {
      .thread = thread,
      .way = way,
      .site = host.site(thread),
      .not_ready = not_ready,
      .obliged = not_ready && (due || (host.ways(thread) & 1) != 0)
  };
}

void Graph::add_host_edge(StateId from, StateId to, const HostMove& move) {
  graph_.edges.push_back(
      {.from = from,
       .to = to,
       .actor = host_actor(move.thread),
       .who = move.thread,
       .step = Step::Host,
       .not_ready = move.not_ready,
       .query_obliged = move.obliged,
       .site = move.site}
  );
}

ActorId Graph::actor(const Stepper& stepper, const Stepper::Move& move) {
  const auto [entry, is_new] = actors_.try_emplace(
      stepper.names().id(move),
      static_cast<std::uint32_t>(graph_.actors.size())
  );
  if (is_new) {
    graph_.actors.push_back(
        {move.thread ? ActorKind::DeviceThread : ActorKind::Command,
         move.thread ? stepper.names().actor(move) : stepper.names().kernel(move),
         stepper.names().cluster(move),
         "k"}
    );
  }
  return entry->second;
}

std::vector<Graph::NamedMove> Graph::named(std::span<const Stepper::Move> moves) {
  std::vector<NamedMove> result;
  result.reserve(moves.size());
  for (const Stepper::Move& move : moves) {
    result.push_back({move, site(move.op)});
  }
  return result;
}

void Graph::add_edge(
    ActorId actor,
    StateId from,
    StateId to,
    const NamedMove& named,
    Step step,
    std::span<const Stepper::Change> changes
) {
  const Stepper::Move& move = named.move;
  std::vector<ClassChange> list;
  for (const Stepper::Change& change : changes) {
    list.push_back({change.from, change.to});
  }
  graph_.edges.push_back(
      {.from = from,
       .to = to,
       .actor = actor,
       .changes = list.empty() ? 0 : graph_.changes.add(list),
       .who = move.who,
       .count = static_cast<std::uint32_t>(move.count),
       .step = step,
       .owed = explore::rule_of(move.guarantee),
       .soon = move.time == Stepper::Time::Soon,
       .late = move.time == Stepper::Time::Late,
       .site = named.site,
       .stale = move.stale,
       .fresh = move.fresh}
  );
}

void Graph::add_fault(const Stepper& stepper) {
  const Stepper::Failure& failure = *stepper.failure();
  faults_.insert(failure.incomplete.empty() ? failure.report.fault.text : failure.incomplete);
}

void Graph::add_fault(ActorId actor, const Stepper& stepper, StateId from, const NamedMove& named) {
  add_fault(stepper);
  if (!crashed_) {
    crashed_ = static_cast<StateId>(graph_.states.size());
    graph_.states.push_back({.terminal = true, .expanded = true});
  }
  add_edge(actor, from, *crashed_, named, Step::None, {});
}

Outcome Graph::outcome() const {
  return outcome_of(graph_, blocked_, faults_);
}

} // namespace heddle::enumeration
