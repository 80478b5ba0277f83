// All litmus programs of a bound: the machine of src/weak allows exactly what the axioms allow.
//
//   heddle_litmus                            lists bounds
//   heddle_litmus BOUND [--slice=I/N]        every N-th program from the I-th on
//   heddle_litmus BOUND --sample=COUNT       as many, evenly spread
//   heddle_litmus BOUND … --from=NUMBER      that one first, and then not one after the other
//   heddle_litmus BOUND --program=NUMBER     prints one program and both answers
//   heddle_litmus BOUND --list=COUNT         so many, as code() and the outcomes of the axioms
//   heddle_litmus --shapes[=MIXED]           the classical families (shapes.h): all uniform
//                                            programs, or so many mixed ones of each
//   heddle_litmus --shapes-list=COUNT        so many of each, as --list; with their placement
//   heddle_litmus --random=COUNT [FIRST]     random programs (random_programs.h); one that differs
//                                            is made small; a third number: of a mutant
//   heddle_litmus --random-list=COUNT FIRST  as --list; with their places and placement
//   heddle_litmus --mutants                  finds for each mutant of the machine a program on
//                                            which it differs from the axioms; fails if there is
//                                            none
//   heddle_litmus … --seconds=S              no program is begun later; for all, --shapes, --random
//
// Programs that are equal up to a renaming of places, or of threads that run at equivalent places,
// are looked at once. Scopes that contain the same threads of a program are one, and a volatile
// access is a relaxed one of system scope, so a bound names only scopes that differ.
#include "memory/axioms/axioms.h"
#include "memory/litmus.h"
#include "memory/random_programs.h"
#include "memory/shapes.h"
#include "memory/time_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string_view>

