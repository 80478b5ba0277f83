// Implements caveat.h.
#include "runtime/diagnostics/caveat.h"

#include "explore/search/explorer.h"
#include "report/diagnostic_lines.h"
#include "runtime/diagnostics/outcome.h"

#include <cstdlib>
#include <fstream>

namespace heddle::runtime {

void announce_caveat(const std::string& text) {
  if (!explore::is_exploring()) {
    complain_once("warning: " + text);
  } else if (const char* file = std::getenv("HEDDLE_REMARKS_TO")) {
    report::Diagnostic d(report::Finding::Unsupported, text);
    d.severity = report::Severity::Warning;
    std::ofstream(file, std::ios::app) << report::to_lines(d);
  }
}

} // namespace heddle::runtime
