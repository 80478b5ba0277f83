// Checkpoint: a search that is kept in a file, so that it goes on after a stop, a crash of the
// machine, or a full disk.
//
//   Checkpoint checkpoint({.file = "app.checkpoint", .resume = true}, identity);
//   TRY_VOID(checkpoint.look());                          // is it one of the same check?
//   checkpoint.stands()                                   // of which search of the plan it is
//   checkpoint.begin({.plan = …, .words = "attempt 3 (…)"}, options);    // when a search begins
//   TRY(StateTable table, checkpoint.table(options, limits));  // goes on, if it is of this search
//   checkpoint.save(options, table);                      // while no process changes the table
//   checkpoint.problems()                                 // for the report
//
// A check makes several searches, one after the other (plan.h); the file has the one under way,
// with its options, and where the plan stands, so that none before it is made again. It is written
// when a search begins, too. A search that was kept because what it has found is true, though not
// everything, is in the file as well. What a saved table is, and why going on finds everything,
// says state_table_checkpoint.cpp. Of a search that several ranks make the file has a table of
// each, which become one when it is read. The file is replaced as a whole, after the new one is on
// the disk.
#pragma once

#include "base/result.h"
#include "explore/options.h"
#include "explore/table/state_table.h"

#include <memory>
#include <optional>
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
  /// Where the check stood when the file was written: empty: there is none. Whoever does not go on
  /// from there may use the table all the same, if he comes to a search with the same options.
  const std::string& stands() const { return stands_in_file_; }
  /// The search that was kept then, if any.
  Result<std::optional<StateTable>> kept(StateTable::Limits limits) const;
  struct Standing {
    std::string plan;  // one line
    std::string words; // which search it is, for people
  };
  /// A search begins, which is not the one in the file: that is written down.
  void begin(Standing standing, const Options& options);
  /// The search in the file goes on.
  void go_on(Standing standing);
  /// From now on this one is to be in the file, too.
  void keep_beside(const StateTable& table);
  /// What is in the file of the search under way, whatever its options are.
  Result<StateTable> read_table(StateTable::Limits limits) const;
  /// For a search with these options: with what is in the file, if that is one with the same ones.
  /// Says so.
  Result<StateTable> table(const Options& options, StateTable::Limits limits);
  /// Is there anything that has not been used yet, of a search with these options?
  bool has(const Options& options) const;
  bool has_any() const { return !has_.empty(); }
  /// The search goes on from the file once more, if that has anything of it.
  bool use_again() {
    has_ = written_;
    return has_any();
  }
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
  // Options of the search in the file; empty: it has none of this check, or none that is to be
  // used.
  std::string has_;
  std::string written_; // … that there was, or has been written
  std::string stands_in_file_;
  Standing standing_;
  std::shared_ptr<const int> kept_; // a file that StateTable::save() has written; nullptr: none
  std::set<std::string> problems_;
};

} // namespace heddle::explore
