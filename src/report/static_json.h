// The findings of a StaticReport as JSON, for the files that render JSON.
#pragma once

#include "report/static_report.h"

#include <nlohmann/json.hpp>

namespace heddle::report {

/// [{"key", "rule", "severity", "message", "location", …}]
nlohmann::ordered_json findings_json(const StaticReport& report);

} // namespace heddle::report
