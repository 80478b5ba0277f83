// Verdicts and exit codes from findings and claims, and nowhere else. Never calls a program clean
// if something was left out.
#include "report/diagnostic.h"

#include <algorithm>

namespace heddle::report {
namespace {

bool has_group(const std::vector<Diagnostic>& findings, FindingGroup group) {
  return std::ranges::any_of(findings, [group](const Diagnostic& d) {
    return d.severity == Severity::Error && describe(d.finding).group == group;
  });
}

bool has_defect(const std::vector<Diagnostic>& findings) {
  return has_group(findings, FindingGroup::Fault) || has_group(findings, FindingGroup::Barrier) ||
         has_group(findings, FindingGroup::Host);
}

} // namespace

Diagnostic interrupted() {
  Diagnostic d(Finding::TimeLimit, "the program was interrupted by a signal before its end");
  d.severity = Severity::Warning;
  return d;
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
  case Verdict::Terminates:
    return "terminates";
  case Verdict::MayHang:
    return "may-hang";
  case Verdict::Defect:
    return "defect";
  case Verdict::Clean:
    return "clean";
  case Verdict::Hang:
    return "hang";
  case Verdict::Suppressed:
    return "suppressed";
  case Verdict::Unknown:
    break;
  }
  return "unknown";
}

Verdict Report::verdict() const {
  if (has_group(findings, FindingGroup::Hang)) {
    return exit_status ? Verdict::Hang : Verdict::MayHang;
  }
  if (has_defect(findings)) {
    return Verdict::Defect;
  }
  if (exit_status) {
    const bool cut_off = std::ranges::any_of(findings, [](const Diagnostic& d) {
      return d.finding == Finding::TimeLimit; // whatever its severity
    });
    return cut_off || has_group(findings, FindingGroup::Gap) ? Verdict::Unknown
           : suppressed.empty()                              ? Verdict::Clean
                                                             : Verdict::Suppressed;
  }
  if (is_exhaustive() && !suppressed.empty() && !has_group(findings, FindingGroup::Gap)) {
    return Verdict::Suppressed; // a program with a known hang does not terminate
  }
  // [BOUND]
  return is_exhaustive() && !has_group(findings, FindingGroup::Gap) ? Verdict::Terminates
                                                                    : Verdict::Unknown;
}

int Report::exit_code() const {
  if (has_group(findings, FindingGroup::Hang) || has_defect(findings)) {
    return exit_code::defect;
  }
  // [SCOPE]
  if (has_group(findings, FindingGroup::Gap)) {
    return exit_code::unsupported;
  }
  return claims.unaccepted() == Coverage::Exhaustive ? exit_code::clean : exit_code::budget;
}

} // namespace heddle::report
