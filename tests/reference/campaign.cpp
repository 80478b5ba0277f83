// Implements campaign.h.
#include "reference/campaign.h"

#include "base/random.h"
#include "reduce/configurations.h"
#include "reference/generator.h"
#include "reference/kept.h"
#include "reference/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

namespace heddle::differ {

using enumeration::Configuration;
using enumeration::MicroDevice;
using enumeration::MicroProgram;

namespace {

/// Of a search: its states and its moves.
using Size = std::pair<std::size_t, std::size_t>;

/// What was done, for the last line.
struct Tally {
  std::map<std::string, std::uint64_t> programs, searches;
  std::uint64_t states = 0, wrong = 0;
  std::uint64_t without_reference = 0; // compared with a search without reductions
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> fired; // of how many searches
};

struct Verdict {
  std::string what; // "may hang"; why nothing was compared
  bool compared = false;
  std::optional<Configuration> wrong;
  std::string contradiction;
  Oracle oracle;
};

bool leaves_out(enumeration::Reduction reduction) {
  return reduction != enumeration::Reduction::LookAhead &&
         reduction != enumeration::Reduction::CheckedLookAhead;
}

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
    bool all_fired = true;
    for (const auto& [what, fired] : tally_.fired) {
      fmt::print("{:>8} of {} searches changed by {}\n", fired.first, fired.second, what);
      all_fired = all_fired && fired.first >= asked_.fired;
    }
    fmt::print("{} disagreements\n", tally_.wrong);
    return tally_.wrong == 0 && all_fired ? 0 : 1;
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
        if (!disagreement(verdict.oracle, found).empty()) {
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

  /// Most programs are small, so that there are many; where a host is searched without reductions, each state is
  /// reached from the beginning again.
  std::size_t most_states(const Generated& generated) const {
    const std::size_t most = generated.host.empty() ? asked_.states : asked_.states / 5;
    return generated.seed % 5 == 0 || !asked_.files.empty() ? most : most / 5;
  }

  /// By all configurations, or by one.
  Verdict judge(const Generated& generated, const std::optional<Configuration>& only) {
    Verdict verdict;
    const MicroProgram program = generated.program();
    MicroDevice device;
    verdict.oracle = ask(generated, program, most_states(generated));
    if (!verdict.oracle.why_not.empty()) {
      verdict.what = verdict.oracle.why_not;
      return verdict;
    }
    tally_.states += verdict.oracle.by_reference ? verdict.oracle.outcome.states : 0;
    tally_.without_reference += verdict.oracle.by_reference ? 0 : 1;
    verdict.what = verdict.oracle.outcome.hangs() ? "may hang or fail" : "terminates";
    verdict.compared = true;
    device.load(program);
    std::map<Configuration, Size> sizes;
    for (const Configuration& c : only ? std::vector{*only} : drawn(program, generated)) {
      ++tally_.searches[c.as_words()];
      const enumeration::Outcome found = reduced_search(device, c.manner());
      sizes[c] = {found.states, found.moves};
      std::string contradiction = disagreement(verdict.oracle, found);
      if (!contradiction.empty()) {
        verdict.wrong = c;
        verdict.contradiction = std::move(contradiction);
        return verdict;
      }
    }
    note_fired(sizes);
    return verdict;
  }

  /// A reduction has changed a search if there are other states or moves without it. (What is looked up instead of
  /// being executed is the same: neither tells.)
  void note_fired(const std::map<Configuration, Size>& sizes) {
    for (const auto& [with, size] : sizes) {
      for (std::size_t r = 0; r < enumeration::reductions; ++r) {
        const auto reduction = static_cast<enumeration::Reduction>(r);
        if (!leaves_out(reduction)) {
          continue;
        }
        const auto less = sizes.find(with.without(reduction));
        if (with.has(reduction) && less != sizes.end() && less->first != with) {
          auto& [fired, of] = tally_.fired[std::string(enumeration::name_of(reduction))];
          fired += less->second != size ? 1 : 0;
          ++of;
        }
      }
    }
  }

  /// The last of them have all reductions, and all but those that make another search; of the others
  /// (each alone, each pair) some.
  std::vector<Configuration> drawn(const MicroProgram& program, const Generated& generated) const {
    constexpr std::size_t together = 4;
    if (!asked_.with.empty()) {
      return {Configuration::of(asked_.with)};
    }
    const std::vector<Configuration> all = enumeration::configurations_for(program);
    if (!asked_.files.empty()) {
      return all;
    }
    std::vector<Configuration> result(all.end() - together, all.end());
    Random random(generated.seed);
    for (unsigned n = 0; n < asked_.pairs; ++n) {
      result.push_back(all[random.below(all.size() - together)]);
    }
    // All but one of them, to see what that one changes.
    if (generated.aim) {
      const auto with = std::find_if(all.end() - together, all.end(), [&](const Configuration& most) {
        return most.has(*generated.aim);
      });
      if (with != all.end()) {
        result.push_back(with->without(*generated.aim));
      }
    }
    const Configuration& most = all[all.size() - 1 - random.below(together)];
    for (std::size_t first = random.below(enumeration::reductions), n = 0; n < enumeration::reductions; ++n) {
      const auto one = static_cast<enumeration::Reduction>((first + n) % enumeration::reductions);
      if (most.has(one) && leaves_out(one)) {
        result.push_back(most.without(one));
        break;
      }
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

int compare(const Asked& asked) {
  return Campaign(asked).run();
}

int look_for_mutants(const Asked& asked) {
  return Campaign(asked).run_mutants();
}

} // namespace heddle::differ
