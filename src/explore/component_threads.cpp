// Implements component_threads.h: a union-find forest over classes in states.
#include "explore/component_threads.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace heddle::explore {

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
  struct Gathered {
    Part part;
    std::set<ActorId> actors;
    std::map<StateId, std::map<ThreadClass, std::uint64_t>> counts;
  };
  std::map<Node, Gathered> gathered;
  for (const EdgeId e : edges) {
    const Label& label = graph_.edges.label(e);
    Gathered& all = gathered[root(mover(e))];
    all.actors.insert(label.actor);
    all.part.sites.insert(label.site);
    all.part.steps = all.part.steps || label.step != Step::None;
    std::uint64_t& count = all.counts[graph_.edges.from(e)][label.who];
    count = std::max<std::uint64_t>(count, label.count);
  }
  std::vector<Gathered*> parts;
  for (auto& [node, all] : gathered) {
    for (const auto& [state, classes] : all.counts) {
      std::uint64_t sum = 0;
      for (const auto& [who, count] : classes) {
        sum += count;
      }
      all.part.count = std::max(all.part.count, sum);
    }
    parts.push_back(&all);
  }
  std::ranges::sort(parts, {}, [](const Gathered* all) {
    return std::tuple(all->actors.size(), *all->actors.begin(), all->part.sites);
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
  std::ranges::sort(result, {}, [](const Part& part) { return std::pair(part.actor, part.sites); });
  return result;
}

} // namespace heddle::explore
