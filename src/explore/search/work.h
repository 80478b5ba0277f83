// Work: a part of a search that one process hands to another one, as plain bytes.
//
//   const std::vector<std::byte> bytes = encode(work);      // the giver
//   const std::optional<Work> work = decode(bytes);         // the taker, which repeats the steps
//
// A *way* leads from a base, a state in which both processes have been, to a state of the search.
// Some states of the way have choices that nobody has tried yet; these are the work. One way with
// many choices costs one repetition, where each choice by itself would cost its own.
#pragma once

#include "base/hash.h"
#include "explore/judge/edges.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heddle::explore {

struct Work {
  /// One move of the way.
  struct Step {
    std::uint32_t choice = 0; // its number among the choices of the state before it
    std::uint32_t check = 0;  // check_of() the state that it leads to, or `unchecked`
    StateId state = 0;        // the number of that state in the giver's table
    std::uint32_t width = 1;  // so many choices of that state are tried, by whomever
    std::uint32_t alike = 0;  // in a search where all blocks have started: see
                              // reduce/persistent_sets/persistent_sets.h
    bool operator==(const Step&) const = default;
  };
  /// What is to be tried in one state of the way.
  struct Open {
    std::uint32_t step = 0;      // so many steps from the base
    std::uint32_t claimer = 0;   // the rank that has claimed them
    std::uint64_t signature = 0; // of all moves of the state
    std::vector<std::uint32_t> choices;
    bool operator==(const Open&) const = default;
  };
  std::vector<Step> steps;
  std::vector<Open> open; // by `step`
  Hash128 end;            // the device's fingerprint after the last step
  bool operator==(const Work&) const = default;
};

std::vector<std::byte> encode(const Work& work);
/// None: these are not the bytes of a Work.
std::optional<Work> decode(std::span<const std::byte> bytes);

/// Work for a process that has not been at its base: how it gets there from the beginning of the
/// program, and what the base is.
struct Errand {
  struct Step {
    std::uint32_t choice = 0, check = 0; // as in Work
    bool operator==(const Step&) const = default;
  };
  std::vector<Step> way;
  Hash128 base;      // the hash of the state, with that of the host
  double weight = 0; // how likely an execution comes there
  Work work;
  bool operator==(const Errand&) const = default;
};

std::vector<std::byte> encode(const Errand& errand);
/// None: these are not the bytes of an Errand.
std::optional<Errand> decode_errand(std::span<const std::byte> bytes);

} // namespace heddle::explore
