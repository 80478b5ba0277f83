// Mutants: ways to break a reduction on purpose, a condition left out or a bound off by one. The
// enumeration of small programs (tests/reduce) must notice each of them; nobody else sets one.
#pragma once

#include "analysis/clock_condition.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace heddle::reduce {

enum class Mutant : std::uint8_t {
  None,
  SymmetryForgetsBlocks, // threads are alike that depend on their block's number
  SymmetryForgetsPlaces, // … on their number in the block
  SymmetryForgetsOwners, // … that have made owned accesses
  EagerJoinsBeforeStart, // barriers, ends, sums and such are done by threads that are owed nothing
  EagerStartsByAnything, // a cluster may start by its first thread whatever its threads do first
  OneStartsForAll,       // … with weak memory, by any one of them
  TurnsForgotten,        // arrivals at barriers commute, whatever threads know
  TurnsInPieces,         // … and a phase may take a part of a warp
  ThroughUnended,        // clusters that do not run through to their end move together, too
  FaintLowBit,           // the lowest bit of a register decides nothing
  FaintFirstRegister,    // nor does the first of all registers
  PollsAnyEnd,           // a read that goes round leads to the same wherever the value changes
  // A condition on clocks is left out, each.
#define CLOCK_CONDITION(NAME, MUTANT) Clocks##NAME,
#include "analysis/clock_condition.def"
#undef CLOCK_CONDITION
  ClocksForgetMemory,         // nothing is decided by a time that has been stored
  ClocksForgetCopies,         // … and read by an asynchronous copy
  SumsMeetReads,              // sums do not conflict with reads
  SumsMeetUpdates,            // nor with other updates
  SumsInWeakMemory,           // they commute with weak memory, too
  SumsOfFloats,               // … and if they round
  IndependentMeetsWrites,     // reads do not conflict with writes
  IndependentForgetsBlock,    // threads of different blocks are taken for one
  IndependentForgetsCommands, // copies and sets meet nobody
  PlacesUnwatched,            // an instruction that is contended is not watched elsewhere
  PlacesOfOthers,             // … is contended not where it was, but sixteen bytes on
  PlacesOfFirstLane,          // … for all lanes that stand there if it is for the first
  MoversUnwatched,            // nobody looks whether others access what is open
  MoversForgetEnds,           // a thread that ends closes what it has opened
  MoversForgetStarts,         // blocks that start at once meet nothing that is open
  EarlyUpdates,               // updates come at once like stores
  EarlyFencesThatTell,        // so do fences that pass something on
  EarlyUnwatched,             // nobody looks whether the host or a copy sees what comes at once
  SettledUnwatched,           // nobody looks whether a place is written again
  SettledBeforeStart,         // nor does one of a thread that is owed nothing
  OwnedForgotten,             // accesses of one thread need not be owned
  DataOrderTakesAll,          // of any access it is said that only data depends on it
  DataOrderNeverDecides,      // that a mark has reached a decision is not noticed
  DataOrderForgetsLocal,      // values are not followed through local memory
  DataOrderForgetsLanes,      // … nor to lanes that stand elsewhere in the text
  RetriesForgetCircles,       // a retry loop may go round forever
  RetriesTakeAnyGuess,        // what a retry loop expects need not be what it has found
  PhasesForgetDoubts,         // arrivals whose phase is in doubt commute, too
  PhasesForgetQuestions,      // so do waits
  PhasesForgetLast,           // nobody asks who was the last one at the barrier of a tile
  PeeksForgetUses,            // any result of a test counts as discarded
  PeeksForgetWhich,           // whatever is waited for because of it
  PeeksForgetSides,           // … and if it was yes
  PeeksForgetLoops,           // a side that is left out, or taken, may go round
  HeapForgetsOverflow,        // there is always room
  HeapBoundTooHigh,           // the bound is off by one allocation
  NeighboursForgetEnds,       // a visit that nothing orders before the end of the block
  NeighboursArrivalsWait,     // a block that has only arrived has met its visitors
  StraightForgetsCircles,     // a cycle does not end a search with blocks that start at once
  StraightForgetsCommands,    // nobody chooses by what a copy brings
  StraightForgetsGrid,        // whoever waits for the grid goes on when somebody moves next
  StraightCommandsCommute,    // commands of different streams commute, wherever they go
  LastOnesTwo,                // the last two of several clusters matter: any two stand for all
  LastOnesUntried,            // clusters do later what they do at first
  ActiveFirst,         // of the lanes that are about to ask for activemask the first one goes first
  ActiveOrNot,         // whatever the lanes of a warp are about to do
  GroupsUnwatched,     // nobody looks whether others come to where a group has gone first
  GroupsForgetWaiting, // a group may leave out who comes there later
  GroupsOfOnePlace,    // … and whom its members meet elsewhere
  HostFirstForgetsFunctions, // a host function cannot tell what the host does
  HostFirstForgetsLasting,   // what waits for the host runs through
  ConeForgetsReads,          // decisive reads of data are not noticed
  ConeForgetsStores,         // nor stores of data to what is kept
  OverwrittenForgetsReads,   // a variable that will be written may be read before that
  OverwrittenForgetsWrites,  // … that nobody reads before the barrier need not be written
  ReturnsForgetOpened,       // a call that waits returns where the host has arrived, or never
  CopiesForgetDevices,       // no kernel looks at a copy that is under way
  CopiesForgetHosts,         // nor does a host thread
  CopiesFirstByte,           // … whose access is known by its first byte
  AheadForgetsValues,        // what a move has done it does again, whatever it reads
  AheadForgetsShared,        // … what it reads in shared memory
  AheadForgetsOwners,        // … whose accesses it has counted as one thread's
  AheadForgetsGrid,          // … whoever waits for the grid meanwhile
  SchedulesKeepNumbers,      // a schedule tells states apart by who keeps a number
  TrialsTrigger,             // what is only tried out lets dependents begin
};

