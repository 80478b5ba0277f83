// check.h: the rules over one Unit.
//
//   std::vector<Found> found = check_unit(unit, options);
//
// Spots are still those of the unit; lint.h turns them into a report.
#pragma once

#include "lint/flow.h"
#include "lint/uniformity.h"

#include <string>
#include <vector>

namespace heddle::lint {

struct Note {
  Spot where;
  std::string text;
};

struct SourceEdit {
  Spot where; // [begin, end) is replaced
  std::string text;
};

struct Found {
  std::string key;
  Spot place;
  std::string message;
  std::string function;
  std::vector<Note> steps;
  std::vector<Note> related;
  std::vector<std::string> help;
  std::vector<SourceEdit> edits; // one fix, if any
  std::string edit_description;
};

struct CheckOptions {
  /// Also report break, continue and return that jump over a barrier on a uniform condition.
  bool every_bypass = false;
  bool system_kernels = false; // judge kernels of system headers too
  unsigned architecture = 90;  // compute capability times 10
};

struct Checked {
  std::vector<Found> findings;
  std::uint32_t barriers = 0; // different places
  bool incomplete = false;    // something was too large to be read to its end
};

Checked check_unit(const Unit& unit, const CheckOptions& options);

/// The analyses of one entry, for rules.
struct Entry {
  const Unit& unit;
  std::uint32_t function;
  const Graph& graph;
  const Dataflow& flow;
  const Uniformity& uniformity;
};

void check_synchronization(
    const Entry& entry,
    const CheckOptions& options,
    std::vector<Found>& out
);

void check_other_rules(const Entry& entry, std::vector<Found>& out);
void check_host_rules(const Entry& entry, std::vector<Found>& out);
void check_progress_rules(const Entry& entry, const CheckOptions& options, std::vector<Found>& out);
void check_scopes(const Entry& entry, std::vector<Found>& out);
void check_warp_rules(const Entry& entry, std::vector<Found>& out);

/// The effect of an instruction as a barrier, and the group that it is for.
std::optional<Level> barrier_scope(const Instruction& code);

/// Why `value` differs between threads, from the source to the value.
std::vector<Note> explain(const Entry& entry, ValueId value);
/// Why threads part at `block`: explain(condition) and the branch itself.
std::vector<Note> explain_branch(const Entry& entry, std::uint32_t block);

} // namespace heddle::lint
