// heddle_enumerate: every micro-program up to a bound, searched without reductions and with them.
//
//   heddle_enumerate [--bound=NAME] [--slice=I/N] [--seconds=S] [--program=NUMBER]
//                    [--count | --list]
//   heddle_enumerate --sample=COUNT [--from=TEXT]    so many programs of each bound, or fewer if
//                                                    they are large; another TEXT, others
//   heddle_enumerate --mutants [--mutant=NAME] [--bound=NAME] [--program=NUMBER] [--sample=COUNT]
//   heddle_enumerate --killers=FILE               the same with the programs that it has named;
//                                                 status 1: some mutant has no program that kills
//
// With --mutants each reduction is broken on purpose, one condition after the other
// (reduce/mutant.h): the enumeration must notice. Else prints how many programs and searches there
// were, and each disagreement: the smallest program of its kind, and with which reductions. Exit
// status 1: there was one.
#include "base/hash.h"
#include "reduce/bounds.h"
#include "reduce/minimise.h"
#include "reduce/reference_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

namespace heddle::enumeration {

namespace {

struct Asked {
  std::string bound;
  std::uint64_t slice = 0, slices = 1;
  double seconds = 0; // 0: no limit
  std::optional<std::uint64_t> program;
  std::uint64_t sample = 0;  // 0: all
  std::uint64_t largest = 0; // states times searches; 0: no limit
  std::string from;
  bool count = false, list = false;
  bool mutants = false;
  std::string mutant;  // only this one
  std::string killers; // a file
};

/// Every number once, far apart from each other.
std::uint64_t scattered_in(const Bound& bound, std::uint64_t n) {
  constexpr double golden = 0.6180339887;
  auto stride = static_cast<std::uint64_t>(static_cast<double>(bound.size()) * golden) + 1;
  while (std::gcd(stride, bound.size()) != 1) {
    ++stride;
  }
  const std::uint64_t rest = n % bound.size();
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(rest) * stride % bound.size());
}

/// Which slice a number is in: neighbours are in different ones.
std::uint64_t scattered(std::uint64_t n) {
  n = (n ^ (n >> 30)) * 0xbf58'476d'1ce4'e5b9ULL;
  n = (n ^ (n >> 27)) * 0x94d0'49bb'1331'11ebULL;
  return n ^ (n >> 31);
}

class Enumeration {
public:
  explicit Enumeration(const Asked& asked) : asked_(asked) {}

  int run() {
    const auto chosen = [&](const Bound& bound) {
      return asked_.bound.empty() || asked_.bound == bound.name();
    };
    const auto count = static_cast<double>(std::ranges::count_if(bounds(), chosen));
    double before = 0; // each has the same part of the time, and what is left of those before
    for (const Bound& bound : bounds()) {
      if (chosen(bound)) {
        until_ = ++before / count * asked_.seconds;
        run(bound);
      }
    }
    for (const auto& [what, known] : classes_) {
      fmt::print("\n{} times {}\n{}", known.times, what, known.first);
    }
    return classes_.empty() ? 0 : 1;
  }

private:
  struct Class {
    std::uint64_t times = 0;
    std::string first;
  };

  /// Of a sample; larger programs count as several.
  bool enough(std::uint64_t programs) const {
    constexpr std::uint64_t few_states = 10, at_least = 5;
    return programs == asked_.sample ||
           (programs >= at_least && states_ > few_states * asked_.sample);
  }

  bool late() const {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start_;
    return asked_.seconds != 0 && gone.count() > until_;
  }

  void run(const Bound& bound) {
    std::uint64_t programs = 0, disagreements = 0;
    const auto start = std::chrono::steady_clock::now();
    searches_ = states_ = too_large_ = 0;
    bool all = true;
    const std::uint64_t first = XXH3_64bits(asked_.from.data(), asked_.from.size()) % bound.size();
    for (std::uint64_t k = 0; k < bound.size(); ++k) {
      const std::uint64_t n = asked_.program       ? *asked_.program
                              : asked_.sample != 0 ? scattered_in(bound, first + k)
                                                   : k;
      if (asked_.slices > 1 && scattered(n) % asked_.slices != asked_.slice) {
        continue;
      }
      if (const auto program = bound.program(n)) {
        ++programs;
        if (asked_.list) {
          fmt::print("{} {}\n", n, program->as_words());
        } else if (!asked_.count) {
          disagreements += check(bound, n, *program) ? 0 : 1;
        }
      }
      if (asked_.program || (asked_.sample != 0 && enough(programs))) {
        break;
      }
      if (late()) {
        all = false;
        break;
      }
    }
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start;
    fmt::print(
        "{}: {} programs of {} numbers, {} searches, {} reference states, {} disagreements, {:.1f} "
        "s{}{}\n",
        bound.name(),
        programs,
        bound.size(),
        searches_,
        states_,
        disagreements,
        gone.count(),
        too_large_ != 0 ? fmt::format(", {} left out: too large", too_large_) : "",
        all ? "" : " (not all: out of time)"
    );
    std::fflush(stdout);
  }

