// Implements clock_flow.h: a data flow over the registers of one function, forward.
#include "analysis/clock_flow.h"

#include "analysis/flow.h"
#include "analysis/value_flow.h"
#include "ptx/effect.h"

#include <algorithm>
#include <set>
#include <utility>

namespace heddle::analysis {

using ptx::Effect;
using ptx::Function;
using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using Kind = ClockTerm::Kind;
using Way = ClockTest::Way;
using Without = ClockCondition;

bool reads_clock(const Instruction& i) {
  return std::ranges::any_of(i.operands, is_clock);
}

bool reads_clock(const Function& function) {
  return std::ranges::any_of(function.body, [](const Instruction& i) { return reads_clock(i); });
}

namespace {

bool is_shared_or_global(const Instruction& i) {
  const auto space = i.one_of(ptx::Category::Space);
  return space && (*space == Mod::Global || *space == Mod::Shared || *space == Mod::SharedCta ||
                   *space == Mod::SharedCluster);
}

/// May it read a variable of the thread, other than to print it?
bool may_read_local(const Instruction& i) {
  const Effect& effect = effect_of(i);
  if (effect.is(Effect::Kind::Call)) {
    return library_function(i) != ptx::LibraryFunction::Output;
  }
  return effect.reads() && !is_shared_or_global(i) && !i.has(Mod::Param) && !i.has(Mod::Const);
}

/// Is it stored where a variable of the thread may lie?
bool is_kept(const ValueFlow::Reach& reach, const Function& function) {
  bool result = false;
  reach.stored.each([&](std::size_t store) {
    result = result || !is_shared_or_global(function.body[store]);
  });
  return result;
}

/// Is there one instruction of the opcode?
bool is_alone(const Function& function, Opcode opcode) {
  return std::ranges::count(function.body, opcode, &Instruction::opcode) == 1;
}

bool address_has(const Operand& operand, const ClockTerm& term) {
  return operand.kind == OperandKind::Address && !term.nothing();
}

/// All registers but those of `carriers` by which something may be decided, in whatever way: not
/// those that only come to stores.
BitVector never_tested(const Function& function, const std::vector<std::uint32_t>& carriers) {
  BitVector untested(function.registers.size());
  for (std::uint32_t r = 0; r < function.registers.size(); ++r) {
    untested.set(r);
  }
  BitVector carried(function.registers.size());
  std::ranges::for_each(carriers, [&](std::uint32_t r) { carried.set(r); });
  for (std::size_t before = ~std::size_t{0}; before != untested.count();) {
    before = untested.count();
    for (const Instruction& i : function.body) {
      const Effect& effect = effect_of(i);
      bool tests = !effect.is(Effect::Kind::Compute) && !effect.is(Effect::Kind::Hint);
      each_register(i, [&](RegisterUse use) {
        tests = tests || is_comparison(i) || (use.write && !untested.test(use.index));
      });
      const bool stores = effect.is(Effect::Kind::Store) && !i.has(Mod::Param);
      for (std::size_t o = 0; tests && o < i.operands.size(); ++o) {
        const Operand& operand = i.operands[o];
        const auto set = [&](const Operand& each) {
          if (each.kind == OperandKind::Register && carried.test(each.index)) {
            untested.reset(each.index);
          }
        };
        if (stores && operand.kind != OperandKind::Address) {
          continue;
        }
        set(operand);
        std::ranges::for_each(operand.elements, set);
      }
    }
  }
  return untested;
}

} // namespace

BitVector ClockFlow::live_behind(std::uint32_t n) const {
  const std::uint32_t block = cfg_.block_of(n);
  return n + 1 < cfg_.blocks()[block].last ? liveness_.before(n + 1) : liveness_.at_end(block);
}

/// Is one kept in local memory?
bool ClockFlow::find_readings() {
  ValueFlow flow(function_);
  bool any_kept = false;
  const bool reads_local = std::ranges::any_of(function_.body, may_read_local);
  std::uint32_t ordinal = 0;
  for (std::uint32_t n = 0; n < function_.body.size(); ++n) {
    if (!reads_clock(function_.body[n])) {
      continue;
    }
    ordinals_[n] = ordinal++;
    const ValueFlow::Reach& reach = flow.from(n);
    const bool kept = reads_local && without_ != Without::Local && is_kept(reach, function_);
    any_kept = any_kept || kept;
    readings_[n] = reach.decides || reach.retries || kept || reach.placed.count() != 0 ||
                           reach.maybe.count() != 0
                       ? Reading::Decides
                       : Reading::Data;
  }
  return any_kept;
}

/// Registers that may hold something that comes from a reading.
void ClockFlow::find_carriers() {
  slots_.assign(function_.registers.size(), no_slot);
  carriers_.clear();
  for (std::size_t before = ~std::size_t{0}; before != carriers_.size();) {
    before = carriers_.size();
    for (std::uint32_t n = 0; n < function_.body.size(); ++n) {
      const Instruction& i = function_.body[n];
      bool carries = readings_[n] == Reading::Decides;
      each_register(i, [&](RegisterUse use) {
        carries = carries || (!use.write && slots_[use.index] != no_slot);
      });
      if (!carries || is_comparison(i)) {
        continue;
      }
      each_register(i, [&](RegisterUse use) {
        if (use.write && slots_[use.index] == no_slot) {
          slots_[use.index] = static_cast<std::uint32_t>(carriers_.size());
          carriers_.push_back(use.index);
        }
      });
    }
  }
}

void ClockFlow::find_tested() {
  const BitVector others = never_tested(function_, carriers_);
  asked_ = liveness_.before_each();
  for (BitVector& registers : asked_) {
    registers.subtract(others);
  }
}

ClockTerm ClockFlow::of(const Operand& operand, std::uint32_t reading, const State& state) const {
  if (operand.kind == OperandKind::Register) {
    const std::uint32_t slot = slots_[operand.index];
    return slot == no_slot ? ClockTerm() : state[slot];
  }
  if (is_clock(operand)) {
    return readings_[reading] == Reading::Decides
               ? ClockTerm::shown(operand.name, ordinals_[reading])
               : ClockTerm();
  }
  ClockTerm parts; // of a value, or several in one
  for (const Operand& element : operand.elements) {
    parts.of |= of(element, reading, state).of;
  }
  parts.kind = parts.of == 0 ? Kind::Nothing : Kind::Made;
  return parts;
}

/// From the first operand on.
std::vector<ClockTerm> ClockFlow::operands_of(std::uint32_t n, const State& state) const {
  std::vector<ClockTerm> result;
  for (const Operand& operand : function_.body[n].operands) {
    result.push_back(of(operand, n, state));
  }
  return result;
}

void ClockFlow::step(std::uint32_t n, State& state) const {
  const Instruction& i = function_.body[n];
  const Effect& effect = effect_of(i);
  std::vector<ClockTerm> from = operands_of(n, state);
  ClockTerm result;
  result.kind = Kind::Nothing;
  if (!from.empty() && effect.is(Effect::Kind::Compute)) {
    from.erase(from.begin());
    result = made_of(i, from, [this](const Operand& o) { return stays(o); }, without_);
  } else if (!effect.is(Effect::Kind::Update)) {
    // What memory holds is compared as something that no clock has shown; but where it was looked
    // for may come from one, and so does what another lane has handed over.
    for (std::size_t o = 1; o < from.size(); ++o) {
      result.of |= from[o].of;
    }
    result.kind = result.of == 0 ? Kind::Nothing : Kind::Made;
  }
  if (readings_[n] == Reading::Decides) {
    for (ClockTerm& term : state) {
      term = term.behind_reading();
    }
  }
  each_register(i, [&](RegisterUse use) {
    if (use.write && slots_[use.index] != no_slot) {
      ClockTerm& held = state[slots_[use.index]];
      held = i.guard && without_ != Without::Guarded ? join(held, result) : result;
    }
  });
}

std::vector<ClockFlow::State> ClockFlow::flow() {
  std::vector<State> entry(cfg_.blocks().size());
  if (carriers_.empty() || entry.empty()) {
    return entry;
  }
  entry[0].resize(carriers_.size());
  std::set<std::uint32_t> todo{0};
  while (!todo.empty()) {
    const std::uint32_t b = *todo.begin();
    todo.erase(todo.begin());
    State state = entry[b];
    for (std::uint32_t n = cfg_.blocks()[b].first; n < cfg_.blocks()[b].last; ++n) {
      step(n, state);
    }
    for (const std::uint32_t to : cfg_.blocks()[b].successors) {
      if (to == cfg_.exit()) {
        continue;
      }
      bool changed = entry[to].empty();
      entry[to].resize(carriers_.size());
      for (std::size_t s = 0; s < state.size(); ++s) {
        const ClockTerm both = join(entry[to][s], state[s]);
        changed = changed || both != entry[to][s];
        entry[to][s] = both;
      }
      if (changed) {
        todo.insert(to);
      }
    }
  }
  return entry;
}

/// What an instruction does with what comes from clocks, other than making values.
void ClockFlow::use(std::uint32_t n, const std::vector<ClockTerm>& from) {
  const Instruction& i = function_.body[n];
  const Effect& effect = effect_of(i);
  std::uint64_t all = 0, address = 0;
  bool writes = false; // a call by an address, a branch by a table and a barrier read the first one
  each_register(i, [&](RegisterUse use) { writes = writes || use.write; });
  for (std::size_t o = 0; o < from.size(); ++o) {
    const bool is_destination = o == 0 && i.operands[o].kind == OperandKind::Register && writes;
    all |= is_destination ? 0 : from[o].of;
    address |= address_has(i.operands[o], from[o]) ? from[o].of : 0;
  }
  if (all == 0) {
    return;
  }
  using Effects = Effect::Kind;
  switch (effect.kind) {
  case Effects::Hint:
    return;
  case Effects::Compute:
    bad_ |= (i.has(Mod::Cc) || reads_carry(i)) && without_ != Without::Carry ? all : 0;
    return;
  case Effects::Load:
    bad_ |= without_ == Without::LoadAddress ? 0 : address;
    return;
  case Effects::Store:
  case Effects::Update:
    stores_[n] |= all;
    if (without_ != Without::StoreAddress) {
      bad_ |= i.has(Mod::Param) ? all : address;
    }
    return;
  case Effects::Collective: // its lanes may stand at others of the opcode, which get it, too
    bad_ |= (is_closed(function_) && is_alone(function_, i.opcode)) || without_ == Without::Lanes
                ? from.back().of
                : all;
    return;
  default:
    bad_ |= without_ == Without::Elsewhere ? 0 : all;
    return;
  }
}

void ClockFlow::look_at(std::uint32_t n, const State& state) {
  const Instruction& i = function_.body[n];
  for (std::size_t s = 0; s < state.size(); ++s) {
    if (!state[s].nothing() && asked_[n].test(carriers_[s])) {
      held_.set(n);
    }
  }
  const std::vector<ClockTerm> from = operands_of(n, state);
  if (!is_comparison(i)) {
    use(n, from);
    return;
  }
  bool matters = false;
  each_register(i, [&](RegisterUse use) {
    matters = matters || (use.write && live_behind(n).test(use.index));
  });
  const std::uint64_t of = from.size() < 3 ? 0 : from[1].of | from[2].of;
  if (!matters || of == 0) {
    return;
  }
  if (const auto test = test_of(i, from[1], from[2], without_)) {
    tests_.emplace(n, *test);
    absolute_ = absolute_ || test->way == Way::Moment;
  } else {
    tests_.emplace(n, ClockTest{.of = of});
    bad_ |= without_ == Without::Test ? 0 : of;
  }
}

/// Has the operand the same value wherever it is used in one execution of the function?
bool ClockFlow::stays(const Operand& limit, int depth) const {
  constexpr int deep = 8;
  if (limit.kind == OperandKind::Integer || limit.kind == OperandKind::Float ||
      without_ == Without::Stays) {
    return true;
  }
  if (limit.kind != OperandKind::Register || depth > deep) {
    return false;
  }
  std::optional<std::uint32_t> made;
  for (std::uint32_t n = 0; n < function_.body.size(); ++n) {
    bool writes = false;
    each_register(function_.body[n], [&](RegisterUse use) {
      writes = writes || (use.write && use.index == limit.index);
    });
    if (writes && made) {
      return false;
    }
    made = writes ? n : made;
  }
  if (!made) { // nothing has written it
    return true;
  }
  if (function_.body[*made].guard) {
    return false;
  }
  const Instruction& i = function_.body[*made];
  const bool of_parameter = i.opcode == Opcode::Ld && i.has(Mod::Param);
  return of_parameter || !cfg_.repeats(cfg_.block_of(*made)) ||
         (effect_of(i).is(Effect::Kind::Compute) && !reads_special_register(i) &&
          std::ranges::all_of(i.operands.begin() + 1, i.operands.end(), [&](const Operand& o) {
            return without_ == Without::StaysMade || stays(o, depth + 1);
          }));
}

bool ClockFlow::same_limit(const ClockTest& s, const ClockTest& t) const {
  const auto same = [](const Operand& x, const Operand& y) {
    return x.kind == y.kind &&
           (x.kind == OperandKind::Register ? x.index == y.index : x.bits == y.bits);
  };
  if ((s.way != t.way && without_ != Without::LimitWay) ||
      (s.shape != t.shape && without_ != Without::LimitShape) ||
      (s.limit == nullptr) != (t.limit == nullptr)) {
    return false;
  }
  const bool same_side = s.strict == t.strict || without_ == Without::Strict;
  if (s.limit == nullptr) {
    return same_side;
  }
  if (s.limit->kind == OperandKind::Integer && t.limit->kind == OperandKind::Integer &&
      s.whole_numbers && t.whole_numbers &&
      without_ != Without::Strict) { // above 9 is not below 10
    return s.limit->bits + (s.strict ? 1 : 0) == t.limit->bits + (t.strict ? 1 : 0);
  }
  return same_side && same(*s.limit, *t.limit);
}

/// Conditions 1 and 2 of the file's comment.
void ClockFlow::find_limits() {
  for (const auto& [_, t] : tests_) {
    const std::uint64_t of = t.way == Way::Moment ? t.of : t.since;
    for (const auto& [also_at, o] : tests_) {
      const std::uint64_t also = o.way == Way::Moment ? o.of : o.since;
      if ((of & also) != 0 && !same_limit(t, o)) {
        bad_ |= t.of | o.of;
      }
      // A moment is a limit for all times that are shown.
      if (t.way == Way::Moment && without_ != Without::Moment && !same_limit(t, o)) {
        bad_ |= t.of | o.of;
      }
    }
  }
}

/// What is related to a reading that is not followed is not followed.
void ClockFlow::spread() {
  for (std::uint64_t before = ~bad_; before != bad_;) {
    before = bad_;
    for (const auto& [_, test] : tests_) {
      bad_ |= (test.of & bad_) != 0 ? test.of : 0;
    }
  }
}

/// Is there a way from behind one instruction to another one that avoids some?
bool ClockFlow::reaches(std::uint32_t from, std::uint32_t to, const BitVector& without) const {
  BitVector seen(function_.body.size());
  std::vector<std::uint32_t> todo;
  const auto go = [&](std::uint32_t n) {
    if (!seen.test(n) && !without.test(n)) {
      seen.set(n);
      todo.push_back(n);
    }
  };
  const auto go_behind = [&](std::uint32_t n) {
    const BasicBlock& block = cfg_.blocks()[cfg_.block_of(n)];
    if (n + 1 < block.last) {
      go(n + 1);
      return;
    }
    for (const std::uint32_t next : block.successors) {
      if (next != cfg_.exit()) {
        go(cfg_.blocks()[next].first);
      }
    }
  };
  go_behind(from);
  while (!todo.empty() && !seen.test(to)) {
    const std::uint32_t n = todo.back();
    todo.pop_back();
    go_behind(n);
  }
  return seen.test(to);
}

/// Is the limit, between two tests of one earlier time, the same? That time is in one register, and
/// another one comes to it only where that is read.
bool ClockFlow::stays_between_tests(std::uint32_t test, const Operand& limit) const {
  if (stays(limit)) {
    return true;
  }
  std::set<std::uint32_t> earlier;
  for (const auto& [reading, time] : times_) {
    earlier.insert(time.index); // of all: more than one may be this
  }
  if (limit.kind != OperandKind::Register || earlier.size() != 1) {
    return false;
  }
  const auto renewed = renewals_.find(*earlier.begin());
  if (renewed == renewals_.end()) {
    return false;
  }
  for (std::uint32_t n = 0; n < function_.body.size(); ++n) {
    bool writes = false;
    each_register(function_.body[n], [&](RegisterUse use) {
      writes = writes || (use.write && use.index == limit.index);
    });
    for (const auto& [other, _] : tests_) {
      if (writes && reaches(test, n, renewed->second) && reaches(n, other, renewed->second)) {
        return false;
      }
    }
  }
  return true;
}

std::optional<ClockFlow::Time>
ClockFlow::time_of(std::uint32_t index, const ClockTerm& term) const {
  constexpr std::uint64_t low = 0xffffffff, sign = 0x80000000;
  const auto test =
      std::ranges::find_if(tests_, [&](const auto& t) { return (t.second.since & term.of) != 0; });
  if (test == tests_.end() || !term.is_time()) {
    return std::nullopt;
  }
  const bool whole = term.kind == Kind::Time, wide = term.kind == Kind::TimeWide;
  const auto low_half = [&](std::uint64_t value) {
    return whole  ? (now & ~low) | value
           : wide ? static_cast<std::uint64_t>(
                        static_cast<std::int64_t>(static_cast<std::int32_t>(value))
                    )
                  : value;
  };
  switch (test->second.way) {
  case Way::Whole:
    return whole ? std::optional(Time{index, {}, now & low}) : std::nullopt;
  case Way::LowUnsigned:
    return wide ? std::nullopt : std::optional(Time{index, now, now - low});
  case Way::LowSigned:
    return wide ? std::nullopt : std::optional(Time{index, now - sign, now - (sign - 1)});
  case Way::Apart:
  case Way::OrderSigned:
    return Time{index, low_half(sign - 1), low_half(sign)};
  case Way::OrderUnsigned:
    return wide ? std::nullopt : std::optional(Time{index, low_half(low), low_half(0)});
  case Way::Moment:
    break;
  }
  return std::nullopt;
}

/// Condition 3.
void ClockFlow::find_times(const std::vector<State>& entry) {
  times_.clear();
  for (std::uint32_t b = 0; b < entry.size(); ++b) {
    State state = entry[b];
    if (state.empty()) {
      continue;
    }
    for (std::uint32_t n = cfg_.blocks()[b].first; n < cfg_.blocks()[b].last; ++n) {
      if (readings_[n] == Reading::Decides) {
        std::uint64_t of = std::uint64_t{1} << ordinals_[n] % 64;
        bool fine = true;
        std::vector<Time> times;
        for (std::size_t s = 0; s < state.size(); ++s) {
          const std::uint32_t r = carriers_[s];
          if (state[s].nothing() || !asked_[n].test(r) || state[s].has_passed()) {
            continue;
          }
          of |= state[s].of;
          const auto time = time_of(r, state[s]);
          fine = fine && (time || without_ == Without::KnownTime) &&
                 (times.empty() || without_ == Without::OneTime);
          times.push_back(time.value_or(Time()));
        }
        // Of a moment all times are the same: those that clocks show.
        fine = fine && (!absolute_ || times.empty() || without_ == Without::Alone);
        if (!fine) {
          bad_ |= of;
        } else if (!times.empty()) {
          times_.emplace(n, times.front());
        }
      }
      step(n, state);
    }
  }
}

/// Behind instruction n. (If that has a guard, the term is old unless the register held what has
/// just been read before, too.)
void ClockFlow::note_renewed(std::uint32_t n, const State& state) {
  each_register(function_.body[n], [&](RegisterUse use) {
    if (use.write && slots_[use.index] != no_slot) {
      const ClockTerm& term = state[slots_[use.index]];
      if (term.is_time() && !term.old) {
        renewals_.try_emplace(use.index, function_.body.size()).first->second.set(n);
      }
    }
  });
}

/// Does anything compare what comes from readings that decide?
bool ClockFlow::run(bool kept) {
  find_carriers();
  find_tested();
  held_ = BitVector(function_.body.size());
  tests_.clear();
  stores_.clear();
  renewals_.clear();
  bad_ = 0;
  absolute_ = kept;
  if (kept && without_ != Without::Local) { // what is read of a variable is not known to be a time
    ValueFlow flow(function_);
    for (std::uint32_t n = 0; n < function_.body.size(); ++n) {
      const bool decides = readings_[n] == Reading::Decides && flow.from(n).decides;
      bad_ |=
          decides && is_kept(flow.from(n), function_) ? std::uint64_t{1} << ordinals_[n] % 64 : 0;
    }
  }
  const std::vector<State> entry = flow();
  for (std::uint32_t b = 0; b < entry.size(); ++b) {
    State state = entry[b];
    for (std::uint32_t n = cfg_.blocks()[b].first; !state.empty() && n < cfg_.blocks()[b].last;
         ++n) {
      look_at(n, state);
      step(n, state);
      note_renewed(n, state);
    }
  }
  if (without_ != Without::Limit) {
    find_limits();
  }
  find_times(entry);
  for (const auto& [n, test] : tests_) {
    bad_ |= test.limit != nullptr && !stays_between_tests(n, *test.limit) ? test.of : 0;
  }
  spread();
  return !tests_.empty();
}

std::vector<std::uint32_t> ClockFlow::stores(std::uint32_t instruction) const {
  std::vector<std::uint32_t> result;
  for (const auto& [store, of] : stores_) {
    if ((of >> ordinals_[instruction] % 64 & 1) != 0) {
      result.push_back(store);
    }
  }
  return result;
}

ClockFlow::ClockFlow(const Function& function, const Cfg& cfg, ClockCondition without)
    : function_(function),
      cfg_(cfg),
      without_(without),
      liveness_(function, cfg, Liveness::Of::Effects),
      readings_(function.body.size(), Reading::None),
      ordinals_(function.body.size(), 0) {
  const bool kept = find_readings();
  // A reading of data that comes to a comparison decides, too.
  const std::vector<Reading> known = readings_;
  std::vector<Reading> found = known;
  for (std::uint32_t n = 0; n < known.size(); ++n) {
    if (known[n] == Reading::Data) {
      std::ranges::fill(readings_, Reading::None);
      readings_[n] = Reading::Decides;
      found[n] = run(kept) ? Reading::Decides : Reading::Data;
    }
  }
  readings_ = std::move(found);
  run(kept);
}

} // namespace heddle::analysis
