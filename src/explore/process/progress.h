// How far a search is: one line on a terminal, and lines of JSON for programs.
//
//   const Progress p = progress_of(table);
//   progress_text(p)        "12,345 states, 6,789 states/s, depth 310, 1,204 moves to try, …"
//   progress_json(p)        {"states":12345, …}
//
// How much of a search is done cannot be known before its end, and no estimate of the number of
// states is given: none is good (Pelánek and Šimeček, "Estimating state space parameters", 2008).
// What is said is `explored`: how likely it is that an execution that makes its choices at random
// has been explored to its end, exact but for work that is just being handed over. It is what
// Knuth's random probes ("Estimating the efficiency of backtrack programs", 1975) would find in the
// mean, without their spread: the weights are summed over what is open, as Kilby, Slaney, Thiébaux
// and Walsh do ("Estimating search tree size", AAAI 2006). It grows to 1, but it is not the part of
// the states: executions that come to an end soon weigh most, and long ones have most of the
// states. bench/scaling.md has figures.
#pragma once

#include "explore/single/sample_sheet.h"
#include "explore/table/state_table.h"

#include <cstdint>
#include <string>

namespace heddle::explore {

struct Progress {
  std::uint64_t states = 0, depth = 0, open_moves = 0;
  std::uint64_t memory = 0; // bytes, of the table and what processes do not share
  std::uint32_t processes = 0;
  double explored = 0;
  double states_per_second = 0;
  double search_seconds = 0, seconds = 0; // since this search, and the check, have begun
};

/// What the table knows of it.
Progress progress_of(const StateTable& table);

/// "12,345 states, 6,789 states/s, depth 310, 1,204 moves to try, 2 processes, 41 MiB,
/// 3.1 % explored, 00:12"
std::string progress_text(const Progress& progress);
/// "127 of 2,000 schedules, 45,678 steps, 00:12"
std::string progress_text(const SampleSheet& sheet, double seconds);

/// A line without its end; numbers of bytes and seconds. `is_last`: the search is over.
std::string progress_json(const Progress& progress, bool is_last);
std::string progress_json(const SampleSheet& sheet, double seconds, bool is_last);

} // namespace heddle::explore
