// Implements bounds.h.
#include "reduce/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace heddle::reduce {

namespace {

/// The next digit of a number.
std::uint64_t take(std::uint64_t& number, std::uint64_t radix) {
  return std::exchange(number, number / radix) % radix;
}

bool fits(Kind kind, Shape shape) {
  switch (kind) {
  case Kind::Neighbour:
    return shape == Shape::Cluster;
  case Kind::Barrier:
    return shape == Shape::Block || shape == Shape::Cluster || shape == Shape::Pairs;
  case Kind::Vote:
  case Kind::Active:
  case Kind::Arrive:
  case Kind::WaitPhase:
  case Kind::Ask:
    return shape == Shape::Block;
  default:
    return true;
  }
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
  if (asked.kind == Kind::Allocate || asked.kind == Kind::Ask || asked.kind == Kind::WaitOrLate) {
    return equals <= 1;
  }
  if (asked.kind == Kind::Neighbour) {
    return equals == 0;
  }
  if (asked.kind == Kind::Active) {
    return equals != 0 && equals <= program.actors;
  }
  if (equals == 0) {
    return true;
  }
  const auto by_host = [&](const HostOperation& operation) {
    const bool to_q = operation.kind == HostKind::Copy || operation.kind == HostKind::SetBefore;
    return writes(operation.kind) && to_q == (asked.place == Place::Q);
  };
  return std::ranges::any_of(program.host, by_host) ||
         std::ranges::any_of(program.codes, [&](const Code& other) {
           return std::ranges::any_of(other.operations, [&](const Operation& operation) {
             return writes(operation.kind) && operation.place == asked.place;
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
  bool allocated = false;
  for (std::size_t n = 0; n < code.operations.size(); ++n) {
    const Operation& operation = code.operations[n];
    const Guard& guard = operation.guard;
    if (!fits(operation.kind, program.shape) ||
        (guard.on == Guard::On::Result &&
         (guard.of >= n || !may_be(program, code, guard.of, guard.equals))) ||
        (guard.on == Guard::On::Who && guard.equals >= program.actors) ||
        (has_value(operation.kind) && operation.value == Value::Last &&
         (n == 0 || !has_result(code.operations[n - 1].kind))) ||
        (operation.kind == Kind::Free && !allocated) ||
        (operation.kind == Kind::End &&
         (guard.on == Guard::On::Always || n + 1 == code.operations.size()))) {
      return false;
    }
    allocated = allocated || operation.kind == Kind::Allocate;
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
  for (const Code& code : program.codes) {
    for (const Operation& operation : code.operations) {
      if (has_place(operation.kind) && operation.place <= Place::Q) {
        return operation.place == Place::P;
      }
    }
  }
  return true;
}

bool may_wait(const Operation& operation) {
  switch (operation.kind) {
  case Kind::Wait:
  case Kind::WaitPhase:
  case Kind::Barrier:
  case Kind::Neighbour:
  case Kind::Vote:
  case Kind::Lock:
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
           return has_value(operation.kind) || operation.kind == HostKind::HangIfFlag;
         });
}

} // namespace

/// Everything that an operation can be, without guards; none: nothing is done.
std::vector<std::optional<Operation>> Bound::variants(const Size& size) {
  std::vector<std::optional<Operation>> result;
  if (!size.alike) {
    result.emplace_back(std::nullopt);
  }
  for (const Kind kind : size.kinds) {
    if (!has_place(kind)) {
      result.emplace_back(Operation{.kind = kind});
      continue;
    }
    for (const Place place : size.places) {
      // Others must not access it at the same time.
      if (place != Place::Own && is_plain(kind)) {
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
  total_ = size_.shapes.size();
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
  for (std::uint8_t n = 0; n < size_.host_operations; ++n) {
    total_ *= host_.size();
  }
}

std::optional<std::vector<HostOperation>> Bound::host(std::uint64_t& number) const {
  std::vector<HostOperation> result;
  if (size_.host_operations == 0) {
    return result;
  }
  if (size_.launch_first) {
    result.push_back({.kind = HostKind::Launch});
  }
  bool over = false;
  for (std::uint8_t n = 0; n < size_.host_operations; ++n) {
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
  auto host = this->host(number);
  const HostOperation launch{.kind = HostKind::Launch};
  if (!host || (size_.host_operations != 0 &&
                (host->size() < 2 || std::ranges::count(*host, launch) != 1))) {
    return std::nullopt; // else what only devices do, or only hosts
  }
  program.host = std::move(*host);
  program.prompt = size_.prompt;
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
  return fine && names_p_first(program) && may_wait(program) ? std::optional(std::move(program))
                                                             : std::nullopt;
}

std::span<const Bound> bounds() {
  using enum Kind;
  const std::vector<Shape> all{Shape::Blocks, Shape::Block, Shape::Cluster, Shape::Cooperative};
  const std::vector<Kind> accesses{Load, Store, Sum, Exchange, Increment, CompareAndSwap, Wait};
  const std::vector<Kind> of_block{
      Load,
      Store,
      Exchange,
      Increment,
      Wait,
      Barrier,
      Vote,
      Active,
      Arrive,
      WaitPhase,
      End
  };
  const std::vector<Value> who{Value::One, Value::Who, Value::Last};
  const std::vector<Place> own{Place::P, Place::Q, Place::Own};
  const Bound::Size
      alike{.kinds = accesses, .shapes = all, .places = own, .values = who, .rounds = 3};
  const Bound::Size roles{.alike = false, .kinds = accesses, .shapes = all, .places = own};
  const Bound::Size tickets{
      .operations = 3,
      .kinds = {Load, Store, Exchange},
      .shapes = {Shape::Blocks},
      .ticket = true
  };
  static const std::vector<Bound> table = [&] {
    std::vector<Bound> result;
    const auto add =
        [&](std::string name, Bound::Size size, std::uint8_t actors, std::uint8_t operations) {
          size.name = fmt::format("{}-{}x{}", name, actors, operations);
          size.actors = actors;
          size.operations = operations;
          result.emplace_back(std::move(size));
        };
    add("alike", alike, 2, 1);
    add("roles", roles, 2, 1);
    Bound::Size retries = roles;
    retries.kinds = {Store, Sum, Increment, Retry, Lock};
    retries.shapes = {Shape::Blocks, Shape::Block};
    add("retries", retries, 2, 1);
    add("retries", retries, 2, 2);
    Bound::Size heap{.kinds = {Load, Store, Increment, Allocate, Free}, .shapes = all};
    add("heap", heap, 2, 2);
    Bound::Size block = alike;
    block.kinds = of_block;
    block.shapes = {Shape::Block};
    block.rounds = 0;
    add("block", block, 2, 2);
    Bound::Size shared = alike;
    shared.shapes = {Shape::Block};
    shared.places = {Place::P, Place::Shared};
    shared.whose_operations = false;
    add("shared", shared, 2, 2);
    Bound::Size cluster{
        .kinds = {Load, Store, Increment, Wait, Barrier, Neighbour, End},
        .shapes = {Shape::Cluster}
    };
    add("cluster", cluster, 2, 2);
    Bound::Size ranks = cluster;
    ranks.alike = false;
    ranks.results = 2;
    add("ranks", ranks, 2, 2);
    Bound::Size last = tickets; // … and the last ones do something else
    last.kinds = {Load, Store};
    last.places = {Place::Q};
    last.values = {Value::Who};
    last.whose_operations = false;
    add("last", last, 3, 3);
    add("last", last, 4, 3);
    add("last", last, 5, 3);
    // Some is done before the cluster is owed anything, and some behind.
    Bound::Size owed{
        .alike = false,
        .kinds = {Load, Store, Wait},
        .shapes = {Shape::Blocks},
        .places = own,
        .first_operations = 2,
        .results = 2,
        .may_hang = false
    };
    add("owed", owed, 2, 3);
    // Reads that find nothing new, and then wait.
    Bound::Size polls = owed;
    polls.shapes = {Shape::Blocks, Shape::Block};
    polls.places = {Place::P, Place::Q};
    polls.results = 1;
    polls.may_hang = true;
    add("polls", polls, 2, 3);
    // One goes round, others change what it and they find.
    Bound::Size loops = owed;
    loops.kinds = {Load, Store, Retry, Wait};
    loops.places = {Place::P, Place::Q};
    loops.values = {Value::One, Value::Two};
    loops.shapes = {Shape::Block, Shape::Cooperative}; // where somebody is owed the end
    loops.polls = true;
    add("loops", loops, 2, 3);
    // Several blocks of several threads: what one does changes what the others are to a search.
    Bound::Size pairs{
        .kinds = {Load, Store, Barrier},
        .shapes = {Shape::Pairs},
        .places = {Place::P},
        .values = {Value::One, Value::Two},
        .rounds = 2,
        .whose_hang = false,
        .whose_operations = false
    };
    add("pairs", pairs, 4, 3);
    // Data takes its way through one's own memory, and then something is decided by it.
    Bound::Size data{
        .kinds = {Load, Store, Exchange, Increment, PlainLoad, PlainStore},
        .shapes = {Shape::Blocks, Shape::Block},
        .places = {Place::P, Place::Own},
        .values = {Value::One, Value::Last},
        .whose_operations = false
    };
    add("data", data, 2, 3);
    Bound::Size phases{
        .kinds = {Load, Store, Arrive, WaitPhase, Ask},
        .shapes = {Shape::Block},
        .whose_hang = false
    };
    add("phases", phases, 2, 3);
    Bound::Size arrivals{
        // one may complete several phases
        .alike = false,
        .kinds = {Load, Arrive, WaitPhase, Ask},
        .shapes = {Shape::Block},
        .places = {Place::P},
        .first_operations = 2,
        .results = 2,
        .arrivals = 1
    };
    add("arrivals", arrivals, 2, 3);
    // Host code beside a kernel, and host functions.
    Bound::Size hosts{
        .kinds = {Load, Store, Wait},
        .shapes = {Shape::Blocks},
        .places = {Place::P},
        .whose_hang = false,
        .whose_operations = false,
        .results = 2,
        .host =
            {HostKind::CallFlag,
             HostKind::CallStore,
             HostKind::Store,
             HostKind::HangIfP,
             HostKind::HangIfFlag},
        .host_operations = 3
    };
    add("hosts", hosts, 1, 1);
    add("hosts", hosts, 1, 2);
    // Calls that need not return while a device thread makes progress.
    Bound::Size calls = hosts;
    calls.host = {HostKind::Launch, HostKind::SetBefore, HostKind::Set, HostKind::Store};
    calls.host_operations = 4;
    calls.launch_first = calls.prompt = false;
    add("calls", calls, 1, 1);
    // Two grids at the same time.
    Bound::Size grids = hosts;
    grids.kinds = {Load, Store, Sum, Increment, Wait};
    grids.shapes = {Shape::Blocks, Shape::Block};
    grids.results = 3;
    grids.host = {HostKind::LaunchBeside, HostKind::Store, HostKind::HangIfP};
    grids.host_operations = 2;
    add("grids", grids, 1, 2);
    add("grids", grids, 2, 1);
    // Waits with a deadline.
    Bound::Size deadlines{
        .alike = false,
        .kinds = {Load, Store, Exchange, WaitOrLate},
        .shapes = {Shape::Blocks, Shape::Block},
        .places = {Place::P},
        .results = 2
    };
    add("deadlines", deadlines, 2, 2);
    // Copies and sets beside a kernel.
    Bound::Size copies{
        .kinds = {Load, Store, Sum, Exchange, Increment, Wait},
        .shapes = {Shape::Blocks, Shape::Block},
        .whose_hang = false,
        .host = {HostKind::Copy, HostKind::Set, HostKind::HangIfQ, HostKind::WaitCopies},
        .host_operations = 3
    };
    add("copies", copies, 2, 1);
    add("alike", alike, 2, 2);
    Bound::Size rounds = tickets;
    rounds.shapes = {Shape::Blocks, Shape::Block};
    rounds.values = {Value::One, Value::Two};
    rounds.rounds = 3;
    rounds.whose_hang = false;
    add("tickets", rounds, 2, 3);
    Bound::Size told_apart{
        .kinds = {Load, Exchange, Increment},
        .shapes = {Shape::Block},
        .whose_hang = false
    };
    add("exchanges", told_apart, 2, 3);
    add("roles", roles, 3, 1);
    add("alike", alike, 3, 2);
    add("roles", roles, 2, 2);
    return result;
  }();
  return table;
}

const Bound* find_bound(std::string_view name) {
  const std::span<const Bound> all = bounds();
  const auto found = std::ranges::find(all, name, &Bound::name);
  return found == all.end() ? nullptr : &*found;
}

} // namespace heddle::reduce