namespace heddle::litmus {

namespace {

using weak::Scope;

struct Bound {
  const char* name;
  const char* about;
  std::size_t length;
  std::vector<weak::Location> locations;
  std::vector<Instruction> alphabet;
  bool equal_updates = false;
};

enum What : unsigned {
  Weak = 1,
  Relaxed = 2,
  Ordered = 4,     // acquire loads, release stores
  Updates = 8,     // relaxed, acquire, release, acq_rel
  FewUpdates = 16, // acq_rel
  Fences = 32,     // acq_rel and sc
  OneSidedFences = 64,
  ScFences = 128,
  Reductions = 256 // relaxed, release
};

std::vector<Instruction> alphabet(unsigned what, const std::vector<Scope>& scopes) {
  using Kind = Instruction::Kind;
  std::vector<Instruction> result;
  for (std::uint8_t place = 0; place < 2; ++place) {
    if ((what & Weak) != 0) {
      result.push_back({.kind = Kind::Load, .place = place});
      result.push_back({.kind = Kind::Store, .place = place});
    }
    for (const Scope s : scopes) {
      const auto add = [&](Kind kind, bool acquire, bool release) {
        result.push_back({kind, place, true, s, acquire, release, false});
      };
      if ((what & Relaxed) != 0) {
        add(Kind::Load, false, false);
        add(Kind::Store, false, false);
      }
      if ((what & Ordered) != 0) {
        add(Kind::Load, true, false);
        add(Kind::Store, false, true);
      }
      if ((what & Updates) != 0) {
        add(Kind::Update, false, false);
        add(Kind::Update, true, false);
        add(Kind::Update, false, true);
      }
      if ((what & (Updates | FewUpdates)) != 0) {
        add(Kind::Update, true, true);
      }
      if ((what & Reductions) != 0) {
        add(Kind::Reduce, false, false);
        add(Kind::Reduce, false, true);
      }
    }
  }
  for (const Scope s : scopes) {
    const auto add = [&](bool acquire, bool release, bool sc) {
      result.push_back({Kind::Fence, 0, true, s, acquire, release, sc});
    };
    if ((what & Fences) != 0) {
      add(true, true, false);
    }
    if ((what & (Fences | ScFences)) != 0) {
      add(true, true, true);
    }
    if ((what & OneSidedFences) != 0) {
      add(true, false, false);
      add(false, true, false);
    }
  }
  return result;
}

Instruction load(std::uint8_t place, bool acquire) {
  return {Instruction::Kind::Load, place, true, Scope::Gpu, acquire, false, false};
}
Instruction store(std::uint8_t place, bool release) {
  return {Instruction::Kind::Store, place, true, Scope::Gpu, false, release, false};
}
Instruction relaxed_update(std::uint8_t place) {
  return {Instruction::Kind::Update, place, true, Scope::Gpu, false, false, false};
}

// Blocks and clusters and devices of threads.
const std::vector<weak::Location> together2{{0, 0, 0}, {0, 0, 0}}, apart2{{0, 0, 0}, {1, 1, 0}},
    together3{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, two_one{{0, 0, 0}, {0, 0, 0}, {1, 1, 0}},
    apart3{{0, 0, 0}, {1, 1, 0}, {2, 2, 0}},
    // Two in a block, one more of its cluster, one elsewhere on the device.
    hierarchy3{{0, 0, 0}, {1, 0, 0}, {2, 1, 0}},
    together4{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}},
    pairs4{{0, 0, 0}, {0, 0, 0}, {1, 1, 0}, {1, 1, 0}},
    apart4{{0, 0, 0}, {1, 1, 0}, {2, 2, 0}, {3, 3, 0}};

std::vector<Bound> bounds() {
  const std::vector<Scope> one{Scope::Gpu}, two{Scope::Cta, Scope::Gpu},
      three{Scope::Cta, Scope::Cluster, Scope::Gpu};
  const unsigned all = Weak | Relaxed | Ordered | Updates | Fences | OneSidedFences;
  return {
      {"2x2-together", "one block, every strength", 2, together2, alphabet(all, one)},
      {"2x2-apart", "two blocks, every strength and scope", 2, apart2, alphabet(all, two)},
      {"2x3-together",
       "one block, loads, stores, fences",
       3,
       together2,
       alphabet(Weak | Relaxed | Ordered | Fences, one)},
      {"2x3-updates",
       "one block, updates of every order",
       3,
       together2,
       alphabet(Relaxed | Updates | ScFences, one)},
      {"2x3-apart",
       "two blocks, loads and stores of every scope",
       3,
       apart2,
       alphabet(Relaxed | Ordered, two)},
      {"2x3-fences",
       "two blocks, relaxed accesses and fences of every scope",
       3,
       apart2,
       alphabet(Relaxed | Fences, two)},
      {"2x4-fences",
       "one block, relaxed accesses and fences",
       4,
       together2,
       alphabet(Relaxed | Fences, one)},
      {"3x2-together",
       "one block, every strength of loads and stores, updates, fences",
       2,
       together3,
       alphabet(Weak | Relaxed | Ordered | FewUpdates | Fences, one)},
      {"3x2-two-one",
       "two threads of a block and one of another, loads and stores of each scope",
       2,
       two_one,
       alphabet(Relaxed | Ordered, two)},
      {"3x2-hierarchy",
       "three blocks, two of them a cluster",
       2,
       hierarchy3,
       alphabet(Relaxed | Ordered, {Scope::Cluster, Scope::Gpu})},
      {"3x3-relaxed",
       "three threads, relaxed accesses, fence.sc",
       3,
       together3,
       alphabet(Relaxed | ScFences, one)},
      {"3x3-scopes",
       "two of a block and one of another, fence.sc of each scope",
       3,
       two_one,
       alphabet(Relaxed | ScFences, two)},
      {"2x3-equal",
       "one block, updates of every order that all write the same",
       3,
       together2,
       alphabet(Relaxed | Updates, one),
       true},
      {"2x3-equal-apart",
       "two blocks, the same, and fences of every scope",
       3,
       apart2,
       alphabet(Relaxed | FewUpdates | Fences, two),
       true},
      {"3x2-equal",
       "two of a block and one of another, the same without fences",
       2,
       two_one,
       alphabet(Relaxed | Updates, two),
       true},
      {"2x3-reductions",
       "one block, updates without a result, and fences",
       3,
       together2,
       alphabet(Relaxed | Reductions | Fences, one)},
      {"3x2-reductions",
       "two of a block and one of another, updates without a result, acquire and release",
       2,
       two_one,
       alphabet(Ordered | Reductions | OneSidedFences, one)},
      {"3x2-sequences",
       "one block, what makes and reads a release sequence",
       2,
       together3,
       {load(0, false), store(0, false), store(1, true), load(1, true), relaxed_update(1)}},
      {"4x2-together",
       "four threads, relaxed, acquire, release",
       2,
       together4,
       alphabet(Relaxed | Ordered, one)},
      {"4x2-pairs",
       "two blocks of two threads, relaxed accesses of each scope",
       2,
       pairs4,
       alphabet(Relaxed, two)},
      {"4x2-apart",
       "four blocks, relaxed accesses, fences",
       2,
       apart4,
       alphabet(Relaxed | Fences, one)},
  };
}

class Programs {
public:
  explicit Programs(const Bound& b) : bound_(b) {
    count_ = 1;
    for (std::size_t i = 0; i < b.length * b.locations.size(); ++i) {
      count_ *= b.alphabet.size();
    }
    for (const Instruction& i : b.alphabet) {
      Instruction other = i;
      other.place = i.is_fence() ? i.place : static_cast<std::uint8_t>(1 - i.place);
      swapped_.push_back(
          static_cast<std::size_t>(std::ranges::find(b.alphabet, other) - b.alphabet.begin())
      );
    }
    swaps_ = std::ranges::all_of(swapped_, [&](std::size_t n) { return n < b.alphabet.size(); });
    std::vector<std::size_t> order(b.locations.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      if (keeps_scopes(order)) {
        orders_.push_back(order);
      }
    } while (std::ranges::next_permutation(order).found);
  }

