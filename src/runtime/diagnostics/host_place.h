// Which line of host code makes a call, for `heddle run`: the explorer has its own way to know.
//
//   launch.called_from = callers_of_api();                // cheap: addresses only
//   add_host_place(d, launch.called_from, "launched from here");
//
// Lines come from the program's debug information (-g; `heddle run` asks for it when it compiles a
// .cu file, and so does heddle-cc). Without it a note names the function, if its symbol is known.
// Misses: callers that have no unwind information; frames that were optimised away.
#pragma once

#include "report/diagnostic.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::runtime {

/// Return addresses of the program's code that has called this library, innermost first.
std::vector<const void*> callers();
/// The same; where a Python script makes the call its line stands first. Not in a signal handler,
/// and not with a lock of ours (python_place.h).
std::vector<const void*> callers_of_api();

/// The same where a lock of ours may be held.
std::vector<const void*> callers_in_call();

/// Adds a label `what` for the innermost place in the user's source, and one for each of a few
/// callers. It becomes the place of the diagnostic if there is none.
void add_host_place(
    report::Diagnostic& d,
    std::span<const void* const> frames,
    std::string_view what
);

/// "called here": the API call that is under way. Not in a search, which adds it by itself.
void add_call(report::Diagnostic& d);

/// Where the kernels were launched; that comes first if what was found lies in a library's kernel.
void add_launches(
    report::Diagnostic& d,
    std::span<const std::pair<std::string, std::vector<const void*>>> launches
);

} // namespace heddle::runtime
