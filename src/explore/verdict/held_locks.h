// What the threads of a livelock hold and wait for, if they spin on locks: "thread … holds what it
// took at a.cu:22, and waits at a.cu:23". A lock is taken by the statement at which the threads
// spin, in a function that was inlined at another call.
//
// Misses locks that are not functions of their own, and locks whose owner has made another write
// since it took them: that write may be the release. A semaphore counts as a lock.
#pragma once

#include "explore/judge/component_threads.h"
#include "explore/judge/progress_graph.h"
#include "explore/table/state_table.h"
#include "report/diagnostic.h"

#include <functional>
#include <span>

namespace heddle::explore {

struct SpinningThreads {
  const ProgressGraph& graph;
  const OutEdges& out;
  const Component& component;
  std::span<const Part> threads;
};
/// Notes, help and another message if there are several threads, and each of them holds a lock.
void add_held_locks(
    report::Diagnostic& diagnostic,
    const SpinningThreads& spinning,
    const std::function<Site(std::uint32_t)>& site
);

} // namespace heddle::explore
