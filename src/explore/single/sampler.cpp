// Implements sampler.h.
#include "explore/single/sampler.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <unordered_map>

namespace heddle::explore {

namespace {

constexpr auto names = std::to_array<std::string_view>(
    {"turns", "lazy", "few", "cluster", "warp", "thread", "host", "priorities", "random"}
);
static_assert(names.size() == strategy_count);

constexpr std::uint32_t first_most_steps = 1 << 12;
constexpr std::uint32_t most_doublings = 8;
constexpr std::uint32_t most_first_part_bits = 11;
constexpr std::uint32_t most_changes = 6;
constexpr std::uint64_t middle_priority = 1ULL << 62;
// So far back a loop can begin, in steps: what lies in between is remembered.
constexpr std::size_t longest_loop = 1 << 16;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t both[] = {a, b};
  return XXH3_64bits(both, sizeof both);
}

} // namespace

std::string_view name(Strategy strategy) {
  return names[static_cast<std::size_t>(strategy)];
}

SamplePlan plan_for(std::uint64_t seed, std::uint32_t number) {
  std::mt19937_64 random(mix(seed, number));
  SamplePlan plan;
  plan.strategy = static_cast<Strategy>(number % strategy_count);
  plan.seed = random();
  plan.most_steps = first_most_steps << std::min(number / sweep, most_doublings);
  plan.first_part =
      static_cast<std::uint32_t>(random() >> 32) & ((2U << random() % most_first_part_bits) - 1);
  plan.changes = 1 + static_cast<std::uint32_t>(random() % most_changes);
  if (plan.strategy == Strategy::Turns || plan.strategy == Strategy::Lazy) {
    // In the first sweep without a first part: the plainest schedules come first.
    plan.first_part = number < strategy_count ? 0 : plan.first_part;
  }
  return plan;
}

Sampler::Sampler(const SamplePlan& plan)
    : plan_(plan),
      random_(plan.seed),
      first_part_ends_(plan.first_part),
      lowest_(middle_priority) {
  if (plan.strategy == Strategy::Priorities) {
    for (std::uint32_t i = 0; i < plan.changes; ++i) {
      change_at_.push_back(static_cast<std::uint32_t>(random_.below(plan.first_part + 1)));
    }
    std::ranges::sort(change_at_, std::greater());
  }
}

Sampler::Next Sampler::next(const Here& here) {
  if (here.candidates.empty()) {
    return without_turn(here);
  }
  if (steps_ >= plan_.most_steps) {
    return {Answer::CutOff};
  }
  if (!turns_) {
    const bool fresh = seen_.insert(here.state.low).second;
    stale_ = fresh ? 0 : stale_ + 1;
    if (!fresh) {
      priority(last_) = --lowest_;
    }
    if (steps_ >= first_part_ends_ || stale_ > 2 * here.candidates.size() + 8) {
      begin_turns(here);
    }
  }
  const Next result = turns_ ? in_turn(here) : Next{Answer::Move, freely(here)};
  if (result.answer == Answer::Move) {
    const Candidate& chosen = here.candidates[result.candidate];
    started_ += chosen.kind == ActorKind::DeviceThread && !chosen.owed ? 1 : 0;
    last_ = chosen.actor;
    kind_ = chosen.kind;
    from_ = here.state;
    if (turns_) {
      demands_.assign(here.demands.begin(), here.demands.end());
    }
  }
  return result;
}

void Sampler::moved(const Edge& edge, std::span<const ClassChange> changes) {
  ++steps_;
  if (turns_) {
    moved_.push_back({from_, std::move(demands_), edge, {changes.begin(), changes.end()}});
    moved_.back().edge.actor = static_cast<ActorId>(kind_); // one of those of analyse()
  }
}

