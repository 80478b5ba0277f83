// Implements config_file.h.
//
// A baseline is a file of the same form. `--write-baseline` appends to it, so comments in it stay.
#include "cli/config/config_file.h"

#include "base/glob.h"
#include "base/new_file.h"
#include "cli/config/config_text.h"
#include "cli/config/yaml_file.h"
#include "cli/file.h"
#include "cli/options/option_values.h"
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
#include <optional>
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

/// An entry of the list `list`, each key of it once. take(key, value): false: it knows no such key.
template <class F>
Result<void>
read_keys(const YamlFile& reader, std::string_view list, const YAML::Node& entry, const F& take) {
  if (!entry.IsMap()) {
    return reader.problem(
        entry.Mark(),
        fmt::format("an entry of '{}' is a list of 'key: value'", list)
    );
  }
  std::set<std::string> seen;
  for (const auto& pair : entry) {
    const std::string key = pair.first.Scalar();
    if (!seen.insert(key).second) {
      return reader.problem(pair.first.Mark(), fmt::format("'{}' is given twice", key));
    }
    TRY(const bool is_known, take(key, pair.second));
    if (!is_known) {
      return reader.problem(
          pair.first.Mark(),
          fmt::format("there is no setting '{}' (heddle config --explain)", key)
      );
    }
  }
  return {};
}

/// An entry of `suppress`.
Result<Suppression> read_suppression(const YamlFile& reader, const YAML::Node& node) {
  Suppression one;
  one.written = reader.written(node.Mark());
  const auto take = [&](const std::string& key, const YAML::Node& value) -> Result<bool> {
    const auto known = std::ranges::find(entry_keys, key, &EntryKey::name);
    if (known == std::end(entry_keys)) {
      return false;
    }
    TRY(one.*known->member, reader.scalar(key, value));
    if (key == "code" && !is_code(one.code)) {
      return reader.problem(
          value.Mark(),
          fmt::format("there is no finding '{}' (heddle config --explain lists them)", one.code)
      );
    }
    return true;
  };
  TRY_VOID(read_keys(reader, "suppress", node, take));
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
  report::Acceptance one;
  one.written = reader.written(node.Mark());
  std::optional<report::Coverage> coverage;
  const auto take = [&](const std::string& key, const YAML::Node& value) -> Result<bool> {
    if (key == "reason") {
      TRY(one.reason, reader.scalar(key, value));
    } else if (key == "program") {
      TRY(one.program, reader.scalar(key, value));
    } else if (key == "coverage") {
      TRY(const std::string name, reader.scalar(key, value));
      coverage = report::find_coverage(name);
      if (!coverage || *coverage == report::Coverage::Exhaustive) {
        return reader.problem(
            value.Mark(),
            fmt::format("'{}' cannot be accepted: one-order, bounded or cut", name)
        );
      }
    } else {
      return false;
    }
    return true;
  };
  TRY_VOID(read_keys(reader, "accept", node, take));
  if (!coverage) {
    return reader.problem(node.Mark(), "state what is accepted: 'coverage: one-order'");
  }
  if (one.reason.empty()) {
    return reader.problem(node.Mark(), "accepting a coverage needs a reason: 'reason: why'");
  }
  one.coverage = *coverage;
  return one;
}

/// Appends what read_one makes of each entry. `example`: of one.
template <class T, class F>
Result<void> read_list(
    const YamlFile& reader,
    std::string_view name,
    std::string_view example,
    const YAML::Node& list,
    const F& read_one,
    std::vector<T>& result
) {
  if (!list.IsSequence() && !list.IsNull()) {
    return reader.problem(list.Mark(), fmt::format("'{}' is a list: '  - {}'", name, example));
  }
  for (const YAML::Node& node : list) {
    TRY(T one, read_one(reader, node));
    result.push_back(std::move(one));
  }
  return {};
}

struct FileContents {
  std::vector<Suppression> entries;
  std::vector<report::Acceptance> accepted;
  std::string baseline; // as written
};

/// Whether a pipe may be read, which a user may type: `--config <(…)`.
enum class NamedBy {
  User,
  Others // a setting; or it was found
};

Result<FileContents> read_yaml(const std::string& file, NamedBy by, bool is_baseline) {
  TRY(const std::string text, by == NamedBy::User ? read_file(file) : read_named_file(file));
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
        TRY_VOID(
            read_list(reader, key, "code: …", pair.second, read_suppression, contents.entries)
        );
      } else if (key == "lint" && !is_baseline) { // lint_settings.h reads them
        if (!pair.second.IsMap()) {
          return reader.problem(pair.second.Mark(), "'lint' is a list of 'option: value'");
        }
      } else if (key == "accept" && !is_baseline) {
        TRY_VOID(read_list(
            reader,
            key,
            "coverage: one-order",
            pair.second,
            read_acceptance,
            contents.accepted
        ));
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
  for (Suppression& one : contents.entries) {
    one.baseline = is_baseline;
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
          "Ignore findings recorded in this baseline (--write-baseline)"
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
    const NamedBy by = options.file.empty() ? NamedBy::Others : NamedBy::User;
    TRY(FileContents contents, read_yaml(file, by, /*is_baseline=*/false));
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
  const auto normal = [&](const std::string& path) {
    return fs::absolute(path, failure).lexically_normal();
  };
  const bool to_be_made = !baseline.empty() && !options.write_baseline.empty() &&
                          normal(baseline) == normal(options.write_baseline) &&
                          !fs::exists(baseline, failure);
  if (!baseline.empty() && !to_be_made) {
    config.baseline = report::shown_path(baseline);
    const NamedBy by = options.baseline.empty() ? NamedBy::Others : NamedBy::User;
    TRY(FileContents contents, read_yaml(baseline, by, /*is_baseline=*/true));
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
  TRY(const FileContents known, read_yaml(file, NamedBy::Others, /*is_baseline=*/true));
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
