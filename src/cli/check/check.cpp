// heddle check: the program under a driver that tries every schedule, and what to say about it.
#include "cli/check/check.h"

#include "base/process.h"
#include "cli/check/lockstep.h"
#include "cli/check/orders.h"
#include "cli/check/races.h"
#include "cli/check/schedule_record.h"
#include "cli/commands.h"
#include "cli/config/config_file.h"
#include "cli/file.h"
#include "cli/output/page.h"
#include "cli/run/single_run.h"
#include "cli/temporary_file.h"
#include "cli/test/test_findings.h"
#include "explore/process/explored_process.h"
#include "explore/process/interruption.h"
#include "explore/ranks/divided_search.h"
#include "explore/session.h"
#include "report/diagnostic_lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace heddle::cli {
namespace {

/// Where the explored processes write what is only a warning.
class Remarks {
public:
  std::string file() const { return file_.path(); }

  /// What is only a warning, each once, by its place.
  struct Found {
    std::set<std::string> texts;
    bool ended_at_barriers = false; // [BAR-3]: barriers completed without threads that had ended
  };
  Found read() const {
    // Several barriers may stand in one line; which is met first depends on who searches where.
    std::map<std::pair<std::string, std::string>, std::set<std::string>> exits;
    for (const report::Diagnostic& d : report::from_lines(read_file(file()).value_or(""))) {
      const std::string place = d.place.known() ? shown(d.place) + ": " : "";
      auto& of_this = exits[{place + d.message, std::string(d.rule_id())}];
      for (const report::Label& label : d.labels) {
        if (label.text.starts_with("(2)") && label.place.known()) {
          of_this.insert(shown(label.place));
        }
      }
    }
    Found result;
    for (const auto& [remark, places] : exits) {
      const auto& [said, rule] = remark;
      std::string text = said;
      for (const std::string& place : places) {
        text += "; they leave at " + place;
      }
      text += fmt::format(" [{}]", rule);
      if (rule == "BAR-GUIDE") {
        result.ended_at_barriers = true;
        text += "; with --barriers=guide it is a finding";
      }
      result.texts.insert(std::move(text));
    }
    return result;
  }

private:
  static std::string shown(const report::Place& place) {
    std::error_code failure;
    const std::string here = std::filesystem::current_path(failure).string() + "/";
    return fmt::format(
        "{}:{}",
        !failure && place.file.starts_with(here) ? place.file.substr(here.size()) : place.file,
        place.line
    );
  }

