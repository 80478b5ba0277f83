// Spread: tasks with numbers, done by processes of this machine and by all ranks.
//
//   spread(ranks, {.count = n, .at_once = 4, .work = [&](std::size_t i) { return text; }}, done);
//
// `work` runs in a process forked for it, wherever there is room; what it returns is handed to
// `done` on rank 0, each task once, in any order. All ranks call this with the same tasks.
//
// Rank 0 gives tasks out and counts those that are out (of Dijkstra and Scholten's algorithm that
// is the case of a tree of depth one): no rank makes tasks, so it is over when each has come back.
// A task is a function of its number. So one may be done twice without harm: tasks of a rank that
// is not heard of any more are done by another one, and a slow rank stops nobody.
#pragma once

#include "cli/ranks/ranks.h"

#include <cstddef>
#include <functional>
#include <string>

namespace heddle::cli {

struct Tasks {
  std::size_t count = 0;
  std::size_t at_once = 1; // on this rank
  std::function<std::string(std::size_t)> work;
};
struct Outcome {
  std::string text;  // what `work` has returned
  std::string error; // it has not: "was ended by Killed"
};

/// `ranks` may be null. Stops early after an interruption: then not every task is handed to `done`.
void spread(
    Ranks* ranks,
    const Tasks& tasks,
    const std::function<void(std::size_t, Outcome)>& done
);

} // namespace heddle::cli
