// Emptiness of the Streett condition described in progress_graph.h.
//
// Classic refinement: split into strongly connected components; a component whose recurring demands
// are all answered by its own edges is an allowed endless execution (walk through all of it, again
// and again). Otherwise whoever stays must avoid the states and edges that carry the unanswered
// demands: remove those, split again. Each round removes something, so it ends.
//
// All of it is shared by a team of threads: components are found together (components.h), large
// ones are judged together, small ones side by side, each to its end by one thread.
#include "explore/judge/progress_graph.h"

#include "base/random.h"
#include "explore/judge/component_judge.h"
#include "explore/judge/components.h"
#include "explore/judge/wake_mutant.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace heddle::explore {

std::string_view rule_id(Rule rule) {
  switch (rule) {
  case Rule::Host:
    return "HOST";
  case Rule::Device:
    return "DEV";
  case Rule::Cooperative:
    return "COOP";
  case Rule::Cluster:
    return "CLUSTER";
  case Rule::Api:
    return "API";
  case Rule::Query:
    return "QUERY";
  case Rule::Dependency:
    return "DEP";
  case Rule::Clock:
    return "CLOCK";
  case Rule::Visible:
    return "MEM-VISIBLE";
  case Rule::None:
    break;
  }
  return "?";
}

std::string_view step_id(Step step) {
  switch (step) {
  case Step::None:
    return "no step";
  case Step::End:
    return "STEP.1";
  case Step::Io:
    return "STEP.2";
  case Step::Volatile:
    return "STEP.3";
  case Step::Sync:
    return "STEP.4";
  case Step::Host:
    return "HOST";
  }
  return "?";
}

namespace {

constexpr std::uint32_t none = ~0U;

class Refinement {
public:
  Refinement(
      const ProgressGraph& graph,
      const OutEdges& out,
      std::optional<Rule> ignored,
      bool first_only,
      Team& team
  )
      : first_only_(first_only),
        team_(team),
        components_(graph.states.size()),
        part_of_(graph.states.size()),
        region_(graph, out, ignored, part_of_),
        next_part_(static_cast<std::uint32_t>(graph.states.size()) + 2) {
    for (std::size_t m = 0; m < team.members(); ++m) {
      judges_.emplace_back(region_);
    }
  }

  Analysis run() {
    const ProgressGraph& graph = region_.graph;
    std::vector<std::uint16_t> owed(graph.demands.size()); // by list of demands: rules, a bit each
    for (std::uint32_t n = 0; n < owed.size(); ++n) {
      for (const Demand& demand : graph.demands[n]) {
        owed[n] = static_cast<std::uint16_t>(owed[n] | 1U << static_cast<unsigned>(demand.rule));
      }
    }
    team_.each(graph.states.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t s = begin; s < end; ++s) {
        if (graph.states[s].expanded && !graph.states[s].terminal) {
          components_.open(static_cast<StateId>(s));
        } else {
          components_.close(static_cast<StateId>(s));
        }
      }
    });
    components_.split(region_.out, {}, team_);
    OnCircles found = judge_single_states(
        graph.states.size(),
        [&](std::size_t i) -> std::optional<StateId> {
          const auto s = static_cast<StateId>(i);
          return graph.states[s].expanded && !graph.states[s].terminal ? std::optional(s)
                                                                       : std::nullopt;
        },
        [&](StateId s) { return region_.out.owed_by(s) | owed[graph.states[s].demands]; },
        /*whole=*/true
    );
    circles_ = std::move(found.all);
    judge_parts(group(found.several));
    return all_together();
  }

  /// Within these states, each of which is on a cycle.
  Analysis run(const std::vector<StateId>& region) {
    if (!region.empty()) {
      refine(region);
    }
    return all_together();
  }

