#include "lint/dataflow.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace heddle::lint {
namespace {

constexpr std::size_t most_targets = 8;
constexpr std::size_t most_rounds = 40;
// Numbers of Pointee locations: a value, a location above 1, a parameter above 2 times this.
constexpr std::int64_t of_location = std::int64_t{1} << 32;

/// Is the place there? `next` moves on to it; places come in ascending order, and the state may
/// grow by them.
template <class State> bool finds(const State& state, std::size_t& next, LocationId place) {
  while (next < state.size() && state[next].first < place) {
    ++next;
  }
  return next < state.size() && state[next].first == place;
}

/// The places that several states know, one after the other in ascending order.
template <class State> class MergedStates {
public:
  MergedStates(const std::vector<State>& states, const std::vector<std::uint32_t>& of) {
    for (const std::uint32_t block : of) {
      ways_.emplace_back(states[block].begin(), states[block].end());
    }
  }
  bool next() {
    place_ = no_location;
    for (const auto& [at, end] : ways_) {
      place_ = at == end ? place_ : std::min(place_, at->first);
    }
    alike_ = no_value;
    bool same = true;
    for (auto& [at, end] : ways_) {
      const bool knows = at != end && at->first == place_;
      same = same && knows && (alike_ == no_value || alike_ == at->second);
      alike_ = knows ? at->second : alike_;
      at += knows ? 1 : 0;
    }
    alike_ = same ? alike_ : no_value;
    return place_ != no_location;
  }
  LocationId place() const { return place_; }
  /// What all states hold there; no_value: they differ, or one of them has nothing.
  ValueId alike() const { return alike_; }

private:
  using Place = typename State::const_iterator;
  std::vector<std::pair<Place, Place>> ways_;
  LocationId place_ = no_location;
  ValueId alike_ = no_value;
};

template <class State> ValueId find(const State& state, LocationId at) {
  const auto entry = std::ranges::lower_bound(state, at, {}, &State::value_type::first);
  return entry != state.end() && entry->first == at ? entry->second : no_value;
}

using Parts = std::vector<std::vector<LocationId>>; // of each location, one level down

/// The parts of `whole`, and their parts, that `state` knows; in ascending order.
template <class State>
std::vector<LocationId> known_parts(const Parts& parts, const State& state, LocationId whole) {
  std::vector<LocationId> found;
  std::vector<LocationId> open = parts[whole];
  while (!open.empty()) {
    const LocationId part = open.back();
    open.pop_back();
    open.insert(open.end(), parts[part].begin(), parts[part].end());
    if (find(state, part) != no_value) {
      found.push_back(part);
    }
  }
  std::ranges::sort(found);
  return found;
}

/// Removes places; they come in ascending order.
template <class State> void forget(State& state, const std::vector<LocationId>& gone) {
  if (gone.empty()) {
    return;
  }
  using Entry = State::value_type;
  const auto first = std::ranges::lower_bound(state, gone.front(), {}, &Entry::first);
  const auto last = std::ranges::upper_bound(state, gone.back(), {}, &Entry::first);
  state.erase(
      std::remove_if(
          first,
          last,
          [&](const Entry& entry) { return std::ranges::binary_search(gone, entry.first); }
      ),
      last
  );
}

/// The locals of a call that has returned, but not its result.
std::vector<LocationId>
locals_of_frame(const Graph& graph, const std::vector<LocationId>& of_local, std::uint32_t frame) {
  const Frame& of = graph.frames[frame];
  const std::size_t count = graph.unit->functions[of.function].locals.size();
  std::vector<LocationId> found;
  for (std::size_t i = 1; i < count; ++i) {
    if (const LocationId local = of_local[of.first_local + i]; local != no_location) {
      found.push_back(local);
    }
  }
  return found;
}

} // namespace

