// Implements same_race.h.
#include "cli/run/same_race.h"

#include "report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

namespace heddle::cli {

using report::Diagnostic;
using report::Finding;
using report::Label;
using report::Place;

bool same_line(const Place& a, const Place& b) {
  if (!a.known() || !b.known() || a.line != b.line) {
    return false;
  }
  std::error_code failure;
  return a.file == b.file || report::shown_path(a.file) == report::shown_path(b.file) ||
         std::filesystem::equivalent(a.file, b.file, failure);
}

bool names_line(const Diagnostic& d, const Place& place) {
  return same_line(d.place, place) || std::ranges::any_of(d.labels, [&](const Label& label) {
           return same_line(label.place, place);
         });
}

bool is_race(const Diagnostic& d) {
  return d.finding == Finding::DataRace || d.finding == Finding::UnorderedAccess;
}

namespace {

/// "a.cu:12 (write of 4 bytes": the access `mark`, "(1) " or "(2) ", as the notes of a race name
/// those of other pairs (runtime/diagnostics/race_diagnostic.cpp). Empty: no line is known.
std::string shown_access(const Diagnostic& d, std::string_view mark) {
  const auto label = std::ranges::find_if(d.labels, [&](const Label& one) {
    return one.text.starts_with(mark) && one.place.known();
  });
  if (label == d.labels.end()) {
    return "";
  }
  const std::string_view text = std::string_view(label->text).substr(mark.size());
  return fmt::format(
      "{}:{} ({}",
      report::shown_path(label->place.file),
      label->place.line,
      text.substr(0, text.find(" by "))
  );
}

bool are_races_by_one_rule(const Diagnostic& a, const Diagnostic& b) {
  return is_race(a) && is_race(b) && a.rule_id() == b.rule_id();
}

} // namespace

bool is_turned_round(const Diagnostic& d, const Diagnostic& known) {
  return are_races_by_one_rule(d, known) && names_line(known, d.place) &&
         names_line(d, known.place);
}

bool is_named_besides(const Diagnostic& d, const Diagnostic& known) {
  const std::string first = shown_access(d, "(1) ");
  const std::string second = shown_access(d, "(2) ");
  if (first.empty() || second.empty() || !are_races_by_one_rule(d, known)) {
    return false;
  }
  return std::ranges::any_of(known.notes, [&](const std::string& note) {
    return note.starts_with(first + ") and " + second + ")") ||
           note.starts_with(second + ") and " + first + ")");
  });
}

} // namespace heddle::cli
