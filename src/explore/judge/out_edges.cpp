// OutEdges of progress_graph.h: edges sorted by the states that they lead out of.
//
// The edges of a state lie far apart, as the search has found them. To look them up one by one, and
// to count with atomic operations, takes longer than to judge. So they are first distributed to
// ranges of states, in their order: each member of the team goes through a part of all edges and
// writes to one place in each range. What belongs to a range fits into a processor's cache; one
// member sorts it.
#include "explore/judge/progress_graph.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace heddle::explore {

namespace {

constexpr std::size_t most_ranges = 1024; // so many places are written to by turns
constexpr unsigned least_shift = 13;      // a range has at least 2^13 states
constexpr std::size_t small_part = 1U << 14, parts_of_a_member = 4; // edges

// What is kept of an edge until its range is sorted: where in the range the state lies, and by
// which rule somebody is owed the move.
constexpr unsigned owed_shift = 28;
static_assert(static_cast<unsigned>(Rule::None) < 1U << (32 - owed_shift));

struct Scratch { // of a member
  struct To {
    EdgeId edge;
    StateId target;
  };
  std::vector<std::uint32_t> next; // by state of the range
  std::vector<To> sorted;
};

} // namespace

OutEdges::OutEdges(const ProgressGraph& graph, Team& team)
    : first_(graph.states.size() + 1),
      owed_by_(graph.states.size()),
      edges_(graph.edges.size()),
      targets_(graph.edges.size()) {
  const std::span<const ShortEdge> all = graph.edges.all();
  const std::size_t states = graph.states.size();
  const auto shift = std::max<unsigned>(least_shift, std::bit_width(states / most_ranges));
  const std::size_t ranges = (states >> shift) + 1;
  const std::size_t a_part =
      team.members() == 1
          ? std::max<std::size_t>(all.size(), 1)
          : std::max(small_part, all.size() / (parts_of_a_member * team.members()) + 1);
  const std::size_t parts = (all.size() + a_part - 1) / a_part;
  const auto each_part = [&](const auto& f) {
    team.each_of(parts, [&](std::size_t p, std::size_t) {
      for (std::size_t e = p * a_part; e < std::min(all.size(), (p + 1) * a_part); ++e) {
        f(p, e);
      }
    });
  };
  // How many edges of each part belong to each range; then the place of the next one of them.
  std::vector<std::uint32_t> places(parts * ranges);
  each_part([&](std::size_t p, std::size_t e) { ++places[p * ranges + (all[e].from >> shift)]; });
  std::vector<std::uint32_t> begins(ranges + 1);
  std::uint32_t sum = 0;
  for (std::size_t r = 0; r < ranges; ++r) {
    begins[r] = sum;
    for (std::size_t p = 0; p < parts; ++p) {
      std::uint32_t& place = places[p * ranges + r];
      sum += std::exchange(place, sum);
    }
  }
  begins[ranges] = sum;
  LargeArray<std::uint32_t> kept(all.size());
  each_part([&](std::size_t p, std::size_t e) {
    const ShortEdge& edge = all[e];
    const std::uint32_t range = edge.from >> shift;
    const std::uint32_t place = places[p * ranges + range]++;
    edges_[place] = static_cast<EdgeId>(e);
    targets_[place] = edge.to;
    const Rule owed = graph.edges.label(static_cast<EdgeId>(e)).owed;
    kept[place] = (edge.from - (range << shift)) | static_cast<std::uint32_t>(owed) << owed_shift;
  });
  std::vector<Scratch> scratch(team.members());
  team.each_of(ranges, [&](std::size_t r, std::size_t member) {
    auto& [next, sorted] = scratch[member];
    const std::size_t first = r << shift, count = std::min(states - first, std::size_t{1} << shift);
    const std::uint32_t begin = begins[r], end = begins[r + 1];
    next.assign(count + 1, 0);
    for (std::uint32_t at = begin; at < end; ++at) {
      const std::uint32_t s = kept[at] & ((1U << owed_shift) - 1);
      const auto owed = static_cast<Rule>(kept[at] >> owed_shift);
      ++next[s + 1];
      if (owed != Rule::None) {
        std::uint16_t& by = owed_by_[first + s];
        by = static_cast<std::uint16_t>(by | 1U << static_cast<unsigned>(owed));
      }
    }
    for (std::size_t s = 0; s < count; ++s) {
      next[s + 1] += next[s];
      first_[first + s] = begin + next[s];
    }
    sorted.resize(std::max<std::size_t>(sorted.size(), end - begin));
    for (std::uint32_t at = begin; at < end; ++at) { // those of a state stay in their order
      sorted[next[kept[at] & ((1U << owed_shift) - 1)]++] = {edges_[at], targets_[at]};
    }
    for (std::uint32_t at = begin; at < end; ++at) {
      edges_[at] = sorted[at - begin].edge;
      targets_[at] = sorted[at - begin].target;
    }
  });
  first_[states] = sum;
}

OutEdges::OutEdges(const ProgressGraph& graph) {
  Team alone(1);
  *this = OutEdges(graph, alone);
}

} // namespace heddle::explore