private:
  // A component of so many states is judged by the whole team.
  static constexpr std::size_t large = 1U << 13;
  // So many states are taken by a member at once: what it costs to take them must not count.
  static constexpr std::size_t chunk = 1U << 12, batch = 1U << 9;

  /// States of components that have just been found, in the order of the states.
  struct OnCircles {
    std::vector<StateId> all;
    std::vector<StateId> several; // those whose component has more than one state
  };

  /// Judges the components of one state among state_at(0), state_at(1), …; `owed(s)`: the rules by
  /// which somebody is owed something in s, a bit each. Most graphs have hardly any others: a
  /// thread that spins leads back to the state in which it is.
  template <class StateAt, class Owed>
  OnCircles
  judge_single_states(std::size_t count, const StateAt& state_at, const Owed& owed, bool whole) {
    std::vector<OnCircles> chunks((count + chunk - 1) / chunk);
    team_.each_of(chunks.size(), [&](std::size_t n, std::size_t m) {
      for (std::size_t i = n * chunk; i < std::min(count, (n + 1) * chunk); ++i) {
        const std::optional<StateId> s = state_at(i);
        if (!s) {
          continue;
        }
        if (!components_.is_single(*s)) {
          chunks[n].several.push_back(*s);
        } else if (!components_.leads_back(*s)) {
          judges_[m].judge_single(*s, owed(*s), whole);
          continue;
        }
        chunks[n].all.push_back(*s);
        if (components_.is_single(*s) && !over()) {
          const std::uint32_t own = *s + 1; // below the number of any other part
          region_.put(*s, own);
          judges_[m].judge(own, std::span(&*s, 1), nullptr);
          settle(judges_[m]);
        }
      }
    });
    return {together(chunks, &OnCircles::all), together(chunks, &OnCircles::several)};
  }

  /// One behind the other.
  std::vector<StateId>
  together(const std::vector<OnCircles>& chunks, std::vector<StateId> OnCircles::* which) {
    std::vector<std::size_t> begins{0};
    for (const OnCircles& one : chunks) {
      begins.push_back(begins.back() + (one.*which).size());
    }
    std::vector<StateId> result(begins.back());
    team_.each_of(chunks.size(), [&](std::size_t n, std::size_t) {
      std::ranges::copy(chunks[n].*which, result.begin() + static_cast<std::ptrdiff_t>(begins[n]));
    });
    return result;
  }

  /// The components that these states are in: numbered from `first_part_` on in the order of their
  /// first states, each ascending.
  Lists<StateId> group(std::span<const StateId> states) {
    std::vector<std::size_t> sizes;
    const std::uint32_t first = next_part_.load();
    const std::uint32_t before = first;
    for (const StateId s : states) {
      std::uint32_t& part = part_of_[components_.root(s)];
      if (part < before) {
        part = first + static_cast<std::uint32_t>(sizes.size());
        sizes.push_back(0);
      }
      part_of_[s] = part;
      ++sizes[part - first];
    }
    first_part_ = first;
    next_part_ = first + static_cast<std::uint32_t>(sizes.size());
    return Lists<StateId>::of_sizes(sizes, states, [&](StateId s) { return part_of_[s] - first; });
  }

  void judge_parts(const Lists<StateId>& parts) {
    const std::uint32_t first = first_part_;
    std::vector<std::vector<StateId>> rests;
    std::vector<std::uint32_t> begins; // of batches of small parts
    std::size_t in_batch = batch;
    for (std::uint32_t n = 1; n < parts.size(); ++n) { // list 0 is the empty one
      if (in_batch >= batch) {
        begins.push_back(n);
        in_batch = 0;
      }
      if (parts[n].size() < large) {
        in_batch += parts[n].size();
      } else if (!over()) {
        judges_.front().judge(first + n - 1, parts[n], &team_);
        std::ranges::move(judges_.front().rests, std::back_inserter(rests));
        judges_.front().rests.clear();
      }
    }
    begins.push_back(static_cast<std::uint32_t>(parts.size()));
    // Components have no edge in common.
    team_.each_of(begins.size() - 1, [&](std::size_t i, std::size_t m) {
      for (std::uint32_t n = begins[i]; n < begins[i + 1]; ++n) {
        if (parts[n].size() < large && !over()) {
          judges_[m].judge(first + n - 1, parts[n], nullptr);
          settle(judges_[m]);
        }
      }
    });
    for (const std::vector<StateId>& rest : rests) {
      if (!over()) {
        refine(rest);
      }
    }
  }

  /// What is left of a large component, by the whole team.
  void refine(const std::vector<StateId>& states) {
    const std::uint32_t part = next_part_++;
    team_.each(states.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t i = begin; i < end; ++i) {
        region_.put(states[i], part);
        components_.open(states[i]);
      }
    });
    components_.split(region_.out, which(part), states, team_);
    const OnCircles found = judge_single_states(
        states.size(),
        [&](std::size_t i) { return std::optional(states[i]); },
        [&](StateId s) { return region_.rules_owed_in(s); },
        /*whole=*/false
    );
    judge_parts(group(found.several));
  }

  /// What is left of small components, by one member.
  void settle(ComponentJudge& judge) {
    while (!judge.rests.empty() && !over()) {
      const std::vector<StateId> states = std::move(judge.rests.back());
      judge.rests.pop_back();
      const std::uint32_t part = next_part_++;
      for (const StateId s : states) {
        region_.put(s, part);
        components_.open(s);
      }
      components_.split(region_.out, which(part), states);
      std::vector<std::pair<StateId, StateId>> on_circles; // root, state
      for (const StateId s : states) {
        if (!components_.is_single(s) || components_.leads_back(s)) {
          on_circles.emplace_back(components_.root(s), s);
        } else {
          judge.judge_single(s, region_.rules_owed_in(s), /*whole=*/false);
        }
      }
      std::ranges::sort(on_circles);
      std::vector<StateId> members;
      for (std::size_t i = 0; i < on_circles.size(); ++i) {
        members.push_back(on_circles[i].second);
        if (i + 1 == on_circles.size() || on_circles[i + 1].first != on_circles[i].first) {
          const std::uint32_t own = next_part_++;
          for (const StateId s : members) {
            region_.put(s, own);
          }
          judge.judge(own, members, nullptr);
          members.clear();
        }
      }
    }
  }

  Components::Which which(std::uint32_t part) const {
    return {
        .gone = region_.some_gone ? &region_.gone : nullptr,
        .part_of = part_of_.data(),
        .part = part
    };
  }

  /// Enough has been found out.
  bool over() const {
    return first_only_ && std::ranges::any_of(judges_, [](const ComponentJudge& judge) {
             return judge.found_some();
           });
  }

  Analysis all_together() {
    Analysis all;
    all.circles = std::move(circles_);
    for (ComponentJudge& judge : judges_) {
      Analysis& part = judge.analysis;
      std::ranges::move(part.endless, std::back_inserter(all.endless));
      for (std::size_t rule = 0; rule < rule_count; ++rule) {
        Analysis::Use& use = all.uses[rule];
        use.some = use.some || part.uses[rule].some;
        use.steps = static_cast<std::uint8_t>(use.steps | part.uses[rule].steps);
        all.alone[rule] = all.alone[rule] || part.alone[rule];
      }
    }
    std::ranges::sort(all.endless, {}, &Component::states);
    return all;
  }

  bool first_only_;
  Team& team_;
  Components components_;
  LargeArray<std::uint32_t> part_of_;
  Region region_;
  std::deque<ComponentJudge> judges_; // by member of the team
  std::vector<StateId> circles_;
  std::uint32_t first_part_ = 0;         // of the last group()
  std::atomic<std::uint32_t> next_part_; // a number that no part has; above those of all states
};

} // namespace

