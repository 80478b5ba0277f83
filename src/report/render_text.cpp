// Diagnostics as text. The first line is clang's, which editors parse; then the labelled source
// lines, the rule, what it means and what to do.
#include "report/names.h"
#include "report/render.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace heddle::report {
namespace {

struct Paint {
  bool on = false;
  std::string operator()(std::string_view code, std::string_view text) const {
    return on ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
  }
};

constexpr std::string_view bold = "1";
constexpr std::string_view bold_red = "1;31";
constexpr std::string_view bold_magenta = "1;35";
constexpr std::string_view bold_cyan = "1;36";
constexpr std::string_view bold_green = "1;32";

std::string severity_word(Severity severity, std::string_view code, const Paint& paint) {
  switch (severity) {
  case Severity::Warning:
    return paint(bold_magenta, fmt::format("warning[{}]:", code));
  case Severity::Note:
    return paint(bold_cyan, fmt::format("note[{}]:", code));
  case Severity::Error:
    break;
  }
  return paint(bold_red, fmt::format("error[{}]:", code));
}

std::string place_text(const Place& place) {
  return fmt::format(
      "{}:{}:{}",
      shown_path(place.file),
      place.line,
      place.column == 0 ? 1 : place.column
  );
}

bool is_name_character(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Index just past the bracket that closes the one at `open`, or of the end of the line.
std::size_t past_closing_bracket(std::string_view line, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < line.size(); ++i) {
    if (line[i] == '(' || line[i] == '[') {
      ++depth;
    } else if ((line[i] == ')' || line[i] == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return line.size();
}

/// Padding that puts a caret under `column`: tabs stay tabs.
std::string padding_to(std::string_view line, std::uint32_t column) {
  std::string padding;
  for (std::uint32_t i = 0; i + 1 < column; ++i) {
    padding += i < line.size() && line[i] == '\t' ? '\t' : ' ';
  }
  return padding;
}

void append_label(
    std::string& out,
    const Label& label,
    std::string& file, // of the lines shown last
    SourceCache& sources,
    const Paint& paint
) {
  if (!label.place.known()) {
    out += fmt::format("      | {}\n", label.text);
    return;
  }
  const auto line = sources.line(label.place.file, label.place.line);
  if (!line) {
    out += fmt::format("  --> {}: {}\n", place_text(label.place), label.text);
    return;
  }
  if (shown_path(label.place.file) != shown_path(file)) {
    file = label.place.file;
    out += fmt::format("  --> {}\n", place_text(label.place));
  }
  out += fmt::format("{:>5} | {}\n", label.place.line, *line);
  std::uint32_t column = label.place.column;
  if (column == 0 || column > line->size()) {
    const std::size_t first = line->find_first_not_of(" \t");
    column = static_cast<std::uint32_t>(first == std::string_view::npos ? 0 : first) + 1;
  }
  const std::uint32_t length =
      label.place.length != 0 ? label.place.length : expression_length(*line, column);
  out += fmt::format(
      "      | {}{} {}\n",
      padding_to(*line, column),
      paint(bold_green, "^" + std::string(length - 1, '~')),
      label.text
  );
}

std::string_view why_no_verdict(const Report& report) {
  const bool gap = std::ranges::any_of(report.findings, [](const Diagnostic& d) {
    return d.finding == Finding::Unsupported;
  });
  return gap ? "uses what Heddle does not implement" : "is not the same when it is repeated";
}

} // namespace

std::string shown_path(const std::string& file) {
  std::error_code failure;
  const std::string here = std::filesystem::current_path(failure).string() + "/";
  return !failure && file.starts_with(here) ? file.substr(here.size()) : file;
}

std::optional<std::string_view> SourceCache::line(const std::string& file, std::uint32_t number) {
  auto [entry, is_new] = files_.try_emplace(file);
  if (is_new) {
    std::ifstream in(file);
    for (std::string text; std::getline(in, text);) {
      if (!text.empty() && text.back() == '\r') {
        text.pop_back();
      }
      entry->second.push_back(std::move(text));
    }
  }
  if (number == 0 || number > entry->second.size()) {
    return std::nullopt;
  }
  return entry->second[number - 1];
}

bool use_colour(int file_descriptor) {
  if (const char* wanted =
          std::getenv("HEDDLE_COLOR")) { // --color, also for a program that we start
    const std::string_view word = wanted;
    if (word == "always" || word == "never") {
      return word == "always";
    }
  }
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(file_descriptor) != 0 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

bool use_whole_names() {
  const char* verbose = std::getenv("HEDDLE_VERBOSE");
  return verbose != nullptr && *verbose != '\0';
}

std::uint32_t expression_length(std::string_view line, std::uint32_t column) {
  if (column == 0 || column > line.size()) {
    return 1;
  }
  const std::size_t start = column - 1;
  std::size_t i = start;
  // A statement: `while (…)` with its condition, `return …` up to the semicolon.
  for (const std::string_view keyword : {"while", "if", "for", "switch"}) {
    const std::size_t open = line.find_first_not_of(' ', start + keyword.size());
    if (line.substr(start).starts_with(keyword) && open != std::string_view::npos &&
        line[open] == '(') {
      return static_cast<std::uint32_t>(past_closing_bracket(line, open) - start);
    }
  }
  if (line.substr(start).starts_with("return ")) {
    return static_cast<std::uint32_t>(std::min(line.find(';', start), line.size()) - start);
  }
  while (i < line.size() &&
         (line[i] == '*' || line[i] == '&' || line[i] == '!' || line[i] == '~')) {
    ++i; // prefix operators
  }
  while (i < line.size()) {
    const std::string_view rest = line.substr(i);
    if (is_name_character(line[i])) {
      ++i;
    } else if (rest.starts_with("->") || rest.starts_with("::")) {
      i += 2;
    } else if (line[i] == '.') {
      ++i;
    } else if (i > start && (line[i] == '(' || line[i] == '[')) {
      i = past_closing_bracket(line, i);
    } else if (rest.starts_with("<<<") && rest.find(">>>") != std::string_view::npos) {
      i += rest.find(">>>") + 3; // a kernel launch
    } else {
      break;
    }
  }
  return static_cast<std::uint32_t>(std::max<std::size_t>(i - start, 1));
}

std::string with_thousands(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

/// The diagnostic with its names as the style has them.
static Diagnostic in_style(Diagnostic d, const TextStyle& style) {
  if (style.whole_names) {
    return d;
  }
  d.message = shortened_names(d.message);
  for (Label& label : d.labels) {
    label.text = shortened_names(label.text);
  }
  for (std::string& note : d.notes) {
    note = shortened_names(note);
  }
  return d;
}

std::string render_headline(const Diagnostic& d, TextStyle style) {
  const Paint paint{style.colour};
  return fmt::format(
      "{} {} {}\n",
      paint(bold, (d.place.known() ? place_text(d.place) : "heddle") + ":"),
      severity_word(d.severity, describe(d.finding).code, paint),
      paint(bold, style.whole_names ? d.message : shortened_names(d.message))
  );
}

std::string render_text(const Diagnostic& whole, SourceCache& sources, TextStyle style) {
  const Diagnostic d = in_style(whole, style);
  const Paint paint{style.colour};
  std::string file = d.place.file;
  std::string out = render_headline(whole, style);
  if (d.labels.empty() && d.place.known() && sources.line(d.place.file, d.place.line)) {
    append_label(out, {d.place, ""}, file, sources, paint);
    out.erase(out.size() - 2, 1); // no blank after the caret
  }
  for (const Label& label : d.labels) {
    append_label(out, label, file, sources, paint);
  }
  out += fmt::format("  = rule: [{}] {}\n", d.rule_id(), rule_text(d.rule_id()));
  for (const std::string& note : d.notes) {
    out += fmt::format("  = {}\n", note);
  }
  for (const std::string& help : d.help) {
    out += fmt::format("  = {} {}\n", paint(bold, "help:"), help);
  }
  if (!d.searched.empty() || !d.replay.empty()) {
    out += "  ";
    if (!d.searched.empty()) {
      out += fmt::format("= searched: {}{}", d.searched, d.replay.empty() ? "" : "   ");
    }
    if (!d.replay.empty()) {
      out += fmt::format("= replay: heddle replay {}", d.replay);
    }
    out += '\n';
  }
  return out;
}

std::string describe_suppressed(const Diagnostic& d) {
  return fmt::format(
      "{}{} by {}: {}",
      describe(d.finding).code,
      d.place.known() ? " at " + place_text(d.place) : "",
      d.suppressed_by,
      d.suppressed
  );
}

std::string describe(const Report::Schedules& schedules) {
  std::string text = fmt::format(
      "{} single schedules with {} steps: random ones, and ones that starve chosen threads",
      with_thousands(schedules.tried),
      with_thousands(schedules.steps)
  );
  if (schedules.cut_off > 0) {
    text += fmt::format("; {} of them were cut off", with_thousands(schedules.cut_off));
  }
  return text;
}

namespace {

/// What was not looked at comes before what was.
void append_left_out(std::string& out, const Claims& claims) {
  if (claims.left_out().empty() && claims.coverage() == Coverage::Cut) {
    out += "  = ended early: not every state was searched\n";
  }
  for (const LeftOut& one : claims.left_out()) {
    if (one.coverage == Coverage::Cut) {
      out += fmt::format("  = ended early: {}\n", one.what);
    } else {
      out += fmt::format(
          "  = not looked at: {}{}\n",
          one.what,
          one.with.empty() ? "" : fmt::format("; {} looks at it", one.with)
      );
    }
    if (!one.accepted.empty()) {
      out += fmt::format("    accepted by {}: {}\n", one.accepted_by, one.accepted);
    }
  }
}

std::string one_execution(const Report& report, std::string_view program) {
  return fmt::format(
      "{}: {}: {} finding{} in one execution, exit status {}\n",
      program,
      name(report.verdict()),
      report.findings.size(),
      report.findings.size() == 1 ? "" : "s",
      *report.exit_status
  );
}

} // namespace

std::string
render_text(const Report& report, std::string_view program, SourceCache& sources, TextStyle style) {
  const Paint paint{style.colour};
  std::string out;
  for (const Diagnostic& d : report.findings) {
    out += render_text(d, sources, style);
    out += '\n';
  }
  const std::string bounds = fmt::format(
      "{}{} states{}",
      report.bounds.empty() ? ""
      : style.whole_names   ? report.bounds + ", "
                            : shortened_names(report.bounds) + ", ",
      with_thousands(report.states),
      report.lockstep
          ? fmt::format(", and {} with lockstep warps", with_thousands(report.lockstep->states))
          : ""
  );
  switch (report.verdict()) {
  case Verdict::Clean:
  case Verdict::Hang:
    out += one_execution(report, program);
    break;
  case Verdict::Suppressed:
    out += report.exit_status
               ? one_execution(report, program)
               : fmt::format("{}: no other defect than suppressed ones: {}\n", program, bounds);
    break;
  case Verdict::Terminates:
    out += fmt::format("{}: terminates under every schedule: {}, exhaustive\n", program, bounds);
    if (report.schedules.tried > 0) {
      out += fmt::format("  = in other orders: {}\n", describe(report.schedules));
    }
    for (const std::string& rule : report.rests_on) {
      out += fmt::format("  = rests on: [{}] {}\n", rule, rule_text(rule));
    }
    break;
  case Verdict::Unknown:
    if (report.exit_status) {
      out += one_execution(report, program);
      break;
    }
    if (report.exit_code() == exit_code::unsupported) {
      out += fmt::format("{}: no verdict: the program {}\n", program, why_no_verdict(report));
      append_left_out(out, report.claims);
    } else {
      out += fmt::format("{}: no defect found, but not everything was looked at\n", program);
      append_left_out(out, report.claims);
      out += fmt::format("  = looked at: {}\n", bounds);
    }
    if (report.schedules.tried > 0) {
      out += fmt::format("  = after that: {}\n", describe(report.schedules));
    }
    break;
  case Verdict::MayHang:
  case Verdict::Defect:
    if (report.exit_status) {
      out += one_execution(report, program);
      break;
    }
    out += fmt::format(
        "{}: {}: {} finding{} ({}{})\n",
        program,
        report.verdict() == Verdict::MayHang ? "may hang" : "defect",
        report.findings.size(),
        report.findings.size() == 1 ? "" : "s",
        bounds,
        report.is_exhaustive() ? ", exhaustive" : ", not everything was looked at"
    );
    append_left_out(out, report.claims);
    break;
  }
  for (const std::string& warning : report.warnings) {
    out += fmt::format("  = {} {}\n", paint(bold_magenta, "warning:"), warning);
  }
  for (const Diagnostic& d : report.suppressed) {
    out += fmt::format("  = suppressed: {}\n", describe_suppressed(d));
  }
  for (const std::string& note : report.notes) {
    out += fmt::format("  = note: {}\n", note);
  }
  return out;
}

} // namespace heddle::report
