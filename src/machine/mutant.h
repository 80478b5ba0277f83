// Mutants: ways to break a reduction on purpose, a condition left out or a bound off by one. The
// enumeration of small programs (tests/reduce) must notice each of them; nobody else sets one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace heddle::machine {

enum class Mutant : std::uint8_t {
  None,
  SymmetryForgetsBlocks,  // threads are alike that depend on their block's number
  SymmetryForgetsPlaces,  // … on their number in the block
  SymmetryForgetsOwners,  // … that have made owned accesses
  EagerJoinsBeforeStart,  // barriers, ends, sums and such are done by threads that are owed nothing
  EagerStartsByAnything,  // a cluster may start by its first thread whatever its threads do first
  SumsMeetReads,          // sums do not conflict with reads
  SumsMeetUpdates,        // nor with other updates
  IndependentMeetsWrites, // reads do not conflict with writes
  IndependentForgetsBlock, // threads of different blocks are taken for one
  OwnedForgotten,          // accesses of one thread need not be owned
  DataOrderTakesAll,       // of any access it is said that only data depends on it
  DataOrderNeverDecides,   // that a mark has reached a decision is not noticed
  RetriesForgetCircles,    // a retry loop may go round for ever
  PhasesForgetDoubts,      // arrivals whose phase is in doubt commute, too
  PhasesForgetQuestions,   // so do waits
  HeapForgetsOverflow,     // there is always room
  HeapBoundTooHigh,        // the bound is off by one allocation
  StraightForgetsCircles,  // a circle does not end a search with blocks that start at once
  LastOnesTwo,             // the last two of several blocks matter: any two stand for all
  LastOnesUntried,         // what the last but one does is not tried
  AheadForgetsValues,      // what a move has done it does again, whatever it reads
  AheadForgetsChanges,     // who has become whom is not said
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
    {Mutant::SumsMeetReads, "sums", "meet-reads"},
    {Mutant::SumsMeetUpdates, "sums", "meet-updates"},
    {Mutant::IndependentMeetsWrites, "orderly", "meets-writes"},
    {Mutant::IndependentForgetsBlock, "orderly", "forgets-block"},
    {Mutant::OwnedForgotten, "orderly", "forgets-owned"},
    {Mutant::DataOrderTakesAll, "data-order", "takes-all"},
    {Mutant::DataOrderNeverDecides, "data-order", "never-decides"},
    {Mutant::RetriesForgetCircles, "retries", "forget-circles"},
    {Mutant::PhasesForgetDoubts, "phases", "forget-doubts"},
    {Mutant::PhasesForgetQuestions, "phases", "forget-questions"},
    {Mutant::HeapForgetsOverflow, "allocations", "forget-overflow"},
    {Mutant::HeapBoundTooHigh, "allocations", "bound-too-high"},
    {Mutant::StraightForgetsCircles, "straight", "forgets-circles"},
    {Mutant::LastOnesTwo, "straight", "last-ones-two"},
    {Mutant::LastOnesUntried, "straight", "last-ones-untried"},
    {Mutant::AheadForgetsValues, "look-ahead", "forgets-values"},
    {Mutant::AheadForgetsChanges, "look-ahead", "forgets-changes"},
});

} // namespace heddle::machine