Dataflow::Dataflow(const Graph& made) : graph(made), revisits_(std::in_place, made) {
  const std::size_t count = graph.code.size();
  values.resize(count);
  now_.resize(count);
  is_shared_load_.assign(count, 0);
  is_write_.assign(count, 0);
  targets_.resize(count);
  for (ValueId i = 0; i < count; ++i) {
    values[i].source = i;
    values[i].block = graph.block_of[i];
    now_[i] = i;
  }
  of_local_.assign(graph.locals.size(), no_location);
  out_.resize(graph.blocks.size());
  phis_.resize(graph.blocks.size());
  run();
  number_values();
}

LocationId Dataflow::location(Location::Kind kind, LocationId parent, std::int64_t number) {
  const auto [entry, is_new] =
      location_ids_.try_emplace({kind, parent, number}, static_cast<LocationId>(locations.size()));
  if (is_new) {
    Location made;
    made.kind = kind;
    made.parent = parent;
    made.number = number;
    const bool is_part = kind == Location::Kind::Field || kind == Location::Kind::Element;
    made.root = is_part ? locations[parent].root : entry->second;
    switch (kind) {
    case Location::Kind::Field:
    case Location::Kind::Element:
      made.space = locations[parent].space;
      made.is_volatile = locations[parent].is_volatile;
      if (!locations[parent].has_parts) {
        locations[parent].has_parts = true;
        revisits_->parts_changed(parent);
      }
      parts_of_[parent].push_back(entry->second);
      break;
    case Location::Kind::Local:
      made.space = Space::Private;
      of_local_[static_cast<std::size_t>(number)] = entry->second;
      break;
    case Location::Kind::Global:
      made.space = graph.unit->globals[static_cast<std::size_t>(number)].space;
      made.is_volatile = graph.unit->globals[static_cast<std::size_t>(number)].is_volatile;
      break;
    case Location::Kind::Pointee:
      made.space = Space::Global;
      break;
    default:
      made.space = Space::Private;
    }
    locations.push_back(made);
    parts_of_.emplace_back();
  }
  return entry->second;
}

std::optional<std::int64_t> Dataflow::parameter_of(const Location& pointee) {
  return pointee.kind == Location::Kind::Pointee && pointee.number >= 2 * of_location
             ? std::optional(pointee.number - 2 * of_location)
             : std::nullopt;
}

// --- Pointers

const std::vector<Target>& Dataflow::targets(ValueId value) const {
  static const std::vector<Target> nothing;
  return value < targets_.size() ? targets_[value] : nothing;
}

bool Dataflow::add_target(std::vector<Target>& to, Target target) {
  const bool is_new = to.size() < most_targets && std::ranges::find(to, target) == to.end();
  if (is_new) {
    to.push_back(target);
  }
  return is_new;
}

void Dataflow::give_target(ValueId value, Target target) {
  if (value >= targets_.size()) {
    targets_.resize(value + 1);
  }
  if (add_target(targets_[value], target)) {
    revisits_->targets_changed(value);
  }
}

void Dataflow::note_write(ValueId index) {
  if (is_write_[index] == 0) {
    is_write_[index] = 1;
    writes.push_back(index);
  }
}

/// What a pointer points to; a pointer of unknown origin gets an object of its own.
const std::vector<Target>& Dataflow::pointees(ValueId value) {
  revisits_->reads_targets(value);
  const auto& known = targets(value);
  if (!known.empty()) {
    return known;
  }
  const Value& from = values[value];
  if (from.kind == Value::Kind::Phi) {
    return known; // its operands will tell
  }
  std::int64_t key = value;
  bool owned = false;
  if (from.kind == Value::Kind::Initial || from.kind == Value::Kind::Part) {
    key = of_location + from.source;
  } else if (is_shared_load(value)) {
    const auto& places = targets(
        values[value].operands.empty() ? value : now_[graph.code[from.source].operands.back()]
    );
    if (!places.empty()) {
      key = of_location + places.front().location;
    }
  } else if (graph.code[from.source].op == Op::Parameter) {
    const Function& entry = graph.unit->functions[graph.entry_function];
    const auto index = static_cast<std::size_t>(graph.code[from.source].number);
    owned = !entry.is_kernel && index + 1 < entry.locals.size() &&
            entry.locals[index + 1].name == "this";
    key = static_cast<std::int64_t>(index) + 2 * of_location;
  }
  const LocationId made =
      location(owned ? Location::Kind::Owned : Location::Kind::Pointee, no_location, key);
  give_target(value, {owned ? made : location(Location::Kind::Element, made, 0), true});
  return targets(value);
}

