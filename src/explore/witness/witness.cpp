// Implements witness.h: breadth-first searches, one for each demand that the loop must answer.
#include "explore/witness/witness.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace heddle::explore {

namespace {

/// Builds a closed walk inside one component.
class Loop {
public:
  Loop(const ProgressGraph& graph, const OutEdges& all, const Component& component, StateId start)
      : graph_(graph),
        all_(all),
        start_(start),
        at_(start) {
    for (const EdgeId e : component.edges) {
      out_[graph.edges[e].from].push_back(e);
      device_moves_ = device_moves_ || graph.by_device(graph.edges[e]);
    }
  }

  std::vector<EdgeId> run() {
    walk([](EdgeId) { return true; });
    for (;;) {
      if (const auto look = soon_only()) {
        const ActorId who = *look;
        if (!walk([&](EdgeId e) { return graph_.edges[e].late && graph_.edges[e].actor == who; })) {
          never_late_.insert(who);
        }
      } else if (const auto old = stale_only()) {
        if (!walk([&](EdgeId e) { return is_fresh(e, *old); })) {
          never_fresh_.insert(*old);
        }
      } else if (const auto open = unanswered()) {
        if (!walk([&](EdgeId e) { return answers(graph_.edges[e], *open); })) {
          given_up_.insert(*open);
        }
      } else if (at_ == start_) {
        return std::move(walked_);
      } else {
        walk([&](EdgeId e) { return graph_.edges[e].to == start_; }); // it is one component
      }
    }
  }

private:
  /// Who must move for a demand to be answered: an actor; or any device thread.
  using Owed = std::optional<ActorId>;

  bool answers(const Edge& edge, const Owed& owed) const {
    return owed ? edge.actor == *owed : graph_.by_device(edge);
  }

  /// A demand names a class of threads, which is another one in another state: the actor is the one
  /// whose move leaves the state. (Where equal threads have changed places it is one of them.)
  Owed owed(StateId s, const Demand& demand) const {
    if (demand.rule == Rule::Api && device_moves_) {
      return std::nullopt;
    }
    if (const auto out = out_.find(s); out != out_.end()) {
      for (const EdgeId e : out->second) {
        if (graph_.edges[e].who == demand.who) {
          return graph_.edges[e].actor;
        }
      }
    }
    return graph_.edges[walked_.front()].actor; // it moves elsewhere in the component
  }

  /// [CLOCK]: somebody who has looked at clocks on the walk so far, and no time has passed.
  std::optional<ActorId> soon_only() const {
    for (const EdgeId e : walked_) {
      const Edge look = graph_.edges[e];
      const auto later = [&](EdgeId other) {
        return graph_.edges[other].late && graph_.edges[other].actor == look.actor;
      };
      if (look.soon && !never_late_.contains(look.actor) && std::ranges::none_of(walked_, later)) {
        return look.actor;
      }
    }
    return std::nullopt;
  }

  /// [MEM-VISIBLE]: somebody who has read an older value on the walk so far, and never the newest.
  using ReadOf = std::pair<ActorId, std::uint32_t>; // and the place
  bool is_fresh(EdgeId e, const ReadOf& read) const {
    return graph_.edges.label(e).actor == read.first && graph_.edges.label(e).fresh == read.second;
  }
  std::optional<ReadOf> stale_only() const {
    for (const EdgeId e : walked_) {
      const Label& label = graph_.edges.label(e);
      const ReadOf read{label.actor, label.stale};
      if (label.stale != 0 && !never_fresh_.contains(read) &&
          std::ranges::none_of(walked_, [&](EdgeId other) { return is_fresh(other, read); })) {
        return read;
      }
    }
    return std::nullopt;
  }

  /// Somebody who is owed a move on the walk so far and has not made one.
  std::optional<Owed> unanswered() const {
    const auto open = [&](const Owed& who) {
      return !given_up_.contains(who) &&
             std::none_of(walked_.begin(), walked_.end(), [&](EdgeId e) {
               return answers(graph_.edges[e], who);
             });
    };
    const auto open_in = [&](StateId s) -> std::optional<Owed> {
      for (const Demand& demand : all_owed_in(graph_, all_, s)) {
        if (const Owed who = owed(s, demand); open(who)) {
          return who;
        }
      }
      return std::nullopt;
    };
    if (const auto found = open_in(at_)) {
      return found;
    }
    for (const EdgeId e : walked_) {
      if (const auto found = open_in(graph_.edges[e].from)) {
        return found;
      }
      if (graph_.edges[e].query_obliged && open(std::nullopt)) {
        return Owed(std::nullopt);
      }
    }
    return std::nullopt;
  }

  /// Goes the shortest way that ends with an edge that is `wanted`; false if there is none.
  bool walk(const std::function<bool(EdgeId)>& wanted) {
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
          return true;
        }
        const StateId t = graph_.edges[e].to;
        if (t != at_ && came_by.try_emplace(t, e).second) {
          queue.push_back(t);
        }
      }
    }
    return false;
  }

  const ProgressGraph& graph_;
  const OutEdges& all_;
  StateId start_;
  StateId at_;
  std::map<StateId, std::vector<EdgeId>> out_;
  std::vector<EdgeId> walked_;
  std::set<Owed> given_up_;      // who moves only where equal threads have changed places
  std::set<ActorId> never_late_; // the same of looks at clocks
  std::set<std::pair<ActorId, std::uint32_t>> never_fresh_;
  bool device_moves_ = false;
};

} // namespace

Witness find_witness(const ProgressGraph& graph, const OutEdges& out, const Component& component) {
  Witness witness;
  witness.edges = shortest_way(graph, out, component.states);
  witness.loop_from = static_cast<std::uint32_t>(witness.edges.size());
  if (!component.edges.empty()) {
    const StateId start = witness.edges.empty() ? 0 : graph.edges[witness.edges.back()].to;
    const std::vector<EdgeId> loop = Loop(graph, out, component, start).run();
    witness.edges.insert(witness.edges.end(), loop.begin(), loop.end());
  }
  return witness;
}

} // namespace heddle::explore
