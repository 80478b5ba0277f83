// How the shared memory of a StateTable is laid out: a header, then arrays of fixed capacity.
// Included by state_table*.cpp only. Whatever several processes change at the same time is accessed
// through atomic_of().
#pragma once

#include "explore/state_table.h"

#include "heddle/mutex.cuh"

#include <array>
#include <atomic>
#include <cstring>

namespace heddle::explore {

template <class T> std::atomic_ref<T> atomic_of(T& value) {
  return std::atomic_ref<T>(value);
}

struct StoredState {
  Hash128 hash;
  std::uint64_t could_return;
  std::uint64_t first_ways, other_ways; // claimed
  std::uint32_t visits;
  std::uint32_t claims; // that have not been described yet
  std::uint32_t moves;
  std::uint32_t edges;   // out of this state so far
  std::uint32_t demands; // interned array of packed demands
  std::uint32_t host_site, waits;
  std::uint8_t device; // moves of devices are claimed
  std::uint8_t terminal, described;
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
  std::uint32_t used;
  std::uint32_t position_state, position_site;
};

struct StoredTold {
  std::uint32_t count;
  std::array<std::byte, StateTable::most_told> bytes;
};

struct StateTable::Header {
  std::uint64_t magic;
  std::uint64_t total_bytes;
  std::uint32_t max_states, max_edges, max_texts, text_slots, max_actors, max_events, max_told,
      max_processes;
  std::uint32_t alone;
  std::uint64_t max_text_bytes;
  std::size_t visited_at, wanted_at, states_at, edges_at, texts_at, text_slots_at, text_bytes_at,
      actors_at, events_at, told_at, processes_at;

  std::uint32_t facts;
  std::uint32_t keeps_to;    // so many states; 0: to none
  std::uint32_t irrevocable; // moves
  std::int32_t permits;      // of processes that could take part and do not
  std::uint32_t several;     // processes have taken part
  std::uint32_t told;

  alignas(apart) std::uint32_t states;
  alignas(apart) std::uint32_t edges;

  // Of what follows, of new texts, and of what is told.
  alignas(apart) heddle::mutex<cuda::thread_scope_system> mutex;
  std::uint32_t texts, actors, events;
  std::uint64_t text_bytes;
};

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
