// dataflow.h: which value arrives where. Turns the loads and stores of a Graph into a graph of
// values, as SSA construction would, and resolves pointers at the same time. Nothing here knows
// divergence.
//
// Private variables are followed field by field; memory that threads share (shared, global,
// whatever a pointer of unknown origin points to) is not followed: a load from it is a node of its
// own, and the stores to it are listed in `writes`. Pointers of different origin are taken not to
// alias (a wrong assumption misses findings, it never makes one).
#pragma once

#include "lint/graph.h"
#include "lint/revisits.h"

#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace heddle::lint {

using LocationId = std::uint32_t;
inline constexpr LocationId no_location = UINT32_MAX;

struct Location {
  enum class Kind : std::uint8_t {
    Local,     // number: index into Graph::locals
    Global,    // number: index into Unit::globals
    Parameter, // number: index; an object passed by value to the entry
    Owned,     // number: index; what a reference parameter of an entry that is no kernel refers to
    Pointee,   // number: a value or a location that holds a pointer of unknown origin
    Field,     // number: the member
    Element    // number: the constant index
  } kind{};
  LocationId parent = no_location;
  LocationId root = no_location; // what it is a part of, or itself
  std::int64_t number = 0;
  Space space = Space::Private;
  bool is_volatile = false;
  bool has_parts = false; // some Field or Element of it exists
};

/// What makes a location the same: its kind, what it is a part of, its number.
struct PlaceKey {
  Location::Kind kind{};
  LocationId parent = no_location;
  std::int64_t number = 0;
  bool operator==(const PlaceKey&) const = default;
  struct Hash {
    std::size_t operator()(const PlaceKey& key) const {
      std::uint64_t mixed = static_cast<std::uint64_t>(key.number) * 0x9e3779b97f4a7c15ULL;
      mixed ^= (std::uint64_t{key.parent} << 8U) + static_cast<std::uint64_t>(key.kind);
      mixed *= 0xbf58476d1ce4e5b9ULL;
      return mixed ^ (mixed >> 31U);
    }
  };
};

/// Where an address may point to. `exact`: to all of `location`; otherwise to some part of it.
struct Target {
  LocationId location = no_location;
  bool exact = true;
  bool operator==(const Target&) const = default;
};

struct Value {
  enum class Kind : std::uint8_t {
    Code,    // instruction number `source`; its operands resolved
    Phi,     // of location `source` at `block`
    Initial, // of location `source`: what it holds before anything here wrote it
    Part     // of the object that is operand 0: what lies at location `source`
  } kind = Kind::Code;
  std::uint32_t source = 0;
  std::uint32_t block = 0;
  std::vector<ValueId> operands;
  std::vector<std::uint32_t> from; // Phi: the predecessors that the operands come from
                                   // Part: the location that holds the object
};

struct Naming {
  std::string name; // of the variable that a value was first stored to
  Spot spot;
};

class Dataflow {
public:
  explicit Dataflow(const Graph& graph);

  const Graph& graph;
  std::vector<Value> values; // [0, code.size()): of the instructions
  std::vector<Location> locations;
  /// The value that an instruction amounts to: a load of a private variable is what was stored.
  ValueId resolve(ValueId instruction) const { return now_[instruction]; }
  const std::vector<Target>& targets(ValueId value) const;
  /// Stores, atomic updates and copies to memory that threads share, as instructions.
  std::vector<ValueId> writes;
  /// A Load or CopyObject from such memory.
  bool is_shared_load(ValueId value) const {
    return value < is_shared_load_.size() && is_shared_load_[value] != 0;
  }
  LocationId root(LocationId location) const { return locations[location].root; }
  /// The parameter of the entry that points to this Pointee, if it is one.
  static std::optional<std::int64_t> parameter_of(const Location& pointee);
  std::map<ValueId, Naming> names;
  const Instruction* instruction(ValueId value) const {
    return values[value].kind == Value::Kind::Code ? &graph.code[values[value].source] : nullptr;
  }
  /// Equal for values that are the same computation of the same inputs.
  ValueId canonical(ValueId value) const { return canonical_[value]; }

private:
  using State = std::vector<std::pair<LocationId, ValueId>>; // sorted

  void run();
  void look_at(std::uint32_t block);
  State entry_state(std::uint32_t block);
  void step(ValueId index, State& state);
  ValueId read(const State& state, LocationId location);
  void write(State& state, LocationId location, ValueId value);
  void
  store(ValueId index, State& state, const std::vector<Target>& to, ValueId value, ValueId address);
  void copy(ValueId index, State& state);
  ValueId load(ValueId index, const State& state, ValueId address);
  ValueId
  gather(ValueId index, const State& state, LocationId location, ValueId extra, ValueId address);
  static bool add_target(std::vector<Target>& to, Target target);
  void give_target(ValueId value, Target target);
  void element_targets(ValueId result, ValueId base, ValueId index);
  void note_write(ValueId index);
  const std::vector<Target>& pointees(ValueId value);
  LocationId location(Location::Kind kind, LocationId parent, std::int64_t number);
  ValueId phi(std::uint32_t block, LocationId location);
  void number_values();

  std::vector<ValueId> now_;
  std::vector<State> out_;
  std::vector<char> is_shared_load_;
  std::unordered_map<PlaceKey, LocationId, PlaceKey::Hash> location_ids_;
  std::vector<std::vector<LocationId>> parts_of_; // of each location, one level down
  std::vector<LocationId> of_local_;              // by index into Graph::locals
  std::vector<State> phis_;                       // by block
  std::map<LocationId, ValueId> initials_;
  std::map<std::pair<ValueId, LocationId>, ValueId> parts_;
  std::deque<std::vector<Target>> targets_; // a reference holds while others are added
  std::vector<char> is_write_;
  std::vector<ValueId> canonical_;
  std::optional<Revisits> revisits_; // while it runs
};

} // namespace heddle::lint
