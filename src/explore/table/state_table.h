// StateTable: what one exploration has seen, in memory that all its processes share.
//
//   auto table = StateTable::create({.max_states = 1'000'000});     // the tool; fd() is inherited
//   auto table = StateTable::open(fd);                              // the explored process
//   auto visit = *table.visit(hash, asked);                         // and its forked children
//   const Choices mine = table.claim(visit.id, wanted);             // nobody else makes them
//   table.describe(visit.id, …); table.add_edge({.from = before, .to = visit.id, …});
//   ProgressGraph graph = table.load();                             // the tool, at the end
//
// Any number of processes may do that at the same time. Everything is append-only. A state is known
// by a hash (visited_set.h). Which choices of a state are made depends on the ways that lead to it,
// not on their order, since each arrival asks for choices and nothing is ever taken back; so
// processes that share the work find the same states and edges as one alone.
#pragma once

#include "base/hash.h"
#include "base/result.h"
#include "explore/judge/progress_graph.h"
#include "explore/ranks/rank_board.h"
#include "explore/search/work_board.h"
#include "explore/table/course.h"
#include "explore/table/visited_set.h"
#include "reduce/learned.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::explore {

struct StoredProcess; // state_table_layout.h

/// Where something happens and what: one line of a report.
struct Site {
  std::string file;
  std::uint32_t line = 0, column = 0; // 0: unknown
  std::string what;                   // "atomic load", "inside cudaDeviceSynchronize"
  /// How it got there, innermost first.
  struct Call {
    std::string file;
    std::uint32_t line = 0, column = 0;
    std::string how; // "inlined from here"
    bool operator==(const Call&) const = default;
  };
  std::vector<Call> calls = {};
  // An access that nvcc's stub for a launch makes on its own account (source_places.h finds out).
  bool of_stub = false;
  // Code of libstdc++'s own loop that waits for an atomic to change (the same).
  bool in_library_wait = false;
  // … that tries a weak exchange until it succeeds (the same).
  bool in_library_retry = false;
  bool operator==(const Site&) const = default;
};

/// Something other than an endless execution that ended one execution.
enum class EventKind : std::uint32_t {
  Crash,          // the host process died: `text` says how
  Fault,          // a defect that ended an execution: `text` is a diagnostic (diagnostic_lines.h)
  Unsupported,    // Heddle's gap
  Nondeterminism, // the same schedule led elsewhere
  Incomplete,     // a limit of the search was reached, or control was lost: Coverage::Cut
  LeftOut,        // a limit of the model was reached: Coverage::Bounded
  Unchosen,       // something happens at one moment of several: Coverage::Bounded
  Asked, // the program asks for what could be answered otherwise: `text` names it (base/outside.h)
  Input  // … or reads an input, which the verdict assumes
};
/// What a thread has read several times before it slept (Unchosen), unless that is the library's.
inline constexpr std::string_view reads_before_sleeping =
    "some numbers of reads before a loop that sleeps sees a change";
/// A weak exchange of the host has not failed without a reason (Unchosen); the same.
inline constexpr std::string_view no_weak_failures =
    "spurious failures of compare_exchange_weak on the host";
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
  ActiveSets,  // activemask could have named more sets of lanes than were tried
  Reads,       // of a loop that reads one place not each read was a choice
  OldValues,   // … nor every older value of a place
  Vectors,     // elements of a vector were accessed at once
  Reductions,  // asynchronous reductions were made when they were issued
  FenceHeard,  // fence.sc were ordered as they were executed; another order may be possible …
  FencesTook,  // … or may be if there are FencesApart, too: one knew more because of an earlier one
  HostGotData, // that is no part of states, in a search by decisions
  DataOrder,   // so were accesses on whose order only data depends
  Retries,     // how often an update made of compare-and-swap is tried depended on such an order
  SumsClash,   // Options::sums does not hold: the search is invalid
  Refuted,     // some reduce::Assumption: the search is invalid
  Circle, // a state came back on the way from it, or what a straight search needs does not hold
  GaveUp, // Options::gives_up
  HostAllocates, // … memory while others may go on: one process searches
  HostClash,     // Options::host_first does not hold: the search is invalid
  HostUnseen,    // host code is not instrumented
  HostShares,    // … and there is memory that it and devices reach, or another host thread
  HostAccess,    // a plain access of the host to memory that work under way may reach
  // Of the host (HeddleLeftOut).
  NoSpuriousWakeUps,
  FirstWoken,
  ReadersFirst,
  TeamsOfTwo,
  TasksAtOnce,
  UsesInOneOrder,
  FilesChanged,
  CallsWait,      // a call waited for devices that could have returned without that [API-WAIT]
  EndsAsExpected, // an execution ended with the exit status that is expected [EXIT]
  OutOfStates,    // the limit of states was reached
  Unrepeatable,   // a way that led to a state leads elsewhere in another process: the search is
                  // invalid
  FencesApart,    // the scopes of two fence.sc may not contain each other's threads
  Void,           // the search is invalid, and nothing but its numbers is reported
  SameValue,      // plain writes of one value, which nothing orders, were taken for no data race
  HostAtomics     // of one host thread, while there were others
};
/// A set of facts.
constexpr std::uint64_t bit_of(Fact fact) {
  return std::uint64_t{1} << static_cast<unsigned>(fact);
}

