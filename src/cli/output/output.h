// Where a result goes and in which form: what `check`, `run` and `lint` have in common.
#pragma once

#include "base/result.h"
#include "report/diagnostic.h"
#include "report/static_report.h"

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace heddle::cli {

struct OutputOptions {
  std::string format = "text"; // or json, sarif, junit
  std::string file;            // empty, or "-": standard output
};

/// --color and -v, for this process and the program that it starts.
void define_style(CLI::App& command);

/// `report` in the form that is asked for.
std::string
render(const report::Report& report, const OutputOptions& options, std::string_view program);

/// The same, with what rules for sources have found. Not as text.
std::string render(
    const report::Report& report,
    const report::StaticReport& lint,
    const OutputOptions& options,
    std::string_view program
);

/// Input error: the file cannot be written.
Result<void> write_result(std::string_view text, const std::string& file);

} // namespace heddle::cli
