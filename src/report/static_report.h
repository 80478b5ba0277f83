// StaticReport: what a checker that reads sources says, in a form that text, JSON and SARIF share.
//
//   StaticReport report;
//   report.rules = {{"thread_synchronization_in_divergent_region", "CUDA-1.14", "…",
//   "docs/lint/…md"}}; report.findings.push_back({.key = "…", .place = {"k.cu", 14, 5}, .message =
//   "…"}); std::string text = render_sarif(report);
//
// A checker that runs programs can use the SARIF renderer too: a Diagnostic's labels are its
// `steps`.
#pragma once

#include "report/diagnostic.h"
#include "report/render.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::report {

/// A range of a source file for tools; columns and lines count from 1.
struct Region {
  std::string file;
  std::uint32_t line = 0, column = 0;
  std::uint32_t end_line = 0, end_column = 0; // end_column: one past the end
  std::uint32_t offset = 0, length = 0;       // bytes

  Place place() const {
    return {file, line, column, end_line == line && end_column > column ? end_column - column : 1};
  }
};

/// Replace `where` by `text`; a length of 0 inserts.
struct Edit {
  Region where;
  std::string text;
};
struct Fix {
  std::string description;
  std::vector<Edit> edits;
};

/// One step of an explanation, in the order of cause and effect.
struct Step {
  Region where;
  std::string text;
};

struct StaticFinding {
  std::string key;  // the message key, stable: "thread_synchronization_in_divergent_region"
  std::string rule; // "CUDA-1.14"
  Severity severity = Severity::Warning;
  Region place;
  std::string message;
  std::string function; // the kernel in which it was found
  std::vector<Step> steps;
  std::vector<Step> related;
  std::vector<std::string> help;
  std::vector<Fix> fixes;
  std::string suppressed;    // the reason that was given; empty: not suppressed
  std::string suppressed_by; // ".heddle.yaml:4"; empty: in the source itself
  std::string fingerprint;   // the same after unrelated edits
};

struct StaticRule {
  std::string key;
  std::string rule;
  std::string name; // "synchronize.active_threads"
  std::string description;
  std::string page; // "docs/lint/cuda-1.14.md"
  Severity severity = Severity::Warning;
};

struct FileTime {
  std::string file;
  double parse_seconds = 0;
  double check_seconds = 0;
  std::uint32_t lines = 0;
  std::uint32_t errors = 0;
  std::string first_error;
  std::uint32_t barriers = 0; // that were judged
};

struct StaticReport {
  std::string tool = "heddle lint";
  std::string version;
  std::string root; // paths are given relative to this folder
  std::vector<StaticRule> rules;
  std::vector<StaticFinding> findings;
  std::vector<FileTime> files;
  std::vector<std::string> notes; // about the check itself: "the search is not complete: …"

  /// Every file was read without an error. If not, findings may be missing.
  bool parsed() const;
  /// Findings that are neither suppressed nor mere advice (Severity::Note): they decide the exit
  /// code.
  std::size_t open_findings() const;
};

/// What `heddle check` has found, in this form. `program` stands where no place is known.
StaticReport as_static(const Report& report, std::string_view program);

std::string render_text(const StaticReport& report, SourceCache& sources, TextStyle style = {});
std::string render_json(const StaticReport& report);
/// A report of `heddle test`: what runs and searches have found, and what rules for sources have.
/// JSON: as for a Report, with "lint", the findings in the form of `heddle lint`.
std::string render_json(const Report& report, const StaticReport& lint);
std::string render_junit(const Report& report, std::string_view program, const StaticReport& lint);
/// Of both, for SARIF.
StaticReport together(const Report& report, std::string_view program, const StaticReport& lint);
/// SARIF 2.1.0, as GitHub code scanning takes it.
std::string render_sarif(const StaticReport& report);

} // namespace heddle::report
