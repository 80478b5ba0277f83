// Implements orders.h. Which instructions an atomic is, and how its order is changed, is the
// explored process's (runtime/registration/orders.h).
#include "cli/check/orders.h"

#include "cli/file.h"
#include "explore/process/interruption.h"
#include "report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

namespace heddle::cli {

namespace {

struct Atomic {
  std::string kind, order, line, column, file;

  std::string place() const {
    const auto slash = file.rfind('/');
    return fmt::format(
        "{}:{}:{}",
        slash == std::string::npos ? file : file.substr(slash + 1),
        line,
        column
    );
  }
  /// As HEDDLE_ORDER has it.
  std::string with(std::string_view other) const {
    return fmt::format("{} {} {} {} {}", kind, other, line, column, file);
  }
};

/// Orders that are weaker, the weakest ones first; those of one group are weaker in different ways.
std::vector<std::vector<std::string_view>> weaker(const Atomic& atomic) {
  const bool load = atomic.kind == "load", store = atomic.kind == "store";
  std::vector<std::vector<std::string_view>> result;
  if (atomic.order == "relaxed" || atomic.order == "several") {
    return result;
  }
  result.push_back({"relaxed"});
  if (atomic.order == "seq_cst" || atomic.order == "acq_rel") {
    result.push_back({});
    if (!store) {
      result.back().emplace_back("acquire");
    }
    if (!load) {
      result.back().emplace_back("release");
    }
  }
  if (atomic.order == "seq_cst" && !load && !store) {
    result.push_back({"acq_rel"});
  }
  return result;
}

std::string name_of(const Atomic& atomic, std::string_view order) {
  return atomic.kind == "fence" && order == "relaxed" ? "no fence" : std::string(order);
}

/// What a search with another order has found.
struct Tried {
  bool same = false;
  std::string text;
};

Tried judged(const Result<report::Report>& result) {
  if (!result) {
    return {false, result.error().message};
  }
  const std::string states = fmt::format(
      "{} state{}",
      report::with_thousands(result->states),
      result->states == 1 ? "" : "s"
  );
  if (!result->findings.empty()) {
    std::set<std::string> kinds;
    for (const report::Diagnostic& d : result->findings) {
      kinds.emplace(report::describe(d.finding).code);
    }
    return {false, fmt::format("{}, {}", states, fmt::join(kinds, " and "))};
  }
  if (!result->is_exhaustive()) {
    return {false, fmt::format("{}, not everything was looked at", states)};
  }
  return {true, fmt::format("{}, same verdict", states)};
}

std::vector<Atomic> read_atomics(const std::string& file) {
  std::istringstream lines(read_file(file).value_or(""));
  const auto key = [](const Atomic& a) {
    return std::tuple(a.file, std::stoul(a.line), a.kind, a.order, a.line, a.column);
  };
  std::set<decltype(key({})), std::less<>> known; // several kernels may have one
  std::vector<Atomic> result;
  for (std::string line; std::getline(lines, line);) {
    Atomic atomic;
    std::istringstream words(line);
    words >> atomic.kind >> atomic.order >> atomic.line >> atomic.column >> std::ws;
    std::getline(words, atomic.file);
    if (!atomic.file.empty() && known.insert(key(atomic)).second) {
      result.push_back(std::move(atomic));
    }
  }
  std::ranges::sort(result, {}, key);
  return result;
}

std::string explain_one(const Atomic& atomic, explore::CheckRequest& request) {
  const std::string what = fmt::format("order: {}: {}", atomic.place(), atomic.kind);
  if (atomic.order == "several") {
    return fmt::format("{}: several orders in one place, which are not looked at", what);
  }
  std::vector<std::string> too_weak, enough;
  const auto search = [&](std::string_view order) {
    request.environment["HEDDLE_ORDER"] = atomic.with(order);
    request.begun = std::chrono::steady_clock::now();
    return judged(explore::check(request));
  };
  for (const auto& group : weaker(atomic)) {
    for (const std::string_view order : group) {
      if (explore::Interruption::received() != 0) {
        return fmt::format("{}: interrupted", what);
      }
      const Tried tried = search(order);
      (tried.same ? enough : too_weak)
          .push_back(fmt::format("{}: {}", name_of(atomic, order), tried.text));
    }
    if (!enough.empty()) {
      break;
    }
  }
  if (!enough.empty() && search("trap").same) {
    return fmt::format("{}, never executed", what);
  }
  const std::string now = name_of(atomic, atomic.order);
  std::string text = enough.empty() && too_weak.empty() ? fmt::format("{}, {} already", what, now)
                     : enough.empty() ? fmt::format("{}, {} is needed", what, now)
                                      : fmt::format("{}, {} can be weaker", what, now);
  for (const std::string& one : enough) {
    text += fmt::format("; {}", one);
  }
  for (const std::string& one : too_weak) {
    text += fmt::format("; not {}", one);
  }
  return text;
}

} // namespace

void Orders::ask_for_list(std::map<std::string, std::string>& environment) const {
  environment["HEDDLE_ORDERS_TO"] = file_.path();
}

std::vector<std::string>
Orders::explain(explore::CheckRequest request, const report::Report& report, unsigned line) const {
  if (report.verdict() != report::Verdict::Terminates) {
    return {"order: orders are explained where the verdict is 'terminates'"};
  }
  request.environment.erase("HEDDLE_ORDERS_TO");
  request.checkpoint = {};
  request.progress_file.reset();
  request.show_progress = false;
  std::vector<std::string> result;
  for (const Atomic& atomic : read_atomics(file_.path())) {
    if (line == 0 || atomic.line == std::to_string(line)) {
      result.push_back(explain_one(atomic, request));
    }
  }
  if (result.empty()) {
    return {
        line == 0 ? "order: no atomic of a kernel has a place in the source"
                  : fmt::format("order: no atomic of a kernel stands in line {}", line)
    };
  }
  result.emplace_back(
      "order: each was changed alone; what can be weaker by itself need not be so "
      "together with another one"
  );
  return result;
}

} // namespace heddle::cli
