// How the shared memory of a StateTable is laid out: a header, then arrays of fixed capacity.
// Included by state_table*.cpp only. Whatever several processes change at the same time is accessed
// through atomic_of().
#pragma once

#include "explore/table/state_table.h"

#include "heddle/mutex.cuh"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace heddle::explore {

template <class T> std::atomic_ref<T> atomic_of(T& value) {
  return std::atomic_ref<T>(value);
}

/// Two states lie in a cache line; whether the moves of devices are claimed, by which most states
/// are asked for, lies elsewhere, with that of others. So do the ways of host threads beyond the
/// eighth.
struct alignas(32) StoredState {
  Hash128 hash;
  std::int32_t missing;                // edges: so many have been announced and are not there yet
  std::uint32_t description;           // interned: StoredDescription, and its demands
  std::uint16_t claims;                // that have not been described yet
  std::uint8_t first_ways, other_ways; // claimed, of the first host threads
  std::uint8_t visited, described;     // visited: StoredVisit
  std::uint8_t end, exit_status;       // StoredEnd; of a terminal state, as in State
};
static_assert(sizeof(StoredState) == 32);
enum StoredVisit : std::uint8_t {
  NotVisited,
  Visited,
  ToBeMetAgain, // see state_table_checkpoint.cpp
  Known         // by its hash: only another rank may have been there
};
enum StoredDescribed : std::uint8_t {
  NotDescribed,
  MovesFollow, // who is owed a move of a device is said by its edges
  InFull
};
/// Of the moves of devices in a state; with one bit for those of hosts.
enum StoredDevices : std::uint8_t {
  NotClaimed,
  Claimed,
  ClaimedElsewhere, // by another rank
  DevicesBits,
  WaysElsewhere // some ways of hosts have been left to another rank
};
enum StoredEnd : std::uint8_t {
  NoEnd,
  ExpectedEnd,
  UnexpectedEnd
};

struct StoredWays { // of a state: claimed, of all host threads beyond those in StoredState
  std::uint64_t first, other;
};
constexpr unsigned narrow_ways = 8;

/// What had been asked for of a state that is to be met again.
struct StoredAgain {
  std::uint64_t first, other;
  StateId state;
  std::uint32_t device;
};

/// An edge whose move another rank has claimed, and has given away.
struct StoredGranted {
  EdgeId edge;
  std::uint32_t claimer;
};
constexpr std::uint32_t max_granted = 1 << 22;

/// The text of an event.
constexpr std::string_view limit_of_states = "the limit of states was reached";

struct StoredDescription {
  std::uint64_t could_return;
  std::uint32_t host_site, waits;
};

struct StoredActor {
  ActorKind kind{};
  std::uint32_t name = 0, group = 0, kernel = 0;
};

struct StoredText {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
};

struct StoredDemand {
  std::uint64_t rule;
  ThreadClass who;
};

// What processes write all the time lies in cache lines of its own: whoever only reads the rest
// need not wait for them. (Two lines: processors fetch them in pairs.)
constexpr std::size_t apart = 128;

struct alignas(apart) StoredProcess {
  std::uint64_t depth, queue;
  double open; // see Frontier::explored: of what this process has not explored
  std::uint32_t used;
  std::uint32_t inserts; // a visited state, just now
  std::uint32_t position_state, position_site;
  // Numbers that are taken and not used yet: by this process, or by the next one in its place.
  StateId next_state, end_of_states;
  EdgeId next_edge, end_of_edges;
};

struct StoredTold {
  std::uint32_t count;
  std::array<std::byte, StateTable::most_told> bytes;
};

// Tables that are looked up by hashes are small as long as little is in them: each page that is
// touched for the first time costs as much as a state or two. Of visited states there is a set of
// each size; what is in one is put into the next when it is full, and its memory given back. Texts
// stay in the table that they were put in.
constexpr std::size_t visited_sets = 21, text_tables = 8;

constexpr std::uint32_t visited_room(std::size_t number, std::uint32_t max_states) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(4096ULL << number, max_states));
}
/// Of this table and those before it.
constexpr std::uint32_t text_room(std::size_t table, std::uint32_t max_texts) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(2048ULL << 3 * table, max_texts));
}

enum Enlarging : std::uint32_t {
  NotEnlarging,
  WaitsForInsertions,
  Copies // who comes by helps
};

/// What lies in the table and is written by others.
enum StoredBoard : std::uint8_t {
  OfWork,  // WorkBoard
  OfRanks, // RankBoard
  OfCourse // Course
};

struct StateTable::Header {
  std::uint64_t magic;
  std::uint64_t total_bytes;
  std::uint32_t max_states, max_edges, max_texts, max_actors, max_events, max_told, max_processes;
  std::uint32_t alone;
  std::uint64_t max_text_bytes;
  std::array<std::size_t, visited_sets> visited_at;
  std::array<std::size_t, text_tables> text_slots_at;
  std::size_t again_at, wanted_at, devices_at, ways_at, states_at, edges_at, texts_at,
      text_bytes_at, actors_at, events_at, granted_at, told_at, processes_at;
  std::array<std::size_t, 3> boards_at; // StoredBoard

  std::uint64_t facts;
  std::array<std::uint64_t, 10> learned; // reduce::Learned
  std::uint32_t keeps_to;                // so many states; 0: to none
  std::uint32_t again;                   // so many states are to be met again, or were
  std::uint32_t irrevocable;             // moves
  std::int32_t permits;                  // of processes that could take part and do not
  std::uint32_t several;                 // processes have taken part …
  std::uint32_t several_before;          // … in a part of the search that was stopped
  std::uint32_t visited;                 // which of the sets of visited states is in use
  std::uint32_t told, granted;
  std::uint32_t gapless; // StateTable::close_gaps()
  double abandoned;      // see Frontier::explored

  alignas(apart) std::uint32_t states;
  std::uint64_t work, computed; // change with them
  alignas(apart) std::uint32_t edges;

  heddle::mutex<cuda::thread_scope_system> enlarge_mutex; // who makes room for visited states
  std::uint32_t
      enlarging; // Enlarging: somebody does, and waits for those who insert, or they for it
  // While they are copied: from which set, to which (a byte each), and the next piece. So who comes
  // late takes no piece of another copy. And how many there are, and are done.
  alignas(apart) std::uint64_t next_piece;
  std::uint32_t pieces, pieces_done;

  // Of what follows, of new texts, and of what is told.
  alignas(apart) heddle::mutex<cuda::thread_scope_system> mutex;
  std::uint32_t texts, actors, events;
  std::uint64_t text_bytes;
};

/// A table is mapped where huge pages of its file can be mapped as such, and its larger parts begin
/// with one (state_table_pages.cpp).
constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = 2 << 20;
/// nullptr, and errno: it cannot be mapped.
std::byte* map_table(int fd, std::size_t bytes);

/// Counts something that other processes count too, if there are several (`several`: the header's).
/// Returns what it was before.
template <class T> T count(const std::uint32_t& several, T& counter, T by) {
  constexpr auto relaxed = std::memory_order_relaxed;
  if (std::atomic_ref(const_cast<std::uint32_t&>(several)).load(relaxed) != 0) {
    return atomic_of(counter).fetch_add(by, relaxed);
  }
  const T before = atomic_of(counter).load(relaxed);
  atomic_of(counter).store(before + by, relaxed);
  return before;
}

inline StateTable::Header& StateTable::header() const {
  return *reinterpret_cast<Header*>(base_);
}

/// Arrays are kept as texts of their bytes.
template <class T> std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}
template <class T> std::vector<T> values_of(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  }
  return values;
}

} // namespace heddle::explore
