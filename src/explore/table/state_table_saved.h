// How a StateTable begins in a file (StateTable::save); its arrays follow, in the order of save().
// Included by state_table_checkpoint.cpp and state_table_merge.cpp only.
#pragma once

#include "explore/table/state_table_layout.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace heddle::explore {

constexpr std::uint64_t saved_magic = 0x3864'6576'6173'6465ULL;

struct Saved {
  std::uint64_t magic = 0, text_bytes = 0, work = 0, computed = 0;
  std::uint32_t states = 0, edges = 0, texts = 0, actors = 0, events = 0, told = 0, again = 0,
                granted = 0;
  std::uint64_t facts = 0;
  std::uint32_t irrevocable = 0, several = 0;
  std::uint32_t steps = 0, numbers = 0; // of the course, if it is there
  std::array<std::uint64_t, 10> learned{};
};

/// All that has been asked for in the state is there.
inline bool is_finished(const StoredState& state) {
  return state.visited == Visited && state.described != 0 && state.claims == 0 &&
         state.missing <= 0;
}

inline bool read_all(int fd, void* bytes, std::size_t count) {
  for (auto* at = static_cast<char*>(bytes); count != 0;) {
    const ssize_t some = ::read(fd, at, count);
    if (some == 0 || (some < 0 && errno != EINTR)) {
      return false;
    }
    at += std::max<ssize_t>(some, 0);
    count -= static_cast<std::size_t>(std::max<ssize_t>(some, 0));
  }
  return true;
}

} // namespace heddle::explore
