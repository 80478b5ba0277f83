// Implements lockstep.h.
#include "cli/check/lockstep.h"

#include "report/finding.h"
#include "report/render.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::cli {
namespace {

using report::Diagnostic;
using report::Report;

/// [SIMT-LIVENESS]: what it says of a hang that independent threads do not have.
std::string lockstep_only(const Report& independent, const Diagnostic& hang) {
  return fmt::format(
      "hang: lockstep only: with independent threads {}; if the threads of a warp go in lockstep, "
      "as before sm_70, {}",
      independent.is_exhaustive() ? fmt::format(
                                        "the program ends under every schedule ({} states)",
                                        report::with_thousands(independent.states)
                                    )
                                  : "no hang was found",
      hang.message
  );
}

} // namespace

void add_lockstep(Report& report, Report lockstep) {
  const report::Verdict independent = report.verdict();
  const bool hangs = independent == report::Verdict::MayHang;
  report.lockstep = Report::Lockstep{
      lockstep.states,
      lockstep.executions,
      lockstep.claims.coverage(),
      lockstep.verdict()
  };
  const std::size_t own = report.findings.size();
  for (Diagnostic& finding : lockstep.findings) {
    const bool known = std::any_of(
        report.findings.begin(),
        report.findings.begin() + static_cast<std::ptrdiff_t>(own),
        [&](const Diagnostic& d) {
          return d.finding == finding.finding && d.rule_id() == finding.rule_id() &&
                 d.place.file == finding.place.file && d.place.line == finding.place.line;
        }
    );
    if (known) {
      continue;
    }
    if (finding.rule_id() == "SIMT-LIVENESS" && hangs) {
      finding.message = "hang: with independent threads and in lockstep: " + finding.message;
    } else if (finding.rule_id() == "SIMT-LIVENESS") {
      finding.message = lockstep_only(report, finding);
    } else {
      finding.notes.emplace_back("this is with lockstep warps");
    }
    report.findings.push_back(std::move(finding));
  }
  report.claims.add(lockstep.claims, "with lockstep warps: ");
  report.seconds += lockstep.seconds;
}

void add_same_machine(Report& report, Report other) {
  for (Diagnostic& finding : other.findings) {
    const bool known = std::ranges::any_of(report.findings, [&](const Diagnostic& d) {
      return d.finding == finding.finding && d.rule_id() == finding.rule_id() &&
             d.place.file == finding.place.file && d.place.line == finding.place.line;
    });
    if (!known) {
      report.findings.push_back(std::move(finding));
    }
  }
  report.claims.add(other.claims);
  report.seconds += other.seconds;
}

} // namespace heddle::cli
