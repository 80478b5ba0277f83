// Uses of memory that nobody has written in words: unwritten::Report → report::Diagnostic, and when
// they are printed.
#pragma once

#include "report/diagnostic.h"
#include "unwritten/monitor.h"

namespace heddle::runtime {

report::Diagnostic diagnose(const unwritten::Report& found);

/// Prints what was found when the process ends: by then it is known how often.
void announce_unwritten_at_exit(const unwritten::Unwritten& unwritten);

} // namespace heddle::runtime