/// moved_ is a loop that may go on forever, or empty where nobody has to move.
Sampler::Next Sampler::hang(const Here& here) {
  Hang found;
  found.at = steps_;
  found.left_out =
      static_cast<std::size_t>(std::ranges::count(here.candidates, false, &Candidate::owed));
  for (const Moved& m : moved_) {
    found.sites.push_back(m.edge.site);
  }
  std::ranges::sort(found.sites);
  const auto rest = std::ranges::unique(found.sites);
  found.sites.erase(rest.begin(), rest.end());
  const bool better = !best_ || found.left_out < best_->left_out;
  const bool last = found.left_out == 0 || steps_ == plan_.stop_at;
  if (better) {
    best_ = std::move(found);
  }
  if (last) {
    return {Answer::Hang, 0, better};
  }
  begin_turns(here);
  return {Answer::Move, release(here), better};
}

// --- The first part ------------------------------------------------------------------------------

std::uint64_t& Sampler::priority(std::uint64_t actor) {
  return priorities_.try_emplace(actor, middle_priority + (mix(plan_.seed, actor) >> 2))
      .first->second;
}

std::size_t Sampler::any_of(std::span<const std::size_t> numbers) {
  return numbers[random_.below(numbers.size())];
}

/// Who is left behind is known when there is somebody.
void Sampler::pick_left_out(const Here& here) {
  std::vector<std::size_t> device;
  for (std::size_t i = 0; i < here.candidates.size(); ++i) {
    if (here.candidates[i].kind == ActorKind::DeviceThread) {
      device.push_back(i);
    }
  }
  if (picked_ || device.empty()) {
    return;
  }
  picked_ = true;
  const Candidate& candidate = here.candidates[any_of(device)];
  picked_one_ = plan_.strategy == Strategy::Cluster ? candidate.cluster
                : plan_.strategy == Strategy::Warp  ? candidate.warp
                                                    : candidate.actor;
}

bool Sampler::left_out(const Candidate& candidate) const {
  const bool device = candidate.kind == ActorKind::DeviceThread;
  switch (plan_.strategy) {
  case Strategy::Lazy:
    return !candidate.owed && device;
  case Strategy::Few:
    return !candidate.owed && device && started_ > plan_.changes;
  case Strategy::Cluster:
    return picked_ && device && candidate.cluster == picked_one_;
  case Strategy::Warp:
    return picked_ && device && candidate.warp == picked_one_;
  case Strategy::Thread:
    return picked_ && device && candidate.actor == picked_one_;
  case Strategy::Host:
    return picked_ && candidate.kind == ActorKind::Host;
  case Strategy::Turns:
  case Strategy::Priorities:
  case Strategy::Random:
    break;
  }
  return false;
}

std::size_t Sampler::freely(const Here& here) {
  pick_left_out(here);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < here.candidates.size(); ++i) {
    if (!left_out(here.candidates[i])) {
      open.push_back(i);
    }
  }
  for (std::size_t i = 0; open.empty() && i < here.candidates.size(); ++i) {
    open.push_back(i);
  }
  if (plan_.strategy == Strategy::Random) {
    return any_of(open);
  }
  if (plan_.strategy == Strategy::Turns) {
    const auto later =
        std::ranges::find_if(open, [&](std::size_t i) { return here.candidates[i].actor > last_; });
    return later != open.end() ? *later : open.front();
  }
  const auto first = [&] {
    return *std::ranges::max_element(open, {}, [&](std::size_t i) {
      return priority(here.candidates[i].actor);
    });
  };
  std::size_t best = first();
  while (!change_at_.empty() && change_at_.back() <= steps_) {
    change_at_.pop_back();
    priority(here.candidates[best].actor) = --lowest_;
    best = first();
  }
  // The same actor may have several ways to go on.
  std::erase_if(open, [&](std::size_t i) {
    return here.candidates[i].actor != here.candidates[best].actor;
  });
  return any_of(open);
}

// --- The second part -----------------------------------------------------------------------------

void Sampler::begin_turns(const Here& here) {
  turns_ = true;
  anchor_ = here.state;
  moved_.clear();
  refuted_ = 0;
  look_at_ = round_of(here);
  power_ = 2 * here.candidates.size() + 16;
}

/// So many steps a loop has at least.
std::size_t Sampler::round_of(const Here& here) {
  return static_cast<std::size_t>(std::ranges::count(here.candidates, true, &Candidate::owed));
}

