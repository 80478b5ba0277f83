// A search by one process that goes on where an earlier part of it was stopped (course.h): it makes
// the moves of the way once more, and has the choices in front of it that were left.
#include "explore/search/explorer_impl.h"

#include <algorithm>
#include <span>

namespace heddle::explore {

/// In a state in which an earlier part of this search has been, on the way to where it stopped.
bool Explorer::arrive_again(const Look& look) {
  const Course::Step& step = course_.again();
  if (table_.know(sum_of(look.device, look.beside)) != step.state) {
    unrepeatable();
  }
  Node& node = add_node(step.state, look);
  node.width = step.width;
  node.alike = step.alike;
  node.looked_ahead = true; // choice by choice
  all_choices(node);
  const std::span<const std::uint32_t> left = course_.left(step);
  std::erase_if(node.choices, [&](const Choice& choice) {
    return std::ranges::find(left, choice.number) == left.end();
  });
  if (node.choices.size() != left.size()) {
    unrepeatable();
  }
  queue_ += left.size();
  computed_since(); // it is counted
  return true;
}

} // namespace heddle::explore
