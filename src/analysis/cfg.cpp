#include "analysis/cfg.h"

#include "ptx/effect.h"

#include <algorithm>

namespace heddle::analysis {
namespace {

constexpr std::uint32_t none = ~0U;

using Edges = std::vector<std::vector<std::uint32_t>>;

bool branches(const ptx::Instruction& i) {
  const ptx::Effect& effect = effect_of(i);
  return effect.is(ptx::Effect::Kind::Branch) || effect.is(ptx::Effect::Kind::BranchTable);
}

bool leaves(const ptx::Instruction& i) {
  const ptx::Effect& effect = effect_of(i);
  return effect.step == ptx::StepKind::End || effect.is(ptx::Effect::Kind::Trap);
}

/// Labels a branch may go to.
std::vector<std::uint32_t> targets(const ptx::Function& function, const ptx::Instruction& i) {
  if (i.opcode == ptx::Opcode::Bra) {
    return {i.operands[0].index};
  }
  for (const ptx::TargetList& list : function.targets) {
    if (list.name == i.operands[1].name) {
      return list.labels;
    }
  }
  return {};
}

/// Immediate dominators of the nodes that `root` reaches: the iterative algorithm of Cooper, Harvey
/// and Kennedy ("A Simple, Fast Dominance Algorithm").
std::vector<std::uint32_t>
dominators(const Edges& successors, const Edges& predecessors, std::uint32_t root) {
  std::size_t n = successors.size();
  std::vector<std::uint32_t> order; // post order of a depth-first search
  std::vector<std::uint32_t> number(n, none);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
  std::vector<bool> seen(n, false);
  seen[root] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < successors[node].size()) {
      std::uint32_t to = successors[node][next++];
      if (!seen[to]) {
        seen[to] = true;
        stack.emplace_back(to, 0);
      }
    } else {
      number[node] = static_cast<std::uint32_t>(order.size());
      order.push_back(node);
      stack.pop_back();
    }
  }
  std::vector<std::uint32_t> idom(n, none);
  idom[root] = root;
  auto meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (number[a] < number[b]) {
        a = idom[a];
      }
      while (number[b] < number[a]) {
        b = idom[b];
      }
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
      if (*node == root) {
        continue;
      }
      std::uint32_t best = none;
      for (std::uint32_t from : predecessors[*node]) {
        if (number[from] != none && idom[from] != none) {
          best = best == none ? from : meet(best, from);
        }
      }
      if (idom[*node] != best) {
        idom[*node] = best;
        changed = true;
      }
    }
  }
  idom[root] = none;
  return idom;
}

/// Blocks from which there is no way to the exit, one representative for each endless region: the
/// first block of each strongly connected component that no edge leaves (Tarjan, iterative).
std::vector<std::uint32_t> endless(const Edges& successors, const std::vector<bool>& reaches_exit) {
  std::size_t n = successors.size();
  std::vector<std::uint32_t> index(n, none);
  std::vector<std::uint32_t> low(n, 0);
  std::vector<std::uint32_t> component(n, none);
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> result;
  std::uint32_t counter = 0;
  std::uint32_t components = 0;
  for (std::uint32_t start = 0; start < n; ++start) {
    if (reaches_exit[start] || index[start] != none) {
      continue;
    }
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{start, 0}};
    index[start] = low[start] = counter++;
    open.push_back(start);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next < successors[node].size()) {
        std::uint32_t to = successors[node][next++];
        if (index[to] == none) {
          index[to] = low[to] = counter++;
          open.push_back(to);
          stack.emplace_back(to, 0);
        } else if (component[to] == none) {
          low[node] = std::min(low[node], index[to]);
        }
        continue;
      }
      std::uint32_t done = node;
      stack.pop_back();
      if (!stack.empty()) {
        low[stack.back().first] = std::min(low[stack.back().first], low[done]);
      }
      if (low[done] != index[done]) {
        continue;
      }
      auto first = std::find(open.begin(), open.end(), done);
      std::vector<std::uint32_t> members(first, open.end());
      open.erase(first, open.end());
      for (std::uint32_t member : members) {
        component[member] = components;
      }
      bool closed = std::all_of(members.begin(), members.end(), [&](std::uint32_t member) {
        return std::all_of(
            successors[member].begin(),
            successors[member].end(),
            [&](std::uint32_t to) { return component[to] == components; }
        );
      });
      if (closed) {
        result.push_back(*std::min_element(members.begin(), members.end()));
      }
      ++components;
    }
  }
  return result;
}

} // namespace