/// Some of the choices of a state: the moves of devices, all or none; and of host threads, by bits,
/// their first way to go on, and their others.
struct Choices {
  bool device = false;
  std::uint64_t first_ways = 0, other_ways = 0;
  bool none() const { return !device && first_ways == 0 && other_ways == 0; }
  Choices& operator|=(const Choices& more) {
    device = device || more.device;
    first_ways |= more.first_ways;
    other_ways |= more.other_ways;
    return *this;
  }
};

class StateTable {
public:
  struct Limits {
    std::uint32_t max_states = 1'000'000;
    // So many processes explore, from this number of states on (a move that cannot be taken back
    // counts as 20); before that, one.
    std::uint32_t processes = 1;
    std::uint32_t alone = 0;
    bool divided = false; // other ranks may take part
  };
  static Result<StateTable> create(Limits limits);
  static Result<StateTable> open(int fd);
  StateTable(StateTable&& other) noexcept;
  StateTable& operator=(StateTable&&) = delete;
  ~StateTable();

  int fd() const { return fd_; }

  struct Visit {
    StateId id = 0;
    bool first = false;       // nobody has been there
    bool nothing_new = false; // what is asked for has been claimed, and the moves of devices
    bool again = false;       // with `first`: an earlier part of this search has been there
  };
  enum class Seen : std::uint8_t {
    Perhaps,
    Never // as has just been found out; another process may have been there since
  };
  /// Somebody arrives in a state and asks for these choices of it. None: the table is full.
  std::optional<Visit> visit(const Hash128& hash, const Choices& asked, Seen seen = Seen::Perhaps);
  /// The state, if it has been visited and all moves of devices have been claimed.
  std::optional<StateId> find_done(const Hash128& hash) const;
  /// The state is going to be looked for soon: memory takes longer to answer than a state takes.
  void fetch(const Hash128& hash) const;
  /// The number of a state in which this rank need not have been (division.h). None: the table is
  /// full.
  std::optional<StateId> know(const Hash128& hash);
  /// Another rank has claimed the moves of devices: nobody does here …
  void note_elsewhere(StateId state);
  /// … even if claim() has just granted them.
  void leave_elsewhere(StateId state);
  /// The same of some ways of hosts.
  void leave_ways_elsewhere(StateId state);
  /// Has anybody claimed them?
  bool devices_claimed(StateId state) const { return is_done(state); }
  /// Those of `wanted` that nobody had claimed. describe() must follow.
  Choices claim(StateId state, const Choices& wanted);
  struct Description {
    std::span<const Demand> demands{};
    std::uint32_t host_site = 0;
    std::uint32_t waits = 0;
    std::uint64_t could_return = 0; // host threads inside a call that need not stay there
    bool moves_follow = false;      // edges say who is owed a move of a device
  };
  /// `moves`: how many edges come of what has been claimed; a state is expanded when it has as many
  /// edges as all claims together say.
  void describe(StateId state, const Description& description, std::uint32_t moves);
  /// Of a state that has been described; fewer than 0: so many of its own nobody makes after all.
  void add_moves(StateId state, std::int32_t moves);
  /// A state in which the program has ended: with this exit status, if that was not expected of it.
  std::optional<StateId> end_state(std::optional<std::uint8_t> unexpected = std::nullopt);
  /// A search is to go nowhere but to these states, and to make all choices in them.
  void keep_to(std::span<const Hash128> states);
  bool keeps_to_some() const;
  bool keeps_out(const Hash128& state) const;
  void add_edge(const Edge& edge);
  /// `claimer`: the rank that has claimed the move, if that is another one.
  static constexpr std::uint32_t own_claim = ~0U;
  void add_edge(const ShortEdge& edge, std::uint32_t claimer = own_claim);
  /// The number of what the edge has in common with others; never 0.
  std::uint32_t label(const Edge& edge);
  void add_event(EventKind kind, StateId from, std::uint32_t site, std::string_view text);

