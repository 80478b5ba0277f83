// Stepper: the machine one move at a time, for whoever wants to choose every move (the explorer).
//
//   Stepper stepper(world, options);
//   stepper.submitted(command);                  // from Driver::submitted
//   const auto here = stepper.mark();
//   for (const Stepper::Move& m : stepper.moves())
//     if (stepper.can_undo(m)) {
//       stepper.step(m);                         // false: stepper.failure() says what went wrong
//       stepper.fingerprint();                   // equal fingerprints: equal futures
//       stepper.undo_to(here);
//     }
//
// A move is one *visible* operation of one thread (an atomic or volatile access, a barrier, its
// end) with everything invisible after it, or one command that is not a kernel. Threads of a grid
// can move as soon as everything before the grid has completed ([DEP]), each on its own; whether it
// must is said by `guarantee`. Done at once, because no order can make a difference:
// - fences and sleeps (accesses are sequentially consistent here) and accesses to local memory;
// - plain accesses: together with the next operation of the thread that is none, or at once where
//   the thread is guaranteed to make them. Both orders are the same in a program without data
//   races;
// - in a cluster whose threads are guaranteed: ends, barriers, warp collectives and output, which
//   commute with every move of others until all have arrived.
// A cluster whose threads all come to an end or a barrier first starts by its first thread; all
// such clusters of a grid that have nothing else start, and end, in one move.
//
// A cluster that does not move is an image: the bytes that its future depends on, kept once however
// many clusters and states have it. Threads whose live state is equal are alike: their moves are
// one move, and states that differ only in which of them is where have one fingerprint
// (Options::symmetry).
//
// With Options::warp_rules warps move, not threads: one instruction that others can see, executed
// by the lanes that the rules let go (src/simt), with everything invisible after it. What the rules
// leave open is a move each: which side of a branch goes first, in which order lanes do an atomic
// operation, whose write is the last (warp_settling.h).
//
// May be wrong: of a program with a data race on plain accesses not every interleaving is explored
// (what is found is real); of clocks see clocks.h.
#pragma once

#include "base/hash.h"
#include "machine/block.h"
#include "machine/live_state.h"
#include "machine/recurrence.h"
#include "machine/world.h"
#include "model/interned.h"
#include "model/memory_journal.h"
#include "model/progress_model.h"
#include "model/warp_choices.h"
#include "model/weak_barriers.h"
#include "model/weak_order.h"
#include "ptx/effect.h"
#include "reduce/access_monitor.h"
#include "reduce/cluster_moves.h"
#include "reduce/cone.h"
#include "reduce/device_heap.h"
#include "reduce/early_commands.h"
#include "reduce/images.h"
#include "reduce/learned.h"
#include "reduce/move_cache.h"
#include "reduce/move_names.h"
#include "reduce/mutant.h"
#include "reduce/operations.h"
#include "reduce/options.h"
#include "reduce/order_data.h"
#include "reduce/phases.h"
#include "reduce/settling.h"
#include "reduce/state_names.h"
#include "reduce/stepper_parts.h"
#include "reduce/stepper_state.h"
#include "reduce/sums.h"
#include "reduce/transitions.h"
#include "reduce/weak_moves.h"
#include "reduce/works.h"
#include "report/diagnostic.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace heddle::reduce {

using namespace machine;
using namespace model;

using ptx::StepKind;

class Stepper {
public:
  using Options = StepperOptions;
  Stepper(World& world, Options options);
  ~Stepper();
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  using Guarantee = model::Guarantee;
  using Time = model::Time;
  using Move = model::Move;
  using Change = model::Change;

  void submitted(const CommandPtr& command);
  /// The commands that are not complete.
  const Works& works() const { return works_; }
  Works& works() { return works_; }
  /// A host function that a move has begun has returned.
  void returned(const CommandPtr& command);

  /// Every move that could be made now, in a fixed order; one for threads that are alike.
  std::vector<Move> moves();
  void moves(std::vector<Move>& result); // in the place of what is in it
  bool step(const Move& move) { return step(move, {}); }
  bool choice_met_command() const {
    return access_monitor_.sums().choice_met_command() &&
           !mutant_is(Mutant::StraightForgetsCommands);
  }
  /// As what the last step() counts: known afterwards, since a move may begin with plain accesses.
  StepKind taken() const { return under_way_.taken; }
  /// How the last step() changed the classes of threads, its own first. A class may become several;
  /// threads whose class is not named kept it.
  const std::vector<Change>& changes() const { return under_way_.changes; }

