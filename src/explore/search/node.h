// A state on the way from where the host stopped to where the search is, and its choices.
#pragma once

#include "base/hash.h"
#include "explore/judge/edges.h"
#include "explore/table/state_table.h"
#include "explore/witness/schedule.h"
#include "reduce/stepper.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::explore {

using reduce::Stepper;

inline Hash128 sum_of(const Hash128& a, const Hash128& b) {
  return {a.low + b.low, a.high + b.high};
}

struct Choice {
  static constexpr StateId nowhere = ~0U;
  enum class Kind : std::uint8_t {
    Thread,
    Command, // cannot be undone
    Host     // cannot be undone
  } kind{};
  std::uint32_t number = 0; // among all choices of its state
  std::size_t move = 0;     // Thread, Command
  unsigned host = 0;
  unsigned way = 0;
  // Of a thread's move: what it leads to, if that was known when its state was entered.
  bool ahead = false;
  Step step{};
  std::uint32_t changes = 0, check = 0, known = nowhere; // known: where that is, if it was then
  Hash128 device{}, state{};
  Stepper::Again again{};
  Stepper::Note* note = nullptr; // as long as `again` holds
};

/// Is it one of those?
inline bool is_in(const Choice& choice, const Choices& choices) {
  if (choice.kind != Choice::Kind::Host) {
    return choices.device;
  }
  return ((choice.way == 0 ? choices.first_ways : choices.other_ways) >> choice.host & 1) != 0;
}

struct Node {
  StateId state = 0;
  Stepper::Mark mark;
  std::vector<Stepper::Move> moves;
  std::vector<Choice> choices; // those that are tried here
  std::size_t next = 0;
  std::uint32_t width = 1;            // how many choices of the state are tried, by whomever
  std::uint32_t taken = 0, check = 0; // number of the choice under way; check_of() this state
  std::uint64_t open = 0;             // host threads whose wait could end
  Hash128 device, beside;             // what the fingerprint consists of
  std::uint64_t ways = 0;             // System::ways_seen(), when its ways were those of this state
  bool looked_ahead = false;
  // More than reduce::last_ones(): so many clusters are left of which only the last ones matter,
  // and only some go next.
  std::uint64_t alike = 0;
  std::uint32_t claimer = StateTable::own_claim; // the rank that has claimed the choices
};

/// How the search has come to a state.
struct Arrival {
  bool host = false;                  // HostThreads::arrived() have just stopped
  std::uint64_t open = 0;             // Node::open of the state before
  std::uint64_t alike = 0;            // Node::alike, if known
  std::uint32_t expected = unchecked; // in a replay: what the state must look like …
  std::size_t step = 0;               // … after so many steps
};

/// What a state looks like from where the search arrives.
struct Look {
  Hash128 device, beside;
  std::uint64_t open = 0;
  std::uint32_t check = 0;
  std::uint64_t alike = 0; // Node::alike, if known
  StateTable::Seen seen{};
};

} // namespace heddle::explore