  /// Equal text, equal id. Ends the process, with an event that says so, if there is no more room.
  std::uint32_t intern(std::string_view text);
  std::uint32_t intern(const Site& site);
  std::uint32_t intern(std::span<const ClassChange> changes);
  ActorId add_actor(const Actor& actor);
  void note(Fact fact);
  /// All of them, a bit each.
  std::uint64_t facts() const;
  void note_facts(std::uint64_t facts);
  /// What the search has refuted of its assumptions, and what was known before.
  void learn(const reduce::Learned& refuted);
  reduce::Learned learned() const;
  /// What a process has found out that the others must know: plain data of up to `most_told` bytes.
  /// All is told in one order, and who tells something and then hears has heard whatever was told
  /// before. Returns its number; none: there is no room for more.
  static constexpr std::size_t most_told = 128;
  std::optional<std::uint32_t> tell(std::span<const std::byte> what);
  std::uint32_t told() const;
  std::span<const std::byte> told(std::uint32_t number) const;

  // --- Processes ---------------------------------------------------------------------------------
  /// Makes room for what the table keeps of one. None: there are too many.
  std::optional<std::uint32_t> add_process();
  void remove_process(std::uint32_t process);
  /// This process is `process` now; the first one is 0.
  void become(std::uint32_t process);
  std::uint32_t process() const { return process_; }
  /// Where its processes hand work to each other.
  WorkBoard work_board() const;
  /// Where it stands if one process searches.
  Course course() const;
  /// Where they and the tool meet if other ranks search, too. It is always there: no address
  /// depends on whether there are any.
  RankBoard rank_board() const;
  /// What this process is about to do, so that its parent can say where it died.
  void set_position(StateId from, std::uint32_t site);
  std::pair<StateId, std::uint32_t> position(std::uint32_t process) const;
  bool has_fault_from(StateId from) const;
  /// Something went wrong in an execution.
  bool has_faults() const;
  /// There is no room for another state.
  void note_limit_of_states();
  /// How far this process has gone from the beginning, and how many choices it has not tried yet.
  void set_frontier(std::uint64_t depth, std::uint64_t queue);
  /// How likely it is that an execution goes where this process has not been yet
  /// (Frontier::explored).
  void set_open(double share);
  /// The same for what is left where nobody is going to go.
  void abandon(double share);
  /// States so far, and what moves that cannot be taken back are worth.
  std::uint64_t effort() const;
  static constexpr std::uint64_t states_for_irrevocable = 20; // such a move takes as long as that
  /// What the states so far are worth: the same for the same states, whoever has found them, in
  /// which order, however long it took, and whether the search was stopped and went on or not.
  /// `irrevocable`: moves that cannot be taken back, which each need a process.
  void add_work(std::uint32_t more, std::uint32_t irrevocable = 0);
  std::uint64_t work() const;
  /// How much threads have executed to find them, in units of 256 instructions. It depends on what
  /// each process keeps in mind; of one process that was not stopped it is the same each time.
  void add_computed(std::uint32_t more);
  std::uint64_t computed() const;
  /// A process could take part that does not. Then whoever has work to give away takes its permit.
  bool help_wanted() const;
  bool take_permit();
  /// A process has nothing to do any more, or only waits for others.
  void give_permit();
  /// A process that has waited goes on, whether there is a permit for it or not.
  void go_on();

  // --- Stop and go on: state_table_checkpoint.cpp
  /// Its content, while nobody changes it. False, and errno: it cannot be written.
  bool save(int fd) const;
  /// A table for a search that goes on where the saved one was. Input error: that is no saved
  /// table.
  static Result<StateTable> restore(int fd, Limits limits);
  /// One that is over: as it was, to be judged.
  static Result<StateTable> read(int fd, Limits limits);
  /// It was restored, and some states are to be met again, the first one among them.
  bool goes_on() const;
  /// What had been asked for of a state that is visited for the first time, and known.
  Choices asked_before(StateId state) const;
  /// No state is left of those that were to be met again.
  bool all_met_again() const;
  /// The same from parts of one search that several ranks have made: files of save(), by rank; -1:
  /// it is missing. Rank 0's is there. Input error: one is no saved table.
  static Result<StateTable> restore(std::span<const int> parts, Limits limits);
  /// What other ranks must know of a table that was restored: states where more is asked for than
  /// those who arrive do, and claims that somebody had; no others arrive there for nothing.
  struct MetAgain {
    Hash128 hash;
    std::uint64_t first = 0, other = 0, device = 0; // as in Choices
  };
  std::vector<MetAgain> to_meet_again() const;
  std::vector<Hash128> claims_made() const;
  /// On another rank, in an empty table.
  void expect(std::span<const MetAgain> states);

