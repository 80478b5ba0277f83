// heddle_differ: random programs in PTX, by the reference and by the searches of `heddle check`.
//
//   heddle_differ --seed=1 --programs=1000     prints a disagreement as the smallest program that shows it
//   heddle_differ --seed=1 --seconds=60
//   heddle_differ --seed=17 --programs=1 --show
//   heddle_differ FILE…                          programs that were wrong once (mended/)
//   heddle_differ --mutants --programs=5000      which broken reductions (reduce/mutant.h) are noticed
//
// See README.md.
#include "base/random.h"
#include "reduce/configurations.h"
#include "reduce/reference_search.h"
#include "reference/generator.h"
#include "reference/kept.h"
#include "reference/reference_device.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

namespace heddle::differ {

using enumeration::Configuration;
using enumeration::MicroDevice;
using enumeration::MicroProgram;

namespace {

struct Asked {
  std::uint64_t seed = 1;
  std::uint64_t programs = 1000;
  unsigned seconds = 0; // 0: no limit
  unsigned length = 5;
  std::size_t states = 5'000; // of the reference
  unsigned pairs = 3;         // searches with one reduction or two, for each program
  bool show = false;
  bool keep = false; // as it was drawn
  std::string with;  // not empty: these reductions alone
  std::vector<std::string> files; // with programs, in the place of drawn ones
  bool mutants = false;
  std::string mutant; // part of the names of those that are meant
};

/// What was done, for the last line.
struct Tally {
  std::map<std::string, std::uint64_t> programs, searches;
  std::uint64_t states = 0, wrong = 0;
  std::uint64_t without_reference = 0; // compared with a search without reductions
};

/// As what `heddle check` says (enumeration::contradiction).
enumeration::Outcome as_outcome(const reference::Outcome& is) {
  enumeration::Outcome outcome;
  outcome.states = is.states;
  if (!is.endless.empty()) {
    outcome.findings["endless"] = {.kind = "livelock", .guilty = is.endless};
  }
  if (!is.deadlocked.empty()) {
    outcome.findings["blocked"] = {.kind = "deadlock", .guilty = is.deadlocked};
  }
  if (!is.faults.empty()) {
    outcome.findings["fault"] = {.kind = "fault", .guilty = {}};
  }
  return outcome;
}

/// Does a search claim that something is impossible that is not?
std::string miss(const enumeration::Outcome& should, const enumeration::Outcome& found) {
  const bool claims = found.complete && !found.bounded && !found.hangs();
  return claims && should.hangs() ? "terminates: it may hang" : "";
}

struct Verdict {
  std::string what; // "may hang"; why nothing was compared
  bool compared = false;
  std::optional<Configuration> wrong;
  std::string contradiction;
  enumeration::Outcome should;
};

class Campaign {
public:
  explicit Campaign(const Asked& asked) : asked_(asked) {}

  int run() {
    if (asked_.files.empty()) {
      each_program([this](std::uint64_t seed) { one(seed); });
    }
    for (const std::string& file : asked_.files) {
      again(file);
    }
    for (const auto& [what, count] : tally_.programs) {
      fmt::print("{:>8} {}\n", count, what);
    }
    fmt::print("{} states of the reference; {} programs by a search without reductions\n", tally_.states, tally_.without_reference);
    for (const auto& [what, count] : tally_.searches) {
      fmt::print("{:>8} searches with {}\n", count, what);
    }
    fmt::print("{} disagreements\n", tally_.wrong);
    return tally_.wrong == 0 ? 0 : 1;
  }

  /// A program that was wrong once, with all configurations; the mutants that it names are noticed.
  void again(const std::string& file) {
    const Kept kept = read_kept(file);
    one(kept.program, file);
    std::vector<reduce::MutantName> alive;
    for (const reduce::MutantName& mutant : reduce::mutant_names) {
      const std::string name = fmt::format("{}:{}", mutant.reduction, mutant.name);
      if (std::ranges::find(kept.kills, name) != kept.kills.end()) {
        alive.push_back(mutant);
      }
    }
    const std::size_t named = alive.size();
    kill(kept.program, file, alive);
    if (named != kept.kills.size() || !alive.empty()) {
      fmt::print("{}: a mutant that it names is unknown, or not noticed\n", file);
      ++tally_.wrong;
    }
  }

