// Implements outcome_trees.h.
#include "reduce/independence/outcome_trees.h"

#include "reduce/states/image.h"

#include <algorithm>

namespace heddle::reduce {

/// `way`: the extra reads that lead there.
bool OutcomeTrees::ends(Node node, std::vector<std::size_t>& way) const {
  const Tree& tree = nodes_[node];
  switch (tree.kind) {
  case Kind::Reads:
  case Kind::State:
    return true;
  case Kind::Question:
    return ends(tree.yes, way) && ends(tree.no, way);
  case Kind::Extra:
    break;
  }
  if (std::ranges::find(way, tree.extra) != way.end()) {
    return false;
  }
  way.push_back(tree.extra);
  const bool result = ends(extras_[tree.extra], way);
  way.pop_back();
  return result;
}

bool OutcomeTrees::extras_end() const {
  std::vector<std::size_t> way;
  return std::ranges::all_of(extras_, [&](Node tree) { return ends(tree, way); });
}

/// Where one value has given these answers.
std::optional<Hash128> OutcomeTrees::follow(Node node, Answers& answers, int& left) const {
  if (left-- == 0) {
    return std::nullopt;
  }
  const Tree& tree = nodes_[node];
  switch (tree.kind) {
  case Kind::Reads:
    return Hash128{};
  case Kind::State:
    return tree.name;
  case Kind::Extra:
    return follow(extras_[tree.extra], answers, left);
  case Kind::Question:
    break;
  }
  const auto known = std::ranges::find(answers, tree.name, &Answers::value_type::first);
  if (known != answers.end()) {
    return follow(known->second ? tree.yes : tree.no, answers, left);
  }
  const auto answered = [&](bool answer) {
    answers.emplace_back(tree.name, answer);
    const auto result = follow(answer ? tree.yes : tree.no, answers, left);
    answers.pop_back();
    return result;
  };
  const auto yes = answered(true);
  const auto no = yes ? answered(false) : std::nullopt;
  if (!no || *yes == *no) {
    return no;
  }
  return combine(tree.name.low, tree.name.high, yes->low, yes->high, no->low, no->high);
}

std::optional<Hash128> OutcomeTrees::outcome(Node tree) const {
  constexpr int most_nodes = 1 << 14;
  int left = most_nodes;
  Answers answers;
  return follow(tree, answers, left);
}

} // namespace heddle::reduce
