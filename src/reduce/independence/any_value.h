// Shows of several reads of one word that it makes no difference which of them finds the word
// changed, whatever its value is then ([RED-POLLS]).
//
// From each of the reads the thread is followed with an unknown value: what is made of it becomes a
// term, everything else is computed. A branch on a term goes both ways. So what each read leads to
// is a tree of questions; its leaves are states, or one of the reads again, or another read of the
// word (outcome_trees.h). Two reads with the same tree lead to the same states for each value.
//
// May be wrong: never says that of reads that differ, but for a collision of hashes. Trees that are
// large, and code that stores or calls something with the value, are not followed.
#pragma once

#include "reduce/independence/polls.h"

namespace heddle::reduce {

/// `places`: all reads between which the thread goes on while the word stays as it is.
bool same_for_any_value(
    Polls& polls,
    Trials& trials,
    Trial& trial,
    const Lane& at,
    const Polled& word,
    const TrialPlaces& places
);

} // namespace heddle::reduce
