// heddle test: everything that Heddle knows, within a budget of time, in one report.
//
// What is cheap and sure comes first, and findings are printed after each look: one run under all
// monitors, with the rules of lint beside it; further schedules under the same monitors; then every
// schedule, with independent warps and with warps in lockstep. A table at the end says how far each
// look went, and which flag looks further. Our text goes to standard error: standard output is the
// program's.
#include "base/process.h"
#include "cli/check/check.h"
#include "cli/commands.h"
#include "cli/file.h"
#include "cli/output/page.h"
#include "cli/run/single_run.h"
#include "cli/temporary_file.h"
#include "cli/test/test_findings.h"
#include "cli/test/test_lint.h"
#include "explore/process/interruption.h"
#include "report/diagnostic_lines.h"
#include "report/render.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>

namespace heddle::cli {
namespace {

using report::Diagnostic;
using report::Severity;

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// A row of the table at the end.
struct Look {
  std::string what, how_far;
};

class Test {
public:
  explicit Test(const CheckOptions& options) : options_(options) {
    options_.device.races = options_.device.uninitialised = true;
    style_ = {
        .colour = report::use_colour(STDERR_FILENO),
        .whole_names = report::use_whole_names()
    };
  }
  /// The exit code.
  Result<int> all();

private:
  double seconds_left() const {
    return options_.search.max_seconds -
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  static bool stopped() { return explore::Interruption::received() != 0; }
  /// Prints those that are new; how many.
  std::size_t say(std::vector<Diagnostic> found);
  /// "a.cu:12: …", and something was found there.
  bool is_about_a_finding(const std::string& warning) const;

  Result<void> run_watched(ProjectConfig& config);
  /// All but what it says of progress, which the search looks at, too.
  void print_lint(TestLint::Result lint);
  void print_new_lint(report::StaticReport lint);
  void finish_lint();
  Result<void> run_schedules();
  Result<void> search(bool lockstep);
  /// A row for what the search has left out, and what looks at it.
  void say_left_out(const report::Report& report, bool lockstep);
  /// Every schedule, as far as `heddle check` knows: exit status 0 means no less.
  bool looked_at_all() const {
    return status_ && searched_ && searched_->is_exhaustive() &&
           searched_->exit_code() == report::exit_code::clean;
  }
  void print_table() const;
  Result<void> write_report();
  int exit_code() const;

  CheckOptions options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  report::TextStyle style_;
  report::SourceCache sources_;
  std::optional<Prepared> prepared_;
  Target target_;
  TestFindings found_;
  std::vector<Diagnostic> suppressed_;
  std::vector<std::string> notes_;
  std::optional<int> status_; // with which the program ended
  std::size_t of_lint_ = 0;   // rules of lint that were broken, by whichever look it was printed
  report::StaticReport lint_; // what of them no other look has found before
  report::StaticReport lint_of_progress_; // not printed yet
  std::size_t lint_rules_ = 0;
  std::optional<std::size_t> lint_row_; // in looks_
  std::optional<report::Report> searched_;
  std::vector<Look> looks_, not_looked_at_;
};

std::size_t Test::say(std::vector<Diagnostic> found) {
  const std::vector<Diagnostic> fresh = found_.take(std::move(found));
  std::size_t count = 0;
  for (const Diagnostic& d : fresh) {
    if (d.severity == Severity::Note) {
      notes_.push_back(d.message);
      continue;
    }
    ++count;
    fmt::print(stderr, "{}\n", render_text(d, sources_, style_));
  }
  std::fflush(stderr);
  return count;
}

bool Test::is_about_a_finding(const std::string& warning) const {
  return std::ranges::any_of(found_.all(), [&](const Diagnostic& d) {
    return d.place.known() &&
           warning.starts_with(
               fmt::format("{}:{}:", report::shown_path(d.place.file), d.place.line)
           );
  });
}

std::string found_in_words(std::size_t count) {
  return count == 0 ? "nothing new" : plural(count, "finding");
}

/// One run, whose output is the program's.
Result<void> Test::run_watched(ProjectConfig& config) {
  const auto start = std::chrono::steady_clock::now();
  DeviceOptions device = options_.device;
  device.leaks = true;
  device.max_seconds = std::max(1.0, seconds_left() / 2);
  TRY(auto variables, launch_environment(target_, device, "run"));
  const TemporaryFile file("test");
  variables["HEDDLE_REPORT_TO"] = file.path();
  variables["HEDDLE_REPORT_ONLY"] = "1";
  variables["HEDDLE_OWN_STATUS"] = "1";
  std::vector<std::string> command = {"env"}; // not ours: other runs follow
  for (const auto& [name, value] : variables) {
    command.push_back(name + "=" + value);
  }
  command.push_back(target_.path);
  command.insert(command.end(), target_.arguments.begin(), target_.arguments.end());
  TRY(const End end, run_as_is(command, {}));
  report::Report report;
  report.exit_status = end.status;
  report.findings = report::from_lines(read_file(file.path()).value_or(""));
  const bool cut = std::ranges::any_of(report.findings, [](const Diagnostic& d) {
    return d.finding == report::Finding::TimeLimit;
  });
  std::vector<std::string> leaks; // no defects: small programs leave that to their end
  std::erase_if(report.findings, [&](const Diagnostic& d) {
    const bool leak = d.finding == report::Finding::Leak;
    if (leak) {
      leaks.push_back(
          d.place.known()
              ? fmt::format("{} ({}:{})", d.message, report::shown_path(d.place.file), d.place.line)
              : d.message
      );
    }
    return leak;
  });
  const bool defect = report.exit_code() == report::exit_code::defect;
  if (end.signal != 0 && !stopped() && !defect) {
    report.findings.emplace_back(
        report::Finding::HostCrash,
        fmt::format("the program was ended by signal {} ({})", end.signal, ::strsignal(end.signal))
    );
  }
  std::erase_if(report.findings, [](const Diagnostic& d) {
    return d.finding == report::Finding::TimeLimit; // the table says it
  });
  if (!cut && end.signal == 0) {
    status_ = end.status;
  }
  TRY_VOID(suppress(
      report,
      config,
      options_.config,
      {.by = LookedFor::By::Run, .races = true, .uninitialised = true, .leaks = true}
  ));
  suppressed_ = report.suppressed;
  const std::size_t count = say(report.findings);
  if (!found_.has_fault()) { // after a fault no call frees anything
    notes_.insert(notes_.end(), leaks.begin(), leaks.end());
  }
  looks_.push_back(
      {"one run, all monitors",
       fmt::format(
           "{} after {:.1f} s: {}",
           cut        ? "stopped"
           : !status_ ? "ended"
                      : fmt::format("exit status {}", *status_),
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
           found_in_words(count)
       )}
  );
  if (cut) {
    not_looked_at_.push_back(
        {"what the run does later",
         shown_command(target_, fmt::format("--max-time={:.0f}", options_.search.max_seconds * 4))}
    );
  }
  if (!target_.inspection.instrumented) {
    not_looked_at_.push_back(
        {"what host code accesses", "compile the program with heddle-cc (docs/checking.md)"}
    );
  }
  return {};
}

std::string found_by_lint(std::size_t all, std::size_t fresh) {
  return fresh == all ? plural(all, "finding")
         : fresh == 0 ? fmt::format("{}, reported above", plural(all, "finding"))
                      : fmt::format("{}, {} of them new", plural(all, "finding"), fresh);
}

void Test::print_lint(TestLint::Result lint) {
  if (!lint.problem.empty()) {
    not_looked_at_.push_back({"rules for sources", lint.problem});
    if (lint.report.findings.empty()) {
      return;
    }
  }
  of_lint_ = lint.report.open_findings();
  std::erase_if(lint.report.findings, [](const report::StaticFinding& one) {
    return !one.suppressed.empty() || one.severity == Severity::Note;
  });
  lint_rules_ = lint.report.findings.size();
  const auto of_progress = [](const report::StaticFinding& one) {
    return one.key.starts_with("cuda_progress_");
  };
  std::ranges::copy_if(
      lint.report.findings,
      std::back_inserter(lint_of_progress_.findings),
      of_progress
  );
  std::erase_if(lint.report.findings, of_progress);
  print_new_lint(std::move(lint.report));
  lint_row_ = looks_.size();
  looks_.push_back({"rules for sources", {}});
}

void Test::print_new_lint(report::StaticReport lint) {
  found_.drop_known(lint.findings);
  if (!lint.findings.empty()) {
    fmt::print(stderr, "{}", render_text(lint, sources_, style_));
  }
  std::ranges::move(lint.findings, std::back_inserter(lint_.findings));
}

/// The search may have proved what these rules suspect.
void Test::finish_lint() {
  print_new_lint(std::move(lint_of_progress_));
  if (lint_row_) {
    looks_[*lint_row_].how_far =
        lint_rules_ == 0 ? "nothing" : found_by_lint(lint_rules_, lint_.findings.size());
  }
}

/// Other schedules under the same monitors, as long as a quarter of the time.
Result<void> Test::run_schedules() {
  constexpr unsigned most = 5;
  const auto start = std::chrono::steady_clock::now();
  const double budget = seconds_left() / 4;
  const auto used = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::size_t count = 0;
  unsigned tried = 0;
  unsigned cut = 0;
  for (unsigned seed = 1; seed <= most && used() < budget && !stopped(); ++seed) {
    DeviceOptions one = options_.device;
    one.seed = seed;
    const auto seconds = static_cast<unsigned>(std::max(1.0, budget - used()));
    TRY(SingleRun run, run_once(target_, one, "HEDDLE_FOUND_TO", {.seconds = seconds}));
    (run.timed_out ? cut : tried) += 1;
    for (Diagnostic& d : run.found) {
      d.notes.push_back(
          fmt::format(
              "seen by: {}",
              shown_command(target_, fmt::format("run --races --uninitialised --seed={}", seed))
          )
      );
    }
    std::erase_if(run.found, [](const Diagnostic& d) { return d.severity == Severity::Note; });
    report::Report report;
    report.findings = std::move(run.found);
    prepared_->config.suppressions.apply(report);
    count += say(std::move(report.findings));
  }
  looks_.push_back(
      {"other schedules, same monitors",
       fmt::format(
           "{}{}: {}",
           tried,
           cut == 0 ? "" : fmt::format(" and {} that took too long", cut),
           found_in_words(count)
       )}
  );
  if (tried + cut < most) {
    not_looked_at_.push_back(
        {"more schedules for races", shown_command(target_, "check --races=100")}
    );
  }
  return {};
}

/// What a search without a verdict has left out.
struct LeftOut {
  std::string what;
  bool by_limit = false; // of time, states or memory
  std::string with{};    // what looks at it; empty: nothing does
};

LeftOut first_left_out(const report::Report& report) {
  for (const Diagnostic& d : report.findings) {
    if (report::describe(d.finding).group == report::FindingGroup::Gap) {
      return {.what = d.message};
    }
  }
  if (report.claims.left_out().empty()) {
    return {
        .what = report.findings.empty() ? "not every state was searched"
                                        : "the search ended at a defect"
    };
  }
  const report::LeftOut& first = report.claims.left_out().front();
  return {first.what, first.coverage == report::Coverage::Cut, first.with};
}

void Test::say_left_out(const report::Report& report, bool lockstep) {
  LeftOut left = first_left_out(report);
  std::string words = lockstep ? "check --warps=lockstep" : "check";
  const auto by_defect = std::ranges::find_if(report.claims.left_out(), [](const auto& one) {
    return one.what.ends_with("(--after-defect)");
  });
  if (by_defect != report.claims.left_out().end()) {
    left = {.what = by_defect->what, .by_limit = true};
    words += fmt::format(" --after-defect={:.0f}", options_.search.max_seconds);
  }
  if (left.by_limit) {
    words += fmt::format(" --max-time={:.0f}", options_.search.max_seconds * 10);
  } else if (left.with.starts_with("--")) {
    words += " " + left.with;
  }
  const bool by_flag = left.by_limit || left.with.starts_with("--");
  not_looked_at_.push_back(
      {lockstep ? "the other schedules, in lockstep" : "the other schedules",
       by_flag             ? fmt::format("{} ({})", shown_command(target_, words), left.what)
       : left.with.empty() ? fmt::format("no flag looks further: {}", left.what)
                           : fmt::format("{} looks at it: {}", left.with, left.what)}
  );
  if (left.by_limit && !lockstep && by_defect == report.claims.left_out().end()) {
    notes_.emplace_back(
        "fewer blocks and threads, or a smaller input, make the search shorter: it grows fast with "
        "them"
    );
  }
}

Result<void> Test::search(bool lockstep) {
  CheckOptions options = options_;
  options.device.races = options.device.uninitialised = false;
  options.races = 0;
  options.uninitialised = false;
  options.device.warps = lockstep ? "lockstep" : "independent";
  // A search in lockstep is for GPUs that few have today.
  const double share = lockstep ? options_.search.max_seconds / 12 : seconds_left();
  options.search.max_seconds = std::max(1.0, std::min(share, seconds_left()));
  options.search.expect_exit = static_cast<std::uint32_t>(status_.value_or(0)) & 255U;
  options.output = {};
  if (lockstep) {
    options.html.clear(); // the page is there by now
  }
  TRY(report::Report report,
      check_program(options, Result<Prepared>(*prepared_), nullptr, found_.all()));
  std::vector<Diagnostic> found = report.findings;
  // What Heddle lacks is no defect: the table says it.
  std::erase_if(found, [&](const Diagnostic& d) {
    return report::describe(d.finding).group == report::FindingGroup::Gap ||
           (d.finding == report::Finding::ExitStatus && !status_);
  });
  if (lockstep) {
    std::erase_if(found, [](const Diagnostic& d) { return d.rule_id() != "SIMT-LIVENESS"; });
    for (Diagnostic& d : found) {
      d.severity = Severity::Warning;
      d.message = "hangs where the threads of a warp go in lockstep, as before sm_70: " + d.message;
    }
  }
  const std::size_t count = say(std::move(found));
  const bool complete =
      report.is_exhaustive() && report.exit_code() != report::exit_code::unsupported;
  const char* what = lockstep ? "the same, warps in lockstep" : "every schedule";
  looks_.push_back(
      {what,
       fmt::format(
           "{}{} states: {}",
           complete ? "all " : "the first ",
           report::with_thousands(report.states),
           count == 0 && complete && found_.all().empty() && !lockstep ? "none hangs"
                                                                       : found_in_words(count)
       )}
  );
  if (!complete) {
    say_left_out(report, lockstep);
  }
  if (!lockstep) {
    for (const std::string& warning : report.warnings) {
      if (!is_about_a_finding(warning)) {
        notes_.push_back(warning);
      }
    }
    suppressed_.insert(suppressed_.end(), report.suppressed.begin(), report.suppressed.end());
    searched_ = std::move(report);
  }
  return {};
}

void Test::print_table() const {
  const auto count = [&](Severity severity) {
    return static_cast<std::size_t>(
        std::ranges::count(found_.all(), severity, &Diagnostic::severity)
    );
  };
  const std::size_t errors = count(Severity::Error);
  const std::size_t warnings = count(Severity::Warning);
  std::vector<std::string> parts;
  if (errors != 0) {
    parts.push_back(plural(errors, "defect"));
  }
  if (warnings != 0) {
    parts.push_back(plural(warnings, "warning"));
  }
  if (of_lint_ != 0) {
    parts.push_back(fmt::format("{} broken in the source", plural(of_lint_, "rule")));
  }
  std::string text = fmt::format(
      "{}: {}\n",
      options_.program,
      !parts.empty()    ? fmt::format("{}", fmt::join(parts, ", "))
      : looked_at_all() ? "nothing found"
                        : "nothing found, but not everything was looked at"
  );
  const auto add = [&](std::string_view title, const std::vector<Look>& looks) {
    if (looks.empty()) {
      return;
    }
    text += fmt::format("  {}\n", title);
    for (const Look& look : looks) {
      text += fmt::format("    {:<34}{}\n", look.what, look.how_far);
    }
  };
  add("looked at", looks_);
  add("not looked at", not_looked_at_);
  for (const Diagnostic& d : suppressed_) {
    text += fmt::format("  suppressed: {}\n", report::describe_suppressed(d));
  }
  for (const std::string& note : notes_) {
    text += fmt::format("  note: {}\n", note);
  }
  fmt::print(stderr, "{}", text);
}

/// For programs that read it: what the search says of itself, and every finding.
Result<void> Test::write_report() {
  report::Report report = searched_.value_or(report::Report());
  report.findings = found_.all();
  report.suppressed = suppressed_;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (!options_.html.empty() && !searched_) {
    TRY_VOID(write_page(
        {.program = options_.program, .version = {}, .report = &report, .traces = {}},
        options_.html
    ));
  }
  if (options_.output.format == "text" && options_.output.file.empty()) {
    return {};
  }
  return write_result(
      render(report, lint_, options_.output, options_.program),
      options_.output.file
  );
}

int Test::exit_code() const {
  if (const int signal = explore::Interruption::received(); signal != 0) {
    return report::exit_code::signal + signal;
  }
  report::Report report;
  report.findings = found_.all();
  report.claims.exhaustive();
  const bool strict = options_.device.warnings_as_errors &&
                      std::ranges::any_of(found_.all(), [](const Diagnostic& d) {
                        return d.severity == Severity::Warning;
                      });
  const int code = report.exit_code();
  if (code == report::exit_code::defect || of_lint_ != 0 || strict) {
    return static_cast<int>(options_.device.error_exit_code.value_or(report::exit_code::defect));
  }
  if (code != report::exit_code::clean || status_.value_or(0) != 0) {
    return code != report::exit_code::clean ? code : *status_;
  }
  return looked_at_all() ? report::exit_code::clean : report::exit_code::budget;
}

Result<int> Test::all() {
  TRY(const auto nvcc_flags, split_words(options_.nvcc));
  std::optional<TestLint> lint;
  if (options_.program.ends_with(".cu")) {
    lint.emplace(options_.program, nvcc_flags, options_.config);
  }
  const explore::Interruption interruption;
  Result<Prepared> prepared = prepare_program(options_);
  if (!prepared && stopped()) { // nvcc heard of it, too
    fmt::print(stderr, "heddle: interrupted while '{}' was compiled\n", options_.program);
    return exit_code();
  }
  if (!prepared) {
    return unexpected(prepared.error());
  }
  TRY(target_, prepared->target);
  prepared_ = std::move(*prepared);
  start_ = std::chrono::steady_clock::now(); // what the compiler takes is nobody's fault
  TRY_VOID(run_watched(prepared_->config));
  if (lint) {
    print_lint(lint->wait());
  }
  const bool faulted = std::ranges::any_of(found_.all(), [](const Diagnostic& d) {
    return d.finding == report::Finding::HostCrash || d.finding == report::Finding::Unsupported;
  });
  if (!stopped() && status_) {
    TRY_VOID(run_schedules());
  }
  if (!stopped() && !faulted) {
    TRY_VOID(search(/*lockstep=*/false));
  }
  finish_lint();
  if (!stopped() && !faulted && found_.all().empty() && seconds_left() > 1) {
    TRY_VOID(search(/*lockstep=*/true));
  } else {
    not_looked_at_.push_back(
        {"warps in lockstep, before sm_70", shown_command(target_, "check --warps=both")}
    );
  }
  not_looked_at_.push_back({"weak memory", shown_command(target_, "check --memory=ptx")});
  print_table();
  TRY_VOID(write_report());
  return exit_code();
}

} // namespace

int test_command(const CheckOptions& options) {
  const auto code = Test(options).all();
  return code ? *code : report_error(code.error());
}

} // namespace heddle::cli
