// Implements suite.h. Each program is checked in a process of its own, forked from this one: one
// that crashes, or takes too much memory, does not take the others with it.
#include "cli/suite/suite.h"

#include "cli/check/check.h"
#include "cli/commands.h"
#include "cli/file.h"
#include "cli/ranks/spread.h"
#include "cli/run/launch.h"
#include "cli/suite/suite_checkpoint.h"
#include "cli/suite/suite_file.h"
#include "explore/process/explored_process.h"
#include "explore/process/interruption.h"
#include "report/render.h"
#include "report/suite.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace heddle::cli {
namespace {

/// The options of one program, as if they stood on a command line of their own.
Result<CheckOptions> options_of(const SuiteEntry& entry) {
  std::vector<std::string> words{"check"};
  words.insert(words.end(), entry.options.begin(), entry.options.end());
  words.push_back(entry.program);
  if (entry.program.ends_with(".cu")) {
    words.emplace_back("--");
  }
  words.insert(words.end(), entry.arguments.begin(), entry.arguments.end());
  Options options;
  const Parsed parsed = parse_command_line(words, options);
  if (parsed.command != Command::Check) {
    std::string text = parsed.text.substr(0, parsed.text.find('\n'));
    constexpr std::string_view prefix = "heddle: error: ";
    if (text.starts_with(prefix)) {
      text.erase(0, prefix.size());
    }
    return input_error(fmt::format("{}: {}", entry.written, text));
  }
  return options.check;
}

report::SuiteResult empty_result(const SuiteEntry& entry) {
  report::SuiteResult result;
  result.name = entry.name;
  result.expected = entry.expected;
  return result;
}

/// How many tasks a rank does at the same time: those of one machine share its cores.
std::size_t jobs_of_rank(const explore::Workers& workers, const Ranks* ranks) {
  const std::size_t jobs = explore::jobs_of(workers);
  return workers.jobs != 0 || ranks == nullptr
             ? jobs
             : std::max<std::size_t>(jobs / static_cast<std::size_t>(ranks->size_here()), 1);
}

/// Everything that the result rests on: the program as compiled, with all that it includes, what it
/// is told, and who checks it. Libraries that it loads, and files that it reads, are not looked at.
std::string identity_of(const SuiteEntry& entry, const CheckOptions& options) {
  const auto flags = split_words(options.nvcc);
  const auto target =
      flags ? prepare_check(options.program, options.arguments, options.device, *flags)
            : Result<Target>(unexpected(flags.error()));
  const auto content = target ? hash_file(target->path) : std::nullopt;
  if (!content) {
    return ""; // the check says why
  }
  Hasher hasher;
  for (const std::string& text :
       {std::string(HEDDLE_VERSION), processor_name(), *content, entry.program}) {
    hasher.text(text);
  }
  for (const auto* words : {&entry.arguments, &entry.options, &entry.expected}) {
    hasher.value(words->size());
    for (const std::string& word : *words) {
      hasher.text(word);
    }
  }
  return hex(hasher.finish());
}

/// In the process of that program.
report::SuiteResult
check_entry(const SuiteEntry& entry, const CheckOptions& options, const SuiteCheckpoint& before) {
  report::SuiteResult result = empty_result(entry);
  const std::string identity = identity_of(entry, options);
  if (const report::SuiteResult* known = before.find(identity); known != nullptr) {
    result = *known;
    result.name = entry.name;
    return result;
  }
  auto report = check_program(options, prepare_program(options));
  if (!report) {
    result.error = report.error().message;
    result.exit_code = report_error(report.error());
    return result;
  }
  if (explore::Interruption::received() == 0) {
    result.identity = identity;
  }
  result.verdict = report::name(report->verdict());
  result.exit_code = exit_code_of(options, *report);
  result.as_expected = report::is_as_expected(*report, entry.expected);
  result.seconds = report->seconds;
  const auto in = [&](const char* format) {
    return render(*report, {.format = format, .file = "a file"}, entry.program);
  };
  result.text = in("text");
  result.json = in("json");
  if (result.as_expected) {
    report::mark_expected(*report, entry.written);
  }
  result.sarif = in("sarif");
  return result;
}

/// The same, with what compilers and programs print kept out of the report.
std::string
check_quietly(const SuiteEntry& entry, const CheckOptions& options, const SuiteCheckpoint& before) {
  const int messages = ::memfd_create("heddle-messages", MFD_CLOEXEC);
  ::dup2(messages, STDOUT_FILENO);
  ::dup2(messages, STDERR_FILENO);
  report::SuiteResult result = check_entry(entry, options, before);
  std::fflush(nullptr);
  if (result.verdict.empty()) {
    result.text = read_file(fmt::format("/proc/self/fd/{}", messages)).value_or("");
  }
  return report::encode(result);
}

std::string rendered(const report::SuiteReport& suite, const std::string& format) {
  if (format == "json") {
    return report::render_json(suite);
  }
  if (format == "sarif") {
    return report::render_sarif(suite);
  }
  if (format == "junit") {
    return report::render_junit(suite);
  }
  return report::render_text(suite);
}

/// What all ranks have to have in common.
Result<std::map<std::string, std::string>> identity(const std::string& file, const Suite& suite) {
  std::map<std::string, std::string> what{
      {"version of Heddle", HEDDLE_VERSION},
      {"processor", processor_name()},
      {"file " + suite.file, hash_file(file).value_or("")}
  };
  for (const SuiteEntry& entry : suite.entries) {
    what["program " + entry.program] = hash_file(entry.program).value_or("none");
  }
  return what;
}

Result<std::vector<CheckOptions>> checks_of(const Suite& suite, std::uint32_t jobs) {
  std::vector<CheckOptions> checks;
  for (const SuiteEntry& entry : suite.entries) {
    TRY(CheckOptions own, options_of(entry));
    if (own.workers.jobs == 0) {
      own.workers.jobs = jobs;
    }
    checks.push_back(std::move(own));
  }
  return checks;
}

} // namespace

