// The options of `heddle lint` in files and on the command line, as the checker wants them
// (docs/lint/options.md says what each means).
//
//   request.file_settings = read_lint_settings;
//   TRY(request.settings, parse_lint_settings(options.settings));      // --set NAME=VALUE
#pragma once

#include "base/result.h"
#include "lint/lint.h"

#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// `lint:` of the nearest .heddle.yaml at or above the folder of `source`, then the nearest
/// .heddle-lint there, a file with the same options on its top level.
Result<std::vector<lint::Setting>> read_lint_settings(const std::string& source);

/// Of one file. `section`: the key under which the options stand; empty: on the top level.
Result<std::vector<lint::Setting>>
read_lint_file(const std::string& file, std::string_view section);

/// Each NAME=VALUE or RULE.NAME=VALUE, where VALUE is a text or a list [A, B].
Result<std::vector<lint::Setting>> parse_lint_settings(const std::vector<std::string>& settings);

} // namespace heddle::cli
