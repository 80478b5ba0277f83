// Implements config_file.h.
//
// A baseline is a file of the same form. `--write-baseline` appends to it, so comments in it stay.
#include "cli/config_file.h"

#include "base/glob.h"
#include "base/new_file.h"
#include "cli/config_text.h"
#include "cli/file.h"
#include "cli/option_values.h"
#include "cli/yaml_file.h"
#include "report/finding.h"
#include "report/render.h"

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;
using report::Suppression;

constexpr std::string_view file_name = ".heddle.yaml";
constexpr std::string_view baseline_reason = "was there when the baseline was written";

/// Codes of findings are words with hyphens; those of lint have underscores, digits or begin with
/// "cuda". heddle-lint, which knows them, checks the latter.
bool is_code(const std::string& code) {
  const auto finding = report::find_finding(code);
  return (finding && report::describe(*finding).group != report::FindingGroup::Gap) ||
         code.starts_with("cuda") ||
         code.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") != std::string::npos ||
         code == "suppression";
}

Result<Suppression> read_entry(const YamlFile& reader, const YAML::Node& node) {
  if (!node.IsMap()) {
    return reader.problem(node.Mark(), "an entry of 'suppress' is a list of 'key: value'");
  }
  Suppression one;
  one.written = reader.written(node.Mark());
  std::set<std::string> seen;
  for (const auto& pair : node) {
    const std::string key = pair.first.Scalar();
    const auto known = std::ranges::find(entry_keys, key, &EntryKey::name);
    if (known == std::end(entry_keys)) {
      return reader.problem(
          pair.first.Mark(),
          fmt::format("there is no setting '{}' (heddle config --explain)", key)
      );
    }
    if (!seen.insert(key).second) {
      return reader.problem(pair.first.Mark(), fmt::format("'{}' is given twice", key));
    }
    TRY(one.*known->member, reader.scalar(key, pair.second));
    if (key == "code" && !is_code(one.code)) {
      return reader.problem(
          pair.second.Mark(),
          fmt::format("there is no finding '{}' (heddle config --explain lists them)", one.code)
      );
    }
  }
  if (one.reason.empty()) {
    return reader.problem(
        node.Mark(),
        "a suppression needs a reason: 'reason: why it is all right'"
    );
  }
  if (one.code.empty() && one.file.empty() && one.function.empty() && one.library.empty() &&
      one.text.empty()) {
    return reader.problem(
        node.Mark(),
        "this would suppress everything: state a code, file, function, library or text"
    );
  }
  return one;
}

/// An entry of `accept`.
Result<report::Acceptance> read_acceptance(const YamlFile& reader, const YAML::Node& node) {
  if (!node.IsMap()) {
    return reader.problem(node.Mark(), "an entry of 'accept' is a list of 'key: value'");
  }
  report::Acceptance one;
  one.written = reader.written(node.Mark());
  std::set<std::string> seen;
  for (const auto& pair : node) {
    const std::string key = pair.first.Scalar();
    TRY(const std::string value, reader.scalar(key, pair.second));
    if (!seen.insert(key).second) {
      return reader.problem(pair.first.Mark(), fmt::format("'{}' is given twice", key));
    }
    if (key == "reason") {
      one.reason = value;
    } else if (key == "program") {
      one.program = value;
    } else if (key == "coverage") {
      const auto coverage = report::find_coverage(value);
      if (!coverage || *coverage == report::Coverage::Exhaustive) {
        return reader.problem(
            pair.second.Mark(),
            fmt::format("'{}' cannot be accepted: one-order, bounded or cut", value)
        );
      }
      one.coverage = *coverage;
    } else {
      return reader.problem(
          pair.first.Mark(),
          fmt::format("there is no setting '{}' (heddle config --explain)", key)
      );
    }
  }
  if (!seen.contains("coverage")) {
    return reader.problem(node.Mark(), "state what is accepted: 'coverage: one-order'");
  }
  if (one.reason.empty()) {
    return reader.problem(node.Mark(), "accepting a coverage needs a reason: 'reason: why'");
  }
  return one;
}

