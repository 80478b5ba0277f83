// What a search assumes and how far it goes: the options of `heddle check` that the explored
// process has to know.
//
//   Handover handover{.table = table.fd(), .options = …};    // the tool, from its command line
//   const std::string text = to_text(handover);              // what it tells the program
//   TRY(const Handover handover, parse_handover(text));      // the explored process
//
// A schedule string (schedule.h) carries the same text, so that a replay assumes the same.
#pragma once

#include "base/result.h"
#include "model/progress_model.h"
#include "reduce/learned.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::explore {

using model::ProgressModel;

/// When blocks start.
enum class Starts : std::uint8_t {
  AtAnyTime,
  AtOnce,  // as soon as they can
  InGroups // … and of threads that meet nobody else, some go first ([RED-GROUPS])
};

struct Options {
  ProgressModel progress = ProgressModel::Cuda;
  // False: host threads are owed nothing, and so device threads are not either ([HOST]).
  bool host_progress = true;
  // Calls that do not synchronise return, whatever device threads do; otherwise [API].
  bool prompt_api = false;
  // Unrelated device threads may run forever: they satisfy [API] and [QUERY].
  bool other_processes = false;
  // compare_exchange_weak of the host may fail spuriously.
  bool spurious_failures = false;
  // Threads that have ended hold up barriers of all threads ([BAR-GUIDE]).
  bool guide_barriers = false;
  // Equal threads are told apart; only to check the reduction itself.
  bool symmetry = true;
  // Barriers, ends and warp collectives of guaranteed threads, and plain accesses, happen as soon
  // as they can; only to check the reduction itself.
  bool eager = true;
  // Updates that commute and whose results nobody uses happen as soon as they can. Found out to be
  // wrong for a program, it is turned off for the whole search.
  bool sums = true;
  // So do accesses to what no other thread accesses meanwhile (reduce/independence/sums.h), but for
  // those of instructions that were found out to be of another kind.
  bool orderly = true;
  // Of instructions of another kind, those to places where they were not.
  bool places = true;
  // And those before which no other thread can make a conflicting one
  // (reduce/independence/left_movers.h); in a search by decisions, since it takes several attempts
  // to find out which those are.
  bool movers = true;
  // With the memory model of PTX: stores behind which nothing is, and fences that tell nobody
  // anything, happen as soon as they can.
  bool early_writes = true;
  // With it, too: a read that finds several values of a place that nobody writes any more is made
  // before whatever others do.
  bool settled = true;
  // So do atomic and volatile accesses on whose order only data depends
  // (reduce/independence/order_data.h): those of instructions that have met others.
  bool data_order = true;
  // For that an update made of compare-and-swap is one operation. Not if a state comes back.
  bool retries = true;
  // What nothing is decided by need not be told apart (reduce/dead_data/cone.h), where a search of
  // everything is large.
  bool cone = true;
  bool by_decisions = false; // that is what this search does
  // With it: the host decides by what it copies from devices; else that is not followed.
  bool host_decides = false;
  // Arrivals at an mbarrier happen as soon as they can, and who waits for a phase is blocked. Found
  // out to be wrong for a program, it is turned off for the whole search.
  bool phases = true;
  // With it: who asks whether a phase has completed, and soon forgets the answer, is told no.
  bool peeks = true;
  // malloc and free in kernels happen as soon as they can: there is always room. Found out to be
  // wrong for a program, each call is a move (reduce/independence/device_heap.h).
  bool allocations = true;
  // Accesses to the shared memory of another block of the cluster are like others: the block does
  // not end meanwhile. Found out to be wrong for a program, each is a move.
  bool neighbours = true;
  // As long as all that devices can do comes to an end by itself, calls return first; of grids that
  // wait for others it is taken for granted, but for those of `lasting`, kernels (by a hash) that
  // were found out to be of another kind.
  bool host_first = true;
  // What earlier searches of the program have refuted of all this.
  reduce::Learned learned;
  // Of a program in which no state ever comes back: blocks start as soon as they can, and where
  // only the last of several blocks does something else it is chosen who that is, not the order of
  // the others (plan.h says why that is everything).
  bool straight = true;
  Starts starts = Starts::AtAnyTime; // in this search
  /// With the memory model of PTX, only calls of the host return as soon as they can.
  bool blocks_start_at_once() const { return starts != Starts::AtAnyTime && !ptx_memory; }
  // This one is over after so much work (StateTable::work) if no state has come back: then blocks
  // start at once.
  bool gives_up = false;
  std::uint32_t straight_after = 4000;
  // Of a search of every order, where one order of what only data depends on may do (plan.h).
  std::uint32_t one_order_after = 20'000;
  // This search is over after so much work (StateTable::work), or after so many times 256
  // instructions, as if that were its limit of states; 0: it is not.
  std::uint32_t max_work = 0, max_computed = 0;
  // The lanes of a warp go in lockstep (spec/simt.md): warps move, not threads.
  bool lockstep = false;
  // With them: plain reads of global memory may see old values until a fence.
  bool stale_reads = false;
  // The PTX memory model in the place of sequential consistency (spec/memory-model.md).
  bool ptx_memory = false;
  // With it: plain writes of one value by several threads are data races like others.
  bool same_value_races = false;
  // With them: lanes meet as if all ends of a function were one place.
  bool common_exit = false;
  std::uint32_t expect_exit = 0; // the exit status that the program is expected to end with [EXIT]
  // As if grids did not wait for each other: to learn whether a verdict rests on [DEP].
  bool ignore_grid_order = false;
  std::uint32_t max_states = 1'000'000;
  double max_seconds = 60;
  // Of the table and of all processes of the search together. 0: as much as the machine has.
  std::uint32_t max_mebibytes = 0;
  // Tried after a limit, if no defect is known then (sampler.h), and what they are drawn from.
  std::uint32_t schedules = 1000;
  std::uint64_t seed = 1;
  bool operator==(const Options&) const = default;
};
inline bool starts_at_once(const Options& options) {
  return options.starts != Starts::AtAnyTime;
}
/// With Options::ptx_memory, and without the reductions that are not known to be sound then.
Options with_ptx_memory(Options options);

