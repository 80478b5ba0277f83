// Implements search.h.
#include "reference/search.h"

#include "base/hash.h"
#include "reference/judge.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::reference {

namespace {

bool clash(const Access& a, const Access& b) {
  return (a.writes || b.writes) && !(a.strong && b.strong) && a.at < b.at + b.bytes &&
         b.at < a.at + a.bytes;
}

bool clash(std::span<const Access> some, std::span<const Access> others) {
  return std::ranges::any_of(some, [&](const Access& a) {
    return std::ranges::any_of(others, [&](const Access& b) { return clash(a, b); });
  });
}

class Search {
public:
  Search(System& system, std::size_t most) : system_(system), most_(most) {}

  std::optional<Outcome> run() {
    number_of(system_.save());
    for (std::uint32_t next = 0; next < waiting_.size(); ++next) { // breadth first
      expand(next);
      if (graph_.states.size() > most_) {
        return std::nullopt;
      }
      if (!outcome_.refused.empty()) {
        return std::move(outcome_);
      }
    }
    judge();
    outcome_.states = graph_.states.size();
    outcome_.moves = graph_.edges.size();
    return std::move(outcome_);
  }

private:
  std::uint32_t number_of(const Bytes& state) {
    const XXH128_hash_t hash = XXH3_128bits(state.data(), state.size());
    const auto [known, is_new] = numbers_.try_emplace(
        {hash.low64, hash.high64},
        static_cast<std::uint32_t>(waiting_.size())
    );
    if (is_new) {
      waiting_.push_back(state);
      graph_.states.emplace_back();
    }
    return known->second;
  }

  void expand(std::uint32_t number) {
    const Bytes state = std::exchange(waiting_[number], {});
    system_.load(state);
    const std::vector<Move> moves = system_.enabled();
    graph_.states[number].over = system_.over();
    graph_.states[number].moves = !moves.empty();
    if (moves.empty()) {
      const std::vector<std::string> names = system_.blocked();
      blocked_[number].insert(names.begin(), names.end());
    }
    std::vector<std::vector<Access>> accesses;
    for (const Move& move : moves) {
      if (move.owed) {
        graph_.states[number].owed.push_back(move.thread);
      }
      names_.try_emplace(move.thread, system_.name_of(move));
      system_.load(state);
      Taken taken = system_.apply(move);
      if (!taken.refused.empty()) {
        outcome_.refused = taken.refused;
        return;
      }
      accesses.push_back(std::move(taken.accesses));
      if (!taken.fault.empty()) {
        outcome_.faults.insert(taken.fault);
        continue;
      }
      const std::uint32_t to = number_of(system_.save());
      graph_.edges.push_back({number, to, move.thread, taken.step});
    }
    for (std::size_t n = 0; n < accesses.size() && !outcome_.races; ++n) {
      for (std::size_t m = 0; m < n; ++m) {
        outcome_.races = outcome_.races || clash(accesses[n], accesses[m]);
      }
    }
  }

  void judge() {
    for (const Endless& endless : find_endless(graph_)) {
      if (endless.edges.empty()) {
        outcome_.deadlocked.merge(blocked_[endless.states.front()]);
        continue;
      }
      bool steps = false;
      for (const std::uint32_t e : endless.edges) {
        outcome_.endless.insert(names_.at(graph_.edges[e].thread));
        steps = steps || graph_.edges[e].step;
      }
      outcome_.loops = outcome_.loops || !steps;
    }
  }

  struct HashOfHash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& hash) const {
      return hash.first;
    }
  };
  System& system_;
  std::size_t most_;
  Graph graph_;
  std::vector<Bytes> waiting_; // by number; empty once the state has been expanded
  std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t, HashOfHash> numbers_;
  std::map<std::uint32_t, std::set<std::string>> blocked_;
  std::map<std::uint32_t, std::string> names_;
  Outcome outcome_;
};

} // namespace

std::optional<Outcome> search(System& system, std::size_t most_states) {
  return Search(system, most_states).run();
}

} // namespace heddle::reference