struct FileContents {
  std::vector<Suppression> entries;
  std::vector<report::Acceptance> accepted;
  std::string baseline; // as written
};

Result<FileContents> read_yaml(const std::string& file, bool is_baseline) {
  TRY(const std::string text, read_file(file));
  const YamlFile reader(file, text);
  FileContents contents;
  try {
    const YAML::Node root = YAML::Load(text);
    if (root.IsNull()) {
      return contents;
    }
    if (!root.IsMap()) {
      return reader.problem(root.Mark(), "'key: value' is expected (heddle config --explain)");
    }
    for (const auto& pair : root) {
      const std::string key = pair.first.Scalar();
      if (key == "suppress") {
        if (!pair.second.IsSequence() && !pair.second.IsNull()) {
          return reader.problem(pair.second.Mark(), "'suppress' is a list: '  - code: …'");
        }
        for (const YAML::Node& node : pair.second) {
          TRY(Suppression one, read_entry(reader, node));
          one.baseline = is_baseline;
          contents.entries.push_back(std::move(one));
        }
      } else if (key == "lint" && !is_baseline) { // lint_settings.h reads them
        if (!pair.second.IsMap()) {
          return reader.problem(pair.second.Mark(), "'lint' is a list of 'option: value'");
        }
      } else if (key == "accept" && !is_baseline) {
        if (!pair.second.IsSequence() && !pair.second.IsNull()) {
          return reader.problem(
              pair.second.Mark(),
              "'accept' is a list: '  - coverage: one-order'"
          );
        }
        for (const YAML::Node& node : pair.second) {
          TRY(report::Acceptance one, read_acceptance(reader, node));
          contents.accepted.push_back(std::move(one));
        }
      } else if (key == "baseline" && !is_baseline) {
        TRY(contents.baseline, reader.scalar(key, pair.second));
      } else {
        return reader.problem(
            pair.first.Mark(),
            fmt::format("there is no setting '{}' (heddle config --explain)", key)
        );
      }
    }
  } catch (const YAML::Exception& failure) {
    return reader.problem(failure.mark, failure.msg);
  }
  return contents;
}

std::string in_words(const Suppression& one) {
  std::string text;
  for (const EntryKey& key : entry_keys) {
    const std::string& value = one.*key.member;
    if (!value.empty() && key.member != &Suppression::reason) {
      text += fmt::format("{}{} '{}'", text.empty() ? "" : ", ", key.name, value);
    }
  }
  return text;
}

bool is_looked_for(const Suppression& one, const LookedFor& looked_for) {
  if (one.code.empty()) {
    return true;
  }
  const auto finding = report::find_finding(one.code);
  if (!finding) {
    // A rule may be one of a finding: RACE-BARRIER, and then nothing is known.
    return looked_for.by == LookedFor::By::Lint && report::rule_text(one.code).empty();
  }
  switch (*finding) {
  case report::Finding::DataRace:
    return looked_for.races;
  case report::Finding::Uninitialised:
    return looked_for.uninitialised;
  case report::Finding::Leak:
    return looked_for.leaks;
  case report::Finding::ExitStatus:
    return looked_for.by == LookedFor::By::Check;
  default:
    return looked_for.by != LookedFor::By::Lint;
  }
}

/// An entry as it is appended: "  - code: …", indented.
std::string as_yaml(const Suppression& one) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  for (const EntryKey& key : entry_keys) {
    if (const std::string& value = one.*key.member; !value.empty()) {
      out << YAML::Key << std::string(key.name) << YAML::Value << value;
    }
  }
  out << YAML::EndMap;
  std::string text = "  - ";
  for (const char* at = out.c_str(); *at != '\0'; ++at) {
    text += *at;
    text += *at == '\n' ? "    " : "";
  }
  return text + "\n";
}

/// A file that one process at a time changes.
class LockedFile {
public:
  explicit LockedFile(const std::string& file) : fd_(open_named_file(file, O_APPEND)) {
    if (fd_ >= 0) {
      ::flock(fd_, LOCK_EX);
    }
  }
  ~LockedFile() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  bool append(const std::string& text) const {
    return fd_ >= 0 && ::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }
  bool is_open() const { return fd_ >= 0; }

private:
  int fd_;
};

} // namespace