/// What was done since the anchor, as a graph; the state itself if that is nothing.
Analysis Sampler::analyse(const Here& here) const {
  ProgressGraph graph;
  graph.actors = {
      // by their kinds
      {ActorKind::Host, "", "", ""},
      {ActorKind::DeviceThread, "", "", ""},
      {ActorKind::Command, "", "", ""}
  };
  struct Half {
    std::size_t operator()(const Hash128& h) const { return h.low; }
  };
  std::unordered_map<Hash128, StateId, Half> ids;
  const auto id_of = [&](const Hash128& hash, std::span<const Demand> demands) {
    const auto [place, is_new] = ids.try_emplace(hash, static_cast<StateId>(graph.states.size()));
    if (is_new) {
      State& state = graph.states.emplace_back();
      state.expanded = true; // its demands are known, and that is what counts
      std::vector<Demand> sorted(demands.begin(), demands.end());
      std::ranges::sort(sorted);
      state.demands = graph.demands.add(sorted);
    }
    return place->second;
  };
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    Edge edge = moved_[i].edge;
    edge.from = id_of(moved_[i].from, moved_[i].demands);
    edge.to = i + 1 < moved_.size() ? id_of(moved_[i + 1].from, moved_[i + 1].demands)
                                    : id_of(here.state, here.demands);
    edge.changes = 0;
    if (!moved_[i].changes.empty()) {
      edge.changes = graph.changes.add(moved_[i].changes);
    }
    graph.edges.push_back(edge);
  }
  id_of(here.state, here.demands);
  return find_endless(graph);
}

/// Nobody is there who must move. Need anybody?
Sampler::Next Sampler::without_turn(const Here& here) {
  moved_.clear();
  if (!analyse(here).endless.empty()) {
    return hang(here);
  }
  begin_turns(here);
  return {Answer::Move, release(here)};
}

Sampler::Next Sampler::in_turn(const Here& here) {
  if (!moved_.empty() && moved_.size() >= look_at_ && here.state == anchor_) {
    const Analysis analysis = analyse(here);
    if (!analysis.endless.empty()) {
      return hang(here);
    }
    // Those who are owed moves get them in the next round; others have to be let in.
    const bool others = analysis.used(Rule::Api) || analysis.used(Rule::Query);
    if (others || ++refuted_ > 2) {
      begin_turns(here);
      return {Answer::Move, release(here)};
    }
    look_at_ = moved_.size() + round_of(here);
  } else if (moved_.size() >= power_) {
    const std::size_t power = std::min(2 * power_, longest_loop);
    begin_turns(here);
    power_ = power;
  }
  std::optional<std::size_t> first, later;
  for (std::size_t i = 0; i < here.candidates.size(); ++i) {
    const Candidate& candidate = here.candidates[i];
    const bool turn = plan_.strategy == Strategy::Turns
                          ? candidate.kind != ActorKind::Host || candidate.owed
                          : candidate.owed;
    if (!turn) {
      continue;
    }
    if (!first || candidate.actor < here.candidates[*first].actor) {
      first = i;
    }
    if (candidate.actor > last_ && (!later || candidate.actor < here.candidates[*later].actor)) {
      later = i;
    }
  }
  if (!first) {
    return without_turn(here);
  }
  return {Answer::Move, later ? *later : *first};
}

/// Lets in one of those who need not move.
std::size_t Sampler::release(const Here& here) {
  std::array<std::vector<std::size_t>, 3> by_kind;
  for (std::size_t i = 0; i < here.candidates.size(); ++i) {
    if (!here.candidates[i].owed) {
      by_kind[static_cast<std::size_t>(here.candidates[i].kind)].push_back(i);
    }
  }
  std::vector<std::size_t> kinds;
  for (std::size_t k = 0; k < by_kind.size(); ++k) {
    if (!by_kind[k].empty()) {
      kinds.push_back(k);
    }
  }
  return kinds.empty() ? random_.below(here.candidates.size()) : any_of(by_kind[any_of(kinds)]);
}

} // namespace heddle::explore
