// Implements witness.h: breadth-first searches, one for each demand that the loop must answer.
#include "explore/witness.h"

#include "base/check.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>

namespace heddle::explore {

namespace {

/// Builds a closed walk inside one component.
class Loop {
public:
  Loop(const ProgressGraph& graph, const Component& component, StateId start)
      : graph_(graph),
        start_(start),
        at_(start) {
    for (const EdgeId e : component.edges) {
      out_[graph.edges[e].from].push_back(e);
    }
  }

  std::vector<EdgeId> run() {
    walk([](EdgeId) { return true; });
    for (;;) {
      if (const auto open = unanswered()) {
        walk([&](EdgeId e) { return answers(graph_, graph_.edges[e], *open); });
      } else if (at_ == start_) {
        return std::move(walked_);
      } else {
        walk([&](EdgeId e) { return graph_.edges[e].to == start_; });
      }
    }
  }

private:
  /// A demand on the walk so far that no edge of it answers.
  std::optional<Demand> unanswered() const {
    const auto open = [&](const Demand& demand) {
      return std::none_of(walked_.begin(), walked_.end(), [&](EdgeId e) {
        return answers(graph_, graph_.edges[e], demand);
      });
    };
    for (const Demand& demand : graph_.states[at_].demands) {
      if (open(demand)) {
        return demand;
      }
    }
    for (const EdgeId e : walked_) {
      const Edge& edge = graph_.edges[e];
      for (const Demand& demand : graph_.states[edge.from].demands) {
        if (open(demand)) {
          return demand;
        }
      }
      if (const Demand query{Rule::Query, edge.actor}; edge.query_obliged && open(query)) {
        return query;
      }
    }
    return std::nullopt;
  }

  /// Goes the shortest way that ends with an edge that is `wanted`.
  void walk(const std::function<bool(EdgeId)>& wanted) {
    std::map<StateId, EdgeId> came_by;
    std::deque<StateId> queue{at_};
    while (!queue.empty()) {
      const StateId s = queue.front();
      queue.pop_front();
      for (const EdgeId e : out_[s]) {
        if (wanted(e)) {
          std::vector<EdgeId> way{e};
          for (StateId t = s; t != at_; t = graph_.edges[way.back()].from) {
            way.push_back(came_by.at(t));
          }
          walked_.insert(walked_.end(), way.rbegin(), way.rend());
          at_ = graph_.edges[e].to;
          return;
        }
        const StateId t = graph_.edges[e].to;
        if (t != at_ && came_by.try_emplace(t, e).second) {
          queue.push_back(t);
        }
      }
    }
    HEDDLE_CHECK(false, "a component of endless executions answers its demands");
  }

  const ProgressGraph& graph_;
  StateId start_;
  StateId at_;
  std::map<StateId, std::vector<EdgeId>> out_;
  std::vector<EdgeId> walked_;
};

} // namespace

Witness find_witness(const ProgressGraph& graph, const Component& component) {
  Witness witness;
  witness.edges = shortest_way(graph, component.states);
  witness.loop_from = static_cast<std::uint32_t>(witness.edges.size());
  if (!component.edges.empty()) {
    const StateId start = witness.edges.empty() ? 0 : graph.edges[witness.edges.back()].to;
    const std::vector<EdgeId> loop = Loop(graph, component, start).run();
    witness.edges.insert(witness.edges.end(), loop.begin(), loop.end());
  }
  return witness;
}

} // namespace heddle::explore
