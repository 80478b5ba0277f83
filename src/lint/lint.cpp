#include "lint/lint.h"

#include "base/glob.h"
#include "base/regular_expression.h"
#include "lint/check.h"
#include "lint/database.h"
#include "lint/edits.h"
#include "lint/frontend.h"
#include "lint/settings.h"
#include "lint/suppress.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace heddle::lint {
namespace {

namespace fs = std::filesystem;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Job {
  std::string file;
  std::string folder;
  std::vector<std::string> flags;
  std::string architecture;
};

struct FileResult {
  std::vector<report::StaticFinding> findings;
  report::FileTime time;
};

std::string read_text(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class Texts {
public:
  const std::string& of(const std::string& file) {
    const auto [entry, is_new] = texts_.try_emplace(file);
    if (is_new) {
      entry->second = read_text(file);
    }
    return entry->second;
  }

private:
  std::map<std::string, std::string> texts_;
};

report::Region region(const Unit& unit, const Spot& spot, Texts& texts) {
  report::Region made{
      unit.files[spot.file],
      spot.line,
      spot.column,
      spot.line,
      spot.column + (spot.end - spot.begin),
      spot.begin,
      spot.end - spot.begin
  };
  const std::string& text = texts.of(made.file);
  if (spot.end <= text.size() && spot.begin <= spot.end) {
    const std::string_view part = std::string_view(text).substr(spot.begin, spot.end - spot.begin);
    const auto newlines = std::ranges::count(part, '\n');
    if (newlines > 0) {
      made.end_line = spot.line + static_cast<std::uint32_t>(newlines);
      made.end_column = static_cast<std::uint32_t>(part.size() - part.rfind('\n'));
    }
  }
  return made;
}

/// What identifies a finding when lines move: the key, the function, the text of the line, and
/// which of several such lines it is.
std::string
fingerprint(const report::StaticFinding& finding, Texts& texts, std::map<std::string, int>& seen) {
  std::istringstream in(texts.of(finding.place.file));
  std::string line;
  for (std::uint32_t i = 0; i < finding.place.line && std::getline(in, line); ++i) {
  }
  std::string squeezed;
  for (const char c : line) {
    if (c != ' ' && c != '\t' && c != '\r') {
      squeezed += c;
    }
  }
  const std::string identity = finding.key + "|" +
                               fs::path(finding.place.file).filename().string() + "|" +
                               finding.function + "|" + squeezed;
  std::uint64_t hash = 14695981039346656037ULL; // FNV-1a
  for (const char c : identity + "|" + std::to_string(seen[identity]++)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return fmt::format("{:016x}", hash);
}

std::optional<report::Fix> fix_of(const Found& found, const Unit& unit, Texts& texts) {
  if (found.edits.size() != 2 || found.edits[0].where.file != found.edits[1].where.file) {
    return std::nullopt;
  }
  const report::Region at = region(unit, found.edits[0].where, texts);
  const std::string& text = texts.of(at.file);
  return found.key == "early_exit_before_synchronization" ? guard_instead_of_exit(found, at, text)
                                                          : hoist_barrier(found, at, text);
}

const report::StaticRule& rule_of(const std::string& key) {
  return *std::ranges::find(all_rules(), key, &report::StaticRule::key);
}

bool any_matches(const std::vector<std::string>& patterns, const std::string& path) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return matches(pattern, path);
  });
}

bool is_wanted(
    const RuleOptions& options,
    const report::StaticFinding& finding,
    const Found& found
) {
  const std::string& file = finding.place.file;
  if (options.disabled || (options.exclude_messages_in_system_headers && found.place.in_system) ||
      (options.exclude_in_macros && found.place.in_macro)) {
    return false;
  }
  if (options.extend_exclude_to_macro_invocations &&
      std::ranges::any_of(found.steps, [](const Note& note) { return note.where.in_macro; })) {
    return false;
  }
  if ((!options.includes.empty() && !any_matches(options.includes, file)) ||
      any_matches(options.excludes, file) ||
      (!options.report_at.empty() && !any_matches(options.report_at, file))) {
    return false;
  }
  if (std::ranges::none_of(options.languages, [](const std::string& one) {
        return equal_names(one, "cuda");
      })) {
    return false;
  }
  return std::ranges::none_of(options.exclude_messages, [&](const std::string& pattern) {
    return RegularExpression(pattern).finds(finding.message);
  });
}

