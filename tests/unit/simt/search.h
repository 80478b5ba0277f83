// Every way a kernel of lockstep warps can go, through the stepper's moves: what the explorer does,
// without host, progress rules or table.
#pragma once

#include "explore.h"
#include "support/stepper_device.h"

#include <functional>

namespace heddle::simt {

/// Goes on from where the device stands until every move of every state has been made, and comes
/// back. May hang: a circle, or nobody can move although `command` has not ended. `at_end` is
/// called for each final state.
Explored search(
    test::Device& device,
    const machine::CommandPtr& command,
    const std::function<void()>& at_end = {}
);

/// The same program as a PTX kernel `name`; the cells are the buffer's first words.
std::string as_ptx(const Program& program, const char* name);

} // namespace heddle::simt
