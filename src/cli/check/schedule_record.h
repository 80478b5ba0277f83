// What the user's own cache knows of a schedule that a check has printed.
//
//   keep_schedule(text, {.nvcc = "-O1"});              // heddle check
//   if (const auto record = find_schedule(text)) …     // heddle replay: this user has made it
//
// A schedule string can be pasted from anywhere, and so decides nothing that is executed: flags for
// nvcc stand in the record and not in the string, and a string without a record may not choose a
// program and its arguments (replay.cpp). A record is found by a hash of the whole string.
//
// May be wrong: a record is gone when nobody has used it for a month, with the cache folder, and on
// other machines. Then the user is asked to type what it would have said.
#pragma once

#include <optional>
#include <string>

namespace heddle::cli {

struct ScheduleRecord {
  std::string nvcc; // flags, as on the command line of the check
};

/// Failures do not matter.
void keep_schedule(const std::string& text, const ScheduleRecord& record);

/// Nothing: this user's cache does not know it.
std::optional<ScheduleRecord> find_schedule(const std::string& text);

} // namespace heddle::cli
