// Implements state_table.h: what processes tell each other, and what is known of other ranks.
#include "base/check.h"
#include "explore/table/state_table_layout.h"

#include <algorithm>
#include <array>

namespace heddle::explore {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

} // namespace

std::optional<StateId> StateTable::know(const Hash128& hash) {
  const auto id = find_or_add(hash, Seen::Perhaps);
  if (id) {
    std::uint8_t not_visited = NotVisited;
    atomic_of(region<StoredState>(header().states_at)[*id].visited)
        .compare_exchange_strong(not_visited, Known, relaxed);
  }
  return id;
}

void StateTable::note_elsewhere(StateId id) {
  const std::atomic_ref devices = atomic_of(region<std::uint8_t>(header().devices_at)[id]);
  std::uint8_t before = devices.load(relaxed);
  while ((before & DevicesBits) == NotClaimed &&
         !devices.compare_exchange_weak(before, before | ClaimedElsewhere, relaxed)) {
  }
}

void StateTable::leave_elsewhere(StateId id) {
  // It is Claimed, by this process.
  atomic_of(region<std::uint8_t>(header().devices_at)[id])
      .fetch_xor(Claimed ^ ClaimedElsewhere, relaxed);
}

void StateTable::leave_ways_elsewhere(StateId id) {
  atomic_of(region<std::uint8_t>(header().devices_at)[id]).fetch_or(WaysElsewhere, relaxed);
}

std::uint64_t StateTable::facts() const {
  return atomic_of(header().facts).load(relaxed);
}

void StateTable::note_facts(std::uint64_t facts) {
  if ((facts & ~this->facts()) != 0) {
    atomic_of(header().facts).fetch_or(facts, relaxed);
  }
}

void StateTable::learn(const reduce::Learned& refuted) {
  const std::array<std::uint64_t, 10> sets{
      refuted.contended,
      refuted.owned,
      refuted.unordered,
      refuted.lasting,
      refuted.deciding,
      refuted.kept,
      refuted.refuted,
      refuted.places,
      refuted.immovable,
      refuted.rewritten
  };
  for (std::size_t i = 0; i < sets.size(); ++i) {
    atomic_of(header().learned[i]).fetch_or(sets[i], relaxed);
  }
}

reduce::Learned StateTable::learned() const {
  const auto set = [&](std::size_t i) { return atomic_of(header().learned[i]).load(relaxed); };
  return {
      .contended = set(0),
      .places = set(7),
      .immovable = set(8),
      .rewritten = set(9),
      .owned = set(1),
      .unordered = set(2),
      .lasting = set(3),
      .deciding = set(4),
      .kept = set(5),
      .refuted = set(6)
  };
}

std::optional<std::uint32_t> StateTable::tell(std::span<const std::byte> what) {
  HEDDLE_CHECK(what.size() <= most_told, "{} bytes are told at once", what.size());
  Header& h = header();
  const heddle::lock_guard hold(h.mutex);
  const std::uint32_t number = h.told;
  if (number == h.max_told) {
    return std::nullopt;
  }
  StoredTold& record = region<StoredTold>(h.told_at)[number];
  record.count = static_cast<std::uint32_t>(what.size());
  std::ranges::copy(what, record.bytes.begin());
  atomic_of(h.told).store(number + 1, std::memory_order_release);
  return number;
}

std::uint32_t StateTable::told() const {
  return atomic_of(header().told).load(std::memory_order_acquire);
}

std::span<const std::byte> StateTable::told(std::uint32_t number) const {
  const StoredTold& record = region<StoredTold>(header().told_at)[number];
  return {record.bytes.data(), record.count};
}

RankBoard StateTable::rank_board() const {
  const Header& h = header();
  return {base_ + h.boards_at[OfRanks], h.max_states};
}

} // namespace heddle::explore
