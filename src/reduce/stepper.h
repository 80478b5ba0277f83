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
// It composes the machine, the four parts of the reductions (spec/reductions.md, "Theorem:
// composition") and a cache, and has no other job:
//
//   part              says                                          found in
//   independence      which moves are free, and monitors that       independence.h, free_moves.h
//   renaming          which threads and clusters are equal          renaming.h
//   dead data         what names of states leave out                dead_data.h
//   persistent sets   which moves of a state stand for all          persistent_sets.h
//   (a cache)         what moves have done before                   cached_moves.h
//
// A move is one *visible* operation of one thread (an atomic or volatile access, a barrier, its
// end) with everything invisible after it, or one command that is not a kernel. Threads of a grid
// can move as soon as everything before the grid has completed ([DEP]), each on its own; whether it
// must is said by `guarantee`. Free moves are made at once, as a part of the move before them.
//
// With warp rules warps move, not threads: one instruction that others can see, executed by the
// lanes that the rules let go (src/simt), with everything invisible after it. What the rules leave
// open is a move each: which side of a branch goes first, in which order lanes do an atomic
// operation, whose write is the last (warp_settling.h).
//
// May be wrong: of a program with a data race on plain accesses not every interleaving is explored
// (what is found is real); of clocks see clocks.h.
#pragma once

#include "base/hash.h"
#include "reduce/cache/cached_moves.h"
#include "reduce/free_moves/free_moves.h"
#include "reduce/independence/grid_settling.h"
#include "reduce/persistent_sets/persistent_sets.h"
#include "reduce/states/command_flow.h"
#include "reduce/states/enabled_moves.h"
#include "reduce/states/move_names.h"
#include "reduce/states/present.h"
#include "reduce/states/search_facts.h"
#include "reduce/states/state_names.h"
#include "reduce/states/state_report.h"
#include "reduce/stepper_parts.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace heddle::reduce {

using ptx::StepKind;

class Stepper {
public:
  using Options = StepperOptions;
  Stepper(World& world, Options options);

  using Guarantee = model::Guarantee;
  using Time = model::Time;
  using Move = model::Move;
  using Change = model::Change;
  using Note = reduce::Note;
  using Again = reduce::Again;
  using Ahead = reduce::Ahead;
  using Mark = Present::Mark;
  using Failure = reduce::Failure;
  using Wait = reduce::Wait;
  using LeftBehind = reduce::LeftBehind;

  void submitted(const CommandPtr& command);
  /// A host function that a move has begun has returned.
  void returned(const CommandPtr& command);
  /// The commands that are not complete.
  Works& works() { return machine_.works; }
  const Works& works() const { return machine_.works; }

  // --- Moves -------------------------------------------------------------------------------------
  /// Every move that could be made now, in a fixed order; one for threads that are alike.
  std::vector<Move> moves();
  void moves(std::vector<Move>& result); // in the place of what is in it
  /// What step() would do; nullopt: that is not known without making it. `now` is fingerprint().
  std::optional<Ahead> look_ahead(const Move& move, const Hash128& now) {
    return cached_.look_ahead(move, now);
  }
  /// `again`: look_ahead() has said that of the move, in the same state.
  bool step(const Move& move, const Again& again = {});
  /// As what the last step() counts: known afterwards, since a move may begin with plain accesses.
  StepKind taken() const { return under_way_.taken; }
  /// How the last step() changed the classes of threads, its own first. A class may become several;
  /// threads whose class is not named kept it.
  const std::vector<Change>& changes() const { return under_way_.changes; }
  /// The last step() was made as `again` said: changes() says nothing, it is what was told then.
  bool made_again() const { return under_way_.made_again; }
  /// What is known of moves is forgotten when it may not hold any more: then this changes.
  std::uint64_t epoch() const { return cached_.epoch(); }
  const std::optional<Failure>& failure() const { return under_way_.failure; }