/// Who searches. The report does not depend on it.
struct Workers {
  std::uint32_t jobs = 0;             // processes at the same time; 0: one for each core
  std::uint32_t states_alone = 5'000; // the first one has seen before others join it
};

/// Where a search is kept, so that it can go on (checkpoint.h).
struct CheckpointFile {
  std::string file; // empty: nowhere
  bool resume = false;
  double seconds = 60; // between two times
  // A search stops after so many states that it had not seen before; 0: it does not.
  std::uint32_t stop_after = 0;
  std::string version; // of Heddle: another one may name states in another way
};

/// "progress=obe,api=prompt": what differs from the defaults, in this order; empty: nothing does.
std::string to_text(const Options& options);
/// With the usual limits: what the options assume, not how far a search goes.
Options without_limits(const Options& options);
/// The same search, as far as `limits` say.
Options with_limits_of(Options options, const Options& limits);
/// Input error: an unknown word or value.
Result<Options> parse_options(std::string_view text);

/// "cuda", "fair", "obe", "hsa", "lobe".
std::string_view name(ProgressModel model);
std::optional<ProgressModel> find_progress_model(std::string_view name);

/// What one search is, and where it meets the tool: said by HEDDLE_EXPLORE, or to a fork server
/// (fork_server.h).
struct Handover {
  int table = -1;   // file descriptor of the state table
  int replay = -1;  // of a file with the choices to take (schedule.h); -1: search
  int trace = -1;   // with `replay`: of a file for what each step did (trace.h)
  int samples = -1; // of a sheet (sample_sheet.h): single schedules instead of a search
  Options options;
  bool operator==(const Handover&) const = default;
};

/// "table=5,replay=7,trace=8,progress=obe": descriptors first, the options as above.
std::string to_text(const Handover& handover);
/// Input error: no table, or an unknown word or value.
Result<Handover> parse_handover(std::string_view text);

} // namespace heddle::explore
