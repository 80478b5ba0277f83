#include "lint/settings.h"

#include "lint/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

namespace heddle::lint {
namespace {

namespace fs = std::filesystem;

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) {
    return "";
  }
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

std::string unquoted(std::string text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front()) {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

std::vector<std::string> list_of(const std::string& value) {
  if (value.size() >= 2 && (value.front() == '[' || value.front() == '{') &&
      (value.back() == ']' || value.back() == '}')) {
    std::vector<std::string> items;
    std::string item;
    char quote = 0;
    for (const char c : value.substr(1, value.size() - 2) + ",") {
      if (c == ',' && quote == 0) {
        if (const std::string one = unquoted(trimmed(item)); !one.empty()) {
          items.push_back(one);
        }
        item.clear();
        continue;
      }
      if (c == '"' || c == '\'') {
        quote = quote == 0 ? c : quote == c ? 0 : quote;
      }
      item += c;
    }
    return items;
  }
  return {unquoted(value)};
}

/// A comment begins at a # that follows a blank or nothing.
std::string without_comment(const std::string& line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' || line[i] == '\'') {
      quote = quote == 0 ? line[i] : quote == line[i] ? 0 : quote;
    } else if (
        line[i] == '#' && quote == 0 && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')
    ) {
      return line.substr(0, i);
    }
  }
  return line;
}

bool is_rule(const std::string& name) {
  return std::ranges::any_of(all_rules(), [&](const report::StaticRule& rule) {
    return equal_names(rule.rule, name) || rule.key == name;
  });
}

Result<Settings> parse(const std::string& file, Settings settings) {
  std::ifstream in(file);
  if (!in || !fs::is_regular_file(file)) {
    return input_error(fmt::format("{}: the configuration cannot be read", file));
  }
  std::string line;
  struct Level {
    std::size_t indent;
    std::string name;
  };
  std::vector<Level> path;
  std::string pending; // the option that "- item" lines belong to
  std::string pending_rule;
  std::size_t pending_indent = 0;
  std::vector<std::string> items;
  std::size_t number = 0;
  const auto problem = [&](const std::string& text) {
    return input_error(fmt::format("{}:{}: {}", file, number, text));
  };
  const auto flush = [&]() -> Result<bool> {
    if (pending.empty()) {
      return true;
    }
    const std::string name = pending_rule.empty() ? pending : pending_rule + "." + pending;
    pending.clear();
    return settings.set(name, items);
  };
  while (std::getline(in, line)) {
    ++number;
    line = without_comment(line);
    const std::string text = trimmed(line);
    if (text.empty() || text == "---") {
      continue;
    }
    const std::size_t indent = line.find_first_not_of(' ');
    if (line.find('\t') < indent + 1 && line[indent] == '\t') {
      return problem("YAML does not allow tabs for indentation");
    }
    if (text.starts_with("- ") && !pending.empty() && indent >= pending_indent) {
      items.push_back(unquoted(trimmed(text.substr(2))));
      continue;
    }
    if (auto done = flush(); !done) {
      return problem(done.error().message);
    }
    while (!path.empty() && path.back().indent >= indent) {
      path.pop_back();
    }
    const std::size_t colon = text.find(": ") != std::string::npos ? text.find(": ")
                              : text.ends_with(":")                ? text.size() - 1
                                                                   : std::string::npos;
    if (colon == std::string::npos) {
      return problem(fmt::format("'{}' is neither 'name: value' nor '- item'", text));
    }
    const std::string name = unquoted(trimmed(text.substr(0, colon)));
    const std::string value = trimmed(text.substr(colon + 1));
    std::string rule;
    for (const Level& level : path) {
      rule = level.name == "rules" ? rule : level.name;
    }
    if (value.empty()) {
      if (name == "rules" || is_rule(name)) {
        path.push_back({indent, name});
      } else if (!path.empty() && path.back().name == "rules") {
        return problem(fmt::format("there is no rule '{}' (heddle lint --list-rules)", name));
      } else {
        pending = name;
        pending_rule = rule;
        pending_indent = indent;
        items.clear();
      }
      continue;
    }
    if (auto done = settings.set(rule.empty() ? name : rule + "." + name, list_of(value)); !done) {
      return problem(done.error().message);
    }
  }
  if (auto done = flush(); !done) {
    return problem(done.error().message);
  }
  return settings;
}

Result<bool> boolean(const std::string& name, const std::string& value) {
  if (equal_names(value, "true") || value == "1" || equal_names(value, "yes")) {
    return true;
  }
  if (equal_names(value, "false") || value == "0" || equal_names(value, "no")) {
    return false;
  }
  return input_error(fmt::format("{} is true or false, not '{}'", name, value));
}