  using Note = reduce::Note;

  /// How to make a move as it was made before.
  struct Again {
    const void* of_image = nullptr; // one of the two, or nothing
    const void* of_lane = nullptr;
    std::uint64_t epoch = 0; // 0: nothing
  };

  /// What step() would do, as far as a search has to know if the state that it leads to is no news.
  struct Ahead {
    Hash128 fingerprint; // of that state
    Hash128 unnumbered;  // unnumbered() of it
    StepKind taken{};
    std::span<const Change> changes;
    Note* note = nullptr; // the caller's own about what is done; nullptr: there is none
    Again again;
  };
  /// The move that `again` was told of, in the same state.
  bool step(const Move& move, const Again& again);
  /// The last step() was made as `again` said: changes() says nothing, it is what was told then.
  bool made_again() const { return under_way_.made_again; }
  /// What is known of moves is forgotten when it may not hold any more: then this changes.
  std::uint64_t epoch() const { return move_cache_.epoch(); }
  /// nullopt if the outcome is not cached, or if the move affects more than its cluster and memory.
  /// `now` is fingerprint().
  std::optional<Ahead> look_ahead(const Move& move, const Hash128& now);

  // --- Going back --------------------------------------------------------------------------------
  /// Copies, frees, host functions and the device's heap change what lies outside of the machine.
  bool can_undo(const Move& move) const { return move.thread ? !move.heap : works_.simple(move); }
  struct Mark {
    std::size_t log = 0, memory = 0, output = 0, weak = 0;
  };
  /// Instructions of threads so far; never fewer, whatever is undone.
  std::uint64_t executed() const { return exec_.executed(); }
  Mark mark() const;
  /// What has been written to memory since then, and is not in an image.
  std::vector<WordPart> changed_since(const Mark& mark) const {
    return journal_.changed_since(mark.memory);
  }
  /// Writes that as nobody's move.
  void write(std::span<const WordPart> changes) { journal_.write(changes); }
  bool mutant_is(Mutant mutant) const { return options_.mutant == mutant; }
  /// Everything is as it was then, failure() too. Marks made later are invalid.
  void undo_to(const Mark& mark);
  /// Nobody goes back: all marks are invalid, and states that are not the present one take no
  /// memory.
  void forget();
  /// The host has moved: it may have changed memory. All marks are invalid.
  void host_moved();

  using Failure = reduce::Failure;
  const std::optional<Failure>& failure() const { return under_way_.failure; }

