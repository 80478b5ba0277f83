// Implements kept_pages.h.
#include "explore/host/kept_pages.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace heddle::explore {
namespace {

struct KeptRange {
  std::uintptr_t begin = 0, end = 0; // end 0: not in use
  machine::CommandPtr until;

  bool overlaps(const void* p, std::size_t bytes) const {
    const auto from = reinterpret_cast<std::uintptr_t>(p);
    return begin < from + bytes && from < end;
  }
};
/// No memory of the heap: free() asks.
std::array<KeptRange, 64> kept_ranges;

/// Only an instrumented program has a free() that asks.
bool free_asks() {
  using SetKept = void(bool (*)(const void*, std::size_t));
  static const bool asks = [] {
    auto* set = reinterpret_cast<SetKept*>(::dlsym(RTLD_DEFAULT, "heddle_set_kept"));
    if (set != nullptr) {
      set(keeps_pages);
    }
    return set != nullptr;
  }();
  return asks;
}

} // namespace

bool keep_pages(const void* p, std::size_t bytes, machine::CommandPtr until) {
  if (!free_asks()) {
    return false;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  const auto unused = std::ranges::find(kept_ranges, std::uintptr_t{0}, &KeptRange::end);
  if (unused == kept_ranges.end()) {
    return false;
  }
  *unused = {begin, begin + bytes, std::move(until)};
  return true;
}

void let_pages_go(const void* p) {
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  for (KeptRange& range : kept_ranges) {
    if (range.end != 0 && range.begin == begin) {
      range = {};
    }
  }
}

bool keeps_pages(const void* p, std::size_t bytes) {
  return std::ranges::any_of(kept_ranges, [&](const KeptRange& range) {
    return range.overlaps(p, bytes);
  });
}

std::vector<machine::CommandPtr> keepers_of(const void* p, std::size_t bytes) {
  std::vector<machine::CommandPtr> result;
  for (const KeptRange& range : kept_ranges) {
    if (range.overlaps(p, bytes)) {
      result.push_back(range.until);
    }
  }
  return result;
}

} // namespace heddle::explore
