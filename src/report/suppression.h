// Suppressions: which findings a project has decided to live with, and why. `run`, `check` and
// `lint` ask the same ones; cli/config/config_file.h reads them from .heddle.yaml.
//
//   Suppressions known;
//   known.add({.code = "data-race", .file = "src/histogram.cu", .reason = "approximate, see #12"});
//   known.apply(report);                 // moves what they name to Report::suppressed
//   for (const Suppression* s : known.unused()) …
//
// An entry names a finding if everything that it states fits. It may hide more than was meant: any
// finding of that kind at that place. It never hides what it does not name.
#pragma once

#include "report/static_report.h"

#include <string>
#include <string_view>
#include <vector>

namespace heddle::report {

/// One entry. Each condition may be empty, which means: any.
struct Suppression {
  std::string code{}; // "data-race"; of lint: a message key or a rule
  std::string file{}; // shell pattern for the path (base/glob.h)
  std::string
      function{}; // shell pattern for a kernel or device function, with or without name space
  std::string
      library{};      // a folder on the path of one of its places, or the outer name space: "cub"
  std::string text{}; // the source line, without blanks around it
  std::string program{}; // shell pattern for the path of the program
  std::string reason{};
  std::string written{}; // where the entry stands: ".heddle.yaml:4"
  bool baseline = false; // written by --write-baseline
  bool used = false;

  bool operator==(const Suppression&) const = default;
};

class Suppressions {
public:
  void add(Suppression one) { all_.push_back(std::move(one)); }
  bool empty() const { return all_.empty(); }
  const std::vector<Suppression>& all() const { return all_; }
  /// Leaves out what is about other programs.
  void keep_for(const std::string& program);

  /// Sets `suppressed` and `suppressed_by` if an entry names the finding; returns whether.
  bool apply(Diagnostic& finding);
  bool apply(StaticFinding& finding);
  /// Moves the findings that entries name to Report::suppressed.
  void apply(Report& report);
  /// Gives them their reason; findings that have one keep it.
  void apply(StaticReport& report);

  /// Entries that have named nothing, in their order.
  std::vector<const Suppression*> unused() const;

private:
  struct Subject;
  static Subject subject_of(const Diagnostic& finding);
  static Subject subject_of(const StaticFinding& finding);
  static bool names(const Suppression& one, const Subject& subject);
  template <class Finding> bool apply_to(Finding& finding);

  std::vector<Suppression> all_;
};

/// The entry of a baseline for this finding. It goes by the text of the line, so that it still fits
/// when the line has moved.
Suppression baseline_entry(const Diagnostic& finding);
Suppression baseline_entry(const StaticFinding& finding);

/// As lines of text, to hand them to the process in which the program runs.
std::string to_lines(const Suppressions& suppressions);
Suppressions suppressions_from_lines(std::string_view text);

} // namespace heddle::report