bool ends_block_for_good(const ptx::Instruction& i) {
  return !i.guard && (branches(i) || leaves(i));
}

Cfg::Cfg(const ptx::Function& function, Ends ends) {
  find_blocks(function);
  find_edges(function);
  find_dominators();
  find_post_dominators(function, ends);
}

void Cfg::find_blocks(const ptx::Function& function) {
  std::size_t n = function.body.size();
  std::vector<bool> starts(n + 1, false);
  starts[0] = true;
  for (std::uint32_t i = 0; i < n; ++i) {
    const ptx::Instruction& instruction = function.body[i];
    if (branches(instruction) || leaves(instruction)) {
      starts[i + 1] = true;
    }
    if (branches(instruction)) {
      for (std::uint32_t label : targets(function, instruction)) {
        starts[function.labels[label].instruction] = true;
      }
    }
  }
  block_of_.resize(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (starts[i]) {
      blocks_.push_back({i, i, {}, {}});
    }
    blocks_.back().last = i + 1;
    block_of_[i] = static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  if (blocks_.empty()) {
    blocks_.emplace_back(); // an empty body: one empty block
  }
}

void Cfg::find_edges(const ptx::Function& function) {
  auto block_at = [&](std::uint32_t instruction) {
    return instruction < block_of_.size() ? block_of_[instruction] : exit();
  };
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    BasicBlock& block = blocks_[b];
    auto add = [&](std::uint32_t to) {
      if (std::find(block.successors.begin(), block.successors.end(), to) ==
          block.successors.end()) {
        block.successors.push_back(to);
      }
    };
    if (block.first == block.last) {
      add(exit());
      continue;
    }
    const ptx::Instruction& last = function.body[block.last - 1];
    if (branches(last)) {
      for (std::uint32_t label : targets(function, last)) {
        add(block_at(function.labels[label].instruction));
      }
    } else if (leaves(last)) {
      add(exit());
    }
    if (!ends_block_for_good(last)) {
      add(block_at(block.last));
    }
  }
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    for (std::uint32_t to : blocks_[b].successors) {
      if (to != exit()) {
        blocks_[to].predecessors.push_back(b);
      }
    }
  }
}

void Cfg::find_dominators() {
  Edges successors(blocks_.size() + 1);
  Edges predecessors(blocks_.size() + 1);
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    successors[b] = blocks_[b].successors;
    for (std::uint32_t to : successors[b]) {
      predecessors[to].push_back(b);
    }
  }
  dominator_ = dominators(successors, predecessors, 0);
}

namespace {

Edges reversed(const Edges& edges) {
  Edges result(edges.size());
  for (std::uint32_t from = 0; from < edges.size(); ++from) {
    for (const std::uint32_t to : edges[from]) {
      result[to].push_back(from);
    }
  }
  return result;
}

/// From where there is a way to the last node.
std::vector<bool> reaching_exit(const Edges& forward) {
  const Edges backward = reversed(forward);
  std::vector<bool> reaches(forward.size(), false);
  std::vector<std::uint32_t> work{static_cast<std::uint32_t>(forward.size() - 1)};
  reaches.back() = true;
  while (!work.empty()) {
    const std::uint32_t node = work.back();
    work.pop_back();
    for (const std::uint32_t from : backward[node]) {
      if (!reaches[from]) {
        reaches[from] = true;
        work.push_back(from);
      }
    }
  }
  return reaches;
}

} // namespace

/// Takes away the edges by which threads end early.
void Cfg::cut_early_ends(const ptx::Function& function, Edges& successors) const {
  const auto leads = [&](std::uint32_t b, std::uint32_t to) {
    return std::ranges::find(successors[b], to) != successors[b].end();
  };
  const auto is_trap = [&](std::uint32_t b) {
    return blocks_[b].first != blocks_[b].last &&
           effect_of(function.body[blocks_[b].last - 1]).is(ptx::Effect::Kind::Trap);
  };
  const auto keep_last = [&](std::uint32_t to) { // traps only where there is nothing else
    std::uint32_t last = none;
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      const bool better =
          last == none || !reachable(last) || (reachable(b) && (is_trap(last) || !is_trap(b)));
      last = leads(b, to) && better ? b : last;
    }
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      if (b != last) {
        std::erase(successors[b], to);
      }
    }
    return last;
  };
  const std::uint32_t last = keep_last(exit());
  if (last != none && blocks_[last].last - blocks_[last].first == 1 &&
      successors[last].size() == 1) {
    keep_last(last);
  }
}