std::vector<Demand> all_owed_in(const ProgressGraph& graph, const OutEdges& out, StateId s) {
  const std::span<const Demand> listed = graph.owed_in(s);
  std::vector<Demand> result(listed.begin(), listed.end());
  for (const EdgeId e : out.of(s)) {
    if (const Label& label = graph.edges.label(e); label.owed != Rule::None) {
      result.push_back({label.owed, label.who});
    }
  }
  std::ranges::sort(result);
  const auto rest = std::ranges::unique(result);
  result.erase(rest.begin(), rest.end());
  return result;
}

Analysis find_endless(const ProgressGraph& graph, const OutEdges& out, Team& team) {
  return Refinement(graph, out, std::nullopt, /*first_only=*/false, team).run();
}

Analysis find_endless(const ProgressGraph& graph, const OutEdges& out) {
  Team alone(1);
  return find_endless(graph, out, alone);
}

Analysis find_endless(const ProgressGraph& graph) {
  return find_endless(graph, OutEdges(graph));
}

bool has_endless(
    const ProgressGraph& graph,
    const OutEdges& out,
    const Analysis& analysis,
    Rule ignored,
    Team& team
) {
  // A rule less keeps nothing apart that was together, and brings nothing together.
  return analysis.alone[static_cast<std::size_t>(ignored)] ||
         !Refinement(graph, out, ignored, /*first_only=*/true, team)
              .run(analysis.circles)
              .endless.empty();
}

