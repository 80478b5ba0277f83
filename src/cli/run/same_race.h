// Whether two findings of single schedules (single_run.h) are one defect: each schedule reports
// what it has met, and another one may have met the accesses in the other order, or other ones
// first that the same barrier would order.
//
// May be wrong in this direction: two defects of one pair of lines count as one, and the next run
// shows what is left.
#pragma once

#include "report/diagnostic.h"

namespace heddle::cli {

/// Compilers record paths in several forms.
bool same_line(const report::Place& a, const report::Place& b);
/// As its place, or in a label.
bool names_line(const report::Diagnostic& d, const report::Place& place);
bool is_race(const report::Diagnostic& d);
/// Two races by one rule: another schedule has shown the two accesses in the other order.
bool is_turned_round(const report::Diagnostic& d, const report::Diagnostic& known);
/// Two races by one rule: `known` names these accesses among those that the same barrier would
/// order (runtime/diagnostics/race_groups.h).
bool is_named_besides(const report::Diagnostic& d, const report::Diagnostic& known);

} // namespace heddle::cli
