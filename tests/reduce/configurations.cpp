// Implements configurations.h.
#include "reduce/configurations.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace heddle::enumeration {

namespace {

struct Row {
  const char* name;
  bool explore::Options::* member; // nullptr: none
  std::vector<Reduction> rests_on;
};

const std::array<Row, reductions>& rows() {
  using enum Reduction;
  using explore::Options;
  static const std::array<Row, reductions> table{{
      {"symmetry", &Options::symmetry, {}},
      {"eager", &Options::eager, {}},
      {"sums", &Options::sums, {Eager}},
      {"orderly", &Options::orderly, {Eager}},
      {"places", &Options::places, {Eager, Orderly}},
      {"movers", &Options::movers, {Eager, Orderly, Cone}},
      {"early-writes", &Options::early_writes, {Eager, Orderly}},
      {"settled", &Options::settled, {Eager, Orderly}},
      {"data-order", &Options::data_order, {Eager, Sums, Orderly}},
      {"retries", &Options::retries, {Eager, Sums, Orderly, DataOrder}},
      {"phases", &Options::phases, {Eager}},
      {"peeks", &Options::peeks, {Eager, Phases}},
      {"allocations", &Options::allocations, {Eager}},
      {"neighbours", &Options::neighbours, {Eager}},
      {"cone", &Options::cone, {Eager}},
      {"straight", &Options::straight, {Eager}},
      {"groups", nullptr, {Eager, Straight}},
      {"look-ahead", nullptr, {}},
      {"host-first", &Options::host_first, {}},
      {"returns", nullptr, {}},
      {"copies", nullptr, {}},
      {"checked-look-ahead", nullptr, {LookAhead}},
  }};
  return table;
}

bool uses(const MicroProgram& program, std::initializer_list<Kind> kinds) {
  return std::ranges::any_of(program.codes, [&](const Code& code) {
    return std::ranges::any_of(code.operations, [&](const Operation& operation) {
      return std::ranges::find(kinds, operation.kind) != kinds.end();
    });
  });
}

bool has_phases(Kind kind) {
  switch (kind) {
  case Kind::Barrier:
  case Kind::ArriveNamed:
  case Kind::WaitNamed:
  case Kind::Count:
  case Kind::CountNamed:
  case Kind::GridArrive:
  case Kind::GridWait:
  case Kind::GridSync:
  case Kind::TileSync:
  case Kind::TileLast:
    return true;
  default:
    return is_of_mbarrier(kind);
  }
}

bool text_concerns(Reduction reduction, const MicroProgram& program) {
  const auto has = [&](std::string_view word) {
    return program.text.find(word) != std::string::npos;
  };
  switch (reduction) {
  case Reduction::Retries:
    return has(".cas.") || has(".exch.");
  case Reduction::Phases:
    return has("mbarrier.") || has("bar.") || has("barrier.");
  case Reduction::Peeks:
    return has("mbarrier.test_wait") || has("mbarrier.try_wait");
  case Reduction::Neighbours:
    return program.of_cluster();
  case Reduction::Allocations:
    return has("malloc");
  default:
    return true;
  }
}

/// Could it make a difference for the program?
bool concerns(Reduction reduction, const MicroProgram& program) {
  const auto member = rows()[static_cast<std::size_t>(reduction)].member;
  // Updates do not commute then: a mutant has them do so.
  if (program.weak && reduction != Reduction::Sums && member != nullptr &&
      !(explore::with_ptx_memory({}).*member)) {
    return false;
  }
  if (program.lockstep) { // explore/search/stepper_options.cpp
    switch (reduction) {
    case Reduction::Symmetry:
    case Reduction::Eager:
    case Reduction::Sums:
    case Reduction::LookAhead:
      return true;
    case Reduction::Copies:
      break;
    default:
      return false;
    }
  }
  if (program.weak && reduction == Reduction::Groups) {
    return false;
  }
  switch (reduction) {
  case Reduction::EarlyWrites:
  case Reduction::Settled:
    return program.weak;
  case Reduction::HostFirst:
  case Reduction::Returns:
    return !program.host.empty();
  case Reduction::Copies:
    return std::ranges::any_of(program.host, [](const HostOperation& operation) {
      return operation.kind == HostKind::CopyTwo || operation.kind == HostKind::CopyOut;
    });
  case Reduction::CheckedLookAhead:
    return false; // where it matters, see below
  default:
    break;
  }
  if (!program.text.empty()) {
    return text_concerns(reduction, program);
  }
  switch (reduction) {
  case Reduction::Retries:
    return uses(program, {Kind::Retry, Kind::Lock});
  case Reduction::Phases:
    return std::ranges::any_of(program.codes, [](const Code& code) {
      return std::ranges::any_of(code.operations, has_phases, &Operation::kind);
    });
  case Reduction::Peeks:
    return uses(program, {Kind::Ask, Kind::AskOwn});
  case Reduction::Neighbours:
    return program.of_cluster();
  case Reduction::Allocations:
    return uses(program, {Kind::Allocate});
  default:
    return true;
  }
}

} // namespace

