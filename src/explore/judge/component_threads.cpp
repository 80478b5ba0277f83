// Implements component_threads.h: a union-find forest over classes in states.
#include "explore/judge/component_threads.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace heddle::explore {
namespace {

/// By kind, host threads first, and by what a report calls them. Numbers of actors are in the order
/// in which a search met them, which reductions change; a report does not depend on that.
struct NamedBefore {
  const ProgressGraph* graph;
  bool operator()(ActorId a, ActorId b) const {
    const Actor& first = graph->actors[a];
    const Actor& second = graph->actors[b];
    if (first.kind != second.kind) {
      return first.kind < second.kind;
    }
    const int order = ::strverscmp(first.name.c_str(), second.name.c_str()); // 2 before 10
    return order != 0 ? order < 0 : a < b;
  }
};

/// How many threads make a move in a state, by their class.
using Counts = std::map<StateId, std::map<ThreadClass, std::uint64_t>>;

/// In the state in which they are most; at least one.
std::uint64_t most_at_once(const Counts& counts) {
  std::uint64_t most = 1;
  for (const auto& [state, classes] : counts) {
    std::uint64_t sum = 0;
    for (const auto& [who, count] : classes) {
      sum += count;
    }
    most = std::max(most, sum);
  }
  return most;
}

} // namespace

ComponentThreads::ComponentThreads(
    const ProgressGraph& graph,
    const Component& component,
    std::span<const EdgeId> leaving
)
    : graph_(graph),
      changing_(std::ranges::any_of(component.edges, [&](EdgeId e) {
        return graph.edges.label(e).changes != 0;
      })) {
  for (const EdgeId e : component.edges) {
    mover(e);
  }
  for (const EdgeId e : leaving) {
    mover(e);
  }
  if (changing_) {
    follow(component);
  }
}

ComponentThreads::Node ComponentThreads::mover(EdgeId e) {
  const Label& label = graph_.edges.label(e);
  if (graph_.by_device(label.actor)) {
    return node(graph_.edges.from(e), label.who);
  }
  const auto next = static_cast<Node>(parent_.size());
  const auto [known, is_new] = by_actor_.try_emplace(label.actor, next);
  if (is_new) {
    parent_.push_back(next);
    classes_.emplace_back();
  }
  return known->second;
}

ComponentThreads::Node ComponentThreads::node(StateId state, ThreadClass who) {
  const Place place{changing_ ? state : 0, who};
  const auto next = static_cast<Node>(parent_.size());
  const auto [known, is_new] = by_class_.try_emplace(place, next);
  if (is_new) {
    parent_.push_back(next);
    classes_.push_back(place);
  }
  return known->second;
}

ComponentThreads::Node ComponentThreads::root(Node n) {
  while (parent_[n] != n) {
    n = parent_[n] = parent_[parent_[n]];
  }
  return n;
}

/// From every class, along every edge, to what it is behind that.
void ComponentThreads::follow(const Component& component) {
  std::vector<EdgeId> out = component.edges;
  const auto from = [&](EdgeId e) { return graph_.edges.from(e); };
  std::ranges::sort(out, {}, from);
  for (Node n = 0; n < classes_.size(); ++n) { // which grow
    const auto [state, who] = classes_[n];
    if (who == 0) {
      continue;
    }
    for (const EdgeId e : std::ranges::equal_range(out, state, {}, from)) {
      bool named = false;
      const StateId to = graph_.edges.to(e);
      const auto become = [&](ThreadClass then) {
        const Node behind = node(to, then);
        parent_[root(n)] = root(behind);
      };
      for (const ClassChange& change : graph_.changes[graph_.edges.label(e).changes]) {
        if (change.from == who) {
          named = true;
          if (change.to != 0) {
            become(change.to);
          }
        }
      }
      if (!named) {
        become(who);
      }
    }
  }
}

std::vector<Part> ComponentThreads::parts_of(std::span<const EdgeId> edges) {
  const NamedBefore named_before{&graph_};
  using Actors = std::set<ActorId, NamedBefore>;
  struct Gathered {
    Part part;
    Actors actors;
    Counts counts;
  };
  std::map<Node, Gathered> gathered;
  for (const EdgeId e : edges) {
    const Label& label = graph_.edges.label(e);
    Gathered& all =
        gathered.try_emplace(root(mover(e)), Gathered{{}, Actors(named_before), {}}).first->second;
    all.actors.insert(label.actor);
    all.part.sites.insert(label.site);
    all.part.steps = all.part.steps || label.step != Step::None;
    std::uint64_t& count = all.counts[graph_.edges.from(e)][label.who];
    count = std::max<std::uint64_t>(count, label.count);
  }
  std::vector<Gathered*> parts;
  for (auto& [node, all] : gathered) {
    all.part.count = most_at_once(all.counts);
    parts.push_back(&all);
  }
  const auto order = [&](ActorId a, const auto& sites_of_a, ActorId b, const auto& sites_of_b) {
    return a != b ? named_before(a, b) : sites_of_a < sites_of_b;
  };
  std::ranges::sort(parts, [&](const Gathered* a, const Gathered* b) {
    const std::size_t of_a = a->actors.size(), of_b = b->actors.size();
    return of_a != of_b
               ? of_a < of_b
               : order(*a->actors.begin(), a->part.sites, *b->actors.begin(), b->part.sites);
  });
  std::vector<Part> result;
  std::set<ActorId> named;
  for (Gathered* all : parts) { // each by another name: first those that have few
    const auto free =
        std::ranges::find_if(all->actors, [&](ActorId a) { return !named.contains(a); });
    all->part.actor = free != all->actors.end() ? *free : *all->actors.begin();
    named.insert(all->part.actor);
    result.push_back(std::move(all->part));
  }
  std::ranges::sort(result, [&](const Part& a, const Part& b) {
    return order(a.actor, a.sites, b.actor, b.sites);
  });
  return result;
}

std::vector<std::pair<Part, std::size_t>>
alike(const ProgressGraph& graph, const std::vector<Part>& parts, bool apart) {
  std::vector<std::pair<Part, std::size_t>> groups;
  for (const Part& part : parts) {
    const auto same = std::ranges::find_if(groups, [&](const auto& group) {
      return !apart && group.first.sites == part.sites &&
             graph.actors[group.first.actor].kernel == graph.actors[part.actor].kernel;
    });
    if (same == groups.end()) {
      groups.emplace_back(part, part.count);
    } else {
      same->second += part.count;
    }
  }
  return groups;
}

std::size_t at_once(
    const ProgressGraph& graph,
    const Component& component,
    const Part& part,
    std::size_t several
) {
  Counts moves;
  for (const EdgeId e : component.edges) {
    const Edge& edge = graph.edges[e];
    if (several > 1 && part.sites.contains(edge.site) &&
        graph.actors[edge.actor].kernel == graph.actors[part.actor].kernel) {
      moves[edge.from][edge.who] = edge.count;
    }
  }
  return std::min<std::size_t>(several, most_at_once(moves));
}

} // namespace heddle::explore
