// Implements stalling.h: a search, forwards and backwards, over classes in states.
#include "explore/stalling.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace heddle::explore {

namespace {

class Following {
public:
  Following(const ProgressGraph& graph, const Component& component)
      : graph_(graph),
        edges_(component.edges),
        out_(component.edges),
        in_(component.edges) {
    std::ranges::sort(out_, {}, [&](EdgeId e) { return graph_.edges.from(e); });
    std::ranges::sort(in_, {}, [&](EdgeId e) { return graph_.edges.to(e); });
  }

  bool takes_no_step(ActorId actor) {
    for (const EdgeId e : edges_) {
      if (const Label& label = graph_.edges.label(e); label.actor == actor) {
        reach(graph_.edges.from(e), label.who);
      }
    }
    while (!open_.empty()) {
      const auto [state, who] = open_.back();
      open_.pop_back();
      const auto from = [&](EdgeId e) { return graph_.edges.from(e); };
      for (const EdgeId e : std::ranges::equal_range(out_, state, {}, from)) {
        const Label& label = graph_.edges.label(e);
        if (label.who == who && label.step != Step::None) {
          return false;
        }
        go_on(label, who, graph_.edges.to(e));
      }
      const auto to = [&](EdgeId e) { return graph_.edges.to(e); };
      for (const EdgeId e : std::ranges::equal_range(in_, state, {}, to)) {
        go_back(graph_.edges.label(e), who, graph_.edges.from(e));
      }
    }
    return true;
  }

private:
  void reach(StateId state, ThreadClass who) {
    if (who != 0 && seen_.emplace(state, who).second) {
      open_.emplace_back(state, who);
    }
  }
  void go_on(const Label& label, ThreadClass who, StateId to) {
    bool named = false;
    for (const ClassChange& change : graph_.changes[label.changes]) {
      if (change.from == who) {
        named = true;
        reach(to, change.to);
      }
    }
    if (!named) {
      reach(to, who);
    }
  }
  void go_back(const Label& label, ThreadClass who, StateId from) {
    bool named = false;
    for (const ClassChange& change : graph_.changes[label.changes]) {
      named = named || change.from == who;
      if (change.to == who) {
        reach(from, change.from);
      }
    }
    if (!named) {
      reach(from, who);
    }
  }

  const ProgressGraph& graph_;
  const std::vector<EdgeId>& edges_;
  std::vector<EdgeId> out_, in_; // the same, by where they begin and lead
  std::set<std::pair<StateId, ThreadClass>> seen_;
  std::vector<std::pair<StateId, ThreadClass>> open_;
};

} // namespace

bool takes_no_step(const ProgressGraph& graph, const Component& component, ActorId actor) {
  return Following(graph, component).takes_no_step(actor);
}

} // namespace heddle::explore