std::string_view name_of(Reduction reduction) {
  return rows()[static_cast<std::size_t>(reduction)].name;
}

Configuration Configuration::with(Reduction reduction) const {
  Configuration result = *this;
  result.set_.set(static_cast<std::size_t>(reduction));
  for (const Reduction below : rows()[static_cast<std::size_t>(reduction)].rests_on) {
    result.set_.set(static_cast<std::size_t>(below));
  }
  return result;
}

Configuration Configuration::without(Reduction reduction) const {
  Configuration result = *this;
  result.set_.reset(static_cast<std::size_t>(reduction));
  for (std::size_t r = 0; r < reductions; ++r) {
    const auto& below = rows()[r].rests_on;
    if (std::ranges::find(below, reduction) != below.end()) {
      result.set_.reset(r);
    }
  }
  return result;
}

bool Configuration::has(std::string_view name) const {
  for (std::size_t r = 0; r < reductions; ++r) {
    if (rows()[r].name == name) {
      return set_[r];
    }
  }
  return false;
}

Manner Configuration::manner() const {
  Manner manner;
  // Programs are small: what is for large ones is to be done at once.
  manner.options.straight_after = 1;
  manner.options.one_order_after = 1;
  for (std::size_t r = 0; r < reductions; ++r) {
    if (rows()[r].member != nullptr) {
      manner.options.*rows()[r].member = set_[r];
    }
  }
  if (!has(Reduction::Copies)) {
    manner.options.learned.refute(reduce::Assumption::Copies);
  }
  manner.tries_groups = has(Reduction::Groups);
  manner.looks_ahead = has(Reduction::LookAhead);
  manner.returns_once = has(Reduction::Returns);
  manner.checks_look_ahead = has(Reduction::CheckedLookAhead);
  return manner;
}

std::string Configuration::as_words() const {
  std::string text;
  for (std::size_t r = 0; r < reductions; ++r) {
    if (set_[r]) {
      text += (text.empty() ? "" : " ") + std::string(rows()[r].name);
    }
  }
  return text;
}

Configuration Configuration::of(std::string_view words) {
  Configuration result;
  std::istringstream stream{std::string(words)};
  for (std::string word; stream >> word;) {
    for (std::size_t r = 0; r < reductions; ++r) {
      if (word == rows()[r].name) {
        result.set_.set(r);
      }
    }
  }
  return result;
}

std::vector<Configuration> configurations_for(const MicroProgram& program) {
  std::vector<Reduction> useful;
  for (std::size_t r = 0; r < reductions; ++r) {
    if (concerns(static_cast<Reduction>(r), program)) {
      useful.push_back(static_cast<Reduction>(r));
    }
  }
  std::vector<Configuration> result;
  const auto add = [&](const Configuration& configuration) {
    if (std::ranges::find(result, configuration) == result.end()) {
      result.push_back(configuration);
    }
  };
  Configuration all;
  for (const Reduction one : useful) {
    add(Configuration().with(one));
    all = all.with(one);
  }
  for (const Reduction one : useful) {
    for (const Reduction two : useful) {
      add(Configuration().with(one).with(two));
    }
  }
  add(all);
  // With these another search takes the place of the first one, so they hide what the others do
  // together.
  add(all.without(Reduction::Groups));
  add(all.without(Reduction::Straight));
  add(all.without(Reduction::DataOrder));
  const Configuration others = all.without(Reduction::Straight).without(Reduction::DataOrder);
  add(others);
  // Not in their place: a move that is made is noted by the monitors, one that is not made is not.
  add(others.with(Reduction::CheckedLookAhead));
  return result;
}

} // namespace heddle::enumeration
