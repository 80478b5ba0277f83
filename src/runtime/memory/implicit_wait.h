// Waits of calls that may wait for devices, and need not ([API-WAIT] in spec/api.md): today's
// drivers wait, and programs rely on it, so these wait, too. But nothing promises it: a monitor is
// told that the host may have waited, and a search goes on before and after.
#pragma once

#include "memory/address_space.h"
#include "runtime/runtime.h"

#include <functional>
#include <span>

namespace heddle::runtime {

/// For all that the device has been given. Of calls that a search refuses.
cudaError_t wait_implicitly(Runtime& rt, int device, const char* call);
/// For these.
cudaError_t wait_implicitly(
    Runtime& rt,
    std::vector<machine::CommandPtr> commands,
    int device,
    const char* call
);

/// What a call frees.
struct Freed {
  memory::Address base = 0;
  std::uint64_t bytes = 0;
  std::function<cudaError_t()> release;
  bool is_hosts = false; // registered memory: its pages stay the program's
};
/// A call that may wait for all that these devices have been given, and then frees. Where a search
/// goes on before, the work that is under way keeps what is freed: no driver takes it away.
cudaError_t
free_implicitly(Runtime& rt, std::span<const int> devices, const Freed& freed, const char* call);
/// Until no work that was under way when [p, p + bytes) was unregistered reaches it any more.
void wait_until_free(Runtime& rt, const void* p, std::uint64_t bytes, const char* call);
std::vector<int> all_devices(const Runtime& rt);
/// A monitor looks whether all that has used what is freed comes before.
void tell_freed(Runtime& rt, const Freed& freed, int device, const char* call);
/// Pages of the host have been given away: a monitor forgets what lay at these addresses before.
void tell_allocated(Runtime& rt, const Freed& pages, int device);

} // namespace heddle::runtime
