// Reports as JUnit XML, which CI servers show as tests. The form knows tests that pass, fail or
// have an error, and nothing else: so each finding is a test that fails, and a program without any
// is one that passes. Readers of the form differ; only what all of them know is used.
#include "report/render.h"
#include "report/static_report.h"
#include "report/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace heddle::report {
namespace {

/// For text and attributes; XML has no place for other control characters.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\n':
      out += "&#10;";
      break;
    default:
      out += static_cast<unsigned char>(c) < ' ' && c != '\t' ? '?' : c;
    }
  }
  return out;
}

std::string case_name(const Diagnostic& d) {
  return d.place.known()
             ? fmt::format("{} at {}:{}", describe(d.finding).code, d.place.file, d.place.line)
             : std::string(describe(d.finding).code);
}

/// A rule that a source breaks.
std::string case_of(const StaticFinding& finding, std::string_view program, bool fails) {
  const std::string text = fmt::format(
      "{}:{}:{}: {} [{}]",
      shown_path(finding.place.file),
      finding.place.line,
      finding.place.column,
      finding.message,
      finding.key
  );
  return fmt::format(
      "    <testcase classname=\"{}\" name=\"{} at {}:{}\">\n      {}\n    </testcase>\n",
      escaped(program),
      escaped(finding.key),
      escaped(shown_path(finding.place.file)),
      finding.place.line,
      fails ? fmt::format(
                  "<failure type=\"{}\" message=\"{}\"/>",
                  escaped(finding.key),
                  escaped(text)
              )
            : fmt::format("<system-out>{}</system-out>", escaped(text))
  );
}

std::string junit(
    const Report& report,
    std::string_view program,
    std::string_view suite,
    const std::vector<StaticFinding>& lint
) {
  const Verdict verdict = report.verdict();
  const bool clean =
      verdict == Verdict::Terminates || verdict == Verdict::Clean || verdict == Verdict::Suppressed;
  SourceCache sources;
  std::string cases;
  std::size_t failures = 0;
  for (const Diagnostic& d : report.findings) {
    const bool fails = d.severity == Severity::Error;
    failures += fails ? 1 : 0;
    const std::string text = render_text(d, sources);
    cases += fmt::format(
        "    <testcase classname=\"{}\" name=\"{}\">\n      {}\n    </testcase>\n",
        escaped(program),
        escaped(case_name(d)),
        fails ? fmt::format(
                    "<failure type=\"{}\" message=\"{}\">{}</failure>",
                    describe(d.finding).code,
                    escaped(d.message),
                    escaped(text)
                )
              : fmt::format("<system-out>{}</system-out>", escaped(text))
    );
  }
  for (const Diagnostic& d : report.suppressed) {
    cases += fmt::format(
        "    <testcase classname=\"{}\" name=\"{}\">\n      <skipped message=\"{}\"/>\n    "
        "</testcase>\n",
        escaped(program),
        escaped(case_name(d)),
        escaped("suppressed: " + d.suppressed)
    );
  }
  for (const StaticFinding& finding : lint) {
    const bool fails = finding.suppressed.empty() && finding.severity != Severity::Note;
    failures += fails ? 1 : 0;
    cases += case_of(finding, program, fails);
  }
  const bool error = !clean && failures == 0;
  if (failures == 0) {
    std::string why(name(verdict));
    for (const LeftOut& one : report.claims.left_out()) {
      why += ": " + one.what;
    }
    cases += fmt::format(
        "    <testcase classname=\"{0}\" name=\"{0}\" time=\"{1:.3f}\">{2}</testcase>\n",
        escaped(program),
        report.seconds,
        error ? fmt::format("<error type=\"{}\" message=\"{}\"/>", name(verdict), escaped(why)) : ""
    );
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" "
      "tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n{}  </testsuite>\n</testsuites>\n",
      suite,
      report.findings.size() + report.suppressed.size() + lint.size() + (failures == 0 ? 1 : 0),
      failures,
      error ? 1 : 0,
      report.seconds,
      cases
  );
}

} // namespace

std::string render_junit(const Report& report, std::string_view program) {
  return junit(report, program, report.exit_status ? "heddle run" : "heddle check", {});
}

std::string render_junit(const Report& report, std::string_view program, const StaticReport& lint) {
  return junit(report, program, "heddle", lint.findings);
}

/// A test for each program, which passes if the verdict is the expected one.
std::string render_junit(const SuiteReport& suite) {
  std::string cases;
  std::size_t errors = 0;
  for (const SuiteResult& result : suite.results) {
    const bool error = result.verdict.empty();
    errors += error ? 1 : 0;
    const std::string message =
        error ? result.error
              : fmt::format("{}, expected: {}", result.verdict, fmt::join(result.expected, ", "));
    cases += fmt::format(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">{}</testcase>\n",
        escaped(suite.file),
        escaped(result.name),
        result.seconds,
        result.as_expected ? ""
                           : fmt::format(
                                 "<{0} type=\"{1}\" message=\"{2}\">{3}</{0}>",
                                 error ? "error" : "failure",
                                 error ? "not-checked" : result.verdict,
                                 escaped(message),
                                 escaped(result.text)
                             )
    );
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" "
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n{}  </testsuite>\n"
      "</testsuites>\n",
      escaped(suite.file),
      suite.results.size(),
      suite.results.size() - suite.as_expected() - errors,
      errors,
      suite.seconds,
      cases
  );
}

} // namespace heddle::report
