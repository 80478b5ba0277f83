// Waits of calls that may wait for devices, and need not ([API-WAIT] in spec/api.md): today's
// drivers wait, and programs rely on it, so these wait, too. But nothing promises it: a monitor is
// told that the host may have waited, and a search that it has not tried the other way.
#pragma once

#include "runtime/runtime.h"

namespace heddle::runtime {

/// For all that the device has been given.
cudaError_t wait_implicitly(Runtime& rt, int device, const char* call);
/// For these.
cudaError_t wait_implicitly(
    Runtime& rt,
    std::vector<machine::CommandPtr> commands,
    int device,
    const char* call
);

} // namespace heddle::runtime