void define_config_options(CLI::App& command, ConfigOptions& options) {
  command
      .add_option(
          "--config",
          options.file,
          "The project's settings (default: the nearest .heddle.yaml here or above, else at or "
          "above the program; none: no settings); 'heddle config --explain' says what may be in "
          "there"
      )
      ->check(file_to_read())
      ->type_name("FILE");
  command
      .add_option(
          "--baseline",
          options.baseline,
          "Findings that were known before, as --write-baseline has written them, do not count"
      )
      ->check(file_to_read())
      ->type_name("FILE");
  command
      .add_option(
          "--write-baseline",
          options.write_baseline,
          "Add what is found to this baseline, and do not count it"
      )
      ->check(file_to_replace())
      ->type_name("FILE");
}

std::string find_config_file(const std::string& program) {
  std::error_code failure;
  std::string found = find_upwards(fs::current_path(failure), file_name);
  return found.empty() && !program.empty()
             ? find_upwards(fs::path(program).parent_path(), file_name)
             : found;
}

Result<ProjectConfig> read_config(const ConfigOptions& options, const std::string& program) {
  ProjectConfig config;
  std::string baseline = options.baseline;
  const std::string file = options.file == "none" ? ""
                           : options.file.empty() ? find_config_file(program)
                                                  : options.file;
  if (!file.empty()) {
    config.file = report::shown_path(file);
    TRY(FileContents contents, read_yaml(file, /*is_baseline=*/false));
    for (Suppression& one : contents.entries) {
      config.suppressions.add(std::move(one));
    }
    for (report::Acceptance& one : contents.accepted) {
      if (one.program.empty() || program.empty() ||
          matches(one.program, fs::absolute(program).string())) {
        config.accepted.push_back(std::move(one));
      }
    }
    if (baseline.empty() && !contents.baseline.empty()) {
      baseline = (fs::path(file).parent_path() / contents.baseline).string();
    }
  }
  std::error_code failure;
  const bool to_be_made = baseline == options.write_baseline && !fs::exists(baseline, failure);
  if (!baseline.empty() && !to_be_made) {
    config.baseline = report::shown_path(baseline);
    TRY(FileContents contents, read_yaml(baseline, /*is_baseline=*/true));
    for (Suppression& one : contents.entries) {
      config.suppressions.add(std::move(one));
    }
  }
  if (!program.empty()) {
    config.suppressions.keep_for(program);
  }
  return config;
}

Result<std::size_t> add_to_baseline(const std::string& file, std::vector<Suppression> entries) {
  std::error_code failure;
  if (fs::exists(file, failure) && !fs::is_regular_file(file, failure)) {
    return input_error(
        fmt::format("{} is not a file: a baseline is read as well as written", file)
    );
  }
  const LockedFile locked(file);
  if (!locked.is_open()) {
    return input_error(fmt::format("cannot write {}", file));
  }
  TRY(const FileContents known, read_yaml(file, /*is_baseline=*/true));
  std::set<std::string> texts;
  for (Suppression one : known.entries) {
    one.reason = baseline_reason;
    texts.insert(as_yaml(one));
  }
  const fs::path folder = fs::absolute(file, failure).parent_path();
  std::set<std::string> added;
  for (Suppression& one : entries) {
    if (!one.file.empty()) {
      const fs::path relative =
          fs::absolute(one.file, failure).lexically_normal().lexically_relative(folder);
      const bool inside = !relative.empty() && *relative.begin() != "..";
      one.file = inside ? relative.string() : fs::absolute(one.file, failure).string();
    }
    one.reason = baseline_reason;
    if (std::string text = as_yaml(one); !texts.contains(text)) {
      added.insert(std::move(text));
    }
  }
  std::string text = known.entries.empty() && fs::file_size(file, failure) == 0
                         ? std::string(baseline_head) + "suppress:\n"
                         : "";
  for (const std::string& one : added) {
    text += one;
  }
  if (!text.empty() && !locked.append(text)) {
    return input_error(fmt::format("cannot write {}", file));
  }
  return added.size();
}

