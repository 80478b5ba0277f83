// Implements clock_flow.h: a data flow over the registers of one function, forward.
#include "ptx/clock_flow.h"

#include "ptx/liveness.h"
#include "ptx/value_flow.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace heddle::ptx {
namespace {

bool is_clock(const Operand& operand) {
  const std::string_view name = operand.name;
  return operand.kind == OperandKind::Special &&
         (name.starts_with("%clock") || name.starts_with("%globaltimer")) &&
         !name.starts_with("%cluster");
}

bool is_comparison(const Instruction& i) {
  return i.opcode == Opcode::Setp || i.opcode == Opcode::Set;
}

} // namespace

bool reads_clock(const Instruction& i) {
  return std::ranges::any_of(i.operands, is_clock);
}

bool reads_clock(const Function& function) {
  return std::ranges::any_of(function.body, [](const Instruction& i) { return reads_clock(i); });
}

ClockFlow::Holds ClockFlow::of(const Operand& operand, const State& state) const {
  if (operand.kind == OperandKind::Register) {
    const std::uint32_t slot = slots_[operand.index];
    return slot == no_slot ? Holds::Nothing : state[slot];
  }
  if (is_clock(operand)) {
    const std::string_view name = operand.name;
    return name.ends_with("_hi")       ? Holds::Made
           : name == "%clock64"        ? Holds::Cycles
           : name == "%globaltimer"    ? Holds::Nanoseconds
           : name == "%globaltimer_lo" ? Holds::NanosecondsLow
                                       : Holds::CyclesLow;
  }
  Holds most = Holds::Nothing;
  for (const Operand& element : operand.elements) {
    most = std::max(most, of(element, state));
  }
  // Parts of a value, or several in one.
  return is_time(most) ? Holds::Made : most;
}

ClockFlow::Holds ClockFlow::join(Holds a, Holds b) {
  return std::min(a, b) == Holds::Nothing ? std::max(a, b) : a == b ? a : Holds::Made;
}

ClockFlow::Holds ClockFlow::convert(const Instruction& i, Holds from) {
  const std::optional<Type> type = i.type();
  if (!type || is_float(*type) || type_bits(*type) < 32) {
    return Holds::Made;
  }
  const bool half = type_bits(*type) == 32 || (i.type(1) && type_bits(*i.type(1)) == 32);
  return half && from == Holds::Cycles        ? Holds::CyclesLow
         : half && from == Holds::Nanoseconds ? Holds::NanosecondsLow
                                              : from;
}

/// What the destination holds behind an instruction that has one.
ClockFlow::Holds ClockFlow::made_by(const Instruction& i, const State& state) const {
  const auto source = [&](std::size_t n) {
    return n < i.operands.size() ? of(i.operands[n], state) : Holds::Nothing;
  };
  Holds most = Holds::Nothing;
  for (std::size_t n = 1; n < i.operands.size(); ++n) {
    most = std::max(most, source(n));
  }
  if (most <= Holds::Duration) {
    return most;
  }
  const Holds a = source(1), b = source(2);
  switch (i.opcode) {
  case Opcode::Ld: // what memory holds is compared as something that no clock has shown
  case Opcode::Ldu:
  case Opcode::Atom:
  case Opcode::Setp:
  case Opcode::Set:
    return Holds::Nothing;
  case Opcode::Mov:
    return a;
  case Opcode::Cvt:
    return convert(i, a);
  case Opcode::Add:
    return std::min(a, b) <= Holds::Duration ? most : Holds::Made;
  case Opcode::Sub:
    return !is_time(a) || most == Holds::Made ? Holds::Made
           : a == b                           ? Holds::Duration
           : b <= Holds::Duration             ? a
                                              : Holds::Made;
  case Opcode::Min:
  case Opcode::Max:
  case Opcode::Selp:
    return a == b ? a : Holds::Made;
  default:
    return Holds::Made;
  }
}

void ClockFlow::step(std::uint32_t instruction, State& state) const {
  const Instruction& i = function_.body[instruction];
  const bool other = readings_[instruction] != Reading::Decides && reads_clock(i);
  const Holds made = other ? Holds::Nothing : made_by(i, state);
  each_register(i, [&](RegisterUse use) {
    if (use.write && slots_[use.index] != no_slot) {
      Holds& held = state[slots_[use.index]];
      held = i.guard ? join(held, made) : made;
    }
  });
}

void ClockFlow::find_readings(const std::function<const BitVector&(std::uint32_t)>& live_behind) {
  ValueFlow flow(function_);
  for (std::uint32_t n = 0; n < function_.body.size(); ++n) {
    if (!reads_clock(function_.body[n])) {
      continue;
    }
    bool matters = false;
    each_register(function_.body[n], [&](RegisterUse use) {
      matters = matters || (use.write && live_behind(n).test(use.index));
    });
    if (!matters) {
      readings_[n] = Reading::Data;
      continue;
    }
    const ValueFlow::Reach& reach = flow.from(n);
    bool kept = false; // in a variable of the thread
    reach.stored.each([&](std::size_t store) {
      const auto space = function_.body[store].one_of(Category::Space);
      kept = kept || !space ||
             (*space != Mod::Global && *space != Mod::Shared && *space != Mod::SharedCta &&
              *space != Mod::SharedCluster);
    });
    absolute_ = absolute_ || kept;
    readings_[n] = reach.decides || reach.retries || kept || reach.placed.count() != 0 ||
                           reach.maybe.count() != 0
                       ? Reading::Decides
                       : Reading::Data;
  }
}