  // --- Going back --------------------------------------------------------------------------------
  /// Copies, frees, host functions and the device's heap change what lies outside of the machine.
  bool can_undo(const Move& move) const {
    return move.thread ? !move.heap : machine_.works.simple(move);
  }
  Mark mark() const { return present_.mark(); }
  /// Everything is as it was then, failure() too. Marks made later are invalid.
  void undo_to(const Mark& mark) { present_.undo_to(mark); }
  /// Nobody goes back: all marks are invalid, and states that are not the present one take no
  /// memory.
  void forget();
  /// What has been written and is not in an image; what is written there is nobody's move.
  MemoryJournal& memory() { return machine_.journal; }

  // --- The host ----------------------------------------------------------------------------------
  /// It has moved, and may have changed memory. All marks are invalid.
  void host_moved() { present_.host_moved(); }
  /// The fourth part: where blocks start at once, what the host has waited for, and who meets whom.
  PersistentSets& persistent() { return persistent_; }
  /// The host has made a strong access.
  void host_accesses(std::uintptr_t address, std::size_t bytes);

  // --- Names -------------------------------------------------------------------------------------
  /// Equal: equal futures.
  Hash128 fingerprint() { return state_names_.fingerprint(); }
  /// The same of a fingerprint() of this state for who does not rely on [RED-OWNED]: which of equal
  /// threads keeps a number may differ.
  Hash128 unnumbered(const Hash128& fingerprint) { return state_names_.unnumbered(fingerprint); }
  /// True once device threads can see addresses of the host's own memory (cudaHostRegister, or what
  /// looks like one in parameters): these are others in each execution, and with them the
  /// fingerprints.
  bool saw_host_addresses() const {
    return machine_.journal.saw_host_addresses() || seen_.host_parameters;
  }
  /// What reports call those who move.
  MoveNames names() const { return {machine_.works, options_.by_warps()}; }

  // --- Assumptions -------------------------------------------------------------------------------
  /// Is an assumption about accesses or data wrong? Then what has been explored is not everything.
  bool sums_clash() const {
    return independence_.clash() || dead_data_.cone().clash() ||
           persistent_.groups().meetings().is_refuted();
  }
  /// … or one about phases, barriers, the heap?
  bool refuted() const { return learned().refuted != options_.learned.refuted; }
  /// … or one about grids that run through?
  bool some_last() const { return persistent_.starts().lasting() != 0; }
  bool choice_met_command() const {
    return independence_.accesses().sums().choice_met_command() &&
           !options_.mutant_is(Mutant::StraightForgetsCommands);
  }
  /// Options::learned with what this search has refuted.
  Learned learned() const;
  /// For searches in several processes: what one has noted of accesses, the others have to learn.
  Sums& sums() { return independence_.accesses().sums(); }
  const Options& assumed() const { return options_; }

  // --- For reports -------------------------------------------------------------------------------
  SearchFacts facts() const { return facts_of(parts_); }
  /// Who waits, and who is left behind.
  StateReport report() { return {parts_, present_}; }
  /// nullptr: memory is sequentially consistent.
  WeakMoves* weak() { return weak_.get(); }
  /// Instructions of threads so far; never fewer, whatever is undone.
  std::uint64_t executed() const { return machine_.exec.executed(); }
  /// The next step() executes its move and does not look it up, and `all` gets the words that it
  /// reads and writes. At most 256 reads are known; what the host and copies do is not among them.
  void collect_accesses(MemoryJournal::Accesses* all);

private:
  bool step_thread(const Move& move, const Again& again);
  void look_for_unchosen();

  StepperOptions options_;
  Machine machine_;
  // The four parts.
  Independence independence_;
  Renaming renaming_;
  DeadData dead_data_;
  // States.
  Images images_;
  StateNames state_names_;
  std::unique_ptr<WeakMoves> weak_; // nullptr: memory is sequentially consistent
  Seen seen_;
  UnderWay under_way_;
  StepperParts parts_;
  // Moves.
  FreeMoves free_moves_;
  Present present_;
  PersistentSets persistent_; // the fourth part
  GridSettling grids_;
  ThreadMoves thread_moves_;
  CachedMoves cached_;
  CommandFlow commands_;
  EnabledMoves enabled_;
};

} // namespace heddle::reduce
