// [RANK-CHECKPOINT] A simulated search on several ranks is stopped at any time, also within an
// arrival, and goes on from what the tables of all ranks, or of some, have: in the end it has the
// graph that one process finds. Tables and the rule of claims are the product's own; boards and
// messages are small copies of them, and a message may be late or lost.
#include "explore/ranks/claim_rule.h"
#include "explore/table/state_table.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace heddle::explore {
namespace {

constexpr StateTable::Limits room_for_some{.max_states = 200};
using Random = std::mt19937;

bool chance(Random& random, unsigned of_hundred) {
  return random() % 100 < of_hundred;
}

/// Which states the moves of devices in a state lead to, and the way of a host thread.
struct SimulatedState {
  std::vector<unsigned> devices;
  std::optional<unsigned> way;
  bool puts_off = false; // the host moves alone when it is met for the first time
};
using SimulatedSystem = std::vector<SimulatedState>;

SimulatedSystem random_system(Random& random) {
  SimulatedSystem system(3 + random() % 18);
  const auto some = [&] { return static_cast<unsigned>(random() % system.size()); };
  for (SimulatedState& state : system) {
    for (unsigned n = random() % 4; n != 0; --n) {
      state.devices.push_back(some());
    }
    std::ranges::sort(state.devices);
    state.devices.erase(std::ranges::unique(state.devices).begin(), state.devices.end());
    if (chance(random, 30)) {
      state.way = some();
      state.puts_off = chance(random, 50);
    }
  }
  return system;
}

Hash128 name_of(unsigned state) {
  return {(std::uint64_t{state} + 1) * 0x9e37'79b9'7f4a'7c15ULL, state};
}

/// Claims of others that a rank has heard of.
struct HeardClaims {
  bool is_elsewhere(const Hash128& claim) const { return heard.contains({claim.low, claim.high}); }
  void announce(const Hash128& claim) { fresh.push_back(claim); }
  void hear(const Hash128& claim) { heard.insert({claim.low, claim.high}); }
  std::set<std::pair<std::uint64_t, std::uint64_t>> heard;
  std::vector<Hash128> fresh;
};

struct OpenMove {
  unsigned from = 0, to = 0;
  bool of_host = false;
  std::uint32_t claimer = StateTable::own_claim;
};

class SimulatedRank {
public:
  SimulatedRank(const SimulatedSystem& system, StateTable table)
      : system_(system),
        table(std::move(table)) {}
  void begin() { arrive(0, {.first_ways = 1}, std::nullopt); }
  /// Makes one of the moves that are open. `points`: stops at that point of an arrival, forever.
  void step(Random& random, unsigned points = ~0U) {
    points_ = points;
    const OpenMove move = take_open(random);
    const StateId from = *table.know(name_of(move.from));
    if (!move.of_host) {
      if (const auto to = done_somewhere(board, table, name_of(move.to))) {
        add_edge(move, from, *to);
        return;
      }
    }
    arrive(move.to, {.first_ways = move.of_host ? 1U : 0U}, move);
  }
  OpenMove take_open(Random& random) {
    std::swap(open[random() % open.size()], open.back());
    const OpenMove move = open.back();
    open.pop_back();
    return move;
  }
  /// Half of what `giver`, with that number, has left.
  void take_from(SimulatedRank& giver, std::uint32_t number, std::uint32_t own, Random& random) {
    for (std::size_t n = (giver.open.size() + 1) / 2; n != 0; --n) {
      OpenMove move = giver.take_open(random);
      move.claimer = move.claimer == StateTable::own_claim ? number : move.claimer;
      const StateId from = *table.know(name_of(move.from));
      if (!move.of_host) {
        table.note_elsewhere(from);
      }
      move.claimer = move.claimer == own ? StateTable::own_claim : move.claimer;
      open.push_back(move);
    }
  }
  std::shared_ptr<int> saved() const {
    std::shared_ptr<int> file(new int(::memfd_create("part", 0)), [](const int* fd) {
      ::close(*fd);
      delete fd;
    });
    EXPECT_TRUE(table.save(*file));
    return file;
  }

private:
  void add_edge(const OpenMove& move, StateId from, StateId to) {
    const Edge edge{
        .from = from,
        .to = to,
        .actor = table.add_actor({ActorKind::DeviceThread, "thread", "", "k"}),
        .who = 1000 * (move.of_host ? 2ULL : 1ULL) + move.to,
        .step = move.of_host ? Step::Host : Step{}
    };
    table.add_edge({from, to, table.label(edge), 0}, move.claimer);
  }
  bool stops_here() { return points_-- == 0; }

  /// As Search::arrive().
  void arrive(unsigned state, const Choices& asked, std::optional<OpenMove> by) {
    const SimulatedState& here = system_[state];
    const std::optional<StateId> from =
        by ? std::optional(*table.know(name_of(by->from))) : std::nullopt;
    const auto visit = table.visit(name_of(state), asked);
    if (visit->nothing_new) {
      if (from) {
        add_edge(*by, *from, visit->id);
      }
      return;
    }
    Choices all = asked;
    all.device = !visit->first || here.devices.empty() || !here.puts_off;
    if (here.puts_off) {
      all.first_ways |= 1;
    }
    if (visit->first && table.goes_on()) {
      all |= table.asked_before(visit->id);
    }
    if (stops_here()) {
      return;
    }
    const Choices mine = keep_ours(
        board,
        table,
        name_of(state),
        visit->id,
        /*threads=*/1,
        table.claim(visit->id, all)
    );
    if (stops_here()) {
      return;
    }
    std::vector<OpenMove> moves;
    if (mine.device) {
      for (const unsigned to : here.devices) {
        moves.push_back({.from = state, .to = to});
      }
    }
    if ((mine.first_ways & 1) != 0 && here.way) {
      moves.push_back({.from = state, .to = *here.way, .of_host = true});
    }
    const auto count = static_cast<std::uint32_t>(moves.size());
    if (visit->first) {
      table.describe(visit->id, {.moves_follow = true}, count);
    } else {
      table.add_moves(visit->id, count);
    }
    if (stops_here()) {
      return;
    }
    if (from) {
      add_edge(*by, *from, visit->id);
    }
    open.insert(open.end(), moves.begin(), moves.end());
  }

  const SimulatedSystem& system_;
  unsigned points_ = ~0U;

public:
  StateTable table;
  HeardClaims board;
  std::vector<OpenMove> open;
};

using Arrows = std::set<std::tuple<std::uint64_t, std::uint64_t, ThreadClass>>;

class SimulatedSearch {
public:
  SimulatedSearch(const SimulatedSystem& system, std::size_t ranks, StateTable table) {
    const auto again = table.to_meet_again();
    const auto claims = table.claims_made();
    ranks_.emplace_back(std::make_unique<SimulatedRank>(system, std::move(table)));
    while (ranks_.size() < ranks) {
      ranks_.emplace_back(
          std::make_unique<SimulatedRank>(system, std::move(*StateTable::create(room_for_some)))
      );
      ranks_.back()->table.expect(again);
      std::ranges::for_each(claims, [&](const Hash128& claim) {
        ranks_.back()->board.hear(claim);
      });
    }
    ranks_.front()->begin();
  }
  /// So many moves; then some ranks stop within one. False: the search is over before that.
  bool run(Random& random, unsigned moves) {
    for (unsigned n = 0; n < moves; ++n) {
      share(random);
      exchange(random);
      SimulatedRank* const rank = with_work(random);
      if (rank == nullptr) {
        return false;
      }
      rank->step(random);
    }
    for (const auto& rank : ranks_) {
      if (!rank->open.empty() && chance(random, 50)) {
        rank->step(random, random() % 4);
      }
    }
    return true;
  }
  /// What is in a file if some ranks have been lost.
  StateTable stopped(Random& random) const {
    const unsigned lost = chance(random, 50) ? 0 : 40;
    std::vector<std::shared_ptr<int>> files;
    std::vector<int> parts;
    for (const auto& rank : ranks_) {
      files.push_back(rank->saved());
      parts.push_back(parts.empty() || !chance(random, lost) ? *files.back() : -1);
    }
    auto table = StateTable::restore(parts, room_for_some);
    EXPECT_TRUE(table.has_value());
    return std::move(*table);
  }
  /// At the end of it: rank 0's table has all.
  StateTable& together() {
    std::vector<std::shared_ptr<int>> files;
    std::vector<int> parts{-1};
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
      files.push_back(ranks_[rank]->saved());
      parts.push_back(*files.back());
    }
    EXPECT_TRUE(ranks_.front()->table.take_in(parts).has_value());
    return ranks_.front()->table;
  }

private:
  SimulatedRank* with_work(Random& random) const {
    std::vector<SimulatedRank*> some;
    for (const auto& rank : ranks_) {
      if (!rank->open.empty()) {
        some.push_back(rank.get());
      }
    }
    return some.empty() ? nullptr : some[random() % some.size()];
  }
  void share(Random& random) {
    const auto giver = static_cast<std::uint32_t>(random() % ranks_.size()),
               taker = static_cast<std::uint32_t>(random() % ranks_.size());
    if (giver != taker && ranks_[taker]->open.empty() && !ranks_[giver]->open.empty()) {
      ranks_[taker]->take_from(*ranks_[giver], giver, taker, random);
    }
  }
  /// Some claims arrive now, some late, some never.
  void exchange(Random& random) const {
    for (const auto& from : ranks_) {
      if (from->board.fresh.empty() || chance(random, 50)) {
        continue;
      }
      for (const auto& to : ranks_) {
        for (const Hash128& claim : from->board.fresh) {
          if (to != from && !chance(random, 10)) {
            to->board.hear(claim);
          }
        }
      }
      from->board.fresh.clear();
    }
  }

  std::vector<std::unique_ptr<SimulatedRank>> ranks_;
};

/// The graph; all its states must be done.
Arrows arrows_of(const StateTable& table) {
  const ProgressGraph graph = table.load();
  std::vector<StateId> places(graph.states.size());
  for (StateId s = 0; s < places.size(); ++s) {
    places[s] = s;
    EXPECT_TRUE(graph.states[s].expanded);
  }
  const std::vector<Hash128> names = table.hashes(places, StateTable::Numbering::AsFound);
  Arrows arrows;
  for (EdgeId e = 0; e < graph.edges.size(); ++e) {
    const bool is_new =
        arrows
            .insert(
                {names[graph.edges.from(e)].high, names[graph.edges.to(e)].high, graph.edges[e].who}
            )
            .second;
    EXPECT_TRUE(is_new) << "an edge is there twice: from " << names[graph.edges.from(e)].high
                        << " to " << names[graph.edges.to(e)].high << ", by " << graph.edges[e].who;
  }
  return arrows;
}

/// A search whose ranks have come apart is made again by one, from the same file. Where ranks have
/// claimed the same moves, one of them may meet a state twice by the same move, and then makes
/// moves that one process puts off: they do no harm, and their states are explored, too.
TEST(RankCheckpoint, WhereverASearchStopsItFindsTheSame) {
  constexpr unsigned most = ~0U, seeds = 600;
  unsigned stops = 0, voids = 0;
  for (unsigned seed = 0; seed < seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const SimulatedSystem system = random_system(random);
    SimulatedSearch one(system, 1, std::move(*StateTable::create(room_for_some)));
    EXPECT_FALSE(one.run(random, most));
    const Arrows whole = arrows_of(one.together());

    std::optional<SimulatedSearch> search;
    const unsigned most_ranks = 1 + seed % 4;
    const auto some_ranks = [&] { return 1 + random() % most_ranks; };
    search.emplace(system, some_ranks(), std::move(*StateTable::create(room_for_some)));
    for (unsigned moves = 8; search->run(random, random() % moves); moves += 8) { // it gets on
      ++stops;
      StateTable table = search->stopped(random);
      search.emplace(system, some_ranks(), std::move(table));
    }
    StateTable& end = search->together();
    if (end.left_unclaimed() != 0) {
      ++voids;
      continue;
    }
    EXPECT_TRUE(end.all_met_again());
    const Arrows found = arrows_of(end);
    const bool may_have_more =
        most_ranks != 1 && std::ranges::any_of(system, &SimulatedState::puts_off);
    EXPECT_TRUE(may_have_more ? std::ranges::includes(found, whole) : found == whole);
  }
  std::printf("%u stops, %u searches to be made again by one rank\n", stops, voids);
  EXPECT_GT(stops, seeds);
  EXPECT_LT(voids, seeds / 4);
}

} // namespace
} // namespace heddle::explore
