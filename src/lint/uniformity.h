// uniformity.h: which values are the same for all threads of a block, and which branches all
// threads take together.
//
//   Uniformity uniformity(dataflow);
//   uniformity.branch(block).definite > Level::Block     // threads part here
//
// Two answers are kept for everything: what certainly differs (`definite`: it depends on threadIdx,
// an atomic's result, …) and what may differ because something is unknown (`possible`: a load that
// races with a store, a function without a body). Data dependence, control dependence (a variable
// assigned on one side of a divergent branch), and temporal divergence (a value that leaves a loop
// at different trips) are followed; arithmetic.h knows the usual ways to round a trip count up.
//
// In which direction it errs: a load from memory that nothing in the kernel writes is taken to be
// the same for all threads of the block, and so are the parameters of a kernel.
#pragma once

#include "lint/alike.h"
#include "lint/asserted.h"
#include "lint/dataflow.h"
#include "lint/races.h"

#include <optional>
#include <set>

namespace heddle::lint {

struct Agreement {
  Level definite = Level::Grid;
  Level possible = Level::Grid; // never below `definite`

  void join(const Agreement& other) {
    definite = std::max(definite, other.definite);
    possible = std::max(possible, other.possible);
  }
  bool operator==(const Agreement&) const = default;
};

/// Why a value got its level: one step of an explanation.
struct Cause {
  enum class Kind : std::uint8_t {
    None,
    Source,  // it differs by itself
    Operand, // because `value` differs
    Branch,  // because threads that part at block `block` assign it differently
    Loop,    // because threads leave loop `block` at different trips
    Race     // because the store `value` may come in between
  } kind = Kind::None;
  ValueId value = no_value;
  std::uint32_t block = UINT32_MAX;
};

/// What is known about every launch of the entry.
struct LaunchFacts {
  std::optional<std::uint32_t> max_threads; // of a block
  std::optional<std::int64_t> size_x;       // blockDim.x, if it is the same constant everywhere
  std::int64_t cluster_x = 0;               // blocks of a cluster along x; 0: not known
  bool flat_y = false;                      // blockDim.y == 1
  bool flat_z = false;
  bool has_depth = false; // some launch has blocks with more than one row
};
LaunchFacts launch_facts(const Unit& unit, std::uint32_t entry);

class Arithmetic;

class Uniformity {
public:
  Uniformity(const Dataflow& dataflow, const LaunchFacts& facts);

  Agreement value(ValueId id) const { return levels_[id]; }
  const Cause& cause(ValueId id) const { return causes_[id]; }
  /// How far threads agree about where to go at the end of `block`.
  Agreement branch(std::uint32_t block) const { return branches_[block]; }
  ValueId condition(std::uint32_t block) const { return conditions_[block]; }
  Agreement loop(std::uint32_t loop) const { return loops_[loop]; }
  /// The exit of `loop` that makes threads leave at different trips.
  std::uint32_t loop_cause(std::uint32_t loop) const { return loop_causes_[loop]; }
  /// Is the value the same for all threads of the block, as far as is known?
  bool is_uniform(ValueId id) const { return levels_[id].possible <= Level::Block; }
  /// The same as it is seen from block `user`, which may lie outside of the loop that computes it.
  bool is_uniform_at(ValueId id, std::uint32_t user) const {
    Cause ignored;
    return seen(id, user, ignored).possible <= Level::Block;
  }
  /// Do threads hold this value from different trips of a loop that does not contain `user`?
  bool escapes_divergently(ValueId id, std::uint32_t user) const;
  bool joins_divergently(std::uint32_t block) const {
    return joins_[block].possible > Level::Block;
  }
  /// Is there a way from instruction `from` to instruction `to` that passes no barrier?
  bool reaches_without_barrier(ValueId from, ValueId to) const {
    return races_.reaches_without_barrier(from, to);
  }
  const Asserted& asserted() const { return asserted_; }
  /// Is the block entered by all threads or by none?
  bool is_control_uniform(std::uint32_t block, Level scope) const;

  const Dataflow& flow;
  const LaunchFacts facts;

private:
  std::vector<ValueId> values_to_sweep() const;
  void run();
  void sweep();
  bool refute_assumptions();
  bool update(ValueId id);
  Agreement evaluate(ValueId id, Cause& cause);
  Agreement code(ValueId id, Cause& cause);
  Agreement known(ValueId id, const Instruction& code, Cause& cause);
  Agreement part(ValueId id, Cause& cause);
  Agreement shared_load(ValueId id, const std::vector<LocationId>& member, Cause& cause);
  Agreement phi(ValueId id, Cause& cause);
  Agreement all_operands(ValueId id, Cause& cause) const;
  Agreement seen(ValueId operand, std::uint32_t from, Cause& cause) const;
  void update_branches();
  const std::vector<std::uint32_t>& joins_of(std::uint32_t branch);

  std::vector<Agreement> levels_;
  std::vector<Cause> causes_;
  std::vector<Agreement> branches_;
  std::vector<ValueId> conditions_;
  std::vector<Agreement> joins_; // of blocks where threads that parted meet
  std::vector<std::uint32_t> join_causes_;
  std::vector<Agreement> loops_;
  std::vector<std::uint32_t> loop_causes_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> joins_of_;
  /// Arithmetic with divergent operands is taken to be uniform until everything else is known; then
  /// arithmetic.h proves it, or it joins `refuted_` and everything is looked at once more.
  std::set<ValueId> assumed_;
  std::set<ValueId> refuted_;
  std::vector<ValueId> swept_; // the values that may differ and that something uses, as they come
  Alike alike_;
  Races races_;
  Asserted asserted_;
  bool changed_ = false;
};

/// May the value change from one trip of the loop to the next?
bool varies_in(const Dataflow& flow, ValueId id, std::uint32_t loop, int depth = 0);

/// Does this instruction order the memory accesses of all threads of a block?
bool is_memory_barrier(const Instruction& code);

} // namespace heddle::lint
