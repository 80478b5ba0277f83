#include "lint/one_file.h"

#include "base/glob.h"
#include "base/hash.h"
#include "base/regular_expression.h"
#include "lint/check.h"
#include "lint/edits.h"
#include "lint/frontend.h"
#include "lint/settings.h"
#include "lint/suppress.h"
#include "report/static_kept.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace heddle::lint {
namespace {

namespace fs = std::filesystem;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

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

/// What decides the result besides the contents of files.
std::string key_of(
    const LintRequest& request,
    const Job& job,
    const std::string& toolkit,
    const std::vector<Setting>& settings
) {
  Hasher hash;
  const auto all = [&](const std::vector<std::string>& texts) {
    hash.value(texts.size());
    std::ranges::for_each(texts, [&](const std::string& one) { hash.text(one); });
  };
  const std::string folder = job.folder.empty() ? fs::current_path().string() : job.folder;
  all({request.version, job.file, folder, job.architecture, request.architecture, toolkit});
  all(job.flags);
  for (const Setting& one : settings) {
    hash.text(one.name);
    all(one.values);
  }
  const Hash128 made = hash.finish();
  return fmt::format("{:016x}{:016x}", made.high, made.low);
}

Result<FileResult> judge(
    const LintRequest& request,
    const Job& job,
    const std::string& toolkit,
    const std::vector<Setting>& given
) {
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
  std::vector<std::string> marked;
  TRY(const Unit unit, read_unit(front, &marked));
  FileResult result;
  result.time = {job.file, seconds_since(start), 0, unit.lines, unit.errors, unit.first_error, 0};
  for (const std::string& file : unit.read) {
    result.read.push_back((fs::path(job.folder) / file).string());
  }
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
  files.insert(marked.begin(), marked.end());
  for (const report::StaticFinding& finding : result.findings) {
    files.insert(finding.place.file);
  }
  for (const std::string& file : files) {
    apply_suppressions(file, settings, result.findings);
  }
  return result;
}

} // namespace

Result<FileResult>
lint_file(const LintRequest& request, const Job& job, const std::string& toolkit) {
  std::vector<Setting> settings;
  if (request.file_settings) {
    TRY(settings, request.file_settings(job.file));
  }
  settings.insert(settings.end(), request.settings.begin(), request.settings.end());
  if (request.kept == nullptr) {
    return judge(request, job, toolkit, settings);
  }
  const std::string key = key_of(request, job, toolkit, settings);
  if (const auto text = request.kept->find(key)) {
    if (auto result = report::read_kept(*text)) {
      return FileResult{std::move(result->findings), std::move(result->time), {}};
    }
  }
  const auto begun = std::chrono::system_clock::now();
  TRY(FileResult result, judge(request, job, toolkit, settings));
  if (result.time.errors == 0) { // a file that is missing may be there the next time
    request.kept
        ->keep(key, result.read, begun, report::text_to_keep({result.findings, result.time}));
  }
  return result;
}

} // namespace heddle::lint
