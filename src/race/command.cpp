// Implements command.h.
#include "race/command.h"

#include <algorithm>

namespace heddle::race {

bool CommandSet::contains(std::uint64_t id) const {
  const auto next = std::ranges::upper_bound(intervals_, id, {}, [](const auto& interval) {
    return interval.first;
  });
  return next != intervals_.begin() && id <= std::prev(next)->second;
}

void CommandSet::add(std::uint64_t first, std::uint64_t last) {
  if (!intervals_.empty() && first == intervals_.back().second + 1) {
    intervals_.back().second = last;
    return;
  }
  // Everything that touches [first, last] becomes one with it.
  const auto begin = std::ranges::find_if(intervals_, [&](const auto& interval) {
    return interval.second + 1 >= first;
  });
  auto end = begin;
  for (; end != intervals_.end() && end->first <= last + 1; ++end) {
    first = std::min(first, end->first);
    last = std::max(last, end->second);
  }
  intervals_.insert(intervals_.erase(begin, end), {first, last});
}

void CommandSet::add(const CommandSet& other) {
  for (const auto& [first, last] : other.intervals_) {
    add(first, last);
  }
}

bool CommandSet::includes(const CommandSet& other) const {
  return std::ranges::all_of(other.intervals_, [&](const auto& theirs) {
    const auto next = std::ranges::upper_bound(intervals_, theirs.first, {}, [](const auto& one) {
      return one.first;
    });
    return next != intervals_.begin() && theirs.second <= std::prev(next)->second;
  });
}

CommandSet CommandSet::up_to(std::uint64_t last) const {
  CommandSet result;
  for (const auto& [first, end] : intervals_) {
    if (first <= last) {
      result.intervals_.emplace_back(first, std::min(end, last));
    }
  }
  return result;
}

CommandSet CommandInfo::completed() const {
  CommandSet all = *late;
  all.add(id, id);
  return all;
}

bool CommandInfo::is_part_of(std::uint64_t other) const {
  for (const CommandInfo* whole = this; whole != nullptr; whole = whole->part_of.get()) {
    if (whole->id == other) {
      return true;
    }
  }
  return false;
}

/// What has completed is named by its number, or by that of what it is a part of, unless this one
/// is a part of the same.
bool CommandInfo::follows(const CommandInfo& other, const CommandSet& completed) const {
  if (completed.contains(other.id)) {
    return true;
  }
  for (const CommandInfo* whole = other.part_of.get(); whole != nullptr;
       whole = whole->part_of.get()) {
    if (completed.contains(whole->id) && !is_part_of(whole->id)) {
      return true;
    }
  }
  return false;
}

} // namespace heddle::race