/// "sm_90a" is 90.
unsigned architecture_number(const std::string& name) {
  unsigned number = 0;
  for (const char c : name) {
    if (c >= '0' && c <= '9') {
      number = number * 10 + static_cast<unsigned>(c - '0');
    }
  }
  return number == 0 ? 90 : number;
}

Result<FileResult>
lint_file(const LintRequest& request, const Job& job, const std::string& toolkit) {
  std::vector<Setting> given;
  if (request.file_settings) {
    TRY(given, request.file_settings(job.file));
  }
  given.insert(given.end(), request.settings.begin(), request.settings.end());
  TRY(const Settings settings, make_settings(given));
  const RuleOptions barrier_options = settings.of("CUDA-1.14");
  FrontEnd front;
  front.file = job.file;
  front.folder = job.folder;
  front.flags = job.flags;
  front.toolkit = toolkit;
  front.architecture = nearest_architecture(job.architecture);
  if (front.architecture.empty()) {
    front.architecture = request.architecture;
  }
  front.synchronization_functions = barrier_options.synchronization_functions;
  front.system_kernels = std::ranges::any_of(all_rules(), [&](const report::StaticRule& rule) {
    return !settings.of(rule.rule, rule.key).exclude_messages_in_system_headers;
  });
  const auto start = std::chrono::steady_clock::now();
  TRY(const Unit unit, read_unit(front));
  FileResult result;
  result.time = {job.file, seconds_since(start), 0, unit.lines, unit.errors, unit.first_error, 0};
  const auto checking = std::chrono::steady_clock::now();
  CheckOptions options;
  options.system_kernels = front.system_kernels;
  options.every_bypass = barrier_options.every_bypass;
  options.architecture = architecture_number(front.architecture);
  const Checked checked = check_unit(unit, options);
  result.time.check_seconds = seconds_since(checking);
  result.time.barriers = checked.barriers;
  Texts texts;
  std::map<std::string, int> seen;
  for (const Found& found : checked.findings) {
    const report::StaticRule& rule = rule_of(found.key);
    const RuleOptions wanted = settings.of(rule.rule, found.key);
    report::StaticFinding one;
    one.key = found.key;
    one.rule = rule.rule;
    one.severity = wanted.severity.value_or(rule.severity);
    one.place = region(unit, found.place, texts);
    one.message = found.message;
    one.function = found.function;
    for (const Note& note : found.steps) {
      one.steps.push_back({region(unit, note.where, texts), note.text});
    }
    for (const Note& note : found.related) {
      one.related.push_back({region(unit, note.where, texts), note.text});
    }
    one.help = found.help;
    if (const auto fix = fix_of(found, unit, texts)) {
      one.fixes.push_back(*fix);
    }
    if (is_wanted(wanted, one, found)) {
      one.fingerprint = fingerprint(one, texts, seen);
      result.findings.push_back(std::move(one));
    }
  }
  // Comments of every file that was read for its own sake.
  std::set<std::string> files = {job.file};
  for (const report::StaticFinding& finding : result.findings) {
    files.insert(finding.place.file);
  }
  for (const std::string& file : files) {
    apply_suppressions(file, settings, result.findings);
  }
  return result;
}

