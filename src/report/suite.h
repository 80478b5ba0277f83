// A suite: many programs that were checked, each with what was expected of it; one report of all.
//
//   SuiteReport suite{.file = "suite.yaml", .results = {…}};
//   std::string text = render_json(suite);
//
// What has been found of one program travels between processes as one string (encode, decode).
#pragma once

#include "report/diagnostic.h"
#include "report/render.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::report {

/// What one program was found to do, in the words of all the forms that a report may take.
struct SuiteResult {
  std::string name;                  // unique in its suite
  std::vector<std::string> expected; // a verdict, or the codes of what must be found
  std::string verdict;               // empty: it could not be checked, `error` says why
  std::string error;
  bool as_expected = false;
  int exit_code = 0; // of the check by itself
  double seconds = 0;
  std::string text, json, sarif; // the report of the program
  // Names everything that it rests on; empty: it is not to be taken for the result of another time.
  std::string identity;
  bool operator==(const SuiteResult&) const = default;
};

struct SuiteReport {
  std::string file;                 // as shown to users
  std::vector<SuiteResult> results; // in the order of the file
  double seconds = 0;

  std::size_t as_expected() const;
  /// 0: everything is as expected. Else of those that are not: 1 if a verdict differs, 2 if a
  /// program could not be checked, 3 if something is not supported, 4 if a limit was reached.
  int exit_code() const;
};

/// Is that what was expected? One word that is a verdict, or all codes of findings that count, and
/// no others.
bool is_as_expected(const Report& report, const std::vector<std::string>& expected);
/// The findings do not count in SARIF: they are what the suite expects.
void mark_expected(Report& report, const std::string& written);

std::string encode(const SuiteResult& result);
/// Nothing if it is none: whoever was to write it has been ended.
std::optional<SuiteResult> decode_suite_result(std::string_view text);

std::string render_text(const SuiteReport& suite);
std::string render_json(const SuiteReport& suite);
std::string render_sarif(const SuiteReport& suite);
std::string render_junit(const SuiteReport& suite);

} // namespace heddle::report
