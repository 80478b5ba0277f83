// Diagnostics and reports as text for people and editors, and as JSON for programs.
#pragma once

#include "report/diagnostic.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::report {

/// Source files, read once; a file that cannot be read has no lines.
class SourceCache {
public:
  /// Line `number` (from 1) of `file` without its newline.
  std::optional<std::string_view> line(const std::string& file, std::uint32_t number);

private:
  std::map<std::string, std::vector<std::string>> files_;
};

/// Relative to the working directory, where it lies in it: compilers record absolute paths; people
/// and editors want what they would type here.
std::string shown_path(const std::string& file);

struct TextStyle {
  bool colour = false;
  bool whole_names = false; // of templates: else shortened (names.h)
};
/// As HEDDLE_COLOR says (always, never); else only on a terminal, and not if NO_COLOR or TERM=dumb
/// asks for none.
bool use_colour(int file_descriptor);
/// HEDDLE_VERBOSE asks for them (-v).
bool use_whole_names();

/// Place, severity and message: one line, ended by a newline.
std::string render_headline(const Diagnostic& diagnostic, TextStyle style = {});
/// The diagnostic as several lines, each ended by a newline.
std::string render_text(const Diagnostic& diagnostic, SourceCache& sources, TextStyle style = {});
/// Every finding and then the verdict with its bounds.
std::string render_text(
    const Report& report,
    std::string_view program,
    SourceCache& sources,
    TextStyle style = {}
);
/// {"verdict", "complete", "findings", "states", "executions", "seconds", "bounds"} and a newline.
std::string render_json(const Report& report);

/// A JUnit test suite with one case for each finding, or one that has passed: what CI servers read.
/// A verdict that is neither clean nor a defect is an error of the case.
std::string render_junit(const Report& report, std::string_view program);

/// Columns from `column` (from 1) to the end of the expression that begins there, at least 1. Used
/// where a compiler tells the start of an expression but not its end; it may underline too little
/// (it knows names, members, subscripts and calls), never another line.
std::uint32_t expression_length(std::string_view line, std::uint32_t column);

/// "1,204"
std::string with_thousands(std::uint64_t value);
/// "data-race at a.cu:5:3 by .heddle.yaml:4: the counts are approximate"
std::string describe_suppressed(const Diagnostic& diagnostic);
/// "1,024 single schedules with 34,567 steps, …"
std::string describe(const Report::Schedules& schedules);

} // namespace heddle::report