  // --- For reports -----------------------------------------------------------------------------
  MoveNames names() const { return {works_, by_warps()}; }
  struct Wait {
    Move first;                // one of those who are blocked at `op`
    std::uint64_t threads = 0; // how many they are
    const isa::Op* op = nullptr;
    const isa::Code* code = nullptr;
    const char* what = "";
  };
  std::vector<Wait> waits();
  /// Lanes that nothing blocks and that have no turn, because their warp's rules let others go.
  struct LeftBehind {
    Move first; // one of them
    WarpRules::Behind behind;
  };
  std::vector<LeftBehind> left_behind() const;
  /// True once there were more orders of lanes or sides than are tried.
  bool left_out_orders() const { return warp_choices_.left_out(); }
  /// True once a thread could have looked at a clock more often before a time limit than is tried.
  bool left_out_looks() const { return seen_.left_out_looks; }
  /// By what a clock shows something is decided in more ways than were tried; "": by none.
  const std::string& left_out_times() const { return operations_.clocks().data().left_out(); }
  /// True once bytes have arrived at an mbarrier when their copy was issued, although a thread may
  /// tell that from a later arrival ([RED-PHASES]).
  bool left_out_arrivals() const { return operations_.seen().bytes_at_once; }
  /// True once an asynchronous reduction has changed memory when it was issued.
  bool made_reductions_at_once() const { return operations_.seen().sums_at_once; }
  /// True once a grid had to wait for another one.
  bool saw_dependency() const { return seen_.dependency; }
  /// True once a thread made a move that its cluster does not run through, or a strong access.
  bool saw_choice() const { return seen_.choice; }
  /// The only host thread has waited for that to hold: with Options::starts_at_once, commands
  /// without which it would not hold come before whatever is submitted from now on.
  void host_waited(const std::function<bool()>& condition) {
    early_commands_.host_waited(condition);
  }
  /// The host has made a strong access.
  void host_accesses(std::uintptr_t address, std::size_t bytes);
  /// … or is about to write there.
  void host_writes(std::uintptr_t address, std::uint64_t bytes);
  /// Options::sums or orderly was wrong: what has been explored is not everything.
  bool sums_clash() const {
    return access_monitor_.sums().clash() || access_monitor_.movers().clash() ||
           decided_by() != 0 || followed_.cone.clash();
  }
  /// For searches in several processes: what one has noted, the others have to learn.
  std::vector<Sums::Note> take_news() { return access_monitor_.sums().take_news(); }
  void learn(const Sums::Note& note) { access_monitor_.sums().learn(note); }
  /// Options::learned with what this search has refuted.
  Learned learned() const;
  /// Options::by_decisions: true once the host has got data of devices.
  bool host_got_data() const { return followed_.cone.host_got_data(); }
  /// True once data depended on an order that was not chosen, and the host may decide by it.
  bool saw_unordered() const {
    return access_monitor_.sums().saw_unordered() ||
           (followed_.cone.host_got_data() && !options_.dead_data.host_decides);
  }
  bool saw_retries() const { return followed_.order.saw_retries(); }
  /// Options::phases, allocations or neighbours was wrong: what has been explored is not
  /// everything.
  bool refuted() const { return learned().refuted != options_.learned.refuted; }
  /// True once that was wrong for some grid.
  bool some_last() const { return seen_.lasting != 0; }
  /// True once activemask could have named more sets of lanes than are tried.
  bool left_out_active() const { return seen_.left_out_active; }
  /// True once it was not tried in which of several reads a thread finds that a word has changed.
  /// True once a strong access of a vector was one move: PTX has one for each element, in any
  /// order.
  bool made_vectors_at_once() const { return operations_.seen().vectors_at_once; }
  /// Why the last move did not have to see the newest value of what it read ("" if it did).
  std::string weak_reason() const { return weak_ ? weak_->order().reason() : std::string(); }
  /// True once more old values of a place could have been read, or raced with, than are kept.
  bool left_out_values() const { return weak_ && weak_->order().left_out_messages(); }
  /// What has been seen of the order of fence.sc.
  weak::WeakMemory::ScFences sc_fences() const {
    return weak_ ? weak_->order().sc_fences() : weak::WeakMemory::ScFences();
  }
  /// Plain writes of one value that nothing orders have been taken for no data race.
  bool saw_same_value() const { return weak_ && weak_->order().saw_same_value(); }
  /// True once a thread made a plain access to memory that others see.
  bool saw_plain_access() const { return operations_.seen().plain_access; }

  /// The next step() executes its move and does not look it up, and `all` gets the words that it
  /// reads and writes. At most 256 reads are known; what the host and copies do is not among them.
  void collect_accesses(MemoryJournal::Accesses* all);

  /// Equal: equal futures.
  Hash128 fingerprint() { return state_names_.fingerprint(); }
  /// The same of a fingerprint() of this state for who does not rely on [RED-OWNED]: which of equal
  /// threads keeps a number may differ.
  Hash128 unnumbered(const Hash128& fingerprint) { return state_names_.unnumbered(fingerprint); }
  /// True once device threads can see addresses of the host's own memory (cudaHostRegister, or what
  /// looks like one in parameters): these are others in each execution, and with them the
  /// fingerprints.
  bool saw_host_addresses() const { return journal_.saw_host_addresses() || seen_.host_parameters; }

private:
  using Starts = std::map<const Image*, Start>;

  /// Unordered accesses whose order has decided something.
  std::uint64_t decided_by() const {
    return mutant_is(Mutant::DataOrderNeverDecides) ? 0 : followed_.order.decided_by();
  }

