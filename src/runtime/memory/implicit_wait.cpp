// Implements implicit_wait.h.
#include "runtime/memory/implicit_wait.h"

#include "explore/host/kept_pages.h"
#include "explore/host/unneeded_wait.h"
#include "machine/held_back.h"
#include "machine/monitor.h"
#include "machine/unawaited.h"
#include "runtime/diagnostics/pending_memory.h"

#include <algorithm>
#include <numeric>

namespace heddle::runtime {
namespace {

using Commands = std::vector<machine::CommandPtr>;

bool are_over(const machine::World& world, const Commands& commands) {
  return world.has_fault() || std::ranges::all_of(commands, [](const auto& command) {
           return command == nullptr || command->done.load();
         });
}

/// `last`: all that the device was given up to the command with this id.
cudaError_t finish_wait(
    Runtime& rt,
    const Commands& commands,
    int device,
    std::uint64_t last,
    const char* call
) {
  machine::World& world = rt.world();
  if (are_over(world, commands)) {
    rt.streams().tell();
  }
  if (machine::Monitor* monitor = world.monitor()) {
    monitor->host_waited({commands, device, last, call});
  }
  world.flush_output();
  return rt.health(device);
}

/// A search goes on before, too.
void wait_without_promise(Runtime& rt, const Commands& commands, const char* call) {
  const auto over = [&] { return are_over(rt.world(), commands); };
  if (!over()) {
    const machine::UnpromisedWait here;
    rt.world().driver().wait_unpromised(over, commands, call);
  }
}

cudaError_t wait_for(Runtime& rt, int device, const Commands& commands, const char* call) {
  machine::Unawaited* unawaited = rt.world().unawaited();
  const std::uint64_t last = unawaited != nullptr ? unawaited->last() : 0;
  wait_without_promise(rt, commands, call);
  const cudaError_t error = finish_wait(rt, commands, device, last, call);
  if (unawaited != nullptr) {
    unawaited->host_waited_for(device);
  }
  return error;
}

/// Beyond what a search keeps at a time.
void wait_as_ever(Runtime& rt, const Commands& commands, const char* call) {
  explore::note_unneeded_wait();
  rt.world().driver().wait([&] { return are_over(rt.world(), commands); }, commands, call);
}

machine::CommandPtr make_command_of(machine::CommandKind kind, int device, const char* call) {
  auto command = std::make_shared<machine::Command>();
  command->kind = kind;
  command->device = device;
  command->label = call;
  command->stream = "no stream";
  return command;
}

} // namespace

cudaError_t wait_implicitly(Runtime& rt, int device, const char* call) {
  if (const cudaError_t refused = rt.refuse_during_capture(); refused != cudaSuccess) {
    return refused;
  }
  return wait_for(rt, device, rt.streams().pending_on_device(device), call);
}

cudaError_t wait_implicitly(
    Runtime& rt,
    std::vector<machine::CommandPtr> commands,
    int device,
    const char* call
) {
  wait_without_promise(rt, commands, call);
  const cudaError_t error = finish_wait(rt, commands, device, 0, call);
  if (machine::Unawaited* unawaited = rt.world().unawaited()) {
    unawaited->host_waited(commands);
  }
  return error;
}

void wait_until_free(Runtime& rt, const void* p, std::uint64_t bytes, const char* call) {
  const Commands keepers = explore::keepers_of(p, bytes);
  if (!are_over(rt.world(), keepers)) {
    wait_as_ever(rt, keepers, call);
  }
}

cudaError_t
free_implicitly(Runtime& rt, std::span<const int> devices, const Freed& freed, const char* call) {
  Commands under_way;
  for (const int device : devices) {
    if (const cudaError_t refused = rt.refuse_during_capture(); refused != cudaSuccess) {
      return refused;
    }
    const Commands commands = rt.streams().pending_on_device(device);
    if (const cudaError_t error = wait_for(rt, device, commands, call); error != cudaSuccess) {
      return error;
    }
    under_way.insert(under_way.end(), commands.begin(), commands.end());
  }
  if (are_over(rt.world(), under_way)) {
    tell_freed(rt, freed, devices.front(), call);
    const cudaError_t error = freed.release();
    PendingMemory::host_has_freed();
    return error;
  }
  const void* const pages = freed.is_hosts ? reinterpret_cast<const void*>(freed.base) : nullptr;
  const machine::CommandPtr later =
      make_command_of(machine::CommandKind::Free, devices.front(), call);
  if (pages != nullptr && !explore::keep_pages(pages, freed.bytes, later)) {
    wait_as_ever(rt, under_way, call);
    return freed.release();
  }
  later->after = std::move(under_way);
  later->work = [release = freed.release, pages] {
    static_cast<void>(release());
    if (pages != nullptr) {
      explore::let_pages_go(pages);
    }
  };
  rt.world().submit(later);
  return cudaSuccess;
}

std::vector<int> all_devices(const Runtime& rt) {
  std::vector<int> devices(static_cast<std::size_t>(rt.devices()));
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

void tell_freed(Runtime& rt, const Freed& freed, int device, const char* call) {
  machine::Monitor* const monitor = rt.world().monitor();
  if (monitor == nullptr) {
    return;
  }
  const machine::CommandPtr free = make_command_of(machine::CommandKind::Free, device, call);
  free->work = [monitor, self = free.get(), base = freed.base, bytes = freed.bytes] {
    monitor->life_ends(*self, base, bytes);
  };
  rt.world().submit(free);
  static_cast<void>(rt.wait({free}, device, call));
}

void tell_allocated(Runtime& rt, const Freed& pages, int device) {
  constexpr const char* call = "an allocation";
  machine::Monitor* const monitor = rt.world().monitor();
  if (monitor == nullptr) {
    return;
  }
  const machine::CommandPtr begin = make_command_of(machine::CommandKind::Allocate, device, call);
  begin->work = [monitor, self = begin.get(), base = pages.base, bytes = pages.bytes] {
    monitor->life_begins(*self, base, bytes);
  };
  rt.world().submit(begin);
  static_cast<void>(rt.wait({begin}, device, call));
}

} // namespace heddle::runtime
