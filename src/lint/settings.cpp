#include "lint/settings.h"

#include "base/regular_expression.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::lint {
namespace {

bool is_rule(const std::string& name) {
  return std::ranges::any_of(all_rules(), [&](const report::StaticRule& rule) {
    return equal_names(rule.rule, name) || rule.key == name;
  });
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
    if (!RegularExpression::read(pattern)) {
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

Result<Settings> make_settings(const std::vector<Setting>& given) {
  Settings settings;
  for (const Setting& one : given) {
    if (auto done = settings.set(one.name, one.values); !done) {
      return input_error(fmt::format("{}: {}", one.written, done.error().message));
    }
  }
  return settings;
}

} // namespace heddle::lint