Result<report::Severity> severity(const std::string& value) {
  if (equal_names(value, "error")) {
    return report::Severity::Error;
  }
  if (equal_names(value, "warning")) {
    return report::Severity::Warning;
  }
  if (equal_names(value, "note") || equal_names(value, "remark") ||
      equal_names(value, "advisory")) {
    return report::Severity::Note;
  }
  return input_error(fmt::format("severity is error, warning or note, not '{}'", value));
}

Result<bool>
apply(RuleOptions& to, const std::string& name, const std::vector<std::string>& values) {
  const std::string first = values.empty() ? "" : values.front();
  if (name == "severity") {
    if (equal_names(first, "none")) {
      to.severity.reset();
    } else {
      TRY(to.severity, severity(first));
    }
  } else if (name == "disabled") {
    TRY(to.disabled, boolean(name, first));
  } else if (name == "report_at") {
    to.report_at = values;
  } else if (name == "includes") {
    to.includes = values;
  } else if (name == "excludes") {
    to.excludes = values;
  } else if (name == "exclude_in_macros") {
    TRY(to.exclude_in_macros, boolean(name, first));
  } else if (name == "extend_exclude_to_macro_invocations") {
    TRY(to.extend_exclude_to_macro_invocations, boolean(name, first));
  } else if (name == "exclude_messages_in_system_headers") {
    TRY(to.exclude_messages_in_system_headers, boolean(name, first));
  } else if (name == "exclude_messages") {
    to.exclude_messages = values;
  } else if (name == "justification_checker") {
    to.justification_checker = first;
  } else if (name == "languages") {
    to.languages = values;
  } else if (name == "synchronization_functions") {
    to.synchronization_functions = {values.begin(), values.end()};
  } else if (name == "every_bypass") {
    TRY(to.every_bypass, boolean(name, first));
  } else if (name == "post_processing") {
    if (!first.empty() && !equal_names(first, "none")) {
      return input_error(fmt::format("post_processing: Heddle has no step '{}' (none)", first));
    }
  } else if (name == "provider") {
    if (!first.empty() && !equal_names(first, "heddle") && !equal_names(first, "none")) {
      return input_error(
          fmt::format("provider: Heddle knows no provider of findings '{}' (heddle)", first)
      );
    }
  } else {
    return input_error(fmt::format("there is no option '{}'", name));
  }
  for (const std::string& pattern : name == "exclude_messages" || name == "justification_checker"
                                        ? values
                                        : std::vector<std::string>()) {
    try {
      const std::regex compiled(pattern);
    } catch (const std::regex_error&) {
      return input_error(fmt::format("{}: '{}' is not a regular expression", name, pattern));
    }
  }
  return true;
}

} // namespace

bool equal_names(const std::string& a, const std::string& b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

Result<bool> Settings::set(const std::string& name, const std::vector<std::string>& values) {
  // The rule itself may contain dots: CUDA-1.14.severity
  const std::size_t dot = name.rfind('.');
  std::string rule;
  std::string option = name;
  if (dot != std::string::npos) {
    rule = name.substr(0, dot);
    option = name.substr(dot + 1);
    if (!is_rule(rule)) {
      return input_error(fmt::format("there is no rule '{}' (heddle lint --list-rules)", rule));
    }
  }
  RuleOptions probe;
  TRY_VOID(apply(probe, option, values));
  given_.emplace_back(rule, option, values);
  return true;
}

RuleOptions Settings::of(const std::string& rule, const std::string& key) const {
  RuleOptions result;
  for (int round = 0; round < 3; ++round) {
    for (const auto& [whose, name, values] : given_) {
      const bool applies = round == 0   ? whose.empty()
                           : round == 1 ? equal_names(whose, rule)
                                        : !key.empty() && whose == key;
      if (applies) {
        (void)apply(result, name, values); // checked when it was set
      }
    }
  }
  return result;
}

Result<Settings> read_settings(const std::string& file, const std::vector<std::string>& overrides) {
  Settings settings;
  std::error_code failure;
  fs::path folder = fs::absolute(file, failure).parent_path();
  for (; !failure; folder = folder.parent_path()) {
    const fs::path candidate = folder / ".heddle-lint";
    if (fs::exists(candidate, failure)) {
      TRY(settings, parse(candidate.string(), std::move(settings)));
      break;
    }
    if (folder == folder.root_path()) {
      break;
    }
  }
  for (const std::string& one : overrides) {
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos) {
      return input_error(fmt::format("--set {}: NAME=VALUE or RULE.NAME=VALUE", one));
    }
    TRY_VOID(settings.set(one.substr(0, equals), list_of(one.substr(equals + 1))));
  }
  return settings;
}

} // namespace heddle::lint
