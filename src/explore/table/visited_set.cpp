// Implements visited_set.h with packed slots of 16 bytes: searches take no lock and write nothing.
#include "explore/table/visited_set.h"

#include "base/check.h"

#include "heddle/concurrent_map.cuh"

#include <algorithm>

namespace heddle::explore {

namespace {

struct Entry {
  StateId id = 0;
  std::uint32_t check = 0; // of the half of the hash that is no key
};

using ConcurrentMap = heddle::concurrent_map<
    std::uint64_t,
    Entry,
    cuda::thread_scope_system,
    heddle::hash<std::uint64_t>,
    heddle::equal_to<std::uint64_t>,
    heddle::host_allocator,
    heddle::layout::packed16>;

/// A fifth of the places stays free: a bucket of seven says whether a search need go further than
/// it.
std::size_t capacity(std::uint32_t states) {
  return std::size_t{states} * 5 / 4 + 16;
}

constexpr std::size_t piece_size = 8192; // places

std::uint32_t check_of(const Hash128& hash) {
  return static_cast<std::uint32_t>(hash.high >> 32);
}

/// States that have a key in common have others further on.
std::uint64_t key_of(const Hash128& hash, std::uint64_t attempt) {
  return hash.low + attempt * (hash.high | 1);
}

} // namespace

struct VisitedSet::Map {
  ConcurrentMap::ref_type ref;
};

VisitedSet::VisitedSet(void* memory, std::uint32_t states)
    : map_(new Map{ConcurrentMap::ref_at(memory, capacity(states))}) {}
VisitedSet::VisitedSet(VisitedSet&&) noexcept = default;
VisitedSet& VisitedSet::operator=(VisitedSet&&) noexcept = default;
VisitedSet::~VisitedSet() = default;

std::size_t VisitedSet::bytes(std::uint32_t states) {
  return ConcurrentMap::bytes_at(capacity(states));
}

std::optional<StateId> VisitedSet::find(const Hash128& hash) const {
  const ConcurrentMap::ref_type& map = map_->ref;
  for (std::uint64_t attempt = 0;; ++attempt) {
    const auto known = map.find(key_of(hash, attempt));
    if (!known) {
      return std::nullopt;
    }
    if (known->check == check_of(hash)) {
      return known->id;
    }
  }
}

void VisitedSet::fetch(const Hash128& hash) const {
  __builtin_prefetch(map_->ref.first_place(key_of(hash, 0)));
}

StateId VisitedSet::insert(const Hash128& hash, StateId id) {
  const ConcurrentMap::ref_type& map = map_->ref;
  for (std::uint64_t attempt = 0;; ++attempt) {
    const std::uint64_t key = key_of(hash, attempt);
    const auto result = map.try_insert(key, Entry{id, check_of(hash)});
    HEDDLE_CHECK(result != heddle::insert_result::full, "no room in the set of visited states");
    if (result == heddle::insert_result::inserted) {
      return id;
    }
    const auto known = map.find(key);
    HEDDLE_CHECK(known.has_value(), "a visited state has gone");
    if (known->check == check_of(hash)) {
      return known->id;
    }
  }
}

std::uint32_t VisitedSet::pieces() const {
  return static_cast<std::uint32_t>((map_->ref.places() + piece_size - 1) / piece_size);
}

/// Goes through both in the order of their places: a key lies as far into one as into the other.
void VisitedSet::insert_piece(const VisitedSet& smaller, std::uint32_t piece) const {
  const ConcurrentMap::ref_type& from = smaller.map_->ref;
  const std::size_t begin = piece * piece_size;
  for (std::size_t place = begin; place < std::min(begin + piece_size, from.places()); ++place) {
    from.visit_place(place, [&](std::uint64_t key, const Entry& entry) {
      const auto result = map_->ref.try_insert(key, entry);
      HEDDLE_CHECK(result == heddle::insert_result::inserted, "a visited state is there twice");
    });
  }
}

} // namespace heddle::explore