void Cfg::find_post_dominators(const ptx::Function& function, Ends ends) {
  constexpr std::uint32_t later = none;
  const std::size_t n = blocks_.size() + 1;
  Edges all(n);
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    all[b] = blocks_[b].successors;
  }
  const std::vector<std::uint32_t> endless_loops = endless(all, reaching_exit(all));
  // Level 0 gets to the last end; 1 does not, and gets to the last end among those that do not; …
  std::vector<std::uint32_t> levels(n, later);
  levels[exit()] = 0;
  ways_.resize(n);
  post_dominator_.assign(n, none);
  bool more = true;
  for (std::uint32_t level = 0; more; ++level) {
    Edges forward(n); // between blocks that have no level yet; all others are ends
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      for (const std::uint32_t to : all[b]) {
        const std::uint32_t end = levels[to] != later ? exit() : to;
        if (levels[b] == later && std::ranges::find(forward[b], end) == forward[b].end()) {
          forward[b].push_back(end);
        }
      }
    }
    if (ends == Ends::Leave) {
      cut_early_ends(function, forward);
    }
    for (const std::uint32_t b : endless_loops) {
      if (levels[b] == later) {
        forward[b].push_back(exit());
      }
    }
    const std::vector<bool> reaches = reaching_exit(forward);
    const std::vector<std::uint32_t> found = dominators(reversed(forward), forward, exit());
    more = false;
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      if (levels[b] == later && reaches[b]) {
        levels[b] = level;
        post_dominator_[b] = found[b];
        std::erase_if(forward[b], [&](std::uint32_t to) { return !reaches[to]; });
        ways_[b] = forward[b];
      }
      more = more || levels[b] == later;
    }
  }
}

bool Cfg::ends_early(std::uint32_t from, std::uint32_t to) const {
  return std::ranges::find(ways_[from], to) == ways_[from].end();
}

std::optional<std::uint32_t> Cfg::immediate_dominator(std::uint32_t block) const {
  return dominator_[block] == none ? std::nullopt : std::optional(dominator_[block]);
}

std::optional<std::uint32_t> Cfg::immediate_post_dominator(std::uint32_t block) const {
  return post_dominator_[block] == none ? std::nullopt : std::optional(post_dominator_[block]);
}

bool Cfg::repeats(std::uint32_t block) const {
  std::vector<bool> seen(blocks_.size() + 1, false);
  std::vector<std::uint32_t> open{block};
  while (!open.empty()) {
    const std::uint32_t from = open.back();
    open.pop_back();
    for (const std::uint32_t to :
         from == exit() ? std::vector<std::uint32_t>() : blocks_[from].successors) {
      if (to == block) {
        return true;
      }
      if (!seen[to]) {
        seen[to] = true;
        open.push_back(to);
      }
    }
  }
  return false;
}

bool Cfg::dominates(std::uint32_t a, std::uint32_t b) const {
  for (; b != a; b = dominator_[b]) {
    if (dominator_[b] == none) {
      return false;
    }
  }
  return true;
}

bool Cfg::post_dominates(std::uint32_t a, std::uint32_t b) const {
  for (; b != a; b = post_dominator_[b]) {
    if (post_dominator_[b] == none) {
      return false;
    }
  }
  return true;
}

std::optional<std::uint32_t> Cfg::reconvergence(std::uint32_t instruction) const {
  std::uint32_t block = block_of_[instruction];
  const auto& successors = blocks_[block].successors;
  const auto ways = std::ranges::count_if(successors, [this, block](std::uint32_t to) {
    return !ends_early(block, to);
  });
  if (instruction + 1 != blocks_[block].last || ways < 2) {
    return std::nullopt;
  }
  std::uint32_t join = post_dominator_[block];
  return join == none || join == exit() ? std::nullopt : std::optional(blocks_[join].first);
}

} // namespace heddle::analysis