  TemporaryFile file_{"remarks"};
};

/// `heddle check ./a ./b` checks one program. Says so where the first argument is a program, too.
std::string second_program(const Target& target) {
  if (target.arguments.empty()) {
    return {};
  }
  const std::string& first = target.arguments.front();
  const bool program = first.ends_with(".cu") || first.find('/') != std::string::npos;
  if (!program || ::access(first.c_str(), R_OK) != 0) {
    return {};
  }
  const bool executable =
      ::access(first.c_str(), X_OK) == 0 && !std::filesystem::is_directory(first);
  return executable || first.ends_with(".cu")
             ? fmt::format(
                   "'{}' was passed to '{}' as an argument: heddle check takes one program",
                   first,
                   target.path
               )
             : "";
}

/// The execution behind each finding; nothing where there is none, and after the first few, which
/// are more than anybody steps through.
std::vector<std::optional<report::Trace>>
repeat_findings(const explore::CheckRequest& request, const report::Report& report) {
  constexpr std::size_t most = 20;
  std::vector<std::optional<report::Trace>> traces(report.findings.size());
  for (std::size_t i = 0; i < std::min(traces.size(), most); ++i) {
    if (const auto schedule = explore::decode(report.findings[i].replay)) {
      if (auto trace = explore::replay(request, *schedule)) {
        traces[i] = std::move(*trace);
      }
    }
  }
  return traces;
}

/// So that heddle replay knows them again.
void keep_schedules(const CheckOptions& options, const report::Report& report) {
  for (const report::Diagnostic& finding : report.findings) {
    if (!finding.replay.empty()) {
      keep_schedule(finding.replay, {.nvcc = options.nvcc});
    }
  }
}

/// The signal that ends the check has ended the compiler, too.
report::Report interrupted_while_compiling() {
  report::Report report;
  report.bounds = "1 input, not yet compiled";
  report.claims.cut(explore::Interruption::text());
  return report;
}

/// A search says that it was interrupted; what follows it does not.
void say_if_interrupted(report::Report& report) {
  const std::string text = explore::Interruption::text();
  if (!report.is_exhaustive() && !text.empty()) {
    report.claims.cut(text);
  }
}

/// What the schedules of findings name: all but the choices.
explore::Schedule schedule_of(const CheckOptions& options, const Target& target) {
  explore::Schedule schedule;
  schedule.program = is_source(options.program) ? options.program : target.path;
  schedule.arguments = options.arguments;
  schedule.nvcc = options.nvcc;
  schedule.device = options.device.device;
  schedule.devices = options.device.devices;
  schedule.kernel = options.device.kernel;
  schedule.content = hash_file(schedule.program).value_or("");
  return schedule;
}

bool goes_on_to_monitors(const CheckOptions& options, const report::Report& report) {
  return report.findings.empty() && options.device.warps != "lockstep" &&
         explore::Interruption::received() == 0;
}

/// What the search does not look at, in a few schedules, which cost a run of the program each.
Result<RacesFound>
look_after_search(const Target& target, DeviceOptions device, bool assumes_no_races) {
  device.uninitialised = true;
  const unsigned schedules = assumes_no_races ? 3 : 1;
  TRY(RacesFound found, find_races(target, device, schedules));
  found.findings = TestFindings().take(std::move(found.findings)); // one for one cause
  return found;
}

/// The ranks of an MPI job that search: one of each machine, or all of them.
class PeersOf final : public explore::Peers {
public:
  PeersOf(Ranks& ranks, std::vector<int> members)
      : ranks_(ranks),
        members_(std::move(members)),
        rank_(number_of(ranks.rank())) {}
  /// Rank 0: whatever becomes of the check, the others need not wait for more.
  ~PeersOf() override {
    if (rank() == 0) {
      explore::dismiss_ranks(*this);
    }
  }
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }
  void send(int to, std::string_view bytes) override { ranks_.send(name(to), bytes); }
  std::optional<Message> receive() override {
    auto message = ranks_.receive(std::chrono::milliseconds(0));
    const int from = message ? number_of(message->from) : -1;
    return from >= 0 ? std::optional(Message{from, std::move(message->text)}) : std::nullopt;
  }
  bool are_reachable() const override { return ranks_.are_reachable(); }
  void lost(int rank) override {
    problems_.push_back(
        fmt::format("rank {} does not answer any more: rank 0 searches alone", name(rank))
    );
    std::fputs(fmt::format("heddle: {}\n", problems_.back()).c_str(), stderr); // if it can be
    ranks_.lost(name(rank));
  }
  /// For the report.
  const std::vector<std::string>& problems() const { return problems_; }

  /// In the job.
  int name(int peer) const override { return members_[static_cast<std::size_t>(peer)]; }

private:
  int number_of(int rank) const {
    const auto found = std::ranges::find(members_, rank);
    return found != members_.end() ? static_cast<int>(found - members_.begin()) : -1;
  }

  Ranks& ranks_;
  std::vector<int> members_;
  int rank_;
  std::vector<std::string> problems_;
};

/// The same, by what this rank borrows.
std::uint32_t jobs_for(int here, const CheckOptions& options, const Ranks& ranks) {
  if (options.ranks_per_machine == 0) {
    return jobs_for_ranks(here, options, ranks.borrow_processors());
  }
  const auto all = static_cast<std::uint32_t>(ranks.size_here());
  const auto count = static_cast<std::uint32_t>(here);
  return jobs_for_ranks(here, options, std::max(explore::jobs_of({}) / all, 1U) * count);
}

/// The device that a search runs on. How warps execute is an option of the explorer, not of it.
DeviceOptions device_of_search(DeviceOptions device) {
  device.warps = "independent";
  device.stale_reads = false;
  device.reconvergence = "early-ends";
  return device;
}

bool has_error(const std::vector<report::Diagnostic>& found) {
  return std::ranges::any_of(found, [](const report::Diagnostic& d) {
    return d.severity == report::Severity::Error;
  });
}

/// When the search ends because a defect is certain. Races decide what its verdict is worth: a long
/// one is not waited for before they are looked at.
std::shared_ptr<explore::AfterDefect>
after_defect(const CheckOptions& options, const Target& target, bool is_known, bool alone) {
  constexpr double most_seconds_of_look = 10;
  const bool asks = alone && !options.races && !options.search.ptx_memory &&
                    options.device.warps != "lockstep" &&
                    options.search.max_seconds > options.after_defect + most_seconds_of_look;
  auto after = std::make_shared<explore::AfterDefect>(
      options.after_defect,
      asks ? [target, device = options.device] { return has_race(target, device); }
           : std::function<bool()>()
  );
  if (is_known) {
    after->is_known();
  }
  return after;
}

} // namespace