void leave_out_unreached(ProgressGraph& graph, const OutEdges& out) {
  if (std::ranges::all_of(graph.states, [](const State& s) { return s.expanded || s.terminal; })) {
    return;
  }
  std::vector<bool> reached(graph.states.size(), false);
  std::vector<StateId> queue{0};
  reached[0] = true;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    for (const StateId to : out.targets_of(queue[next])) {
      if (!reached[to]) {
        reached[to] = true;
        queue.push_back(to);
      }
    }
  }
  for (StateId s = 0; s < graph.states.size(); ++s) {
    graph.states[s].expanded = graph.states[s].expanded && reached[s];
  }
}

namespace {

/// Of edges that are `allowed`.
template <class Allowed>
std::optional<std::vector<EdgeId>> shortest_way_by(
    const ProgressGraph& graph,
    const OutEdges& out,
    const std::vector<bool>& wanted,
    const Allowed& allowed
) {
  constexpr EdgeId start = none - 1;
  std::vector<EdgeId> came_by(graph.states.size(), none); // none: nobody has been there
  std::vector<StateId> queue{0};
  came_by[0] = start;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    StateId s = queue[next];
    if (wanted[s]) {
      std::vector<EdgeId> way;
      for (; came_by[s] != start; s = graph.edges.from(came_by[s])) {
        way.push_back(came_by[s]);
      }
      std::reverse(way.begin(), way.end());
      return way;
    }
    const std::span<const StateId> targets = out.targets_of(s);
    for (std::size_t n = 0; n < targets.size(); ++n) {
      if (came_by[targets[n]] == none && allowed(out.of(s)[n])) {
        came_by[targets[n]] = out.of(s)[n];
        queue.push_back(targets[n]);
      }
    }
  }
  return std::nullopt;
}

} // namespace

std::vector<EdgeId>
shortest_way(const ProgressGraph& graph, const OutEdges& out, const std::vector<StateId>& targets) {
  std::vector<bool> wanted(graph.states.size(), false);
  for (const StateId s : targets) {
    wanted[s] = true;
  }
  const auto without = [&](EdgeId e) {
    return graph.edges.label(e).unprovoked != Unprovoked::WakeUp || wake_mutant_is("nearest");
  };
  if (auto way = shortest_way_by(graph, out, wanted, without)) {
    return std::move(*way);
  }
  return shortest_way_by(graph, out, wanted, [](EdgeId) { return true; })
      .value_or(std::vector<EdgeId>());
}

std::vector<EdgeId>
random_way_to_an_end(const ProgressGraph& graph, const OutEdges& out, std::uint64_t number) {
  constexpr std::size_t most_steps = 4096;
  if (graph.states.empty()) { // interrupted before the first one
    return {};
  }
  Random random(graph.states.size() + number); // the same way each time
  std::vector<EdgeId> way;
  std::unordered_map<StateId, std::size_t> edges_before{{0, 0}};
  StateId at = 0;
  for (std::size_t step = 0; step < most_steps && !graph.states[at].terminal; ++step) {
    const std::span<const StateId> targets = out.targets_of(at);
    if (targets.empty()) {
      return {};
    }
    const auto n = static_cast<std::size_t>(random.below(targets.size()));
    way.push_back(out.of(at)[n]);
    at = targets[n];
    const std::size_t before = edges_before.try_emplace(at, way.size()).first->second;
    for (; way.size() > before; way.pop_back()) {
      edges_before.erase(graph.edges.to(way.back()));
    }
    edges_before[at] = before;
  }
  return graph.states[at].terminal ? way : std::vector<EdgeId>();
}

std::vector<EdgeId> way_to_an_end(const ProgressGraph& graph, const OutEdges& out) {
  if (std::vector<EdgeId> way = random_way_to_an_end(graph, out, 0); !way.empty()) {
    return way;
  }
  LargeArray<EdgeId> came_by(graph.states.size()); // and one more; 0: nobody has been there
  std::vector<StateId> open{0}; // the last one is next: a program mostly goes to its end
  while (!open.empty()) {
    StateId s = open.back();
    open.pop_back();
    if (graph.states[s].terminal) {
      std::vector<EdgeId> way;
      for (; s != 0; s = graph.edges.from(way.back())) {
        way.push_back(came_by[s] - 1);
      }
      std::ranges::reverse(way);
      return way;
    }
    const std::span<const StateId> targets = out.targets_of(s);
    for (std::size_t n = 0; n < targets.size(); ++n) {
      if (targets[n] != 0 && came_by[targets[n]] == 0) {
        came_by[targets[n]] = out.of(s)[n] + 1;
        open.push_back(targets[n]);
      }
    }
  }
  return {};
}

} // namespace heddle::explore