  /// Those that no program has noticed are named last.
  int run_mutants() {
    std::vector<reduce::MutantName> alive(
        reduce::mutant_names.begin(),
        reduce::mutant_names.end()
    );
    std::erase_if(alive, [this](const reduce::MutantName& mutant) {
      return fmt::format("{}:{}", mutant.reduction, mutant.name).find(asked_.mutant) ==
             std::string::npos;
    });
    each_program([&](std::uint64_t seed) { kill(seed, alive); });
    for (const reduce::MutantName& mutant : alive) {
      fmt::print("alive: {}:{}\n", mutant.reduction, mutant.name);
    }
    return 0;
  }

private:
  template <class F> void each_program(F&& f) const {
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t n = 0; n < asked_.programs; ++n) {
      const auto gone = std::chrono::steady_clock::now() - begin;
      if (asked_.seconds != 0 && gone > std::chrono::seconds(asked_.seconds)) {
        break;
      }
      f(asked_.seed + n);
    }
  }

  void kill(std::uint64_t seed, std::vector<reduce::MutantName>& alive) {
    kill(generate({.seed = seed, .length = asked_.length}), fmt::format("seed {}", seed), alive);
  }

  void kill(
      const Generated& generated,
      const std::string& name,
      std::vector<reduce::MutantName>& alive
  ) {
    const Verdict verdict = judge(generated, Configuration());
    if (!verdict.compared) {
      return;
    }
    MicroDevice device;
    device.load(generated.program());
    const std::vector<Configuration> all = enumeration::configurations_for(generated.program());
    std::erase_if(alive, [&](const reduce::MutantName& mutant) {
      for (const Configuration& c : all) {
        if (!c.has(mutant.reduction) || (asked_.files.empty() && !is_for_drawn(c, all))) {
          continue;
        }
        enumeration::Manner broken = c.manner();
        broken.mutant = mutant.mutant;
        const enumeration::Outcome found = reduced_search(device, broken);
        const bool noticed = generated.asks_clocks()
                                 ? !miss(verdict.should, found).empty()
                                 : !enumeration::contradiction(verdict.should, found).empty();
        if (noticed) {
          fmt::print("{} kills {}:{}\n", name, mutant.reduction, mutant.name);
          std::fflush(stdout);
          return true;
        }
      }
      return false;
    });
  }

  /// The search with all reductions but those that make another one; of the others the first.
  static bool is_for_drawn(const Configuration& c, const std::vector<Configuration>& all) {
    return c == all[all.size() - 2] || (!c.none() && c.as_words().find(' ') == std::string::npos);
  }

  void one(std::uint64_t seed) {
    one(generate({.seed = seed, .length = asked_.length}), fmt::format("seed {}", seed));
  }

  void one(Generated generated, const std::string& name) {
    if (asked_.show) {
      fmt::print("{}", as_kept(generated));
    }
    const Verdict verdict = judge(generated, std::nullopt);
    ++tally_.programs[verdict.what];
    if (!verdict.wrong) {
      return;
    }
    ++tally_.wrong;
    fmt::print("{}: with {}: {}\n", name, verdict.wrong->as_words(), verdict.contradiction);
    if (!asked_.keep) {
      minimise(generated, *verdict.wrong, verdict.contradiction);
    }
    fmt::print("{}\n", as_kept(generated));
    std::fflush(stdout);
  }

  struct Oracle {
    std::string why_not; // not empty: there is no answer
    enumeration::Outcome outcome{};
    bool others = false; // it may have left out values of a clock
  };