int suite_command(const CheckOptions& options, Ranks* ranks) {
  const auto begun = std::chrono::steady_clock::now();
  const bool reports = ranks == nullptr || ranks->rank() == 0;
  const auto suite = read_suite(options.suite);
  if (ranks != nullptr) {
    const auto agreed = ranks->agree(
        suite ? identity(options.suite, *suite)
              : Result<std::map<std::string, std::string>>(unexpected(suite.error()))
    );
    if (!agreed) {
      return reports ? report_error(agreed.error()) : report::exit_code::usage;
    }
  }
  if (!suite) {
    return report_error(suite.error());
  }
  const std::size_t jobs = jobs_of_rank(options.workers, ranks);
  // What the cores are not needed for otherwise, each search may use.
  const auto each = static_cast<std::uint32_t>(
      std::max<std::size_t>(jobs / std::max<std::size_t>(suite->entries.size(), 1), 1)
  );
  const auto checks = checks_of(*suite, each); // all errors before hours have gone by
  if (!checks) {
    return reports ? report_error(checks.error()) : report::exit_code::usage;
  }
  SuiteCheckpoint checkpoint(options.checkpoint);
  if (options.resume) {
    const auto read = checkpoint.read();
    if (!read && reports) { // another rank does what it is given
      return report_error(read.error());
    }
  }
  const SuiteCheckpoint before = checkpoint;
  const explore::Interruption interruption;
  report::SuiteReport report;
  report.file = suite->file;
  for (const SuiteEntry& entry : suite->entries) {
    report::SuiteResult& result = report.results.emplace_back(empty_result(entry));
    result.exit_code = report::exit_code::budget;
  }
  const auto done = [&](std::size_t number, const Outcome& outcome) {
    report::SuiteResult& result = report.results[number];
    if (auto found = report::decode_suite_result(outcome.text)) {
      result = std::move(*found);
      if (const auto kept = checkpoint.add(result); !kept) {
        fmt::print(stderr, "heddle: warning: {}\n", kept.error().message);
      }
    } else {
      result.exit_code = report::exit_code::internal;
      result.error = "the check " + outcome.error;
    }
  };
  const auto work = [&](std::size_t number) {
    return check_quietly(suite->entries[number], (*checks)[number], before);
  };
  spread(ranks, {.count = suite->entries.size(), .at_once = jobs, .work = work}, done);
  if (!reports) {
    return report::exit_code::clean;
  }
  const int signal = explore::Interruption::received();
  for (report::SuiteResult& result : report.results) {
    if (result.verdict.empty() && result.error.empty()) {
      result.error = explore::Interruption::text();
    }
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (const auto written =
          write_result(rendered(report, options.output.format), options.output.file);
      !written) {
    return report_error(written.error());
  }
  return signal != 0 ? report::exit_code::signal + signal : report.exit_code();
}

} // namespace heddle::cli
