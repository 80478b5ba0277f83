// A host program that a signal ends before its first CUDA call: no state has been seen, and yet it
// is a defect of the program [CRASH].
//
//   if (add_early_crash(table, status, said)) …       // where a search has ended
//   if (const auto crash = find_early_crash(table)) return report_of(*crash, request);
//
// May be wrong: a program that somebody else has killed looks the same.
#pragma once

#include "explore/session.h"
#include "explore/table/state_table.h"
#include "report/diagnostic.h"

#include <optional>
#include <string>

namespace heddle::explore {

/// Adds an event to a table without states if `status` is that of a process that a signal has
/// ended; `said` is what it has written to stderr. False: it ended in another way.
bool add_early_crash(StateTable& table, int status, const std::string& said);

/// The text of that event.
std::optional<std::string> find_early_crash(const StateTable& table);

/// What a check says of it: one finding, whose replay is the program's beginning.
report::Report report_of_early_crash(const std::string& crash, const CheckRequest& request);

} // namespace heddle::explore