  // For images
  void load(Work& work, std::size_t cluster) { images_.load(work, cluster); }

  // stepper.cpp
  void make_heap(const isa::Kernel& kernel);

  // stepper_phases.cpp: who waits for phases
  void settle_grid(std::size_t n, std::uint64_t before);
  void settle_grid_outside_of_moves(std::size_t n, std::uint64_t before);

  // stepper_moves.cpp: commands and moves
  void complete(Work& work);
  void look_for_unchosen();
  bool by_warps() const { return static_cast<bool>(options_.model.warp_rules); }
  void make_ready(std::size_t n);
  void leave_grid_wait(std::size_t n);
  void advance();
  Guarantee guarantee(const Work& work, std::size_t cluster) const;
  bool step_command(const Move& move);
  bool step_thread(const Move& move, const Again& again);
  bool move_thread(const Move& move, const Again& again);
  bool execute(const Move& move);
  bool end_move(const Move& move, bool was_made);

  void add_wait(const Block::WarpState& state, const Move& move, std::vector<Wait>& result) const;

  // stepper_start.cpp
  void find_start(Work& work, std::size_t cluster);
  void find_start(Work& work, std::size_t cluster, Starts& known);
  void start_at_once(std::size_t work, std::size_t cluster);
  bool first_steps_are_joins(Work& work, std::size_t cluster);
  static bool runs_through(const Work& work, std::size_t cluster);
  bool move_all(const Move& move, const Again& again);

  void note_doubts(Work& work, std::size_t cluster);
  void note_ends(Work& work, std::size_t cluster);

  // stepper_images.cpp: states of clusters
  struct Log { // what undo_to takes back
    enum class Kind : std::uint8_t {
      Image,
      Ready,
      Done,
      GridsOver
    } kind{};
    std::uint32_t work = 0, cluster = 0;
    const Image* before = nullptr;
  };
  void capture(std::size_t n, std::size_t cluster);
  void absorb_writes(Work& work, std::size_t cluster);
  enum class Whose : std::uint8_t { // accesses that a move has made, if it is made again
    Anybody,                        // it is made for the first time
    Cluster,                        // of the move's cluster
    Thread                          // of the moving thread
  };
  void meet_open(const Move& move, std::span<const MadeAccess> made, Whose whose);
  void meet_open_since(std::size_t n, std::size_t made_before);
  void replace_image(std::size_t n, std::size_t cluster, const Image* image);
  static void set_image(Work& work, std::size_t cluster, const Image* image);
  Ahead ahead_of_lane(const Move& move, const MoveCache::KnownOfLane& known, const Hash128& now);
  static bool is_last(const Work& work, std::size_t cluster);

  World& world_;
  Options options_;
  isa::Exec exec_;
  MemoryJournal journal_;
  LiveState live_; // of code: worked out when it is first asked for
  WarpChoices warp_choices_{exec_, live_};
  Followed followed_;
  Operations operations_;
  std::unique_ptr<WeakMoves> weak_;  // nullptr: memory is sequentially consistent
  std::unique_ptr<DeviceHeap> heap_; // once there is a kernel that may use it
  Works works_;
  Images images_;
  StateNames state_names_{works_, journal_, options_.mutant};
  std::vector<Log> log_;
  EarlyCommands early_commands_; // with Options::starts_at_once
  AccessMonitor access_monitor_;
  MoveCache move_cache_{
      works_,
      images_,
      journal_,
      world_.space(),
      access_monitor_,
      options_.dead_data.by_decisions,
      options_.mutant
  };
  Seen seen_;
  UnderWay under_way_;
  StepperParts parts_{
      options_,
      exec_,
      journal_,
      live_,
      warp_choices_,
      followed_,
      operations_,
      access_monitor_,
      weak_,
      heap_,
      seen_,
      under_way_
  };
  LaneRunner runner_{parts_};
  LaneChoices choices_{parts_};
  WarpSettling warps_{parts_, runner_, choices_};
  Settling settling_{parts_, runner_, choices_, warps_};
  ClusterMoves cluster_moves_{parts_, choices_, warps_};
  Scratch scratch_;
};

} // namespace heddle::reduce