std::uint32_t jobs_for_ranks(int here, const CheckOptions& options, std::uint32_t processors) {
  constexpr std::uint32_t most = 1024;
  const auto count = static_cast<std::uint32_t>(here);
  const std::uint32_t jobs = options.workers.jobs * count;
  return std::min(jobs != 0 ? jobs : std::max(processors, count), most);
}

Result<Prepared> prepare_program(const CheckOptions& options) {
  if (options.device.stale_reads && options.device.warps == "independent") {
    return input_error("--stale-reads needs --warps=lockstep or --warps=both");
  }
  if (options.search.ptx_memory && options.device.warps != "independent") {
    return input_error("--memory=ptx needs --warps=independent");
  }
  if (options.explain_order && !options.search.ptx_memory) {
    return input_error("--explain-order needs --memory=ptx");
  }
  if (options.device.reconvergence != "early-ends" && options.device.warps == "independent") {
    return input_error("--reconvergence needs --warps=lockstep or --warps=both");
  }
  if (options.races.value_or(0) != 0 && options.device.warps == "lockstep") {
    return input_error(
        "--races looks for races of independent threads: it needs --warps=independent or "
        "--warps=both"
    );
  }
  TRY(ProjectConfig config, read_config(options.config, options.program));
  TRY(const auto nvcc_flags, split_words(options.nvcc));
  const explore::Interruption interruption;
  Prepared prepared{
      .config = std::move(config),
      .target = prepare_check(options.program, options.arguments, options.device, nvcc_flags),
      .interrupted = false
  };
  prepared.interrupted = !prepared.target && explore::Interruption::received() != 0;
  return prepared;
}

Result<std::map<std::string, std::string>>
identity_of(const CheckOptions& options, const Result<Prepared>& prepared) {
  if (!prepared) {
    return unexpected(prepared.error());
  }
  TRY(const Target target, prepared->target);
  const std::string& source = is_source(options.program) ? options.program : target.path;
  return std::map<std::string, std::string>{
      {"version of Heddle", HEDDLE_VERSION},
      {"processor", processor_name()},
      {"program", hash_file(source).value_or("none")}
  };
}

namespace {

Result<void> write_page_of(
    const CheckOptions& options,
    const explore::CheckRequest& request,
    report::Report report,
    const std::vector<report::Diagnostic>& earlier
) {
  report.findings.insert(report.findings.begin(), earlier.begin(), earlier.end());
  return write_page(
      {.program = options.program,
       .version = {},
       .report = &report,
       .traces = repeat_findings(request, report)},
      options.html
  );
}

} // namespace