void Dataflow::element_targets(ValueId result, ValueId base, ValueId index) {
  const Instruction* constant =
      values[index].kind == Value::Kind::Code ? &graph.code[values[index].source] : nullptr;
  const bool is_constant = constant != nullptr && constant->op == Op::Constant;
  constexpr std::int64_t most_elements = 256; // followed one by one
  for (const Target& at : pointees(base)) {
    const Location whole = locations[at.location];
    if (!at.exact) {
      give_target(result, at);
    } else if (graph.code[result].is_object) {
      give_target(result, {location(Location::Kind::Element, at.location, 0), true});
    } else if (whole.kind != Location::Kind::Element) {
      give_target(result, {at.location, is_constant && constant->number == 0});
    } else if (
        is_constant && whole.number + constant->number >= 0 &&
        whole.number + constant->number < most_elements
    ) {
      const std::int64_t number = whole.number + constant->number;
      give_target(result, {location(Location::Kind::Element, whole.parent, number), true});
    } else {
      give_target(result, {whole.parent, false});
    }
  }
}

// --- State

ValueId Dataflow::read(const State& state, LocationId at) {
  if (const ValueId whole = find(state, at); whole != no_value) {
    return whole;
  }
  // A part of something that was written as a whole.
  for (LocationId up = locations[at].parent; up != no_location; up = locations[up].parent) {
    if (const ValueId value = find(state, up); value != no_value) {
      const Instruction* code = instruction(value);
      if (code != nullptr && (code->op == Op::Constant || code->op == Op::Undefined)) {
        return value;
      }
      const auto [entry, is_new] =
          parts_.try_emplace({value, at}, static_cast<ValueId>(values.size()));
      if (is_new) {
        values.push_back({Value::Kind::Part, at, values[value].block, {value}, {up}});
      }
      return entry->second;
    }
  }
  const auto [entry, is_new] = initials_.try_emplace(at, static_cast<ValueId>(values.size()));
  if (is_new) {
    values.push_back({Value::Kind::Initial, at, 0, {}, {}});
  }
  return entry->second;
}

void Dataflow::write(State& state, LocationId at, ValueId value) {
  forget(state, known_parts(parts_of_, state, at));
  const auto entry =
      std::ranges::lower_bound(state, at, {}, &std::pair<LocationId, ValueId>::first);
  if (entry != state.end() && entry->first == at) {
    entry->second = value;
  } else {
    state.insert(entry, {at, value});
  }
}

/// One value that stands for all of `at` and its parts, and for `extra` if given.
ValueId
Dataflow::gather(ValueId index, const State& state, LocationId at, ValueId extra, ValueId address) {
  std::vector<ValueId> operands = {read(state, at)};
  for (const LocationId part : known_parts(parts_of_, state, at)) {
    operands.push_back(find(state, part));
  }
  if (extra != no_value) {
    operands.push_back(extra);
  }
  operands.push_back(address);
  std::erase(operands, index);
  values[index].operands = std::move(operands);
  return index;
}

void Dataflow::store(
    ValueId index,
    State& state,
    const std::vector<Target>& to,
    ValueId value,
    ValueId address
) {
  bool outside = false;
  for (const Target& target : to) {
    if (locations[target.location].space != Space::Private) {
      outside = true;
    } else if (target.exact && to.size() == 1) {
      write(state, target.location, value);
    } else {
      write(state, target.location, gather(index, state, target.location, value, address));
    }
  }
  if (outside || to.empty()) {
    values[index].operands = {address, value};
    if (outside) {
      note_write(index);
    }
  }
}

