// Implements lint_settings.h.
#include "cli/lint/lint_settings.h"

#include "cli/config/yaml_file.h"
#include "cli/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;
using lint::Setting;

/// A set {A, B} of words, which YAML takes for a mapping to nothing.
bool is_set(const YAML::Node& node) {
  return node.IsMap() && node.size() > 0 &&
         std::ranges::all_of(node, [](const auto& pair) { return pair.second.IsNull(); });
}

Result<std::vector<std::string>>
values_of(const YamlFile& file, const std::string& name, const YAML::Node& node) {
  std::vector<std::string> values;
  if (node.IsNull()) {
    return values;
  }
  if (node.IsSequence()) {
    for (const YAML::Node& item : node) {
      TRY(std::string value, file.scalar(name, item));
      values.push_back(std::move(value));
    }
  } else if (is_set(node)) {
    for (const auto& pair : node) {
      values.push_back(pair.first.Scalar());
    }
  } else {
    TRY(std::string value, file.scalar(name, node));
    values.push_back(std::move(value));
  }
  return values;
}

/// The options of `node`, a mapping: those of `rule`, or, if it is empty, those for all rules, with
/// rules and their options under `rules`.
Result<void> read_options(
    const YamlFile& file,
    const YAML::Node& node,
    const std::string& rule,
    std::vector<Setting>& found
) {
  if (!node.IsMap()) {
    return file.problem(node.Mark(), "'option: value' is expected (docs/lint/options.md)");
  }
  for (const auto& pair : node) {
    TRY(const std::string key, file.scalar("an option", pair.first));
    if (key == "rules" && rule.empty()) {
      if (!pair.second.IsMap()) {
        return file.problem(pair.second.Mark(), "'rules' is a list of 'RULE:' with options");
      }
      for (const auto& one : pair.second) {
        TRY(const std::string name, file.scalar("the name of a rule", one.first));
        TRY_VOID(read_options(file, one.second, name, found));
      }
      continue;
    }
    if (pair.second.IsMap() && !is_set(pair.second)) { // a rule without `rules`
      if (!rule.empty()) { // no option is one; and an alias may lie in what it stands for
        return file.problem(
            pair.second.Mark(),
            fmt::format("'{}' needs one word or text, or a list", key)
        );
      }
      TRY_VOID(read_options(file, pair.second, key, found));
      continue;
    }
    Setting one;
    one.name = rule.empty() ? key : rule + "." + key;
    one.written = file.written(pair.first.Mark());
    TRY(one.values, values_of(file, key, pair.second));
    found.push_back(std::move(one));
  }
  return {};
}

} // namespace

Result<std::vector<Setting>> read_lint_file(const std::string& name, std::string_view section) {
  std::vector<Setting> found;
  TRY(const std::string text, read_named_file(name));
  const YamlFile file(name, text);
  try {
    const YAML::Node root = YAML::Load(text);
    const YAML::Node node = section.empty() || !root.IsMap() ? root : root[std::string(section)];
    if (node.IsDefined() && !node.IsNull()) {
      TRY_VOID(read_options(file, node, "", found));
    }
  } catch (const YAML::Exception& failure) {
    return file.problem(failure.mark, failure.msg);
  }
  return found;
}

Result<std::vector<Setting>> read_lint_settings(const std::string& source) {
  std::error_code failure;
  const fs::path folder = fs::absolute(source, failure).parent_path();
  std::vector<Setting> found;
  for (const auto& [name, section] : {std::pair(".heddle.yaml", "lint"), {".heddle-lint", ""}}) {
    if (const std::string file = find_upwards(folder, name); !file.empty()) {
      TRY(std::vector<Setting> more, read_lint_file(file, section));
      found.insert(
          found.end(),
          std::make_move_iterator(more.begin()),
          std::make_move_iterator(more.end())
      );
    }
  }
  return found;
}

Result<std::vector<Setting>> parse_lint_settings(const std::vector<std::string>& settings) {
  std::vector<Setting> found;
  for (const std::string& text : settings) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return input_error(fmt::format("--set {}: NAME=VALUE or RULE.NAME=VALUE", text));
    }
    Setting one{text.substr(0, equals), {}, "--set " + text};
    const std::string value = text.substr(equals + 1);
    if (value.starts_with('[') || value.starts_with('{')) {
      const YamlFile file(one.written, value);
      try {
        TRY(one.values, values_of(file, one.name, YAML::Load(value)));
      } catch (const YAML::Exception& failure) {
        return file.problem(failure.mark, failure.msg);
      }
    } else {
      one.values = {value}; // as it stands: a pattern may begin with *
    }
    found.push_back(std::move(one));
  }
  return found;
}

} // namespace heddle::cli
