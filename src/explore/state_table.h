// StateTable: what one exploration has seen, in memory that all its processes share.
//
//   auto table = StateTable::create({.max_states = 1'000'000});     // the tool; fd() is inherited
//   auto table = StateTable::open(fd);                              // the explored process
//   auto [id, fresh] = *table.visit(hash);                          // and its forked children
//   table.add_edge({.from = before, .to = id, …});
//   ProgressGraph graph = table.load();                             // the tool, at the end
//
// Only one process of an exploration runs at a time (a process waits for the child it has forked),
// so there are no locks. Everything is append-only, ids are dense and in order of discovery: the
// same exploration gives the same table. A state is known by a 128-bit hash; a collision would hide
// states (probability below 10^-26 for a million of them).
#pragma once

#include "base/hash.h"
#include "base/result.h"
#include "explore/progress_graph.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::explore {

/// Where something happens and what: one line of a report.
struct Site {
  std::string file;
  std::uint32_t line = 0, column = 0; // 0: unknown
  std::string what;                   // "atomic load", "inside cudaDeviceSynchronize"
  bool operator==(const Site&) const = default;
};

/// Something other than an endless execution that ended one execution.
enum class EventKind : std::uint32_t {
  Crash,          // the host process died: `text` says how
  Fault,          // a defect that ended an execution: `text` is a diagnostic (diagnostic_lines.h)
  Unsupported,    // Heddle's gap
  Nondeterminism, // the same schedule led elsewhere
  Incomplete      // a limit was reached, or control was lost: the search is not exhaustive
};
struct Event {
  EventKind kind = EventKind::Incomplete;
  std::uint32_t site = 0;
  StateId from = 0; // the state it happened in
  std::uint32_t text = 0;
};

/// What the whole exploration has met at least once.
enum class Fact : std::uint8_t {
  Dependency,  // a grid had to wait for another one
  PlainAccess, // device threads make plain accesses to memory that others see
  Choice,      // a device thread made a move that was not bound to end by itself
  FloatSum,    // floating-point numbers were added up in one order of several
  SumsClash,   // Options::sums does not hold: the search is void
  PhasesClash, // Options::phases does not hold: the search is void
  HostUnseen   // host code is not instrumented
};

class StateTable {
public:
  struct Limits {
    std::uint32_t max_states = 1'000'000;
  };
  static Result<StateTable> create(Limits limits);
  static Result<StateTable> open(int fd);
  StateTable(StateTable&& other) noexcept;
  StateTable& operator=(StateTable&&) = delete;
  ~StateTable();

  int fd() const { return fd_; }

  struct Visit {
    StateId id = 0;
    bool fresh = false;
    bool partly = false; // see Description
  };
  /// None: the table is full.
  std::optional<Visit> visit(const Hash128& hash);
  /// The state, if it has been visited and there is nothing more to do in it.
  std::optional<StateId> find_done(const Hash128& hash) const;
  struct Description {
    std::span<const Demand> demands;
    std::uint32_t moves = 0; // how many edges must leave the state before it counts as expanded
    std::uint32_t host_site = 0;
    std::uint32_t waits = 0;
    std::uint64_t could_return = 0; // host threads inside a call that need not stay there
    bool partly = false;            // not all moves are made unless the state is met again
  };
  void describe(StateId state, const Description& description);
  /// A state in which the program has ended.
  std::optional<StateId> end_state();
  void add_edge(const Edge& edge);
  void add_event(EventKind kind, StateId from, std::uint32_t site, std::string_view text);

  std::uint32_t intern(std::string_view text); // equal text, equal id
  std::uint32_t intern(const Site& site);
  std::uint32_t intern(std::span<const ClassChange> changes);
  ActorId add_actor(const Actor& actor);

  /// What the running process is about to do, so that its parent can say where it died.
  void set_position(StateId from, std::uint32_t site);
  std::pair<StateId, std::uint32_t> position() const;
  void count_execution();
  /// How far the search has gone from the beginning, and how many moves wait to be tried.
  void set_frontier(std::uint64_t depth, std::uint64_t queue);
  void note(Fact fact);

  // --- For the tool ------------------------------------------------------------------------------
  ProgressGraph load() const;
  std::uint32_t state_count() const;
  std::uint64_t executions() const;
  std::pair<std::uint64_t, std::uint64_t> frontier() const; // depth, queue
  bool saw(Fact fact) const;
  std::vector<Event> events() const;
  std::string_view text(std::uint32_t id) const;
  Site site(std::uint32_t id) const;

private:
  struct Layout;
  struct Header;
  StateTable(int fd, std::byte* base, std::size_t bytes);
  Header& header() const;
  template <class T> T* region(std::size_t offset) const;

  int fd_ = -1;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace heddle::explore
