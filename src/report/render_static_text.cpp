// StaticReport as text: clang's shape, which editors parse, and a last line with what was read.
#include "report/static_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace heddle::report {
namespace {

std::string paint(bool colour, std::string_view code, std::string_view text) {
  return colour ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

void append_place(
    std::string& out,
    const Region& at,
    std::string_view kind,
    std::string_view text,
    SourceCache& sources,
    TextStyle style
) {
  out +=
      paint(style.colour, "1", fmt::format("{}:{}:{}:", shown_path(at.file), at.line, at.column));
  out += fmt::format(" {} {}\n", kind, text);
  const auto line = sources.line(at.file, at.line);
  if (!line) {
    return;
  }
  std::string padding;
  for (std::uint32_t i = 0; i + 1 < at.column; ++i) {
    padding += i < line->size() && (*line)[i] == '\t' ? '\t' : ' ';
  }
  const std::size_t most = at.column <= line->size() ? line->size() - at.column + 1 : 1;
  const std::size_t length = std::clamp<std::size_t>(at.place().length, 1, most);
  out += fmt::format(
      "{:>5} | {}\n      | {}{}\n",
      at.line,
      *line,
      padding,
      paint(style.colour, "1;32", "^" + std::string(length - 1, '~'))
  );
}

} // namespace

bool StaticReport::parsed() const {
  return std::ranges::all_of(files, [](const FileTime& file) { return file.errors == 0; });
}

std::size_t StaticReport::open_findings() const {
  return static_cast<std::size_t>(std::ranges::count_if(findings, [](const StaticFinding& one) {
    return one.suppressed.empty() && one.severity != Severity::Note;
  }));
}

std::string render_text(const StaticReport& report, SourceCache& sources, TextStyle style) {
  std::string out;
  for (const StaticFinding& finding : report.findings) {
    if (!finding.suppressed.empty()) {
      continue;
    }
    const std::string kind =
        finding.severity == Severity::Error     ? paint(style.colour, "1;31", "error:")
        : finding.severity == Severity::Warning ? paint(style.colour, "1;35", "warning:")
                                                : paint(style.colour, "1;36", "remark:");
    append_place(
        out,
        finding.place,
        kind,
        fmt::format("{} [{}, {}]", finding.message, finding.key, finding.rule),
        sources,
        style
    );
    for (const Step& step : finding.steps) {
      append_place(
          out,
          step.where,
          paint(style.colour, "1;36", "note:"),
          step.text,
          sources,
          style
      );
    }
    for (const Step& step : finding.related) {
      append_place(
          out,
          step.where,
          paint(style.colour, "1;36", "note:"),
          step.text,
          sources,
          style
      );
    }
    for (const std::string& help : finding.help) {
      out += fmt::format("  = help: {}\n", help);
    }
  }
  return out;
}

} // namespace heddle::report
