// Checkpoint: a search that is kept in a file, so that it goes on after a stop, a crash of the
// machine, or a full disk.
//
//   Checkpoint checkpoint({.file = "app.checkpoint", .resume = true}, identity);
//   TRY_VOID(checkpoint.look());                          // is it one of the same check?
//   TRY(StateTable table, checkpoint.table(options, limits));   // goes on, if it is of this search
//   checkpoint.save(options, table);                            // while nobody changes the table
//   checkpoint.problems()                                       // for the report
//
// A check makes several searches, one after the other (plan.h); the file has the last one that was
// kept, with its options. The others are made again: they come to the same. What a saved table is,
// and why going on finds everything, says state_table_checkpoint.cpp. Of a search that several
// ranks make the file has a table of each, which become one when it is read. The file is replaced
// as a whole, after the new one is on the disk.
#pragma once

#include "base/result.h"
#include "explore/options.h"
#include "explore/state_table.h"

#include <set>
#include <span>
#include <string>

namespace heddle::explore {

class Checkpoint {
public:
  /// `identity`: of the program and what it is called with.
  Checkpoint(CheckpointFile where, std::string identity)
      : where_(std::move(where)),
        identity_(std::move(identity)) {}

  bool is_wanted() const { return !where_.file.empty(); }
  double seconds_between() const { return where_.seconds; }
  /// With `resume`: looks at the file. Input error: it cannot be read, or is of another check.
  Result<void> look();
  /// For a search with these options: with what is in the file, if that is one with the same ones.
  Result<StateTable> table(const Options& options, StateTable::Limits limits);
  /// A failure is a problem for the report; then the file is as it was. `others`: what the other
  /// ranks have found, by rank: files of StateTable::save(), or -1; the first one is not used.
  void save(const Options& options, const StateTable& table, std::span<const int> others = {});
  /// The search that went on from the file did not come where the one before it was.
  void forget();
  /// One line each.
  const std::set<std::string>& problems() const { return problems_; }

private:
  bool write(const Options& options, const StateTable& table, std::span<const int> others) const;

  CheckpointFile where_;
  std::string identity_;
  std::string has_; // options of the search in the file; empty: it has none of this check
  std::set<std::string> problems_;
};

} // namespace heddle::explore