  std::uint64_t count() const { return count_; }

  std::vector<std::size_t> digits(std::uint64_t number) const {
    std::vector<std::size_t> result(bound_.length * bound_.locations.size());
    for (std::size_t& d : result) {
      d = number % bound_.alphabet.size();
      number /= bound_.alphabet.size();
    }
    return result;
  }

  /// The least of all programs that are equal to it up to a renaming?
  bool is_first(const std::vector<std::size_t>& digits) const {
    std::vector<std::size_t> other(digits.size());
    for (const auto& order : orders_) {
      for (const bool swap : {false, true}) {
        if (swap && !swaps_) {
          continue;
        }
        for (std::size_t t = 0; t < order.size(); ++t) {
          for (std::size_t k = 0; k < bound_.length; ++k) {
            const std::size_t d = digits[order[t] * bound_.length + k];
            other[t * bound_.length + k] = swap ? swapped_[d] : d;
          }
        }
        if (other < digits) {
          return false;
        }
      }
    }
    return true;
  }

  Program program(const std::vector<std::size_t>& digits) const {
    Program p;
    p.locations = bound_.locations;
    p.equal_updates = bound_.equal_updates;
    p.threads.resize(bound_.locations.size());
    for (std::size_t t = 0; t < p.threads.size(); ++t) {
      for (std::size_t k = 0; k < bound_.length; ++k) {
        p.threads[t].push_back(bound_.alphabet[digits[t * bound_.length + k]]);
      }
    }
    return p;
  }

private:
  bool keeps_scopes(const std::vector<std::size_t>& order) const {
    const auto& at = bound_.locations;
    for (std::size_t a = 0; a < at.size(); ++a) {
      for (std::size_t b = 0; b < at.size(); ++b) {
        for (const Scope s : {Scope::Cta, Scope::Cluster, Scope::Gpu}) {
          if (weak::includes(s, at[a], at[b]) != weak::includes(s, at[order[a]], at[order[b]])) {
            return false;
          }
        }
      }
    }
    return true;
  }