ValueId Dataflow::load(ValueId index, const State& state, ValueId address) {
  const std::vector<Target>& from = pointees(address);
  const bool is_private = !from.empty() && std::ranges::all_of(from, [&](const Target& target) {
    return locations[target.location].space == Space::Private;
  });
  if (is_private && from.size() == 1 && from[0].exact) {
    const LocationId at = from[0].location;
    revisits_->reads_parts(at);
    if (!locations[at].has_parts ||
        (find(state, at) != no_value && known_parts(parts_of_, state, at).empty())) {
      return read(state, at);
    }
  }
  if (is_private) {
    std::vector<ValueId> all;
    for (const Target& target : from) {
      gather(index, state, target.location, no_value, address);
      all.insert(all.end(), values[index].operands.begin(), values[index].operands.end());
    }
    values[index].operands = std::move(all);
    return index;
  }
  values[index].operands = {address};
  is_shared_load_[index] = 1;
  return index;
}

void Dataflow::copy(ValueId index, State& state) {
  const Instruction& code = graph.code[index];
  const ValueId to_address = now_[code.operands[0]];
  const ValueId from_address = now_[code.operands[1]];
  const std::vector<Target>& to = pointees(to_address);
  const Instruction* source = instruction(from_address);
  if (source != nullptr && source->op == Op::Parameter) {
    return store(index, state, to, from_address, to_address);
  }
  const std::vector<Target>& from = pointees(from_address);
  const bool whole =
      from.size() == 1 && from[0].exact && locations[from[0].location].space == Space::Private;
  if (!whole) {
    const ValueId value = load(index, state, from_address);
    if (to.size() == 1 && to[0].exact && locations[to[0].location].space == Space::Private) {
      write(state, to[0].location, value);
    } else {
      store(index, state, to, value, to_address);
    }
    return;
  }
  // Member by member.
  const LocationId base = from[0].location;
  const bool into_private =
      to.size() == 1 && to[0].exact && locations[to[0].location].space == Space::Private;
  if (!into_private) {
    return store(index, state, to, gather(index, state, base, no_value, from_address), to_address);
  }
  const LocationId destination = to[0].location;
  if (destination == base) {
    return;
  }
  std::vector<std::pair<std::vector<LocationId>, ValueId>> members;
  for (const LocationId part : known_parts(parts_of_, state, base)) {
    std::vector<LocationId> path;
    for (LocationId at = part; at != base; at = locations[at].parent) {
      path.push_back(at);
    }
    members.emplace_back(std::move(path), find(state, part));
  }
  write(state, destination, read(state, base));
  for (const auto& [path, value] : members) {
    LocationId at = destination;
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
      const Location copied = locations[*step];
      at = location(copied.kind, at, copied.number);
    }
    write(state, at, value);
  }
}

// --- Flow

ValueId Dataflow::phi(std::uint32_t block, LocationId at) {
  auto& here = phis_[block];
  const auto entry = std::ranges::lower_bound(here, at, {}, &State::value_type::first);
  if (entry != here.end() && entry->first == at) {
    return entry->second;
  }
  here.insert(entry, {at, static_cast<ValueId>(values.size())});
  values.push_back({Value::Kind::Phi, at, block, {}, {}});
  return static_cast<ValueId>(values.size() - 1);
}