  // --- For the tool ------------------------------------------------------------------------------
  /// Pages that processes are going to write to soon become huge ones, if the system has them. What
  /// is ready is noted in `ready`; to be called about once in a millisecond.
  struct Ready {
    bool in_vain = false;              // the system has none
    std::size_t states = 0, edges = 0; // bytes
    std::uint32_t visited_sets = 0;    // bits
  };
  void make_ready(Ready& ready) const;
  enum class Numbering : std::uint8_t {
    AsFound,  // differs from run to run if several processes have explored
    ByContent // the same then, too; takes longer
  };
  ProgressGraph load(Numbering numbering = Numbering::AsFound) const;
  ProgressGraph load(Numbering numbering, Team& team) const;
  std::uint32_t state_count() const;
  struct Frontier {
    std::uint64_t depth = 0, queue = 0;
    std::uint32_t processes = 0; // that have something left to try
    // How likely it is that an execution that makes a choice at random in each state has been
    // explored to its end: 1 when a search is over.
    double explored = 0;
  };
  Frontier frontier() const;
  bool saw(Fact fact) const;
  /// Other ranks' parts of this search, which save() has written, become a part of this one; all
  /// are over, and no gaps have been closed. Returns of how many states moves of devices have been
  /// claimed by one rank more. Input error: one is no saved table, or there is no more room.
  Result<std::size_t> take_in(std::span<const int> files);
  /// Instead of that, if some parts are missing: nobody knows whether what has been left to other
  /// ranks has been done.
  void distrust_other_ranks();
  /// After take_in(): what nobody has claimed, although he ought to have (state_table_merge.cpp).
  std::size_t left_unclaimed() const;
  /// Large enough for several processes. Then which of several equal threads an edge names, and the
  /// number of its choice, may differ from run to run, however it is numbered.
  bool for_several() const;
  bool had_several() const; // more than one has searched, at some time
  /// `from` is numbered that way, and so is their order.
  std::vector<Event> events(Numbering numbering = Numbering::AsFound) const;
  /// Of states that are numbered that way.
  std::vector<Hash128> hashes(std::span<const StateId> states, Numbering numbering) const;
  std::string_view text(std::uint32_t id) const;
  Site site(std::uint32_t id) const;

  /// Nobody else uses the table any more, whatever they were doing with it when they were killed.
  void users_have_died();
  /// After that: puts states and edges into the places of those that processes had taken and have
  /// not used, so that nothing has to be copied to be judged. Nobody can search with it any more.
  void close_gaps(Team& team);

private:
  struct Header;
  struct Order;
  class Merger;
  struct Kept { // room for what must be said at the end
    std::uint32_t texts = 0;
    std::uint64_t bytes = 0;
  };
  std::optional<std::uint32_t> intern(std::string_view text, const Kept& kept);
  bool is_large() const;
  StateTable(int fd, std::byte* base, std::size_t bytes);
  Header& header() const;
  template <class T> T* region(std::size_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  Order order(Numbering numbering) const;
  enum class Purpose : std::uint8_t {
    GoOn,
    Read
  };
  static Result<StateTable> restore(int fd, Limits limits, Purpose purpose);

  int fd_ = -1;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  VisitedSet visited_set(std::uint32_t number) const;
  VisitedSet& visited() const;
  bool all_claimed(StateId id, const Choices& asked) const;
  void enlarge_visited(std::uint32_t before, std::uint32_t number);
  void help_enlarging();
  void copy_visited();
  void give_back(std::size_t at, std::size_t bytes);
  void make_huge(std::size_t at, std::size_t bytes, Ready& ready) const;
  bool is_done(StateId id) const;
  std::optional<StateId> find_or_add(const Hash128& hash, Seen seen);
  void distrust_all(); // no state counts as expanded any more
  std::vector<StateId> unclaimed() const;
  std::uint32_t taken_at_once(std::uint32_t used, std::uint32_t limit, std::uint32_t most) const;
  bool take_states(StoredProcess& own);
  void begin_insertion();
  void end_insertion();
  void make_room(std::uint32_t states);

  mutable std::uint32_t visited_number_ = 0; // visited_ is the set of this number
  mutable VisitedSet visited_; // visited() maps the table's set again once it has grown
  VisitedSet wanted_;          // see keep_to()
  std::uint32_t process_ = 0;
  struct KnownLabel {
    Label label;
    std::uint32_t id = 0; // 0: none
  };
  struct Described {
    std::uint64_t could_return = 0;
    std::uint32_t host_site = 0, waits = 0;
    bool operator==(const Described&) const = default;
  };
  Described last_description_;
  std::vector<Demand> last_demands_;
  std::uint32_t last_description_id_ = 0; // 0: there is none
  std::vector<KnownLabel> known_labels_;  // by hash: those looked up last;
                                          // empty in a process that writes no edges
};

} // namespace heddle::explore
