// settings.h: the options of .heddle-lint and of --set, with their documented meaning
// (docs/lint/options.md), and who they apply to.
//
//   TRY(Settings settings, make_settings(given));
//   settings.of(rule).severity
//
// Who reads the files hands over what stands there (lint.h). `post_processing` and `provider` are
// read; a value that names something else than Heddle has is an error, not ignored.
#pragma once

#include "base/result.h"
#include "lint/lint.h"
#include "report/static_report.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle::lint {

struct RuleOptions {
  std::optional<report::Severity> severity;
  bool disabled = false;
  std::vector<std::string> report_at; // only places in files that match one of these
  std::vector<std::string> includes;  // only files that match one of these are looked at
  std::vector<std::string> excludes;
  bool exclude_in_macros = false;
  bool extend_exclude_to_macro_invocations = false;
  bool exclude_messages_in_system_headers = true;
  std::vector<std::string> exclude_messages; // regular expressions
  std::string justification_checker;         // regular expression; empty: any reason will do
  std::vector<std::string> languages = {"cuda"};
  std::set<std::string> synchronization_functions;
  bool every_bypass = false;
};

class Settings {
public:
  /// The options for a finding: those for everything, those of its rule, those of its key.
  RuleOptions of(const std::string& rule, const std::string& key = "") const;
  /// "name" or "RULE.name"; the value as written.
  Result<bool> set(const std::string& name, const std::vector<std::string>& values);

private:
  std::vector<std::tuple<std::string, std::string, std::vector<std::string>>>
      given_; // rule, name, values
};

/// Later ones come over earlier ones. Input error: with the place where it is written.
Result<Settings> make_settings(const std::vector<Setting>& given);

bool equal_names(const std::string& a, const std::string& b); // without regard to case

} // namespace heddle::lint
