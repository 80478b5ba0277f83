#include "lint/graph_facts.h"

#include <algorithm>
#include <functional>

namespace heddle::lint {
namespace {

constexpr std::uint32_t none = UINT32_MAX;
using Edges = std::vector<std::vector<std::uint32_t>>;

/// Reverse post-order from `root`.
std::vector<std::uint32_t> reverse_post_order(const Edges& edges, std::uint32_t root) {
  std::vector<std::uint32_t> order;
  std::vector<char> seen(edges.size(), 0);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack = {{root, 0}};
  seen[root] = 1;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == edges[block].size()) {
      order.push_back(block);
      stack.pop_back();
    } else if (const std::uint32_t to = edges[block][next++]; seen[to] == 0) {
      seen[to] = 1;
      stack.push_back({to, 0});
    }
  }
  std::ranges::reverse(order);
  return order;
}

/// Immediate dominators (Cooper, Harvey, Kennedy: "A simple, fast dominance algorithm").
std::vector<std::uint32_t> dominators(const Edges& edges, std::uint32_t root) {
  const std::vector<std::uint32_t> order = reverse_post_order(edges, root);
  std::vector<std::uint32_t> position(edges.size(), none);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
  }
  Edges back(edges.size());
  for (const std::uint32_t from : order) {
    for (const std::uint32_t to : edges[from]) {
      back[to].push_back(from);
    }
  }
  std::vector<std::uint32_t> result(edges.size(), none);
  result[root] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t block : order) {
      if (block == root) {
        continue;
      }
      std::uint32_t found = none;
      for (std::uint32_t from : back[block]) {
        if (result[from] == none) {
          continue;
        }
        if (found == none) {
          found = from;
          continue;
        }
        while (from != found) {
          while (position[from] > position[found]) {
            from = result[from];
          }
          while (position[found] > position[from]) {
            found = result[found];
          }
        }
      }
      if (found != result[block]) {
        result[block] = found;
        changed = true;
      }
    }
  }
  return result;
}

/// Strongly connected regions of the blocks with `inside` set (Tarjan), without recursion.
std::vector<std::vector<std::uint32_t>> regions(
    const Edges& edges,
    const std::vector<std::uint32_t>& blocks,
    const std::vector<std::uint32_t>& inside,
    std::uint32_t tag
) {
  std::vector<std::vector<std::uint32_t>> found;
  std::vector<std::uint32_t> index(edges.size(), none), low(edges.size(), 0), open;
  std::vector<char> is_open(edges.size(), 0);
  std::uint32_t count = 0;
  struct Visit {
    std::uint32_t block;
    std::size_t next;
  };
  for (const std::uint32_t root : blocks) {
    if (index[root] != none) {
      continue;
    }
    std::vector<Visit> stack = {{root, 0}};
    while (!stack.empty()) {
      const std::uint32_t block = stack.back().block;
      if (stack.back().next == 0) {
        index[block] = low[block] = count++;
        open.push_back(block);
        is_open[block] = 1;
      }
      bool deeper = false;
      while (stack.back().next < edges[block].size()) {
        const std::uint32_t to = edges[block][stack.back().next++];
        if (inside[to] != tag) {
          continue;
        }
        if (index[to] == none) {
          stack.push_back({to, 0});
          deeper = true;
          break;
        }
        if (is_open[to] != 0) {
          low[block] = std::min(low[block], index[to]);
        }
      }
      if (deeper) {
        continue;
      }
      stack.back().next = edges[block].size() + 1; // a block without edges is not visited again
      if (low[block] == index[block]) {
        std::vector<std::uint32_t> region;
        std::uint32_t member = none;
        do {
          member = open.back();
          open.pop_back();
          is_open[member] = 0;
          region.push_back(member);
        } while (member != block);
        found.push_back(std::move(region));
      }
      stack.pop_back();
      if (!stack.empty()) {
        low[stack.back().block] = std::min(low[stack.back().block], low[block]);
      }
    }
  }
  return found;
}

class LoopFinder {
public:
  explicit LoopFinder(Graph& graph)
      : graph_(graph),
        inside_(graph.blocks.size(), none),
        edges_(graph.blocks.size()) {
    for (const std::uint32_t block : graph.sequence) {
      edges_[block] = graph.blocks[block].end.successors;
    }
  }
  void find(const std::vector<std::uint32_t>& blocks, std::uint32_t parent) {
    const std::uint32_t tag = next_tag_++;
    for (const std::uint32_t block : blocks) {
      inside_[block] = tag;
    }
    for (auto& region : regions(edges_, blocks, inside_, tag)) {
      const bool self = std::ranges::find(edges_[region[0]], region[0]) != edges_[region[0]].end();
      if (region.size() == 1 && !self) {
        continue;
      }
      const std::uint32_t header = *std::ranges::min_element(region, {}, [this](std::uint32_t b) {
        return graph_.blocks[b].order;
      });
      const auto id = static_cast<std::uint32_t>(graph_.loops.size());
      graph_.loops.push_back(
          {header, parent, {}, parent == none ? 1 : graph_.loops[parent].depth + 1, id + 1, {}}
      );
      for (const std::uint32_t block : region) {
        graph_.blocks[block].loop = id;
      }
      std::vector<std::uint32_t> rest;
      std::ranges::copy_if(region, std::back_inserter(rest), [header](std::uint32_t b) {
        return b != header;
      });
      if (!rest.empty()) {
        find(rest, id);
        graph_.loops[id].end = static_cast<std::uint32_t>(graph_.loops.size());
      }
    }
  }

private:
  Graph& graph_;
  std::vector<std::uint32_t> inside_;
  Edges edges_;
  std::uint32_t next_tag_ = 0;
};

