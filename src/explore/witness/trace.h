// Trace: what one repeated execution did, step by step, in a file that explored process and tool
// share. Actors, sites and notes are ids of the state table that belongs to it.
//
//   append_row(handover.trace, {.from = state, .actor = actor, .site = site});  // the process
//   std::vector<TraceRow> rows = read_rows(fd);                                 // the tool
//
// One row for each choice that was taken, and after the last of them one with `actor` = no_actor:
// the state that was reached.
#pragma once

#include "explore/judge/progress_graph.h"
#include "explore/table/state_table.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace heddle::explore {

inline constexpr ActorId no_actor = ~ActorId{0};

struct TraceRow {
  StateId from = 0; // the state in which it moved
  ActorId actor = no_actor;
  std::uint32_t site = 0;
  std::uint32_t note = 0;   // a text of the table: its accesses (accesses.h); 0: none
  std::uint32_t choice = 0; // the number of the move that was taken
  bool operator==(const TraceRow&) const = default;
};

/// Hash of what happened in `rows`: which kernel (or the host) did what. Lines, paths and addresses
/// do not count, so it is the same in another folder. It tells one execution from another, but not
/// one of several equal threads or launches from another. `actors`: those of the table.
/// `more`: what else counts of a move.
std::string digest(
    const StateTable& table,
    std::span<const Actor> actors,
    std::span<const TraceRow> rows,
    const std::function<std::string(const TraceRow&)>& more = {}
);

void append_row(int fd, const TraceRow& row);
std::vector<TraceRow> read_rows(int fd);

} // namespace heddle::explore
