// Implements explain.h. The pages are in the program: pages.cmake makes a table of them.
#include "cli/output/explain.h"

#include "base/result.h"
#include "cli/commands.h"
#include "cli/options/suggestion.h"
#include "report/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace heddle::cli {
namespace {

struct PageOfFinding {
  std::string_view code, text;
};
constexpr PageOfFinding pages_of_findings[] = {
#include "cli/pages_of_findings.inc"
};

} // namespace

std::string_view page_of_finding(std::string_view code) {
  const auto* const found = std::ranges::find(pages_of_findings, code, &PageOfFinding::code);
  return found == std::end(pages_of_findings) ? std::string_view() : found->text;
}

std::vector<std::string> codes_with_pages() {
  std::vector<std::string> codes;
  for (const PageOfFinding& page : pages_of_findings) {
    codes.emplace_back(page.code);
  }
  return codes;
}

int explain_command(const std::string& code) {
  if (code.empty()) {
    for (const std::string& one : codes_with_pages()) {
      const auto finding = report::find_finding(one);
      fmt::print("{:<24} {}\n", one, finding ? report::describe(*finding).description : "");
    }
    return 0;
  }
  if (const std::string_view page = page_of_finding(code); !page.empty()) {
    fmt::print("{}", page);
    return 0;
  }
  if (const std::string close = suggestion(code, codes_with_pages()); !close.empty()) {
    return report_error({ErrorKind::Input, fmt::format("there is no finding '{}'{}", code, close)});
  }
  return lint_command({"--explain", code});
}

} // namespace heddle::cli