struct MutantName {
  Mutant mutant;
  std::string_view reduction, name;
};
inline constexpr auto mutant_names = std::to_array<MutantName>({
    {Mutant::SymmetryForgetsBlocks, "symmetry", "forgets-blocks"},
    {Mutant::SymmetryForgetsPlaces, "symmetry", "forgets-places"},
    {Mutant::SymmetryForgetsOwners, "symmetry", "forgets-owners"},
    {Mutant::EagerJoinsBeforeStart, "eager", "joins-before-start"},
    {Mutant::EagerStartsByAnything, "eager", "starts-by-anything"},
    {Mutant::OneStartsForAll, "eager", "one-starts-for-all"},
    {Mutant::TurnsForgotten, "eager", "turns-forgotten"},
    {Mutant::TurnsInPieces, "eager", "turns-in-pieces"},
    {Mutant::ThroughUnended, "eager", "through-unended"},
    {Mutant::FaintLowBit, "eager", "faint-low-bit"},
    {Mutant::FaintFirstRegister, "eager", "faint-first-register"},
    {Mutant::PollsAnyEnd, "eager", "polls-any-end"},
#define CLOCK_CONDITION(NAME, MUTANT) {Mutant::Clocks##NAME, "eager", MUTANT},
#include "analysis/clock_condition.def"
#undef CLOCK_CONDITION
    {Mutant::ClocksForgetMemory, "eager", "clocks-forget-memory"},
    {Mutant::ClocksForgetCopies, "eager", "clocks-forget-copies"},
    {Mutant::SumsMeetReads, "sums", "meet-reads"},
    {Mutant::SumsMeetUpdates, "sums", "meet-updates"},
    {Mutant::SumsInWeakMemory, "sums", "in-weak-memory"},
    {Mutant::SumsOfFloats, "sums", "of-floats"},
    {Mutant::IndependentMeetsWrites, "orderly", "meets-writes"},
    {Mutant::IndependentForgetsBlock, "orderly", "forgets-block"},
    {Mutant::IndependentForgetsCommands, "orderly", "forgets-commands"},
    {Mutant::PlacesUnwatched, "places", "unwatched"},
    {Mutant::PlacesOfOthers, "places", "of-others"},
    {Mutant::PlacesOfFirstLane, "places", "of-first-lane"},
    {Mutant::MoversUnwatched, "movers", "unwatched"},
    {Mutant::MoversForgetEnds, "movers", "forget-ends"},
    {Mutant::MoversForgetStarts, "movers", "forget-starts"},
    {Mutant::EarlyUpdates, "early-writes", "updates"},
    {Mutant::EarlyFencesThatTell, "early-writes", "fences-that-tell"},
    {Mutant::EarlyUnwatched, "early-writes", "unwatched"},
    {Mutant::SettledUnwatched, "settled", "unwatched"},
    {Mutant::SettledBeforeStart, "settled", "before-start"},
    {Mutant::OwnedForgotten, "orderly", "forgets-owned"},
    {Mutant::DataOrderTakesAll, "data-order", "takes-all"},
    {Mutant::DataOrderNeverDecides, "data-order", "never-decides"},
    {Mutant::DataOrderForgetsLocal, "data-order", "forgets-local"},
    {Mutant::DataOrderForgetsLanes, "data-order", "forgets-lanes"},
    {Mutant::RetriesForgetCircles, "retries", "forget-circles"},
    {Mutant::RetriesTakeAnyGuess, "retries", "take-any-guess"},
    {Mutant::PhasesForgetDoubts, "phases", "forget-doubts"},
    {Mutant::PhasesForgetQuestions, "phases", "forget-questions"},
    {Mutant::PhasesForgetLast, "phases", "forget-last"},
    {Mutant::PeeksForgetUses, "peeks", "forget-uses"},
    {Mutant::PeeksForgetWhich, "peeks", "forget-which"},
    {Mutant::PeeksForgetSides, "peeks", "forget-sides"},
    {Mutant::PeeksForgetLoops, "peeks", "forget-loops"},
    {Mutant::HeapForgetsOverflow, "allocations", "forget-overflow"},
    {Mutant::HeapBoundTooHigh, "allocations", "bound-too-high"},
    {Mutant::NeighboursForgetEnds, "neighbours", "forget-ends"},
    {Mutant::NeighboursArrivalsWait, "neighbours", "arrivals-wait"},
    {Mutant::StraightForgetsCircles, "straight", "forgets-circles"},
    {Mutant::StraightForgetsCommands, "straight", "forgets-commands"},
    {Mutant::StraightForgetsGrid, "straight", "forgets-grid"},
    {Mutant::StraightCommandsCommute, "straight", "commands-commute"},
    {Mutant::LastOnesTwo, "straight", "last-ones-two"},
    {Mutant::LastOnesUntried, "straight", "last-ones-untried"},
    {Mutant::ActiveFirst, "straight", "active-first"},
    {Mutant::ActiveOrNot, "straight", "active-or-not"},
    {Mutant::GroupsUnwatched, "groups", "unwatched"},
    {Mutant::GroupsForgetWaiting, "groups", "forget-waiting"},
    {Mutant::GroupsOfOnePlace, "groups", "of-one-place"},
    {Mutant::HostFirstForgetsFunctions, "host-first", "forgets-functions"},
    {Mutant::HostFirstForgetsLasting, "host-first", "forgets-lasting"},
    {Mutant::ConeForgetsReads, "cone", "forgets-reads"},
    {Mutant::ConeForgetsStores, "cone", "forgets-stores"},
    {Mutant::OverwrittenForgetsReads, "cone", "overwritten-forgets-reads"},
    {Mutant::OverwrittenForgetsWrites, "cone", "overwritten-forgets-writes"},
    {Mutant::ReturnsForgetOpened, "returns", "forget-opened"},
    {Mutant::CopiesForgetDevices, "copies", "forget-devices"},
    {Mutant::CopiesForgetHosts, "copies", "forget-hosts"},
    {Mutant::CopiesFirstByte, "copies", "first-byte"},
    {Mutant::AheadForgetsValues, "look-ahead", "forgets-values"},
    {Mutant::AheadForgetsShared, "look-ahead", "forgets-shared"},
    {Mutant::AheadForgetsOwners, "orderly", "forgets-makers"},
    {Mutant::AheadForgetsGrid, "phases", "forgets-grid"},
    {Mutant::SchedulesKeepNumbers, "checked-look-ahead", "keeps-numbers"},
    {Mutant::TrialsTrigger, "checked-look-ahead", "trials-trigger"},
});

constexpr analysis::ClockCondition clocks_without(Mutant mutant) {
  switch (mutant) {
#define CLOCK_CONDITION(NAME, MUTANT)                                                              \
  case Mutant::Clocks##NAME:                                                                       \
    return analysis::ClockCondition::NAME;
#include "analysis/clock_condition.def"
#undef CLOCK_CONDITION
  default:
    return analysis::ClockCondition::None;
  }
}

} // namespace heddle::reduce
