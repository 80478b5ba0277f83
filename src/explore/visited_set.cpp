// Implements visited_set.h with packed slots of 8 bytes: searches take no lock and write nothing.
#include "explore/visited_set.h"

#include "base/check.h"

#include "heddle/concurrent_map.cuh"

namespace heddle::explore {

namespace {

using ConcurrentMap = heddle::concurrent_map<
    std::uint32_t,
    StateId,
    cuda::thread_scope_system,
    heddle::hash<std::uint32_t>,
    heddle::equal_to<std::uint32_t>,
    heddle::host_allocator,
    heddle::layout::packed8>;

/// Half of the places stay free, so that ways to them are short.
std::size_t capacity(std::uint32_t states) {
  return std::size_t{states} * 2;
}

/// States that have a key in common have others further on.
std::uint32_t key_of(const Hash128& hash, std::uint64_t attempt) {
  return static_cast<std::uint32_t>(
      (hash.low + attempt * (hash.high | 1)) * 0x9e37'79b9'7f4a'7c15ULL >> 32
  );
}

} // namespace

struct VisitedSet::Map {
  ConcurrentMap::ref_type ref;
  Hashes hashes;
};

VisitedSet::VisitedSet(void* memory, std::uint32_t states, Hashes hashes)
    : map_(new Map{ConcurrentMap::ref_at(memory, capacity(states)), hashes}) {}
VisitedSet::VisitedSet(VisitedSet&&) noexcept = default;
VisitedSet& VisitedSet::operator=(VisitedSet&&) noexcept = default;
VisitedSet::~VisitedSet() = default;

std::size_t VisitedSet::bytes(std::uint32_t states) {
  return ConcurrentMap::bytes_at(capacity(states));
}

std::optional<StateId> VisitedSet::find(const Hash128& hash) const {
  for (std::uint64_t attempt = 0;; ++attempt) {
    const auto known = map_->ref.find(key_of(hash, attempt));
    if (!known) {
      return std::nullopt;
    }
    if (map_->hashes.of(*known) == hash) {
      return *known;
    }
  }
}

void VisitedSet::fetch_place(const Hash128& hash) const {
  __builtin_prefetch(map_->ref.first_place(key_of(hash, 0)));
}

void VisitedSet::fetch_hash(const Hash128& hash) const {
  if (const auto known = map_->ref.find(key_of(hash, 0))) {
    __builtin_prefetch(&map_->hashes.of(*known));
  }
}

StateId VisitedSet::insert(const Hash128& hash, StateId id) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    const std::uint32_t key = key_of(hash, attempt);
    const auto result = map_->ref.try_insert(key, id);
    HEDDLE_CHECK(result != heddle::insert_result::full, "no room in the set of visited states");
    if (result == heddle::insert_result::inserted) {
      return id;
    }
    const auto known = map_->ref.find(key);
    HEDDLE_CHECK(known.has_value(), "a visited state has gone");
    if (map_->hashes.of(*known) == hash) {
      return *known;
    }
  }
}

} // namespace heddle::explore
