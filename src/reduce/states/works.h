// Works: the commands of a search that are not complete, in the order of their submission: what
// names them, and what each of them has to wait for ([DEP]), among it programmatic dependencies
// ([DEP-EARLY], [DEP-WAIT], [DEP-BEGUN]): a grid that begins before the one it depends on has
// completed, and waits for it inside.
//
// griddepcontrol.launch_dependents is no choice: that it has not been executed yet nobody can tell,
// and what it allows nobody has to do. griddepcontrol.wait blocks its thread; when the grids before
// are over, all who wait go on at once, which is no choice either.
//
// Such grids overlap (CommandFlow::note_overlaps), so what one of them does to memory that the
// other one accesses is a choice. That blocks start at once, and that grids which cannot start yet
// run through, is not assumed where there is one.
#pragma once

#include "base/hash.h"
#include "memory/address_space.h"
#include "model/move.h"
#include "reduce/mutant.h"
#include "reduce/states/work.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

namespace heddle::reduce {

/// Complete as soon as what is before them is?
bool happens_by_itself(const Command& command);

/// Has a grid whose threads have ended launched what has not completed?
bool launches_anything(const Command& command);

class Works {
public:
  struct Options { // of StepperOptions
    bool ignore_grid_order = false;
    std::uint64_t lasting = 0; // Learned::lasting
    Mutant mutant = Mutant::None;
  };
  explicit Works(const Options& options) : options_(options) {}

  /// A command that has been submitted, with a name of its own.
  std::unique_ptr<Work> make(const CommandPtr& command) const;
  void add(std::unique_ptr<Work> work);
  /// Those that are complete: numbers of others change.
  void drop_done();

  std::size_t size() const { return all_.size(); }
  const std::unique_ptr<Work>& operator[](std::size_t n) const { return all_[n]; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

  // --- Names -------------------------------------------------------------------------------------
  /// Names a command that is not complete: no other one of these has the name. 0: it is complete.
  std::uint64_t name_of(const Command& command) const;
  /// Differs where other commands, or commands with another content, are not complete.
  std::uint64_t names_of_commands() const;
  /// What the commands that are not complete will do (Command::content). It is no part of a state's
  /// name, since addresses of host memory are others where the program is run again.
  void hash_contents(Hasher& hasher) const;
  /// Kernels by their names.
  static std::uint64_t lasting_bit(const Work& work);

  // --- Orders ------------------------------------------------------------------------------------
  /// All that complete before the command may begin; others may be under way at the same time.
  static std::set<const Command*> before(const CommandPtr& command);
  /// [DEP]: does the command have to wait for others?
  bool held_back(const Work& work) const;
  /// Does somebody who has not begun wait for its blocks to let dependents begin? Then what its
  /// moves do is more than what they do to their cluster.
  bool has_dependents(const Work& work) const;
  bool grids_are_over(const Work& work) const;
  /// An early start is allowed and promised to nobody, nor is a host function while another one
  /// runs.
  bool may_wait(const Work& work) const;

  // --- Questions of the search -------------------------------------------------------------------
  /// Is there a command that is not complete?
  bool busy() const;
  /// … and that may access the byte at `address`, as far as anybody knows?
  bool may_reach(memory::Address address) const;
  /// … and that says that it accesses this byte? Pageable memory is reached by such a one only.
  bool names(memory::Address address) const;
  /// Does the command copy several words?
  static bool copies_words(const Command& command);
  /// Is there such a one in another stream than this command's?
  bool copies_words_beside(const Command& command) const;
  /// The command of a move, if it is a host function: then making it only says that it has begun.
  CommandPtr host_function(const Move& move) const;
  /// Is there a host function that has not begun, or may there be one yet? (What a command other
  /// than a grid submits yet is not known: it counts as if it were one. Grids submit grids only.)
  bool may_call_host() const;
  /// Does the command only change what can be taken back?
  bool simple(const Move& move) const;
  /// A copy, or a grid that runs through: if the program has no data races, whatever others do
  /// comes to the same before it and behind it, but for a host that asks whether it has happened,
  /// and where Stepper::choice_met_command() says otherwise.
  bool commutes(const Move& move) const;
  /// Have all grids that could not start yet been seen to run through, as far as anybody knows?
  /// (Those that a command submits by itself are not known yet.)
  bool waiting_may_run_through() const;
  /// The host goes first, because that is so.
  void host_passes();
  /// Streams whose turn it is to wait for a value that memory does not hold.
  std::vector<CommandPtr> value_waits() const;

private:
  /// nullptr: it has completed.
  const Work* work_of(const Command& command) const;
  bool triggered(const EarlyDependency& early) const;
  /// Have all threads of a grid ended, and has completed what they launched? It may not have
  /// completed itself, because of those that it depends on.
  bool is_over(const Command& grid) const;

  Options options_;
  std::vector<std::unique_ptr<Work>> all_;
  bool some_early_ = false; // some command has had a programmatic dependency
};

} // namespace heddle::reduce
