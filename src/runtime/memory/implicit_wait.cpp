// Implements implicit_wait.h.
#include "runtime/memory/implicit_wait.h"

#include "machine/monitor.h"
#include "machine/unawaited.h"

#include <algorithm>

namespace heddle::runtime {
namespace {

/// `last`: all that the device was given up to the command with this id.
cudaError_t wait_without_promise(
    Runtime& rt,
    const std::vector<machine::CommandPtr>& commands,
    int device,
    std::uint64_t last,
    const char* call
) {
  machine::World& world = rt.world();
  const auto over = [&] {
    return world.has_fault() || std::ranges::all_of(commands, [](const auto& command) {
             return command == nullptr || command->done.load();
           });
  };
  if (!over()) {
    world.driver().wait_unpromised(over, commands, call);
  }
  rt.streams().tell();
  if (machine::Monitor* monitor = world.monitor()) {
    monitor->host_waited({commands, device, last, call});
  }
  world.flush_output();
  return rt.health(device);
}

} // namespace

cudaError_t wait_implicitly(Runtime& rt, int device, const char* call) {
  if (const cudaError_t refused = rt.refuse_during_capture(); refused != cudaSuccess) {
    return refused;
  }
  machine::Unawaited* unawaited = rt.world().unawaited();
  const std::uint64_t last = unawaited != nullptr ? unawaited->last() : 0;
  const cudaError_t error =
      wait_without_promise(rt, rt.streams().pending_on_device(device), device, last, call);
  if (unawaited != nullptr) {
    unawaited->host_waited_for(device);
  }
  return error;
}

cudaError_t wait_implicitly(
    Runtime& rt,
    std::vector<machine::CommandPtr> commands,
    int device,
    const char* call
) {
  const cudaError_t error = wait_without_promise(rt, commands, device, 0, call);
  if (machine::Unawaited* unawaited = rt.world().unawaited()) {
    unawaited->host_waited(commands);
  }
  return error;
}

} // namespace heddle::runtime
