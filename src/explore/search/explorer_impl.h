// The explorer itself; shared by its source files, included by nobody else.
//
// While the host threads stand still, the machine is explored in place: undoing moves leads back to
// an earlier state (reduce/stepper.h). Each move that cannot be undone (the host goes on, a copy is
// carried out) is made in a forked process, the last one in this process. Several processes explore
// at the same time (explorer_processes.cpp); what they find does not depend on which goes where.
// Operations that commute with every move of others are not tried in each state:
// - An API call may return, and a query may say "not ready", at any time. That is tried where the
//   host thread has just arrived; waiting longer is the same as arriving later. What a call does
//   before it returns or waits need not commute with what other host threads do, so it is tried
//   again after another one has moved.
// - A call that waits, and a query that says "ready", are tried when they are first enabled.
// - Host operations that no device thread can notice come before device threads move, unless the
//   state is met a second time, so that no cycle leaves device threads out. While everything that
//   device threads can do ends by itself and unseen, API calls that do not wait are such operations
//   too. That grids which wait for others end by themselves is an assumption; it is checked when
//   they can start.
#pragma once

#include "explore/host/host_state.h"
#include "explore/host/host_threads.h"
#include "explore/ranks/rank_board.h"
#include "explore/search/explorer.h"
#include "explore/search/explorer_sample.h"
#include "explore/search/launch_numbers.h"
#include "explore/search/work.h"
#include "explore/search/work_board.h"
#include "explore/strategy/host_first.h"
#include "explore/table/state_table.h"
#include "explore/witness/schedule.h"
#include "hostwatch/hooks.h"
#include "reduce/stepper.h"

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::explore {

using reduce::Stepper;

/// An execution to repeat instead of a search.
struct Replay {
  std::vector<std::uint32_t> choices;
  int trace = -1;
  std::size_t taken = 0;
};

inline Hash128 sum_of(const Hash128& a, const Hash128& b) {
  return {a.low + b.low, a.high + b.high};
}

class Explorer final : public machine::Driver, public HostScheduler {
public:
  Explorer(
      machine::World& world,
      StateTable table,
      const Options& options,
      std::optional<Replay> replay,
      machine::MakeWarpRules warp_rules
  );
  ~Explorer() override;
  /// Instead of a search: single schedules, as the sheet asks.
  void try_samples(SharedSheet sheet) { sampling_.emplace(std::move(sheet)); }

  // --- machine::Driver ---------------------------------------------------------------------------
  void submitted(const machine::CommandPtr& command) override;
  void wait(
      const std::function<bool()>& done,
      std::span<const machine::CommandPtr> commands,
      const char* what
  ) override;
  bool
  query(const std::function<bool()>& ready, std::span<const machine::CommandPtr> commands) override;
  void observe(const char* name) override;
  void api_call(const char* name) override;
  void api_return(const char* name) override;
  void api_changed() override;
  void api_holds(std::uint64_t held) override;
  void api_returned(std::uint64_t code) override;

  // --- HostScheduler -----------------------------------------------------------------------------
  void next(HostThreads& threads) override;
  void unsupported(const char* what) override { stop_unsupported(what); }

  // --- Told by the instrumentation ---------------------------------------------------------------
  unsigned
  host_event(HeddleHostEvent event, const void* address, std::size_t bytes, std::uint64_t operands);
  void host_wrote(const void* p, std::size_t bytes, const void* pc);
  void host_meets_work(const void* p, const void* pc);
  void host_freed(const void* p, std::size_t bytes);
  void host_allocates();
  void host_left_out(HeddleLeftOut what);
  void waits_without_need() { table_.note(Fact::CallsWait); }

  [[noreturn]] void stop_unsupported(std::string_view what);
  void found(const report::Diagnostic& diagnostic);
  std::string host_position() { return addresses(host_.capture()); }
  /// nullopt: not by itself, or nobody knows with which exit status.
  [[noreturn]] void host_ended(std::optional<int> status);
  void host_ends_at_once(int status);
  /// quick_exit has been called: its handlers are not told with which status.
  void host_ends_quickly(int status) { quick_status_ = status; }
  std::optional<int> quick_status() const { return quick_status_; }

private:
  class InCall;
  static constexpr StateId nowhere = ~0U;
  struct Choice {
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
  /// A state on the way from where the host stopped to where the search is.
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
    std::uint64_t ways = 0;             // ways_seen_, when ways_ was about this state
    bool looked_ahead = false;
    // More than reduce::last_ones(): so many clusters are left of which only the last ones matter,
    // and only some go next.
    std::uint64_t alike = 0;
    std::uint32_t claimer = StateTable::own_claim; // the rank that has claimed the choices
  };
  struct HostCall { // a host function that has begun
    Explorer* explorer = nullptr;
    machine::CommandPtr command;
  };
  /// Another process of this search.
  struct Searcher {
    pid_t id = 0;
    std::uint32_t process = 0; // of the table
  };
  struct Arrival {
    bool host = false;       // HostThreads::arrived() have just stopped
    std::uint64_t open = 0;  // Node::open of the state before
    std::uint64_t alike = 0; // Node::alike, if known
  };

  /// What a state looks like from where the search arrives.
  struct Look {
    Hash128 device, beside;
    std::uint64_t open = 0;
    std::uint32_t check = 0;
    std::uint64_t alike = 0; // Node::alike, if known
    StateTable::Seen seen{};
  };

  // explorer_search.cpp
  std::uint32_t check_of_state(const Hash128& fingerprint) const;
  Look look_around();
  Node& add_node(StateId state, const Look& look);
  bool enter(const Arrival& arrival);
  bool enter_again(const Node& before, const Choice& choice, const Arrival& arrival);
  bool arrive(const Look& look, const Choices& asked);
  void arrived_in(StateId state, std::uint32_t check);
  void note_facts();
  bool search();
  void hash_host();
  void hash_commands();
  void begin_host_function(const machine::CommandPtr& command);
  bool go(const Node& node, const Choice& choice);
  void look_ahead(const Node& node, Choice& choice);
  void look_ahead(Node& node);
  bool leads_to_known(const Node& node, const Choice& choice);
  std::uint32_t label_of(const Node& node, const Choice& choice);
  std::uint32_t intern(std::span<const Stepper::Change> changes);
  void leave_node();
  void show_open();
  void abandon_open();
  void all_choices(Node& node) const;
  Choices asked_by(const Arrival& arrival, std::uint64_t open) const;
  Choices wanted(const Node& node, const Choices& asked, bool first);
  void keep_few(Node& node, std::uint64_t left);
  static void keep_alone(Node& node);
  static bool is_in(const Choice& choice, const Choices& choices);
  void note_circle();
  bool gives_up_straight() const;
  std::uint32_t computed_since();
  bool is_spent() const;
  void add_work(const Node& node, bool is_new, const Choices& before);
  std::uint64_t open_waits();
  Hash128 beside_device(std::uint64_t open);

  // explorer_processes.cpp
  pid_t fork_child();
  static int wait_for(pid_t child);
  pid_t fork_searcher(Searcher& searcher, std::optional<WorkBoard::Family> family = std::nullopt);
  bool ended_well(const Searcher& searcher);
  bool fork_for(const Node& node);
  bool look_at_end_of_child(int status, std::uint32_t process);
  void exchange_news();
  [[noreturn]] void finish();
  [[noreturn]] void leave();

  // explorer_replay.cpp
  bool repeat();
  void reached(StateId state);

  // explorer_course.cpp
  bool arrive_again(const Look& look);

  // explorer_work.cpp
  std::size_t first_to_give(const Node& node) const;
  void drop_known(Node& node);
  std::vector<std::size_t> halve();
  Work piece_of_work(std::span<const std::size_t> kept) const;
  void keep(std::span<const std::size_t> kept);
  void share_work();
  void fork_member(std::span<const std::size_t> kept);
  bool take_work();
  bool repeat_way(const Work& work, bool of_other_rank = false);
  void leave_family();

  // explorer_ranks.cpp
  std::uint32_t own_rank() const { return ranks_ ? ranks_->rank() : 0; }
  void begin_elsewhere(Node& node) const;
  bool share_with_ranks();
  void note_way();
  bool do_errand();
  Errand await_errand();
  bool take_errand_here();
  bool go_to_base(Errand& errand);
  void begin_errand(const Errand& errand);
  [[noreturn]] void unrepeatable();

  // explorer_sample.cpp
  void sample();
  Node arrive_in_sample();
  bool go_to_first_choice();
  void serve_samples();
  bool begin_sample(std::uint32_t number, bool record);
  void await_sample(std::uint32_t number, bool record);
  [[noreturn]] void end_sample(SampleEnd end);
  std::uint64_t signature_of_hang();
  void note_in_sample(std::string_view text);
  Sampler::Candidate candidate_of(const Node& node, const Choice& choice) const;
  void note_alternatives(const Node& node, const std::optional<Choice>& chosen);
  bool everybody_spins(const Node& node);
  SpinPlaces spin_places(const Node& node);
  /// In a schedule of which nothing is written down.
  bool unrecorded() const { return sampling_ && sampling_->sampler && !sampling_->record; }
  /// No search: each state is met on one way only.
  bool one_way() const { return replay_ || sampling_; }

  // explorer_record.cpp
  void demands_of(
      const Node& node,
      bool of_device,
      std::vector<Demand>& demands,
      std::uint64_t& could_return
  ) const;
  Rule owed_by_rule(const Stepper::Move& move) const;
  bool owed_by_host_rule(const HostPoint& point) const;
  void describe(const Node& node, bool moves_follow);
  Edge edge_for(const Node& node, const Choice& choice);
  void note_refuted();
  void note_failure();
  void end_here(std::optional<std::uint8_t> unexpected = std::nullopt);
  struct MoveNames { // of a move, for its edge
    std::pair<std::uint64_t, std::uint64_t> who;
    const void* op = nullptr;
    const char* what = nullptr;
    std::uint32_t first = 0;
    ActorId actor = 0;
    std::uint32_t site = 0;
  };
  const MoveNames& names_of(const Stepper::Move& move);
  ActorId actor(const Stepper::Move& move);
  ActorId host_actor(unsigned thread);
  std::uint32_t site(const HostPoint& point);
  std::uint32_t find_site(const HostPoint& point);
  std::uint32_t site(const Stepper::Move& move);
  std::uint32_t site(const Stepper::Wait& wait);
  std::uint32_t site(const Stepper::LeftBehind& left);
  std::uint32_t site(const machine::Command& value_wait);
  std::string addresses(const HostPosition& position) const;
  Site place_of(
      const isa::Code& code,
      const isa::Op& op,
      std::string what,
      const std::string& launch = {}
  ) const;
  std::string launch_of(std::uint64_t command) const;
  report::Diagnostic diagnose(const machine::FaultReport& report) const;

  machine::World& world_;
  StateTable table_;
  Options options_;
  Stepper stepper_;
  HostState host_;
  HostThreads threads_;
  std::optional<Replay> replay_;
  std::optional<Sampling> sampling_;

  std::vector<Node> path_;
  std::vector<Node> spare_;                            // for their memory
  std::array<std::uint64_t, HeddleMaxThreads> ways_{}; // of host threads, in the present state
  std::vector<ClassChange> changes_;                   // scratch
  std::vector<Demand> demands_;                        // scratch
  std::uint64_t changed_ = 0;               // names what api_changed() has told of, in its order
  Hash128 host_hash_;                       // of the host threads, where they stand now
  Hash128 command_hash_;                    // see hash_commands(): of those that these names are of
  std::uint64_t named_commands_ = 0;        // Works::names_of_commands()
  std::uint64_t ways_seen_ = 0;             // counts what ways_ has been about
  std::set<const void*> met_work_;          // code of the host that host_meets_work() has named
  std::uint64_t looked_at_allocations_ = 0; // AddressSpace::generation() then
  bool ways_vary_ = false;                  // they depend on more than which commands are complete
  std::optional<Edge> last_;                // the move under way; `to` is not known yet
  std::uint32_t last_label_ =
      0; // 0: it is to be made of last_; else that has no more than `from` and `choice`
  std::uint32_t last_claimer_ = StateTable::own_claim; // Node::claimer of last_->from
  std::uint32_t expected_ = unchecked; // Replay: what the state reached must look like
  int depth_ = 0;                      // processes that wait for this one
  Course course_;                      // up to path_, and with it
  std::uint64_t queue_ = 0;            // choices of this process, not tried yet
  double weight_ = 1;                  // how likely an execution comes to the first state of path_
  unsigned since_open_ = 0;            // states since show_open()
  std::vector<Searcher> helpers_;      // that explore at the same time, and end before this one
  WorkBoard board_;
  std::optional<WorkBoard::Family> family_; // whose base is the first state of path_
  bool has_permit_ = true;                  // to search
  std::optional<RankBoard> ranks_;          // in a search that is divided
  bool serves_ = false;                     // is the process that waits for errands
  bool takes_errands_ = false;              // … or the one that it has forked for the last one
  std::optional<Errand> errand_;            // is on its way to the base of this one …
  std::size_t errand_taken_ = 0;            // … and has taken so many of its steps
  std::vector<Errand::Step> way_;           // in a divided search: to the first state of path_
  std::chrono::steady_clock::time_point next_piece_{}, next_fork_{}; // of work to give away
  std::array<const char*, HeddleMaxThreads> last_call_{};            // by host thread
  std::uint64_t in_calls_ = 0;                                       // host threads, as bits
  std::uint64_t submitted_ = 0; // by the call under way: the same
  std::array<HostCall, HeddleMaxThreads> host_calls_;
  bool over_ = false; // the program has ended
  std::optional<int> quick_status_;
  std::uint32_t heard_ = 0;   // of what is told in the table
  std::uint64_t counted_ = 0; // of the instructions that this process has executed
  int since_clash_ = 0;       // states since Options::orderly failed

  std::array<MoveNames, 1024> last_names_; // by hash: those looked up last
  std::map<unsigned, ActorId> host_actors_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, ActorId> actors_;
  // Also by command: the same code of a library may be launched from several places.
  std::map<std::tuple<const void*, const char*, std::uint32_t, std::uint64_t>, std::uint32_t>
      device_sites_;
  LaunchNumbers launch_numbers_;
  std::map<std::uint64_t, std::string> launches_;    // addresses() of the call, by command
  std::map<std::string, std::string> last_launches_; // by name of the kernel
  std::map<std::vector<std::uint64_t>, std::uint32_t> left_sites_;
  std::map<std::uint64_t, std::string> value_wait_calls_; // by command: addresses() of its call
  bool told_of_orders_ = false, told_of_looks_ = false, told_of_arrivals_ = false,
       told_of_times_ = false;
  std::map<std::pair<std::vector<std::uintptr_t>, std::string>, std::uint32_t> host_sites_;
  struct HostSite { // of a point, the last one that was looked up
    HostPoint::Kind kind{};
    const char* what = nullptr;
    std::vector<std::uintptr_t> return_addresses;
    std::uint32_t site = 0;
  };
  HostSite last_host_site_;
};

} // namespace heddle::explore
