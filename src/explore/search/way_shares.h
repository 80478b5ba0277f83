// What a process knows of its search from the states on its way (Way): how much is
// left, and whether a state lies on it. Templates, since the states are the explorer's own.
#pragma once

#include "explore/judge/edges.h"

#include <algorithm>
#include <cstddef>

namespace heddle::explore {

/// How likely it is that an execution that makes its choices at random comes to the choice that is
/// under way in the last state; `weight`: to the first one.
template <class Path> double weight_of_next(const Path& path, double weight) {
  for (const auto& node : path) {
    weight /= node.width;
  }
  return weight;
}

/// How likely an execution goes where this process has not been yet (the weights of Kilby, Slaney,
/// Thiébaux and Walsh, "Estimating search tree size", AAAI 2006).
template <class Path> double open_share(const Path& path, double weight) {
  double open = 0;
  for (const auto& node : path) {
    weight /= node.width;
    open += weight * static_cast<double>(node.choices.size() - node.next);
  }
  return open;
}

/// Is `state` one of the last ones of the first `way` states?
template <class Path> bool is_one_of_the_last(const Path& path, std::size_t way, StateId state) {
  constexpr std::size_t longest_circle = 32; // of those that are found
  for (std::size_t i = 1; i <= std::min(way, longest_circle); ++i) {
    if (path[way - i].state == state) {
      return true;
    }
  }
  return false;
}

} // namespace heddle::explore