std::vector<std::string>
unused_suppressions(const ProjectConfig& config, const LookedFor& looked_for) {
  std::vector<std::string> sentences;
  for (const Suppression* one : config.suppressions.unused()) {
    // What a baseline holds beyond this program is no news.
    if (is_looked_for(*one, looked_for) && (!one->baseline || report::use_whole_names())) {
      sentences.push_back(
          fmt::format("{}: nothing here needs this suppression: {}", one->written, in_words(*one))
      );
    }
  }
  return sentences;
}

namespace {

std::string now_in_baseline(const std::string& file, std::size_t added) {
  return fmt::format("{} finding{} added to {}", added, added == 1 ? "" : "s", file);
}

} // namespace

Result<void> suppress(
    report::Report& report,
    ProjectConfig& config,
    const ConfigOptions& options,
    const LookedFor& looked_for
) {
  config.suppressions.apply(report);
  for (const report::Acceptance& decision : config.accepted) {
    report.claims.accept(decision);
  }
  for (std::string& sentence : unused_suppressions(config, looked_for)) {
    report.notes.push_back(std::move(sentence));
  }
  if (options.write_baseline.empty()) {
    return {};
  }
  report::Suppressions rest;
  rest.add(everything_else(options));
  const std::size_t before = report.suppressed.size();
  rest.apply(report);
  std::vector<Suppression> entries;
  for (std::size_t i = before; i < report.suppressed.size(); ++i) {
    entries.push_back(baseline_entry(report.suppressed[i]));
  }
  TRY(const std::size_t added, add_to_baseline(options.write_baseline, std::move(entries)));
  report.notes.push_back(now_in_baseline(options.write_baseline, added));
  return {};
}

Result<void>
suppress(report::StaticReport& report, ProjectConfig& config, const ConfigOptions& options) {
  config.suppressions.apply(report);
  for (std::string& sentence : unused_suppressions(config, {.by = LookedFor::By::Lint})) {
    report.notes.push_back(std::move(sentence));
  }
  if (options.write_baseline.empty()) {
    return {};
  }
  std::vector<Suppression> entries;
  for (report::StaticFinding& finding : report.findings) {
    if (finding.suppressed.empty()) {
      entries.push_back(baseline_entry(finding));
      finding.suppressed = baseline_reason;
      finding.suppressed_by = options.write_baseline;
    }
  }
  TRY(const std::size_t added, add_to_baseline(options.write_baseline, std::move(entries)));
  report.notes.push_back(now_in_baseline(options.write_baseline, added));
  return {};
}

Suppression everything_else(const ConfigOptions& options) {
  Suppression one;
  one.reason = baseline_reason;
  one.written = options.write_baseline;
  return one;
}

Result<std::string> describe_config(const ConfigOptions& options, bool explain) {
  TRY(const ProjectConfig config, read_config(options, ""));
  std::string text = config.file.empty()
                         ? fmt::format("settings: none (there is no {} here or above)\n", file_name)
                         : fmt::format("settings: {}\n", config.file);
  if (!config.baseline.empty()) {
    text += fmt::format("baseline: {}\n", config.baseline);
  }
  for (const Suppression& one : config.suppressions.all()) {
    text += fmt::format("  {}: {}: {}\n", one.written, in_words(one), one.reason);
  }
  for (const report::Acceptance& one : config.accepted) {
    text += fmt::format(
        "  {}: accept '{}'{}: {}\n",
        one.written,
        report::name(one.coverage),
        one.program.empty() ? "" : fmt::format(", program '{}'", one.program),
        one.reason
    );
  }
  if (!explain) {
    return text;
  }
  text += "\n" + std::string(explanation_head);
  for (const EntryKey& key : entry_keys) {
    text += fmt::format("  {:<9} {}\n", key.name, key.meaning);
  }
  text += "\ncodes of heddle run and heddle check:\n";
  for (const report::FindingRow& row : report::all_findings()) {
    if (row.group != report::FindingGroup::Gap) {
      text += fmt::format("  {:<19} {}\n", row.code, row.description);
    }
  }
  return text + "codes of heddle lint: heddle lint --list-rules\n";
}

} // namespace heddle::cli
