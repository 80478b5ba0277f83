// Implements suite.h, but for what is JSON (render_suite_json.cpp) and JUnit (render_junit.cpp).
#include "report/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

namespace heddle::report {

std::size_t SuiteReport::as_expected() const {
  return static_cast<std::size_t>(std::ranges::count_if(results, &SuiteResult::as_expected));
}

int SuiteReport::exit_code() const {
  constexpr std::array in_this_order{
      exit_code::internal,
      exit_code::defect,
      exit_code::usage,
      exit_code::unsupported
  };
  std::set<int> codes;
  for (const SuiteResult& result : results) {
    if (!result.as_expected) {
      // What is clean, and was expected not to be, is a defect of the suite.
      codes.insert(result.exit_code == exit_code::clean ? exit_code::defect : result.exit_code);
    }
  }
  if (codes.empty()) {
    return exit_code::clean;
  }
  for (const int code : in_this_order) {
    if (codes.contains(code)) {
      return code;
    }
  }
  return *codes.begin();
}

bool is_as_expected(const Report& report, const std::vector<std::string>& expected) {
  if (expected.size() == 1 && expected.front() == name(report.verdict())) {
    return true;
  }
  std::set<std::string> found;
  for (const Diagnostic& d : report.findings) {
    if (d.severity != Severity::Note) {
      found.emplace(describe(d.finding).code);
    }
  }
  return !found.empty() && found == std::set<std::string>(expected.begin(), expected.end());
}

void mark_expected(Report& report, const std::string& written) {
  for (Diagnostic& d : report.findings) {
    d.suppressed = fmt::format("expected by {}", written);
    d.suppressed_by = written;
  }
}

std::string render_text(const SuiteReport& suite) {
  std::string text;
  for (const SuiteResult& result : suite.results) {
    const std::string_view verdict =
        result.verdict.empty() ? std::string_view("not checked") : result.verdict;
    if (result.as_expected) {
      text += fmt::format("{}: {}, as expected\n", result.name, verdict);
      continue;
    }
    text += fmt::format(
        "{}: {}, expected: {}\n",
        result.name,
        verdict,
        fmt::join(result.expected, ", ")
    );
    text += result.error.empty() ? result.text : fmt::format("  {}\n", result.error);
  }
  return text + fmt::format(
                    "{} of {} programs as expected ({})\n",
                    suite.as_expected(),
                    suite.results.size(),
                    suite.file
                );
}

} // namespace heddle::report