Dataflow::State Dataflow::entry_state(std::uint32_t block) {
  std::vector<std::uint32_t> from;
  std::ranges::copy_if(
      graph.blocks[block].predecessors,
      std::back_inserter(from),
      [this](auto one) { return revisits_->was_seen(one); }
  );
  if (from.size() == 1 && graph.blocks[block].predecessors.size() == 1) {
    return graph.hands_over(from[0]) ? std::move(out_[from[0]]) : out_[from[0]];
  }
  State merged;
  merged.reserve(from.empty() ? 0 : out_[from[0]].size());
  std::vector<ValueId> incoming;
  std::size_t next = 0;
  // A part known on some paths only is read there from what holds the whole.
  for (MergedStates<State> states(out_, from); states.next();) {
    const LocationId at = states.place();
    const bool is_joined = finds(phis_[block], next, at);
    if (states.alike() != no_value && !is_joined) {
      merged.emplace_back(at, states.alike());
      continue;
    }
    bool missing = false, same = true;
    ValueId value = no_value;
    incoming.clear();
    for (const std::uint32_t predecessor : from) {
      ValueId one = find(out_[predecessor], at);
      if (one == no_value) {
        const Location::Kind kind = locations[at].kind;
        if (kind == Location::Kind::Local) {
          missing = true; // out of scope on that path
          break;
        }
        if (kind == Location::Kind::Field || kind == Location::Kind::Element) {
          const LocationId whole = root(at);
          bool in_scope = locations[whole].kind != Location::Kind::Local;
          for (LocationId up = at; up != no_location && !in_scope; up = locations[up].parent) {
            in_scope = find(out_[predecessor], up) != no_value;
          }
          if (!in_scope) {
            missing = true;
            break;
          }
        }
        one = read(out_[predecessor], at);
      }
      incoming.push_back(one);
      same = same && (value == no_value || value == one);
      value = one;
    }
    if (missing) {
      continue;
    }
    if (same && !is_joined) {
      merged.emplace_back(at, value);
      continue;
    }
    const ValueId made = phi(block, at);
    Value& joined = values[made];
    if (joined.operands != incoming || joined.from != from) {
      joined.operands = incoming;
      joined.from = from;
    }
    for (const ValueId one : incoming) {
      if (one != made) {
        revisits_->reads_targets(one);
        for (const Target& target : targets(one)) {
          give_target(made, target);
        }
      }
    }
    merged.emplace_back(at, made);
  }
  return merged;
}

void Dataflow::step(ValueId index, State& state) {
  const Instruction& code = graph.code[index];
  const auto operand = [&](std::size_t i) { return now_[code.operands[i]]; };
  switch (code.op) {
  case Op::LocalAddress:
    if (targets(index).empty()) {
      give_target(index, {location(Location::Kind::Local, no_location, code.number), true});
    }
    break;
  case Op::GlobalAddress:
    if (targets(index).empty()) {
      give_target(index, {location(Location::Kind::Global, no_location, code.number), true});
    }
    break;
  case Op::Field:
    for (const Target& at : pointees(operand(0))) {
      give_target(
          index,
          at.exact ? Target{location(Location::Kind::Field, at.location, code.number), true} : at
      );
    }
    values[index].operands.assign({operand(0)});
    break;
  case Op::Element:
    values[index].operands.assign({operand(0), operand(1)});
    element_targets(index, operand(0), operand(1));
    break;
  case Op::Load:
    now_[index] = load(index, state, operand(0));
    break;
  case Op::Store: {
    store(index, state, pointees(operand(0)), operand(1), operand(0));
    if (!code.name.empty()) {
      names.try_emplace(operand(1), Naming{code.name, code.spot});
    }
    break;
  }
  case Op::CopyObject:
    copy(index, state);
    break;
  case Op::FrameEnd:
    for (const LocationId local :
         locals_of_frame(graph, of_local_, static_cast<std::uint32_t>(code.number))) {
      std::vector<LocationId> gone = known_parts(parts_of_, state, local);
      if (find(state, local) != no_value) {
        gone.insert(std::ranges::lower_bound(gone, local), local);
      }
      forget(state, gone);
    }
    break;
  default: {
    std::vector<ValueId>& operands = values[index].operands;
    operands.resize(code.operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      operands[i] = operand(i);
    }
    const bool writes_memory = code.op == Op::Known && (code.effect == Effect::AtomicUpdate ||
                                                        code.effect == Effect::AtomicStore);
    const bool reads_memory = code.op == Op::Known && (code.effect == Effect::AtomicLoad ||
                                                       code.effect == Effect::AtomicWait);
    if ((writes_memory || reads_memory) && !code.operands.empty()) {
      pointees(operand(0));
      if (writes_memory) {
        note_write(index);
      }
    }
  }
  }
}

