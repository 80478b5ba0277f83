// Implements advice.h.
#include "runtime/memory/advice.h"

#include <algorithm>
#include <iterator>

namespace heddle::runtime {
namespace {

/// What all of them have, or nothing.
template <class Get>
std::optional<cudaMemLocation> common(std::span<const Advised* const> all, Get&& get) {
  const std::optional<cudaMemLocation> first = get(*all.front());
  const auto same = [&](const Advised* other) {
    const std::optional<cudaMemLocation> location = get(*other);
    return location && first && location->type == first->type && location->id == first->id;
  };
  return std::ranges::all_of(all, same) ? first : std::nullopt;
}

/// A location as the attributes that answer one number say it.
int number_of(const std::optional<cudaMemLocation>& location) {
  if (!location) {
    return cudaInvalidDeviceId;
  }
  return location->type == cudaMemLocationTypeDevice ? location->id : cudaCpuDeviceId;
}

int type_of(const std::optional<cudaMemLocation>& location) {
  return location ? location->type : cudaMemLocationTypeInvalid;
}

/// The host has no number.
int id_of(const std::optional<cudaMemLocation>& location) {
  const bool numbered = location && (location->type == cudaMemLocationTypeDevice ||
                                     location->type == cudaMemLocationTypeHostNuma);
  return numbered ? location->id : 0;
}

} // namespace

void Advice::update(
    std::uint64_t allocation,
    std::uint64_t begin,
    std::uint64_t end,
    const std::function<void(Advised&)>& change
) {
  const std::lock_guard lock(mutex_);
  Stretches& stretches = allocations_[allocation];
  // A stretch begins at each end of the range, with what held there before.
  const auto cut = [&](std::uint64_t at) {
    const auto after = stretches.upper_bound(at);
    const Advised before = after == stretches.begin() ? Advised{} : std::prev(after)->second;
    return stretches.try_emplace(at, before).first;
  };
  const auto last = cut(end);
  for (auto it = cut(begin); it != last; ++it) {
    change(it->second);
  }
}

cudaError_t Advice::answer(
    std::uint64_t allocation,
    std::uint64_t begin,
    std::uint64_t end,
    cudaMemRangeAttribute attribute,
    std::span<std::int32_t> data
) const {
  if (data.empty() || (attribute != cudaMemRangeAttributeAccessedBy && data.size() != 1)) {
    return cudaErrorInvalidValue;
  }
  static const Advised nothing;
  const std::lock_guard lock(mutex_);
  std::vector<const Advised*> all;
  if (const auto found = allocations_.find(allocation); found != allocations_.end()) {
    const Stretches& stretches = found->second;
    auto it = stretches.upper_bound(begin);
    all.push_back(it == stretches.begin() ? &nothing : &std::prev(it)->second);
    for (; it != stretches.end() && it->first < end; ++it) {
      all.push_back(&it->second);
    }
  } else {
    all.push_back(&nothing);
  }
  const auto preferred = [&] { return common(all, [](const Advised& a) { return a.preferred; }); };
  const auto prefetched = [&] {
    return common(all, [](const Advised& a) { return a.prefetched; });
  };
  switch (attribute) {
  case cudaMemRangeAttributeReadMostly:
    data[0] = std::ranges::all_of(all, [](const Advised* a) { return a->read_mostly; }) ? 1 : 0;
    return cudaSuccess;
  case cudaMemRangeAttributePreferredLocation:
    data[0] = number_of(preferred());
    return cudaSuccess;
  case cudaMemRangeAttributePreferredLocationType:
    data[0] = type_of(preferred());
    return cudaSuccess;
  case cudaMemRangeAttributePreferredLocationId:
    data[0] = id_of(preferred());
    return cudaSuccess;
  case cudaMemRangeAttributeLastPrefetchLocation:
    data[0] = number_of(prefetched());
    return cudaSuccess;
  case cudaMemRangeAttributeLastPrefetchLocationType:
    data[0] = type_of(prefetched());
    return cudaSuccess;
  case cudaMemRangeAttributeLastPrefetchLocationId:
    data[0] = id_of(prefetched());
    return cudaSuccess;
  case cudaMemRangeAttributeAccessedBy: {
    std::ranges::fill(data, cudaInvalidDeviceId);
    std::size_t count = 0;
    for (const int who : all.front()->accessed_by) {
      const bool everywhere =
          std::ranges::all_of(all, [&](const Advised* a) { return a->accessed_by.contains(who); });
      if (everywhere && count < data.size()) {
        data[count++] = who;
      }
    }
    return cudaSuccess;
  }
  default:
    return cudaErrorInvalidValue;
  }
}

} // namespace heddle::runtime