  const Bound& bound_;
  std::uint64_t count_ = 0;
  std::vector<std::size_t> swapped_;
  bool swaps_ = false; // the places can be renamed within the alphabet
  std::vector<std::vector<std::size_t>> orders_;
};

struct Counts {
  std::uint64_t programs = 0, races = 0, beyond = 0, different = 0, outcomes = 0, fences = 0;
};

/// Does the machine allow what it should, and say so if it could have ordered fences in another
/// way?
bool agrees(const axioms::Result& expected, const Outcomes& found, bool said) {
  return found == expected.bounded && (said || found.race || expected.ordered == found);
}

void compare(const Program& p, std::uint64_t number, Counts& counts) {
  const axioms::Result expected = axioms::outcomes(p);
  bool said = false;
  const Outcomes found = machine_outcomes(p, weak::Mutant::None, &said);
  ++counts.programs;
  counts.races += expected.bounded.race ? 1 : 0;
  counts.beyond += expected.all != expected.bounded ? 1 : 0;
  counts.fences += expected.ordered != expected.bounded ? 1 : 0;
  counts.outcomes += found.outcomes.size();
  if (!agrees(expected, found, said) && ++counts.different <= 5) {
    fmt::print(
        "program {}:\n{}  axioms:  {}\n  machine: {}\n",
        number,
        text(p),
        text(expected.bounded),
        text(found)
    );
  }
}

/// A program that tells the mutant from the machine. If the bound has changed, the next one that
/// does is looked for.
struct Killer {
  weak::Mutant mutant;
  const char* bound;
  std::uint64_t number;
};
constexpr Killer killers[] = {
    {weak::Mutant::StrongWhateverScope, "2x2-apart", 5898},
    {weak::Mutant::AcquireWhateverScope, "2x3-fences", 966914},
    {weak::Mutant::ReadsAcquire, "2x2-together", 76898},
    {weak::Mutant::ReadsForget, "2x2-together", 1778},
    {weak::Mutant::WritesAreNewest, "2x2-together", 49274},
    {weak::Mutant::UpdatesApart, "2x2-together", 7872},
    {weak::Mutant::UpdatesEndReleases, "3x2-sequences", 2170},
    {weak::Mutant::FencesReleaseOnce, "2x3-together", 5277246},
    {weak::Mutant::FencesForgetReads, "2x3-together", 1599234},
    {weak::Mutant::ScFencesApart, "2x4-fences", 90055},
    {weak::Mutant::FencesComeFirst, "2x4-fences", 90055},
    {weak::Mutant::ScFencesTogether, "2x3-fences", 697359},
    {weak::Mutant::ReleasesWithoutPlace, "2x3-together", 145940},
    {weak::Mutant::EqualUpdatesRelease, "2x3-equal", 201577},
    {weak::Mutant::ReductionsAcquire, "2x3-reductions", 86571},
};
static_assert(std::size(killers) + 5 == static_cast<std::size_t>(weak::Mutant::Count));

bool is_noticed(weak::Mutant mutant, const Program& p) {
  const Outcomes right = machine_outcomes(p);
  return machine_outcomes(p, mutant) != right && axioms::outcomes(p).bounded == right;
}

bool is_noticed(const Killer& killer, const Bound& bound) {
  const Programs programs(bound);
  for (std::uint64_t n = killer.number; n < programs.count(); ++n) {
    const std::vector<std::size_t> digits = programs.digits(n);
    if (programs.is_first(digits) && is_noticed(killer.mutant, programs.program(digits))) {
      fmt::print("mutant {}: {} {}\n", static_cast<int>(killer.mutant), bound.name, n);
      return true;
    }
  }
  fmt::print("mutant {}: not noticed\n", static_cast<int>(killer.mutant));
  return false;
}

/// A thread looks at a lock without an order and gives it back; another one tries once to take it.
/// That is a write only if it has acquired what came before. No program of a bound has an update
/// that may fail.
Program lock_looked_at() {
  using Kind = Instruction::Kind;
  Program p;
  p.locations = together2;
  p.threads = {
      {{.kind = Kind::Load},
       {.kind = Kind::Update, .strong = true, .scope = Scope::Gpu, .release = true, .value = 3}},
      {{.kind = Kind::Cas,
        .strong = true,
        .scope = Scope::Gpu,
        .acquire = true,
        .value = 5,
        .expected = 3}},
  };
  return p;
}

/// A read, and a write that nothing orders behind it. No program of a bound tells whether that is
/// forgotten: without branches the write may come first as well, and then the read races with it.
bool finds_race_with_read(weak::Mutant mutant) {
  weak::WeakMemory memory({}, mutant);
  memory.add_thread(0, {});
  memory.add_thread(1, {});
  memory.read(0, {0, 4}, {}, 0);
  return memory.race(1, {0, 4}, {}, /*writes=*/true).has_value();
}

/// A release fence for one object hands on nothing of another one, and everything of its own. The
/// litmus programs have no such fences.
bool restricts_fences(weak::Mutant mutant) {
  const auto hands_on = [&](const weak::Range& object) {
    weak::WeakMemory memory({}, mutant);
    memory.add_thread(0, {});
    memory.add_thread(1, {});
    constexpr weak::Access relaxed{.strong = true, .scope = weak::Scope::Gpu};
    memory.write(0, {0, 4}, {}, 0, {}, {});
    memory.fence(0, {.release = true, .objects = {object}}, weak::Scope::Gpu);
    memory.write(0, {8, 4}, relaxed, 1, {}, {1});
    memory.read(1, {8, 4}, relaxed, memory.newest({8, 4}));
    memory.fence(1, {.acquire = true}, weak::Scope::Gpu);
    return !memory.race(1, {0, 4}, {}, /*writes=*/false).has_value();
  };
  return hands_on({0, 4}) && !hands_on({16, 4});
}

/// A flag is relayed by a thread that acquires nothing, between two fence.sc: another order of
/// these allows more. Does the machine say so?
bool says_of_fences(weak::Mutant mutant) {
  using Kind = Instruction::Kind;
  const auto relaxed = [](Kind kind, std::uint8_t place) {
    return Instruction{.kind = kind, .place = place, .strong = true, .scope = Scope::Gpu};
  };
  constexpr Instruction fence{
      .kind = Kind::Fence,
      .strong = true,
      .scope = Scope::Gpu,
      .acquire = true,
      .release = true,
      .sc = true
  };
  Program p;
  p.places = 3;
  p.locations = {{0, 0, 0}, {1, 1, 0}, {2, 2, 0}};
  p.threads = {
      {relaxed(Kind::Store, 0), fence, relaxed(Kind::Store, 1)},
      {relaxed(Kind::Load, 1), relaxed(Kind::Store, 2)},
      {relaxed(Kind::Load, 2), fence, relaxed(Kind::Load, 0)},
  };
  bool said = false;
  const Outcomes found = machine_outcomes(p, mutant, &said);
  return axioms::outcomes(p).ordered != found && said;
}

int check_mutants() {
  bool all_noticed =
      finds_race_with_read(weak::Mutant::None) && restricts_fences(weak::Mutant::None) &&
      !restricts_fences(weak::Mutant::FencesUnrestricted) && says_of_fences(weak::Mutant::None) &&
      !says_of_fences(weak::Mutant::FencesUnheard) &&
      !finds_race_with_read(weak::Mutant::RacesForgetReads) &&
      is_noticed(weak::Mutant::RacesForgetAcquires, lock_looked_at());
  const std::vector<Bound> all = bounds();
  for (const Killer& killer : killers) {
    const auto bound = std::ranges::find_if(all, [&](const Bound& b) {
      return std::string_view(b.name) == killer.bound;
    });
    all_noticed = bound != all.end() && is_noticed(killer, *bound) && all_noticed;
  }
  return all_noticed ? 0 : 1;
}

/// Spread evenly, by a step that is coprime to most alphabets.
int list_programs(const Programs& programs, std::uint64_t wanted) {
  const std::uint64_t step = 7919 * (programs.count() / 7919 / (4 * wanted + 1) + 1) + 2;
  std::uint64_t n = 0;
  for (std::uint64_t seen = 0; seen < wanted && n < programs.count(); n += step) {
    const std::vector<std::size_t> digits = programs.digits(n);
    if (!programs.is_first(digits)) {
      continue;
    }
    ++seen;
    const Program p = programs.program(digits);
    const Outcomes o = axioms::outcomes(p).bounded;
    fmt::print("{} {}\n", code(p), o.race ? "race" : text(o));
  }
  return 0;
}

int run_shapes(std::uint64_t mixed, const TimeLimit& limit) {
  Counts all;
  double part = 0; // each shape has the same part of the time, and what is left of others
  for (const Shape& shape : shapes()) {
    Counts counts;
    part += 1.0 / static_cast<double>(shapes().size());
    const auto look_at = [&](const Program& p) {
      if (!limit.over(part) && !hangs(p)) {
        compare(p, counts.programs, counts);
      }
    };
    if (mixed == 0) {
      std::ranges::for_each(uniform_programs(shape), look_at);
    }
    const std::uint64_t uniform = counts.programs;
    for (std::uint64_t seed = 0; seed < mixed; ++seed) {
      look_at(mixed_program(shape, seed));
    }
    fmt::print(
        "{:24} {:28} {} uniform, {} mixed, {} with a data race, {} allow more beyond the bound, {} "
        "of them by another order of fence.sc, {} differ\n",
        shape.name,
        shape.threads,
        uniform,
        counts.programs - uniform,
        counts.races,
        counts.beyond,
        counts.fences,
        counts.different
    );
    all.programs += counts.programs;
    all.different += counts.different;
  }
  fmt::print("{} programs, {} differ\n", all.programs, all.different);
  return all.different == 0 && all.programs > 0 ? 0 : 1;
}

/// Mixed programs, of which those without a race come first: they say more.
int list_shapes(std::uint64_t wanted) {
  for (const Shape& shape : shapes()) {
    std::uint64_t seen = 0, races = 0;
    for (std::uint64_t seed = 0; seen < wanted && seed < 200 * wanted; ++seed) {
      const Program p = mixed_program(shape, seed);
      if (hangs(p)) {
        continue;
      }
      const Outcomes o = axioms::outcomes(p).bounded;
      if (o.race && ++races > wanted / 4) {
        continue;
      }
      ++seen;
      fmt::print("{} {} {}\n", places_of(p), code(p), o.race ? "race" : text(o));
    }
  }
  return 0;
}

/// Random programs, from number `first` on, as list_shapes(); how many places they have comes
/// first.
int list_random(std::uint64_t wanted, std::uint64_t first) {
  std::uint64_t races = 0;
  for (std::uint64_t seen = 0; seen < wanted; ++first) {
    const Program p = random_program(first);
    const Outcomes o = axioms::built_outcomes(p).bounded;
    if (!o.race || ++races <= wanted / 4) {
      ++seen;
      fmt::print("{} {} {} {}\n", p.places, places_of(p), code(p), o.race ? "race" : text(o));
    }
  }
  return 0;
}

/// Random programs, from number `first` on; the machine may be a mutant.
int run_random(
    std::uint64_t count,
    std::uint64_t first,
    weak::Mutant mutant,
    const TimeLimit& limit
) {
  Counts counts;
  for (std::uint64_t n = first; n < first + count && counts.different < 5 && !limit.over(); ++n) {
    const Program p = random_program(n);
    const auto differs = [&](const Program& q, bool count) {
      const axioms::Result expected = axioms::built_outcomes(q);
      bool said = false;
      const Outcomes found = machine_outcomes(q, mutant, &said);
      if (count) {
        ++counts.programs;
        counts.races += expected.bounded.race ? 1 : 0;
        counts.fences += expected.ordered != expected.bounded ? 1 : 0;
        counts.outcomes += found.outcomes.size();
      }
      return !agrees(expected, found, said);
    };
    if (!differs(p, true)) {
      continue;
    }
    ++counts.different;
    const Program least = smallest(p, [&](const Program& less) { return differs(less, false); });
    fmt::print(
        "random program {}; what is left of it:\n{}  axioms:  {}\n  machine: {}\n",
        n,
        text(least),
        text(axioms::built_outcomes(least).bounded),
        text(machine_outcomes(least, mutant))
    );
  }
  fmt::print(
      "{} random programs from {} on, {} with a data race, {} outcomes, {} allow more by another "
      "order of fence.sc, {} differ\n",
      counts.programs,
      first,
      counts.races,
      counts.outcomes,
      counts.fences,
      counts.different
  );
  return counts.different == 0 && counts.programs > 0 ? 0 : 1;
}

/// Steps of this length go through so many numbers in turn, far apart from each other.
std::uint64_t stride_through(std::uint64_t count) {
  constexpr double golden = 0.6180339887;
  auto stride = static_cast<std::uint64_t>(static_cast<double>(count) * golden) + 1;
  while (std::gcd(stride, count) != 1) {
    ++stride;
  }
  return stride;
}

int list() {
  for (const Bound& b : bounds()) {
    fmt::print("{:14} {:>14} programs: {}\n", b.name, Programs(b).count(), b.about);
  }
  return 2;
}

int run(int argc, char** argv) {
  if (argc < 2) {
    return list();
  }
  if (std::string_view(argv[1]) == "--mutants") {
    return check_mutants();
  }
  const auto number = [&](int i) { return argc > i ? std::strtoull(argv[i], nullptr, 10) : 0; };
  constexpr std::string_view seconds = "--seconds=";
  double most = 0;
  if (std::string_view(argv[argc - 1]).starts_with(seconds)) {
    most = std::strtod(argv[--argc] + seconds.size(), nullptr);
  }
  const TimeLimit limit(most);
  constexpr std::string_view random_list = "--random-list=";
  if (std::string_view(argv[1]).starts_with(random_list)) {
    return list_random(std::strtoull(argv[1] + random_list.size(), nullptr, 10), number(2));
  }
  constexpr std::string_view random = "--random=";
  if (std::string_view(argv[1]).starts_with(random)) {
    return run_random(
        std::strtoull(argv[1] + random.size(), nullptr, 10),
        number(2),
        static_cast<weak::Mutant>(number(3)),
        limit
    );
  }
  constexpr std::string_view shape_list = "--shapes-list=";
  if (std::string_view(argv[1]).starts_with(shape_list)) {
    return list_shapes(std::strtoull(argv[1] + shape_list.size(), nullptr, 10));
  }
  if (std::string_view(argv[1]).starts_with("--shapes")) {
    const char* const count = std::strchr(argv[1], '=');
    return run_shapes(count == nullptr ? 0 : std::strtoull(count + 1, nullptr, 10), limit);
  }
  const std::vector<Bound> all = bounds();
  const auto bound = std::ranges::find_if(all, [&](const Bound& b) {
    return std::string_view(b.name) == argv[1];
  });
  if (bound == all.end()) {
    return list();
  }
  const Programs programs(*bound);
  std::uint64_t first = 0, step = 1, from = 0;
  bool mixed = false;
  for (int i = 2; i < argc; ++i) {
    const std::string_view a = argv[i];
    if (a.starts_with("--program=")) {
      const std::uint64_t number = std::strtoull(argv[i] + std::strlen("--program="), nullptr, 10);
      const Program p = programs.program(programs.digits(number));
      const axioms::Result expected = axioms::outcomes(p);
      fmt::print("{}  axioms:  {}\n", text(p), text(expected.all));
      fmt::print("  bounded: {}\n", text(expected.bounded));
      fmt::print("  machine: {}\n", text(machine_outcomes(p)));
      return 0;
    }
    if (a.starts_with("--list=")) {
      return list_programs(programs, std::strtoull(argv[i] + std::strlen("--list="), nullptr, 10));
    }
    if (a.starts_with("--slice=")) {
      char* rest = nullptr;
      first = std::strtoull(argv[i] + std::strlen("--slice="), &rest, 10);
      step = std::max(std::uint64_t{1}, std::uint64_t{std::strtoull(rest + 1, nullptr, 10)});
    } else if (a.starts_with("--sample=")) {
      const std::uint64_t count = std::strtoull(argv[i] + std::strlen("--sample="), nullptr, 10);
      step = std::max(std::uint64_t{1}, programs.count() / std::max(std::uint64_t{1}, count)) | 1U;
    } else if (a.starts_with("--from=")) {
      from = std::strtoull(argv[i] + std::strlen("--from="), nullptr, 10);
      mixed = true;
    } else {
      return list();
    }
  }
  Counts counts;
  const std::uint64_t all_of_them = (programs.count() - first + step - 1) / step;
  const std::uint64_t stride = mixed ? stride_through(all_of_them) : 1;
  std::uint64_t at = from % all_of_them;
  for (std::uint64_t seen = 0; seen < all_of_them && !limit.over(); ++seen) {
    const std::uint64_t n = first + at * step;
    const std::vector<std::size_t> digits = programs.digits(n);
    if (programs.is_first(digits)) {
      compare(programs.program(digits), n, counts);
    }
    at = (at + stride) % all_of_them;
  }
  fmt::print(
      "{}: {} programs, {} with a data race, {} outcomes, {} allow more beyond the bound, {} "
      "differ\n",
      bound->name,
      counts.programs,
      counts.races,
      counts.outcomes,
      counts.beyond,
      counts.different
  );
  return counts.different == 0 && counts.programs > 0 ? 0 : 1;
}

} // namespace

} // namespace heddle::litmus

int main(int argc, char** argv) {
  return heddle::litmus::run(argc, argv);
}