  bool check(const Bound& bound, std::uint64_t number, const MicroProgram& program) {
    device_.load(program);
    const std::vector<Configuration> configurations = configurations_for(program);
    const auto most = asked_.largest / configurations.size();
    const auto found =
        asked_.largest == 0 ? reference_search(device_) : reference_search(device_, {.most = most});
    ++searches_;
    if (!found) {
      states_ += most;
      ++too_large_;
      return true;
    }
    const Outcome& reference = *found;
    states_ += reference.states;
    if (asked_.program) {
      fmt::print("{}\n{}", program.as_words(), program.as_ptx());
      print(reference, "reference");
    }
    bool fine = true;
    for (const Configuration& configuration : configurations) {
      const Outcome reduced = reduced_search(device_, configuration.manner());
      ++searches_;
      if (asked_.program) {
        print(reduced, configuration.as_words());
      }
      if (!contradiction(reference, reduced).empty()) {
        fine = false;
        note(bound, number, {program, configuration});
        device_.load(program);
      }
    }
    return fine;
  }

  static void print(const Outcome& outcome, const std::string& name) {
    fmt::print("{}: {} states{}\n", name, outcome.states, outcome.complete ? "" : ", incomplete");
    for (const auto& [what, finding] : outcome.findings) {
      fmt::print("    {} ({}) by [{}]\n", finding.kind, what, fmt::join(finding.guilty, "] ["));
    }
  }

  std::string contradiction_in(const Case& found) {
    device_.load(found.program);
    return contradiction(
        *reference_search(device_),
        reduced_search(device_, found.configuration.manner())
    );
  }

  void note(const Bound& bound, std::uint64_t number, const Case& found) {
    const std::string what = contradiction_in(found);
    const Case least = minimised(found, [&](const Case& less) {
      return !less.configuration.none() && contradiction_in(less) == what;
    });
    Class& known = classes_[fmt::format("{} [{}]", what, least.configuration.as_words())];
    if (known.times++ == 0) {
      known.first = fmt::format(
          "  {} {}: {}\n  {}\n",
          bound.name(),
          number,
          found.program.as_words(),
          least.program.as_words()
      );
    }
  }

  Asked asked_;
  MicroDevice device_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double until_ = 0; // seconds from the start, for the bound that is looked at
  std::uint64_t searches_ = 0, states_ = 0, too_large_ = 0;
  std::map<std::string, Class> classes_;
};

/// Which programs kill which mutants.
class Mutants {
public:
  explicit Mutants(const Asked& asked) : asked_(asked) {}

  /// With programs that are known to kill: the lines that run() has printed.
  int run_known() {
    std::ifstream file(asked_.killers);
    std::map<std::string, std::pair<std::string, std::uint64_t>> killers;
    std::set<std::string> elsewhere; // killed by reference.mended
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string killed, name, by, bound;
      std::uint64_t number = 0;
      if (words >> killed >> name >> by >> bound >> number && killed == "killed") {
        killers[name] = {bound, number};
      } else if (killed == "elsewhere" && names(asked_.killers, bound, name)) {
        elsewhere.insert(name);
      }
    }
    int survivors = 0;
    for (const reduce::MutantName& mutant : reduce::mutant_names) {
      const std::string name = fmt::format("{}:{}", mutant.reduction, mutant.name);
      const auto known = killers.find(name);
      const Bound* bound =
          known == killers.end() ? nullptr : find_bound(known->second.first); // else nobody does
      const auto program = bound == nullptr ? std::nullopt : bound->program(known->second.second);
      const bool killed = (program && kills(*program, mutant)) || elsewhere.contains(name);
      survivors += killed ? 0 : 1;
      fmt::print("{:9} {}\n", killed ? "killed" : "SURVIVED", name);
    }
    return survivors == 0 ? 0 : 1;
  }

