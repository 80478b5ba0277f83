// Implements bounds.h.
#include "reduce/bounds.h"

#include <algorithm>
#include <span>
#include <utility>

namespace heddle::enumeration {

namespace {

/// The next digit of a number.
std::uint64_t take(std::uint64_t& number, std::uint64_t radix) {
  return std::exchange(number, number / radix) % radix;
}

bool fits(Kind kind, Shape shape) {
  switch (kind) {
  case Kind::Neighbour:
  case Kind::ClusterArrive:
  case Kind::ClusterWait:
  case Kind::ArriveOf:
  case Kind::StoreAsync:
  case Kind::Multicast:
    return of_cluster(shape);
  case Kind::Barrier:
    return shape != Shape::Blocks && shape != Shape::Cooperative;
  case Kind::Vote:
  case Kind::Ballot:
  case Kind::BallotActive:
  case Kind::Shuffle:
  case Kind::Match:
  case Kind::Elect:
    return shape == Shape::Block || shape == Shape::Lanes;
  case Kind::Arrive:
  case Kind::WaitPhase:
  case Kind::WaitSecond:
  case Kind::Ask:
  case Kind::AskOwn:
  case Kind::Drop:
  case Kind::CopyArrive:
  case Kind::Expect:
  case Kind::Bulk:
  case Kind::ExpectBulk:
  case Kind::ArriveOther:
  case Kind::WaitOther:
    return shape != Shape::Blocks && shape != Shape::Cooperative;
  case Kind::GridArrive:
  case Kind::GridWait:
  case Kind::GridSync:
    return shape == Shape::Cooperative;
  case Kind::TileSync:
  case Kind::TileLast:
    return shape == Shape::Warps || shape == Shape::WarpPairs;
  case Kind::Active:
  case Kind::Count:
  case Kind::Publish:
  case Kind::PublishSome:
  case Kind::Republish:
  case Kind::Observe:
    return shape == Shape::Block || shape == Shape::Warps || shape == Shape::Lanes;
  case Kind::ArriveNamed:
  case Kind::WaitNamed:
  case Kind::CountNamed:
    return shape == Shape::Warps || shape == Shape::Lanes;
  default:
    return true;
  }
}

bool fits(const Operation& operation, Shape shape) {
  return fits(operation.kind, shape) &&
         (!has_place(operation.kind) || operation.place != Place::OfFirst || of_cluster(shape));
}

/// Could the operation of `code` have that result?
bool may_be(const MicroProgram& program, const Code& code, std::uint8_t of, std::uint8_t equals) {
  if (of >= code.operations.size()) {
    return false;
  }
  const Operation& asked = code.operations[of];
  if (!has_result(asked.kind)) {
    return false;
  }
  switch (asked.kind) {
  case Kind::Allocate:
  case Kind::Ask:
  case Kind::AskOwn:
  case Kind::Elect:
  case Kind::WaitOrLate:
  case Kind::Passed:
  case Kind::PassedLong:
  case Kind::PassedOther:
  case Kind::LowBit:
  case Kind::KeptBit:
  case Kind::TileLast:
    return equals <= 1;
  case Kind::Ballot:
  case Kind::BallotActive:
  case Kind::Count:
  case Kind::CountNamed:
    return equals <= program.actors;
  case Kind::Shuffle:
    return equals != 0;
  case Kind::Match:
    return equals != 0 && equals <= program.actors;
  default:
    break;
  }
  if (asked.kind == Kind::Neighbour) {
    return equals == 0;
  }
  if (asked.kind == Kind::Active || asked.kind == Kind::Size) {
    return equals != 0 && equals <= program.actors;
  }
  if (equals == 0) {
    return true;
  }
  if (meets(asked.kind)) {
    const auto before = std::span(code.operations).first(of);
    return std::ranges::any_of(before, [](const Operation& operation) {
      return meets(operation.kind) && has_value(operation.kind);
    });
  }
  const auto by_host = [&](const HostOperation& operation) {
    const bool to_q = operation.kind == HostKind::Copy || operation.kind == HostKind::SetBefore ||
                      operation.kind == HostKind::SetIf;
    return operation.kind == HostKind::CopyTwo
               ? asked.place == Place::Q || asked.place == Place::Behind
               : writes(operation.kind) && to_q == (asked.place == Place::Q);
  };
  return std::ranges::any_of(program.host, by_host) ||
         std::ranges::any_of(program.codes, [&](const Code& other) {
           return std::ranges::any_of(other.operations, [&](const Operation& operation) {
             return is_launch(operation.kind) || adds_float(operation.kind) ||
                    (writes(operation.kind) && may_be_same(operation.place, asked.place));
           });
         });
}

/// Who goes round takes a ticket each time, or waits for what others write. The latter must not
/// count, or there are too many states.
bool may_go_round(const Code& code) {
  if (code.operations.empty() || code.operations[0].guard != Guard{}) {
    return false;
  }
  if (code.operations[0].kind != Kind::Load) {
    return code.operations[0] == Operation{.kind = Kind::Increment, .place = Place::P};
  }
  return std::ranges::none_of(code.operations, [](const Operation& operation) {
    return operation.kind == Kind::Sum || operation.kind == Kind::Increment ||
           operation.kind == Kind::Retry || operation.value == Value::Last;
  });
}

bool makes_sense(const MicroProgram& program, const Code& code) {
  bool allocated = false, arrived = false;
  bool begun = false, other_begun = false;
  for (std::size_t n = 0; n < code.operations.size(); ++n) {
    const Operation& operation = code.operations[n];
    const Guard& guard = operation.guard;
    if (!fits(operation, program.shape) ||
        (meets(operation.kind) && guard.on != Guard::On::Always) ||
        (guard.on == Guard::On::Result &&
         (guard.of >= n || !may_be(program, code, guard.of, guard.equals))) ||
        (guard.on == Guard::On::Who && guard.equals >= program.actors) ||
        !has_what_it_uses(code, n) || (operation.kind == Kind::Free && !allocated) ||
        (operation.kind == Kind::AskOwn && !arrived) ||
        (operation.kind == Kind::GridWait && !arrived) ||
        ((operation.kind == Kind::Passed || operation.kind == Kind::PassedLong) && !begun) ||
        (operation.kind == Kind::PassedOther && !other_begun) ||
        (operation.kind == Kind::End &&
         (guard.on == Guard::On::Always || n + 1 == code.operations.size()))) {
      return false;
    }
    allocated = allocated || operation.kind == Kind::Allocate;
    begun = begun || operation.kind == Kind::Begin;
    other_begun = other_begun || operation.kind == Kind::BeginOther;
    arrived = arrived || operation.kind == Kind::Arrive || operation.kind == Kind::GridArrive;
  }
  return (!code.hang || (may_be(program, code, code.hang->of, code.hang->equals) &&
                         code.hang->who.value_or(0) < program.actors)) &&
         (code.rounds == 0 || may_go_round(code));
}

/// Of programs that differ only in what is called P and Q, the one that names P first.
bool names_p_first(const MicroProgram& program) {
  if (!program.host.empty()) {
    return true; // it knows P from Q
  }
  const auto tells = [](const Operation& operation) {
    return (has_place(operation.kind) && operation.place >= Place::Either) ||
           is_launch(operation.kind) || adds_float(operation.kind);
  };
  for (const Code& code : program.codes) {
    if (std::ranges::any_of(code.operations, tells)) {
      return true;
    }
  }
  for (const Code& code : program.codes) {
    for (const Operation& operation : code.operations) {
      if (has_place(operation.kind) && operation.place <= Place::Q) {
        return operation.place == Place::P;
      }
    }
  }
  return true;
}

/// … or fail.
bool may_wait(const Operation& operation) {
  switch (operation.kind) {
  case Kind::Wait:
  case Kind::WaitPhase:
  case Kind::Barrier:
  case Kind::Neighbour:
  case Kind::Vote:
  case Kind::Lock:
  case Kind::WaitNamed:
  case Kind::WaitGrids:
  case Kind::Ballot:
  case Kind::BallotActive:
  case Kind::Shuffle:
  case Kind::Match:
  case Kind::Elect:
  case Kind::Count:
  case Kind::CountNamed:
  case Kind::ClusterWait:
  case Kind::WaitSecond:
  case Kind::WaitOther:
  case Kind::GridWait:
  case Kind::GridSync:
  case Kind::TileSync:
  case Kind::TileLast:
  case Kind::Trap:
  case Kind::BadAccess:
  case Kind::Spin:
    return true;
  default:
    return false;
  }
}

bool may_wait(const MicroProgram& program) {
  const auto waits = [](const Operation& operation) { return may_wait(operation); };
  return std::ranges::any_of(
             program.codes,
             [&](const Code& code) {
               return code.hang || code.polls() || std::ranges::any_of(code.operations, waits);
             }
         ) ||
         std::ranges::any_of(program.host, [](const HostOperation& operation) {
           return has_value(operation.kind) || operation.kind == HostKind::HangIfFlag ||
                  operation.kind == HostKind::HangIfHalf || operation.kind == HostKind::AwaitP ||
                  operation.kind == HostKind::AwaitPBefore || asks(operation.kind);
         });
}

} // namespace

Bound::Size decided_by_clocks(std::vector<Kind> kinds) {
  return {
      .kinds = std::move(kinds),
      .shapes = {Shape::Blocks},
      .whose_hang = false,
      .whose_operations = false,
      .results = 2
  };
}

Bound::Size looks_at_few_words(Looks by) {
  return {
      .alike = false,
      .kinds = {Kind::Load, Kind::Store, Kind::Wait},
      .shapes = {Shape::Blocks},
      .places = {Place::Q, Place::Behind},
      .results = 2,
      .host = {HostKind::CopyTwo, HostKind::CopyOut, HostKind::HangIfHalf, HostKind::WaitCopies},
      .host_operations = 3,
      .weak = by == Looks::Weak,
      .lockstep = by == Looks::Lockstep
  };
}

/// Everything that an operation can be, without guards; none: nothing is done.
std::vector<std::optional<Operation>> Bound::variants(const Size& size) {
  std::vector<std::optional<Operation>> result;
  if (!size.alike) {
    result.emplace_back(std::nullopt);
  }
  for (const Kind kind : size.kinds) {
    if (!has_place(kind)) {
      const std::span values(size.values);
      for (const Value value : values.first(has_value(kind) ? values.size() : 1)) {
        result.emplace_back(Operation{.kind = kind, .value = value});
      }
      continue;
    }
    for (const Place place : size.places) {
      // Others must not access it at the same time.
      const bool own = place == Place::Own || place == Place::Local;
      if (size.passes ? is_plain(kind) != (place == Place::Q) : !own && is_plain(kind)) {
        continue;
      }
      // Atomics cannot go to local memory, and accesses there are never strong.
      if ((place == Place::Local && !is_plain(kind)) ||
          (place == Place::InLocal && kind != Kind::Load && kind != Kind::Store)) {
        continue;
      }
      // What is in one's own place is no news.
      if (place == Place::Own && kind != Kind::Load && kind != Kind::Store && kind != Kind::Sum &&
          !is_plain(kind)) {
        continue;
      }
      for (const Value value : size.values) {
        const bool matters = has_value(kind) && (place != Place::Own || is_plain(kind));
        if (matters || value == size.values.front()) {
          result.emplace_back(Operation{.kind = kind, .place = place, .value = value});
        }
      }
    }
  }
  return result;
}

Bound::Role Bound::role(const Size& size, std::uint8_t operations, bool polls) {
  const std::vector<std::optional<Operation>> all = variants(size);
  const std::uint8_t results = std::max(size.alike ? size.actors : size.results, size.results);
  Role role;
  for (std::uint8_t n = 0; n < operations; ++n) {
    std::vector<std::optional<Operation>>& here = role.variants.emplace_back(all);
    const bool given = (size.ticket || polls) && n == 0;
    if (polls && n == 0) {
      std::erase_if(here, [](const auto& o) { return !o || o->kind != Kind::Load; });
    } else if (given) {
      here = {Operation{.kind = Kind::Increment}};
    }
    std::vector<Guard>& guards = role.guards.emplace_back();
    guards.push_back({});
    for (std::uint8_t who = 0; size.alike && size.whose_operations && !given && who < size.actors;
         ++who) {
      guards.push_back({.on = Guard::On::Who, .equals = who});
    }
    for (std::uint8_t of = 0; of < n; ++of) {
      for (std::uint8_t equals = 0; equals < results; ++equals) {
        guards.push_back({.on = Guard::On::Result, .of = of, .equals = equals});
      }
    }
    for (std::uint8_t equals = 0; size.may_hang && equals < results; ++equals) {
      role.hangs.push_back(Hang{.of = n, .equals = equals});
      for (std::uint8_t who = 0; size.alike && size.whose_hang && who < size.actors; ++who) {
        role.hangs.push_back(Hang{.of = n, .equals = equals, .who = who});
      }
    }
    role.codes *= here.size() * guards.size();
  }
  if (polls) {
    role.rounds = {1};
  } else if (size.rounds != 0) {
    role.rounds.push_back(size.rounds);
  }
  role.codes *= role.hangs.size() * role.rounds.size();
  return role;
}

Bound::Bound(Size size) : size_(std::move(size)) {
  total_ = size_.shapes.size() * size_.models.size() * size_.widths.size() * size_.strengths.size();
  for (std::uint8_t a = 0; a < (size_.alike ? 1 : size_.actors); ++a) {
    const bool less = a == 0 && size_.first_operations != 0;
    const bool polls = size_.polls && a + 1 == size_.actors;
    roles_.push_back(role(size_, less ? size_.first_operations : size_.operations, polls));
    total_ *= roles_.back().codes;
  }
  host_.emplace_back(std::nullopt);
  for (const HostKind kind : size_.host) {
    for (std::uint8_t value = 0; value < (has_value(kind) ? size_.results : 1); ++value) {
      host_.push_back(HostOperation{kind, value});
    }
  }
  for (int n = 0; n < size_.host_operations + size_.beside; ++n) {
    total_ *= host_.size();
  }
}

std::optional<std::vector<HostOperation>>
Bound::host(std::uint64_t& number, std::uint8_t operations, bool launches) const {
  std::vector<HostOperation> result;
  if (launches) {
    result.push_back({.kind = HostKind::Launch});
  }
  bool over = false;
  for (std::uint8_t n = 0; n < operations; ++n) {
    const std::optional<HostOperation> operation = host_[take(number, host_.size())];
    if (over && operation) {
      return std::nullopt; // nothing is done last
    }
    over = over || !operation;
    if (operation) {
      result.push_back(*operation);
    }
  }
  return result;
}

std::optional<Code> Bound::code(const Role& role, std::uint64_t number) {
  Code code;
  code.hang = role.hangs[take(number, role.hangs.size())];
  code.rounds = role.rounds[take(number, role.rounds.size())];
  bool over = false;
  for (std::size_t n = 0; n < role.variants.size(); ++n) {
    std::optional<Operation> operation = role.variants[n][take(number, role.variants[n].size())];
    const std::uint64_t guard = take(number, role.guards[n].size());
    over = over || !operation;
    if (over && (operation || guard != 0)) {
      return std::nullopt; // nothing is done last
    }
    if (operation) {
      operation->guard = role.guards[n][guard];
      code.operations.push_back(*operation);
    }
  }
  return code;
}

std::optional<MicroProgram> Bound::program(std::uint64_t number) const {
  MicroProgram program;
  program.actors = size_.actors;
  program.arrivals = size_.arrivals;
  program.shape = size_.shapes[take(number, size_.shapes.size())];
  program.progress = size_.models[take(number, size_.models.size())];
  program.width = size_.widths[take(number, size_.widths.size())];
  program.strength = size_.strengths[take(number, size_.strengths.size())];
  const bool launches = size_.host_operations != 0 && size_.launch_first;
  auto host = this->host(number, size_.host_operations, launches);
  auto beside = this->host(number, size_.beside, false);
  const HostOperation launch{.kind = HostKind::Launch};
  if (!host || !beside || (size_.beside != 0 && beside->empty()) ||
      (size_.host_operations != 0 &&
       (host->size() < 2 || std::ranges::count(*host, launch) != 1))) {
    return std::nullopt; // else what only devices do, or only hosts
  }
  program.host = std::move(*host);
  program.beside = std::move(*beside);
  program.prompt = size_.prompt;
  program.weak = size_.weak;
  program.narrow = size_.narrow;
  program.lockstep = size_.lockstep;
  program.functions = size_.functions;
  const bool same_roles = size_.first_operations == 0 && !size_.polls;
  std::uint64_t last = 0;
  for (const Role& role : roles_) {
    const std::uint64_t own = take(number, role.codes);
    // Else with other names of actors.
    auto code = own >= last || !same_roles ? Bound::code(role, own) : std::nullopt;
    if (!code) {
      return std::nullopt;
    }
    last = own;
    program.codes.push_back(std::move(*code));
  }
  const bool fine = std::ranges::all_of(program.codes, [&](const Code& code) {
    return makes_sense(program, code);
  });
  if (!fine || !(size_.passes || (names_p_first(program) && may_wait(program)))) {
    return std::nullopt;
  }
  return program;
}

const Bound* find_bound(std::string_view name) {
  const std::span<const Bound> all = bounds();
  const auto found = std::ranges::find(all, name, &Bound::name);
  return found == all.end() ? nullptr : &*found;
}

} // namespace heddle::enumeration
