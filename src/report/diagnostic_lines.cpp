// Implements diagnostic_lines.h: "key<TAB>value" lines, the first of each diagnostic is its
// finding. Line ends within a value become spaces.
#include "report/diagnostic_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace heddle::report {
namespace {

void put(std::string& to, std::string_view key, std::string value) {
  std::ranges::replace(value, '\n', ' ');
  to += fmt::format("{}\t{}\n", key, value);
}

/// "line<TAB>column<TAB>file"
std::string place_text(const Place& place) {
  return fmt::format("{}\t{}\t{}", place.line, place.column, place.file);
}

std::string_view cut(std::string_view& text, char at) {
  const std::size_t end = std::min(text.find(at), text.size());
  const std::string_view head = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return head;
}

std::uint32_t number(std::string_view text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Place read_place(std::string_view& text) {
  Place place;
  place.line = number(cut(text, '\t'));
  place.column = number(cut(text, '\t'));
  place.file = cut(text, '\t');
  return place;
}

} // namespace

std::string to_lines(const Diagnostic& d) {
  std::string text;
  put(text, "finding", std::string(describe(d.finding).code));
  put(text, "message", d.message);
  put(text, "rule", d.rule);
  if (d.severity != Severity::Error) {
    put(text, "severity", d.severity == Severity::Warning ? "warning" : "note");
  }
  put(text, "place", place_text(d.place));
  for (const Label& label : d.labels) {
    put(text, "label", place_text(label.place) + "\t" + label.text);
  }
  for (const std::string& note : d.notes) {
    put(text, "note", note);
  }
  for (const std::string& help : d.help) {
    put(text, "help", help);
  }
  for (const std::string& thread : d.threads) {
    put(text, "thread", thread);
  }
  for (const std::string& function : d.functions) {
    put(text, "function", function);
  }
  return text;
}

std::vector<Diagnostic> from_lines(std::string_view text) {
  std::vector<Diagnostic> result;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    const std::string_view key = cut(line, '\t');
    if (key == "finding") {
      if (const auto finding = find_finding(line)) {
        result.emplace_back(*finding, "");
      }
      continue;
    }
    if (result.empty()) {
      continue;
    }
    Diagnostic& d = result.back();
    if (key == "message") {
      d.message = line;
    } else if (key == "rule") {
      d.rule = line;
    } else if (key == "severity") {
      d.severity = line == "warning" ? Severity::Warning : Severity::Note;
    } else if (key == "place") {
      d.place = read_place(line);
    } else if (key == "label") {
      const Place place = read_place(line);
      d.labels.push_back({place, std::string(line)});
    } else if (key == "note") {
      d.notes.emplace_back(line);
    } else if (key == "help") {
      d.help.emplace_back(line);
    } else if (key == "thread") {
      d.threads.emplace_back(line);
    } else if (key == "function") {
      d.functions.emplace_back(line);
    }
  }
  return result;
}

} // namespace heddle::report