Result<std::vector<Job>> jobs_of(const LintRequest& request) {
  std::vector<Job> jobs;
  std::vector<CompileCommand> commands;
  if (!request.database.empty()) {
    TRY(commands, read_database(request.database));
  }
  const auto from_command = [&](const CompileCommand& command, const std::string& file) {
    const Translated translated = translate_flags(command.words, command.folder);
    Job job{file, command.folder, translated.flags, translated.architecture};
    job.flags.insert(job.flags.end(), request.flags.begin(), request.flags.end());
    return job;
  };
  const Translated plain = translate_flags(request.flags, fs::current_path().string());
  for (const std::string& file : request.files) {
    const std::string absolute = fs::absolute(file).lexically_normal().string();
    const auto command = std::ranges::find(commands, absolute, &CompileCommand::file);
    jobs.push_back(
        command != commands.end() ? from_command(*command, absolute)
                                  : Job{file, "", plain.flags, plain.architecture}
    );
  }
  if (request.files.empty()) {
    for (const CompileCommand& command : commands) {
      const bool is_cuda = command.file.ends_with(".cu") ||
                           std::ranges::any_of(command.words, [](const std::string& word) {
                             return word == "cu" || word == "cuda" || word == "-xcuda" ||
                                    word == "-x=cu" || word == "--x=cu";
                           });
      const bool known =
          std::ranges::any_of(jobs, [&](const Job& job) { return job.file == command.file; });
      if (is_cuda && !known) {
        jobs.push_back(from_command(command, command.file));
      }
    }
  }
  return jobs;
}

} // namespace

const std::vector<report::StaticRule>& all_rules() {
  using enum report::Severity;
  static const std::vector<report::StaticRule> rules = {
#define HEDDLE_LINT_KEY(key, rule, name, severity, page, description)                              \
  {key, rule, name, description, "docs/lint/" page ".md", severity},
#include "lint/rules.def"
  };
  return rules;
}

std::string explain_rule(const std::string& rule) {
  static constexpr std::pair<std::string_view, std::string_view> pages[] = {
#include "lint_pages.inc"
  };
  std::string out;
  std::string page;
  for (const report::StaticRule& one : all_rules()) {
    if (equal_names(one.rule, rule) || one.key == rule) {
      out += out.empty() ? fmt::format("{} [{}]\n\n", one.rule, one.name) : "";
      out += fmt::format("  {}\n      {}\n", one.key, one.description);
      page = one.page;
      if (one.key == rule) {
        break;
      }
    }
  }
  const auto* text = std::ranges::find(pages, page, [](const auto& one) { return one.first; });
  if (text != std::end(pages)) {
    out += "\n" + std::string(text->second);
  }
  return out;
}

Result<report::StaticReport> lint(const LintRequest& request) {
  report::StaticReport report;
  report.version = request.version;
  report.rules = all_rules();
  report.root = fs::current_path().string();
  TRY(const std::vector<Job> jobs, jobs_of(request));
  if (jobs.empty()) {
    return input_error(fmt::format("-p {}: the database names no CUDA file", request.database));
  }
  const std::string toolkit = find_toolkit(request.toolkit);
  if (!toolkit.empty() && !fs::exists(fs::path(toolkit) / "include" / "cuda_runtime.h")) {
    return input_error(
        fmt::format(
            "--cuda-path {}: no CUDA toolkit (it has no include/cuda_runtime.h); 'none' reads "
            "with Heddle's own declarations",
            toolkit
        )
    );
  }
  if (toolkit.empty() && request.toolkit != "none") {
    report.notes.emplace_back(
        "no CUDA toolkit was found; sources are read with Heddle's own declarations of CUDA "
        "(--cuda-path FOLDER)"
    );
  }
  if (!knows_architecture(request.architecture)) {
    return input_error(
        fmt::format(
            "--arch: '{}' is no architecture that Clang knows (sm_90)",
            request.architecture
        )
    );
  }
  std::vector<std::optional<Result<FileResult>>> results(jobs.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      results[i] = lint_file(request, jobs[i], toolkit);
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < std::min<std::size_t>(request.jobs, jobs.size()); ++i) {
    others.emplace_back(work);
  }
  work();
  for (std::thread& one : others) {
    one.join();
  }
  // A header that several files include reports once.
  std::set<std::tuple<std::string, std::uint32_t, std::uint32_t, std::string>> seen;
  for (auto& result : results) {
    TRY(FileResult one, std::move(*result));
    report.files.push_back(std::move(one.time));
    for (report::StaticFinding& finding : one.findings) {
      if (seen.insert({finding.place.file, finding.place.line, finding.place.column, finding.key})
              .second) {
        report.findings.push_back(std::move(finding));
      }
    }
  }
  return report;
}

} // namespace heddle::lint