void Dataflow::run() {
  for (std::size_t round = 0; round < most_rounds && revisits_->is_any(); ++round) {
    for (const std::uint32_t block : graph.sequence) {
      if (revisits_->wants(block)) {
        look_at(block);
      }
    }
  }
  out_.clear();
  out_.shrink_to_fit();
  revisits_.reset();
}

void Dataflow::look_at(std::uint32_t block) {
  revisits_->begin(block);
  State state = entry_state(block);
  for (ValueId i = graph.blocks[block].first; i < graph.blocks[block].last; ++i) {
    const ValueId before = now_[i];
    step(i, state);
    if (now_[i] != before) {
      revisits_->result_changed(i);
    }
  }
  const bool is_kept = !graph.hands_over(block);
  const bool changed = is_kept && out_[block] != state;
  out_[block] = std::move(state);
  revisits_->end(block, changed);
}

// --- Value numbers

void Dataflow::number_values() {
  canonical_.resize(values.size());
  for (ValueId i = 0; i < values.size(); ++i) {
    canonical_[i] = i;
  }
  // A phi of itself and one other value is that value.
  for (bool changed = true; changed;) {
    changed = false;
    for (ValueId i = 0; i < values.size(); ++i) {
      if (values[i].kind != Value::Kind::Phi || canonical_[i] != i) {
        continue;
      }
      ValueId only = no_value;
      bool single = true;
      for (const ValueId operand : values[i].operands) {
        const ValueId one = canonical_[operand];
        if (one != i) {
          single = single && (only == no_value || only == one);
          only = one;
        }
      }
      if (single && only != no_value) {
        canonical_[i] = only;
        changed = true;
      }
    }
    for (ValueId i = 0; i < values.size(); ++i) {
      canonical_[i] = canonical_[canonical_[i]];
    }
  }
  // What is computed from a variable of a loop behind that loop is the same as the computation in
  // it only for the last trip: the two stay apart, by the loop that the later one stands in.
  constexpr std::uint32_t any_loop = UINT32_MAX - 1;
  std::vector<char> varies(values.size(), 1);
  std::map<std::tuple<Op, int, std::int64_t, std::uint32_t, std::vector<ValueId>>, ValueId> known;
  for (const std::uint32_t block : graph.sequence) {
    for (ValueId i = graph.blocks[block].first; i < graph.blocks[block].last; ++i) {
      const Instruction& code = graph.code[i];
      if (canonical_[i] != i || now_[i] != i) {
        continue;
      }
      std::vector<ValueId> operands;
      int detail = 0;
      switch (code.op) {
      case Op::Symbol:
        if (code.symbol == Symbol::Clock || code.symbol == Symbol::ThreadToken) {
          continue;
        }
        detail = static_cast<int>(code.symbol);
        break;
      case Op::Arithmetic:
        if (code.operands.empty() && code.number == 0) {
          continue;
        }
        detail = static_cast<int>(code.arithmetic);
        if (code.operands.empty()) { // a parameter of the template that this frame is
          operands.push_back(graph.blocks[block].frame);
        }
        break;
      case Op::Constant:
      case Op::LocalAddress:
      case Op::GlobalAddress:
      case Op::Field:
      case Op::Element:
      case Op::Parameter:
        break;
      default:
        continue;
      }
      std::uint32_t loop = any_loop;
      varies[i] = 0;
      for (const ValueId operand : values[i].operands) {
        const ValueId one = canonical_[operand];
        const std::uint32_t its_loop = graph.blocks[values[one].block].loop;
        operands.push_back(one);
        if (varies[one] != 0) {
          varies[i] = 1;
          if (its_loop != UINT32_MAX && !graph.in_loop(block, its_loop)) {
            loop = graph.blocks[block].loop;
          }
        }
      }
      canonical_[i] =
          known.try_emplace({code.op, detail, code.number, loop, std::move(operands)}, i)
              .first->second;
    }
  }
}

} // namespace heddle::lint