/// The edges along which threads can go on to their end: see the header.
Edges surviving_edges(Graph& graph) {
  Edges edges(graph.blocks.size());
  for (const std::uint32_t block : graph.sequence) {
    edges[block] = graph.blocks[block].end.successors;
    if (graph.blocks[block].end.kind == Terminator::Kind::Dead) {
      edges[block] = {graph.exit};
    }
  }
  const auto reaching = [&](std::vector<std::uint32_t> work) {
    Edges back(edges.size());
    for (std::uint32_t from = 0; from < edges.size(); ++from) {
      for (const std::uint32_t to : edges[from]) {
        back[to].push_back(from);
      }
    }
    std::vector<char> seen(edges.size(), 0);
    for (const std::uint32_t goal : work) {
      seen[goal] = 1;
    }
    while (!work.empty()) {
      const std::uint32_t at = work.back();
      work.pop_back();
      for (const std::uint32_t from : back[at]) {
        if (seen[from] == 0) {
          seen[from] = 1;
          work.push_back(from);
        }
      }
    }
    return seen;
  };
  // Endless loops; but not those on the way to a trap, which ends the kernel.
  std::vector<std::uint32_t> ends = {graph.exit};
  for (const std::uint32_t block : graph.sequence) {
    if (graph.blocks[block].end.kind == Terminator::Kind::Trapped) {
      ends.push_back(block);
    }
  }
  const std::vector<char> ending = reaching(ends);
  for (const Loop& loop : graph.loops) {
    if (ending[loop.header] == 0) {
      edges[loop.header].push_back(graph.exit);
    }
  }
  const std::vector<char> alive = reaching({graph.exit});
  for (const std::uint32_t block : graph.sequence) {
    graph.blocks[block].is_doomed = alive[block] == 0;
  }
  for (auto& successors : edges) {
    std::erase_if(successors, [&](std::uint32_t to) { return alive[to] == 0; });
  }
  return edges;
}

} // namespace

void compute_facts(Graph& graph) {
  const std::size_t count = graph.blocks.size();
  Edges edges(count);
  for (std::uint32_t block = 0; block < count; ++block) {
    edges[block] = graph.blocks[block].end.successors;
  }
  graph.sequence = reverse_post_order(edges, 0);
  for (std::uint32_t i = 0; i < graph.sequence.size(); ++i) {
    graph.blocks[graph.sequence[i]].order = i;
  }
  for (const std::uint32_t block : graph.sequence) {
    for (const std::uint32_t to : edges[block]) {
      auto& from = graph.blocks[to].predecessors;
      if (std::ranges::find(from, block) == from.end()) {
        from.push_back(block);
      }
    }
  }
  const auto dominator = dominators(edges, 0);
  for (const std::uint32_t block : graph.sequence) {
    graph.blocks[block].dominator = dominator[block];
  }
  LoopFinder(graph).find(graph.sequence, none);
  for (const std::uint32_t block : graph.sequence) {
    for (std::uint32_t loop = graph.blocks[block].loop; loop != none;
         loop = graph.loops[loop].parent) {
      graph.loops[loop].blocks.push_back(block);
      if (std::ranges::any_of(edges[block], [&](std::uint32_t to) {
            return !graph.in_loop(to, loop);
          })) {
        graph.loops[loop].exits.push_back(block);
      }
    }
  }
  const Edges surviving = surviving_edges(graph);
  Edges back(count);
  for (std::uint32_t from = 0; from < count; ++from) {
    for (const std::uint32_t to : surviving[from]) {
      back[to].push_back(from);
    }
  }
  const auto post = dominators(back, graph.exit);
  for (const std::uint32_t block : graph.sequence) {
    graph.blocks[block].post_dominator = post[block];
  }
  for (const std::uint32_t block : graph.sequence) {
    if (surviving[block].size() < 2 || post[block] == none) {
      continue;
    }
    for (const std::uint32_t to : surviving[block]) {
      for (std::uint32_t at = to; at != none && at != post[block] && at != post[at];
           at = post[at]) {
        auto& controllers = graph.blocks[at].controllers;
        if (std::ranges::find(controllers, block) == controllers.end()) {
          controllers.push_back(block);
        }
      }
    }
  }
}

} // namespace heddle::lint