Result<report::Report> check_program(
    const CheckOptions& options,
    const Result<Prepared>& prepared,
    Ranks* ranks,
    const std::vector<report::Diagnostic>& earlier
) {
  TRY(Prepared ready, prepared);
  if (ready.interrupted) {
    return interrupted_while_compiling();
  }
  if (ranks != nullptr) {
    TRY_VOID(ranks->agree(identity_of(options, prepared)));
  }
  TRY(const Target target, ready.target);
  RacesFound races;
  if (options.races.value_or(0) != 0) {
    TRY(races, find_races(target, options.device, *options.races, limits_in_check, ranks));
  }
  const Ranks::Machines machines =
      ranks != nullptr ? ranks->machines(options.ranks_per_machine) : Ranks::Machines();
  if (ranks != nullptr && !machines.leads) {
    return report::Report(); // another rank has its processors, and rank 0 reports
  }
  std::optional<PeersOf> peers;
  if (machines.leaders.size() > 1) {
    peers.emplace(*ranks, machines.leaders);
  }
  const bool leads = ranks == nullptr || ranks->rank() == 0;
  RacesFound unwritten;
  if (options.uninitialised && leads) {
    TRY(unwritten, find_unwritten(target, options.device));
  }
  explore::CheckRequest request;
  request.program = target.path;
  request.arguments = target.arguments;
  TRY(request.environment, launch_environment(target, device_of_search(options.device), "check"));
  const Remarks remarks;
  request.environment["HEDDLE_REMARKS_TO"] = remarks.file();
  const Orders orders;
  if (options.explain_order) {
    orders.ask_for_list(request.environment);
  }
  request.schedule = schedule_of(options, target);
  request.options = options.search;
  request.options.same_value_races =
      options.search.ptx_memory && options.device.same_value == "error";
  request.options.lockstep = options.device.warps == "lockstep";
  request.options.stale_reads = request.options.lockstep && options.device.stale_reads;
  request.options.common_exit =
      request.options.lockstep && options.device.reconvergence == "common-exit";
  request.options.guide_barriers = options.device.barriers == "guide";
  request.workers = options.workers;
  if (ranks != nullptr) {
    request.workers.jobs = jobs_for(machines.ranks_here, options, *ranks);
  }
  if (!leads) {
    TRY_VOID(explore::serve_searches(request, *peers));
    return report::Report(); // it is rank 0's
  }
  request.peers = peers ? &*peers : nullptr;
  const bool is_known =
      has_error(earlier) || has_error(races.findings) || has_error(unwritten.findings);
  request.after_defect = after_defect(options, target, is_known, ranks == nullptr);
  request.fair_hangs = [&](unsigned seconds) {
    return find_fair_hangs(target, options.device, seconds);
  };
  request.checkpoint = {
      .file = options.checkpoint,
      .resume = options.resume,
      .seconds = options.checkpoint_every,
      .stop_after = options.stop_after,
      .version = fmt::format("heddle {}", HEDDLE_VERSION)
  };
  request.show_progress = isatty(STDERR_FILENO) != 0;
  if (!options.progress_file.empty()) {
    TRY(request.progress_file, explore::ProgressFile::create(options.progress_file));
  }
  TRY(report::Report report, explore::check(request));
  if (options.device.warps == "both") {
    request.options.lockstep = true;
    request.options.stale_reads = options.device.stale_reads;
    request.options.common_exit = options.device.reconvergence == "common-exit";
    TRY(report::Report lockstep, explore::check(request));
    add_lockstep(report, std::move(lockstep));
  }
  if (options.device.reconvergence == "both") {
    request.options.common_exit = true;
    TRY(report::Report common, explore::check(request));
    for (report::Diagnostic& finding : common.findings) {
      finding.notes.emplace_back("this is where lanes meet with --reconvergence=common-exit");
    }
    if (options.device.warps == "both") {
      add_lockstep(report, std::move(common));
    } else {
      add_same_machine(report, std::move(common));
    }
  }
  const bool goes_on = !options.races && goes_on_to_monitors(options, report);
  if (goes_on && !options.search.ptx_memory) {
    TRY(races, look_after_search(target, options.device, report.assumes_no_races));
  } else if (goes_on && !options.uninitialised) { // the search has seen all races
    TRY(unwritten, find_unwritten(target, options.device));
  }
  add_races(report, std::move(races));
  if (options.uninitialised || goes_on) {
    add_unwritten(report, std::move(unwritten));
  }
  if (peers) {
    const std::vector<std::string>& problems = peers->problems();
    report.warnings.insert(report.warnings.end(), problems.begin(), problems.end());
  }
  if (request.progress_file && !request.progress_file->problem().empty()) {
    report.warnings.push_back(request.progress_file->problem());
  }
  const Remarks::Found found = remarks.read();
  report.warnings.insert(report.warnings.end(), found.texts.begin(), found.texts.end());
  if (found.ended_at_barriers && !report.rests_on.empty() &&
      !std::ranges::count(report.rests_on, "BAR-3")) {
    report.rests_on.emplace_back("BAR-3");
  }
  if (options.explain_order) {
    const auto said = orders.explain(request, report, *options.explain_order);
    report.notes.insert(report.notes.end(), said.begin(), said.end());
  }
  say_if_interrupted(report);
  if (const std::string warning = second_program(target); !warning.empty()) {
    report.warnings.push_back(warning);
  }
  const LookedFor looked_for{
      .by = LookedFor::By::Check,
      .races = !options.races || *options.races != 0,
      .uninitialised = options.uninitialised || goes_on
  };
  keep_schedules(options, report);
  TRY_VOID(suppress(report, ready.config, options.config, looked_for));
  if (!options.html.empty()) {
    TRY_VOID(write_page_of(options, request, report, earlier));
  }
  return report;
}

int exit_code_of(const CheckOptions& options, const report::Report& report) {
  const int code = report.exit_code();
  const bool strict = options.device.warnings_as_errors && !report.warnings.empty();
  return code == report::exit_code::defect || (strict && code == report::exit_code::clean)
             ? static_cast<int>(options.device.error_exit_code.value_or(report::exit_code::defect))
             : code;
}

int report_check(const CheckOptions& options, const Result<report::Report>& report) {
  if (!report) {
    return report_error(report.error());
  }
  if (const auto written =
          write_result(render(*report, options.output, options.program), options.output.file);
      !written) {
    return report_error(written.error());
  }
  const int signal = explore::Interruption::received();
  if (signal != 0) {
    return report::exit_code::signal + signal;
  }
  return exit_code_of(options, *report);
}

} // namespace heddle::cli