  int run() {
    bool all = true;
    for (const reduce::MutantName& mutant : reduce::mutant_names) {
      const std::string name = fmt::format("{}:{}", mutant.reduction, mutant.name);
      if (asked_.mutant.empty() || asked_.mutant == name) {
        all = kill(mutant, name) && all;
      }
    }
    return all ? 0 : 1;
  }

private:
  /// Does the file, whose path is relative to that of the list, say that it kills the mutant?
  static bool names(const std::string& list, const std::string& file, const std::string& mutant) {
    std::ifstream in(std::filesystem::path(list).parent_path() / file);
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("// kills ") && line.find(mutant) != std::string::npos) {
        return true;
      }
    }
    return false;
  }

  /// So many programs of each bound: one that kills need not be in the smallest one.
  bool kill(const reduce::MutantName& mutant, const std::string& name) {
    const std::uint64_t sample = asked_.sample != 0 ? asked_.sample : 1000;
    std::uint64_t programs = 0;
    for (const Bound& bound : bounds()) {
      if (!asked_.bound.empty() && asked_.bound != bound.name()) {
        continue;
      }
      std::uint64_t here = 0;
      for (std::uint64_t k = 0; k < bound.size() && here < sample; ++k) {
        const std::uint64_t n = asked_.program ? *asked_.program : scattered_in(bound, k);
        if (asked_.slices > 1 && scattered(n) % asked_.slices != asked_.slice) {
          continue;
        }
        const auto program = bound.program(n);
        if (!program) {
          continue;
        }
        here = asked_.program ? sample : here + 1;
        if (kills(*program, mutant)) {
          fmt::print(
              "killed    {:28} by {} {}, after {}: {}\n",
              name,
              bound.name(),
              n,
              programs + here,
              program->as_words()
          );
          std::fflush(stdout);
          return true;
        }
      }
      programs += here;
    }
    fmt::print("SURVIVED  {:32} {} programs\n", name, programs);
    std::fflush(stdout);
    return false;
  }

  bool kills(const MicroProgram& program, const reduce::MutantName& mutant) {
    device_.load(program);
    const Outcome reference = *reference_search(device_);
    for (const Configuration& configuration : configurations_for(program)) {
      if (!configuration.has(mutant.reduction)) {
        continue;
      }
      const Manner whole = configuration.manner();
      Manner broken = whole;
      broken.mutant = mutant.mutant;
      if (!contradiction(reference, reduced_search(device_, broken)).empty() &&
          contradiction(reference, reduced_search(device_, whole)).empty()) {
        return true;
      }
    }
    return false;
  }

  Asked asked_;
  MicroDevice device_;
};

template <class T> bool read(std::string_view text, T& value) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size();
}

bool read_flag(std::string_view flag, Asked& asked) {
  const std::string_view value = flag.substr(std::min(flag.size(), flag.find('=') + 1));
  if (flag.starts_with("--bound=")) {
    asked.bound = value;
    return find_bound(value) != nullptr;
  }
  if (flag.starts_with("--slice=")) {
    const std::size_t slash = std::min(value.find('/'), value.size() - 1);
    return read(value.substr(0, slash), asked.slice) &&
           read(value.substr(slash + 1), asked.slices) && asked.slice < asked.slices;
  }
  if (flag.starts_with("--sample=")) {
    return read(value, asked.sample);
  }
  if (flag.starts_with("--largest=")) {
    return read(value, asked.largest);
  }
  if (flag.starts_with("--from=")) {
    asked.from = value;
    return true;
  }
  if (flag.starts_with("--program=")) {
    return read(value, asked.program.emplace()) && !asked.bound.empty();
  }
  if (flag.starts_with("--seconds=")) {
    return read(value, asked.seconds);
  }
  if (flag.starts_with("--killers=")) {
    asked.mutants = true;
    asked.killers = value;
    return true;
  }
  if (flag.starts_with("--mutant=")) {
    asked.mutants = true;
    asked.mutant = value;
    return true;
  }
  asked.count = asked.count || flag == "--count";
  asked.list = asked.list || flag == "--list";
  asked.mutants = asked.mutants || flag == "--mutants";
  return flag == "--count" || flag == "--list" || flag == "--mutants";
}

} // namespace

} // namespace heddle::enumeration

int main(int argc, char** argv) {
  heddle::enumeration::Asked asked;
  for (int n = 1; n < argc; ++n) {
    if (!heddle::enumeration::read_flag(argv[n], asked)) {
      fmt::print(stderr, "heddle_enumerate: what is '{}'?\n", argv[n]);
      return 2;
    }
  }
  if (!asked.killers.empty()) {
    return heddle::enumeration::Mutants(asked).run_known();
  }
  return asked.mutants ? heddle::enumeration::Mutants(asked).run()
                       : heddle::enumeration::Enumeration(asked).run();
}
