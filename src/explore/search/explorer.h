// Explorer: the driver of `heddle check`. It tries every move in every state that can be reached.
//
//   world.set_driver(explore::make_explorer(world, "table=5").value());   // in the checked process
//
// Runs inside the checked process, whenever a host thread is about to do something that others can
// see: an instrumented access (hostwatch/hooks.h), an operation on a lock, an API call. From there
// it makes every move of the machine and takes it back; what cannot be taken back is done in a
// forked process (search.h). So real host code is explored as it is, with no interpreter for
// it.
//
// Moves: a host thread goes on, or an API call returns as soon as it may, or a query answers
// "ready" or "not ready" ([QUERY] says how often); a device thread makes its next visible move,
// started or not; a copy is carried out. Nothing decides here who *must* move: that is
// progress_graph.h's business.
//
// May be wrong: see host_state.h, host_threads.h and reduce/stepper.h.
#pragma once

#include "base/result.h"
#include "explore/options.h"
#include "machine/block.h"
#include "machine/world.h"
#include "report/diagnostic.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace heddle::explore {

/// `text` is the value of HEDDLE_EXPLORE as the tool sets it: a Handover (options.h). Input error:
/// malformed, or the process was not started by the tool. `warp_rules`: how warps go under
/// these options.
Result<std::unique_ptr<machine::Driver>> make_explorer(
    machine::World& world,
    std::string_view text,
    const std::function<machine::MakeWarpRules(const Options&)>& warp_rules
);

/// Ends the running execution because the program uses something that Heddle does not implement.
/// Does nothing if no explorer is at work in this process.
void stop_unsupported(std::string_view what);

/// Records what the runtime found out about the host program. False if no explorer is at work: then
/// the runtime has to say it itself.
bool note_finding(const report::Diagnostic& diagnostic);

/// Is an explorer at work in this process?
bool is_exploring();
/// Where the host thread that runs is, in a form that the tool resolves (source_places.h): as the
/// file of a place. Empty if no explorer is at work.
std::string host_position();

/// How a process that explored its part without trouble ends.
inline constexpr int finished_exit_code = 77;

} // namespace heddle::explore