  /// By the reference; what it does not know, by a search without reductions.
  Oracle ask(const Generated& generated, MicroDevice& device, const MicroProgram& program) {
    const bool known = program.host.empty() && !program.weak && !program.lockstep &&
                       program.progress == model::ProgressModel::Cuda;
    std::optional<reference::Outcome> is;
    try {
      ReferenceDevice reference(program);
      if (known) {
        is = reference::search(reference.system(), asked_.states);
      }
    } catch (const std::invalid_argument& error) {
      return {fmt::format("no program: {}", error.what())};
    }
    if (known && !is) {
      return {"too many states"};
    }
    if (known && is->refused.empty()) {
      tally_.states += is->states;
      return {is->races ? "races" : "", as_outcome(*is)};
    }
    device.load(program);
    std::optional<enumeration::Outcome> found = enumeration::reference_search(device, asked_.states / 2);
    if (!found) {
      return {"too many states"};
    }
    ++tally_.without_reference;
    return {{}, std::move(*found), generated.asks_clocks()};
  }

  /// By all configurations, or by one.
  Verdict judge(const Generated& generated, const std::optional<Configuration>& only) {
    Verdict verdict;
    const MicroProgram program = generated.program();
    MicroDevice device;
    Oracle oracle = ask(generated, device, program);
    if (!oracle.why_not.empty()) {
      verdict.what = oracle.why_not;
      return verdict;
    }
    verdict.should = std::move(oracle.outcome);
    verdict.what = verdict.should.hangs() ? "may hang or fail" : "terminates";
    verdict.compared = true;
    device.load(program);
    for (const Configuration& c : only ? std::vector{*only} : drawn(program, generated.seed)) {
      ++tally_.searches[c.as_words()];
      const enumeration::Outcome found = reduced_search(device, c.manner());
      std::string contradiction = oracle.others ? miss(verdict.should, found)
                                                : enumeration::contradiction(verdict.should, found);
      if (!contradiction.empty()) {
        verdict.wrong = c;
        verdict.contradiction = std::move(contradiction);
        return verdict;
      }
    }
    return verdict;
  }

  /// The last of them have all reductions, and all but those that make another search; of the others
  /// (each alone, each pair) some.
  std::vector<Configuration> drawn(const MicroProgram& program, std::uint64_t seed) const {
    constexpr std::size_t together = 4;
    if (!asked_.with.empty()) {
      return {Configuration::of(asked_.with)};
    }
    const std::vector<Configuration> all = enumeration::configurations_for(program);
    if (!asked_.files.empty()) {
      return all;
    }
    std::vector<Configuration> result(all.end() - together, all.end());
    Random random(seed);
    for (unsigned n = 0; n < asked_.pairs; ++n) {
      result.push_back(all[random.below(all.size() - together)]);
    }
    return result;
  }

  /// Leaves out lines as long as the searches disagree in the same way.
  void minimise(Generated& program, const Configuration& with, const std::string& how) {
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (std::size_t line = program.body.size(); line-- > 0;) {
        Generated less = program;
        less.body.erase(less.body.begin() + static_cast<std::ptrdiff_t>(line));
        if (judge(less, with).contradiction == how) {
          program = std::move(less);
          smaller = true;
        }
      }
    }
  }

  Asked asked_;
  Tally tally_;
};

} // namespace

} // namespace heddle::differ

int main(int argc, char** argv) {
  heddle::differ::Asked asked;
  CLI::App app{"Random programs in PTX, by the reference and by the searches of heddle check"};
  app.add_option("--seed", asked.seed, "of the first program; the others follow");
  app.add_option("--programs", asked.programs, "at most so many");
  app.add_option("--seconds", asked.seconds, "at most so long");
  app.add_option("--length", asked.length, "statements of a thread, at most");
  app.add_option("--states", asked.states, "programs with more are left out");
  app.add_option("--pairs", asked.pairs, "searches of each program with one reduction or two");
  app.add_flag("--show", asked.show, "prints each program");
  app.add_flag("--keep", asked.keep, "prints programs as they were drawn, not made smaller");
  app.add_option("--mutant", asked.mutant, "with --mutants: those with this in their name");
  app.add_option("file", asked.files, "programs that were wrong once (mended/), in the place of drawn ones");
  app.add_option("--with", asked.with, "only with these reductions: \"symmetry eager\"");
  app.add_flag("--mutants", asked.mutants, "which broken reductions are noticed");
  CLI11_PARSE(app, argc, argv);
  heddle::differ::Campaign campaign(asked);
  return asked.mutants ? campaign.run_mutants() : campaign.run();
}