/// A comparison of times: with what?
void ClockFlow::compare(const Instruction& i, const State& state, const BitVector& live_behind) {
  bool matters = false;
  each_register(i, [&](RegisterUse use) {
    matters = matters || (use.write && live_behind.test(use.index));
  });
  Holds least = Holds::Made, most = Holds::Nothing;
  for (std::size_t n = 1; n < std::min<std::size_t>(i.operands.size(), 3); ++n) {
    least = std::min(least, of(i.operands[n], state));
    most = std::max(most, of(i.operands[n], state));
  }
  if (!matters || most == Holds::Nothing) {
    return;
  }
  compares_ = true;
  absolute_ = absolute_ || (most > Holds::Duration && least <= Holds::Duration);
}

void ClockFlow::note_times(std::uint32_t n, const State& state, const BitVector& live) {
  times_.erase(n);
  if (readings_[n] != Reading::Decides) {
    return;
  }
  std::vector<Time> times;
  for (std::size_t s = 0; s < state.size(); ++s) {
    if (!live.test(carriers_[s]) || state[s] <= Holds::Duration) {
      continue;
    }
    if (state[s] == Holds::Made) {
      return;
    }
    times.push_back(
        {carriers_[s],
         static_cast<Clock>(static_cast<int>(state[s]) - static_cast<int>(Holds::Cycles))}
    );
  }
  std::ranges::sort(times, {}, &Time::index);
  times_.emplace(n, std::move(times));
}

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
      each_register(i, [&](RegisterUse use) {
        if (carries && use.write && slots_[use.index] == no_slot) {
          slots_[use.index] = static_cast<std::uint32_t>(carriers_.size());
          carriers_.push_back(use.index);
        }
      });
    }
  }
}

ClockFlow::ClockFlow(const Function& function, const Cfg& cfg)
    : function_(function),
      readings_(function.body.size(), Reading::None),
      held_(function.body.size()) {
  const Liveness liveness(function, cfg, Liveness::Of::Effects);
  const std::vector<BitVector> live = liveness.before_each();
  const auto live_behind = [&](std::uint32_t n) -> const BitVector& {
    const std::uint32_t block = cfg.block_of(n);
    return n + 1 < cfg.blocks()[block].last ? live[n + 1] : liveness.at_end(block);
  };
  find_readings(live_behind);
  // A block in which nothing holds a time, at its beginning and by its readings, has no part in it:
  // its state is empty.
  std::vector<State> entry;
  const auto run = [&] {
    find_carriers();
    entry.assign(cfg.blocks().size(), {});
    std::set<std::uint32_t> todo;
    for (std::uint32_t n = 0; n < readings_.size(); ++n) {
      if (readings_[n] == Reading::Decides) {
        const std::uint32_t block = cfg.block_of(n);
        entry[block].resize(carriers_.size(), Holds::Nothing);
        todo.insert(block);
      }
    }
    while (!todo.empty()) {
      const std::uint32_t b = *todo.begin();
      todo.erase(todo.begin());
      State state = entry[b];
      for (std::uint32_t n = cfg.blocks()[b].first; n < cfg.blocks()[b].last; ++n) {
        step(n, state);
      }
      if (std::ranges::count(state, Holds::Nothing) == std::ssize(state)) {
        continue;
      }
      for (const std::uint32_t to : cfg.blocks()[b].successors) {
        if (to == cfg.exit()) {
          continue;
        }
        entry[to].resize(carriers_.size(), Holds::Nothing);
        for (std::size_t r = 0; r < state.size(); ++r) {
          const Holds both = join(state[r], entry[to][r]);
          if (both != entry[to][r]) {
            entry[to][r] = both;
            todo.insert(to);
          }
        }
      }
    }
    held_ = BitVector(function.body.size());
    times_.clear();
    for (std::uint32_t b = 0; b < cfg.blocks().size(); ++b) {
      State state = entry[b];
      if (state.empty()) {
        continue;
      }
      for (std::uint32_t n = cfg.blocks()[b].first; n < cfg.blocks()[b].last; ++n) {
        for (std::size_t s = 0; s < state.size(); ++s) {
          if (state[s] > Holds::Duration && live[n].test(carriers_[s])) {
            held_.set(n);
          }
        }
        note_times(n, state, live[n]);
        if (is_comparison(function.body[n])) {
          compare(function.body[n], state, live_behind(n));
        }
        step(n, state);
      }
    }
  };
  // A reading of data that comes to a comparison decides, too.
  const bool kept = absolute_;
  const std::vector<Reading> known = readings_;
  std::vector<Reading> found = known;
  for (std::uint32_t n = 0; n < known.size(); ++n) {
    if (known[n] == Reading::Data) {
      std::ranges::fill(readings_, Reading::None);
      readings_[n] = Reading::Decides;
      compares_ = false;
      run();
      found[n] = compares_ ? Reading::Decides : Reading::Data;
    }
  }
  readings_ = std::move(found);
  absolute_ = kept;
  run();
}

} // namespace heddle::ptx
