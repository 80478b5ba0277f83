// Implements operation.h.
#include "runtime/streams/operation.h"

#include "base/hash.h"
#include "explore/host/copy_words.h"
#include "machine/fault_diagnostic.h"
#include "machine/monitor.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/host_accesses.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/runtime.h"
#include "runtime/streams/graph.h"
#include "runtime/streams/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::runtime {
namespace {

template <class... F> struct Overload : F... {
  using F::operator()...;
};

/// Bytes from the first to the last of a pitched region.
std::uint64_t extent(
    std::uint64_t width,
    std::uint64_t height,
    std::uint64_t depth,
    std::uint64_t pitch,
    std::uint64_t slice
) {
  return width == 0 || height == 0 || depth == 0
             ? 0
             : (depth - 1) * slice + (height - 1) * pitch + width;
}

/// Where the host reaches `bytes` bytes at an address that a program gave: device memory at its
/// shadow, host memory where it is. nullptr: device memory that is not (or no longer) allocated.
std::byte* reach(const memory::AddressSpace& space, memory::Address at, std::uint64_t bytes) {
  if (memory::AddressSpace::in_device_range(at)) {
    return static_cast<std::byte*>(space.host_pointer(at, bytes));
  }
  return reinterpret_cast<std::byte*>(at);
}

void freed_meanwhile(
    const memory::AddressSpace& space,
    const std::string& label,
    memory::Address at,
    std::uint64_t bytes
) {
  report::Diagnostic d(
      report::Finding::UseAfterFree,
      fmt::format("{} uses {} bytes at {:#x} that were freed before it ran", label, bytes, at)
  );
  if (const auto nearest = space.nearest(at)) {
    d.notes.push_back("the address is " + machine::place_in_memory(*nearest, at));
  }
  announce(d);
}

/// Tells the monitor of `height` × `depth` rows at `at`, where devices reach them too.
void watch_rows(
    machine::Monitor& monitor,
    const machine::Command& command,
    const memory::AddressSpace& space,
    memory::Address at,
    std::uint64_t pitch,
    std::uint64_t slice,
    const auto& shape,
    bool store
) {
  const bool of_devices = memory::AddressSpace::in_device_range(at) || space.find(at);
  for (std::uint64_t z = 0; z < shape.depth; ++z) {
    for (std::uint64_t y = 0; y < shape.height; ++y) {
      if (of_devices) {
        monitor.host_side_access(command, at + z * slice + y * pitch, shape.width, store);
      } else if (store) {
        note_copy_to_host(command, at + z * slice + y * pitch, shape.width);
      }
    }
  }
}

void watch(
    machine::Monitor* monitor,
    const machine::Command& command,
    const memory::AddressSpace& space,
    const Copy& copy
) {
  if (monitor == nullptr) {
    return;
  }
  if (copy.staged == nullptr) {
    watch_rows(
        *monitor,
        command,
        space,
        copy.from,
        copy.from_pitch,
        copy.from_slice,
        copy,
        /*store=*/false
    );
  }
  watch_rows(*monitor, command, space, copy.to, copy.to_pitch, copy.to_slice, copy, /*store=*/true);
}

void watch(
    machine::Monitor* monitor,
    const machine::Command& command,
    const memory::AddressSpace& space,
    const Set& set
) {
  if (monitor != nullptr) {
    watch_rows(*monitor, command, space, set.to, set.pitch, set.slice, set, /*store=*/true);
  }
}

memory::Address address_of(const LibraryMemory& memory) {
  return reinterpret_cast<memory::Address>(memory.at);
}

std::uint64_t bytes_of(const LibraryMemory& memory) {
  return extent(memory.width, memory.count, 1, memory.pitch, 0);
}

void watch(
    machine::Monitor* monitor,
    const machine::Command& command,
    const memory::AddressSpace& space,
    const LibraryWork& work
) {
  struct Shape {
    std::uint64_t width, height, depth;
  };
  for (const LibraryMemory& m : work.memory) {
    if (monitor == nullptr || m.on_host) {
      continue;
    }
    const Shape shape{m.width, m.count, 1};
    if (m.access != LibraryAccess::Write) {
      watch_rows(*monitor, command, space, address_of(m), m.pitch, 0, shape, /*store=*/false);
    }
    if (m.access != LibraryAccess::Read) {
      watch_rows(*monitor, command, space, address_of(m), m.pitch, 0, shape, /*store=*/true);
    }
  }
}

void fill(std::byte* at, std::uint32_t value, std::uint32_t element_bytes, std::uint64_t bytes) {
  if (element_bytes == 1) {
    std::memset(at, static_cast<int>(value), bytes);
    return;
  }
  for (std::uint64_t i = 0; i + element_bytes <= bytes; i += element_bytes) {
    std::memcpy(at + i, &value, element_bytes);
  }
}

} // namespace

void perform(memory::AddressSpace& space, const Copy& copy, const std::string& label) {
  const std::uint64_t to_bytes =
      extent(copy.width, copy.height, copy.depth, copy.to_pitch, copy.to_slice);
  const std::uint64_t from_bytes =
      extent(copy.width, copy.height, copy.depth, copy.from_pitch, copy.from_slice);
  if (to_bytes == 0) {
    return;
  }
  std::byte* to = reach(space, copy.to, to_bytes);
  const std::byte* from = copy.staged != nullptr ? copy.staged->data() + copy.from
                                                 : reach(space, copy.from, from_bytes);
  if (to == nullptr || from == nullptr) {
    freed_meanwhile(
        space,
        label,
        to == nullptr ? copy.to : copy.from,
        to == nullptr ? to_bytes : from_bytes
    );
    return;
  }
  for (std::uint64_t z = 0; z < copy.depth; ++z) {
    for (std::uint64_t y = 0; y < copy.height; ++y) {
      std::memmove(
          to + z * copy.to_slice + y * copy.to_pitch,
          from + z * copy.from_slice + y * copy.from_pitch,
          copy.width
      );
    }
  }
}

void perform(memory::AddressSpace& space, const Set& set, const std::string& label) {
  const std::uint64_t bytes = extent(set.width, set.height, set.depth, set.pitch, set.slice);
  if (bytes == 0) {
    return;
  }
  std::byte* to = reach(space, set.to, bytes);
  if (to == nullptr) {
    freed_meanwhile(space, label, set.to, bytes);
    return;
  }
  for (std::uint64_t z = 0; z < set.depth; ++z) {
    for (std::uint64_t y = 0; y < set.height; ++y) {
      fill(to + z * set.slice + y * set.pitch, set.value, set.element_bytes, set.width);
    }
  }
}

namespace {

template <class... T> std::uint64_t name_of(const T&... parts) {
  Hasher hasher;
  (hasher.value(parts), ...);
  return hasher.finish().low;
}

/// What a command of it does, in all that its label does not say; a kernel's grid says it itself.
std::uint64_t content_of(const Work& work) {
  return std::visit(
      Overload{
          [](const Copy& copy) {
            const std::uint64_t staged =
                copy.staged == nullptr ? 0 : XXH3_64bits(copy.staged->data(), copy.staged->size());
            return name_of(
                copy.to,
                copy.from,
                copy.width,
                copy.height,
                copy.depth,
                copy.to_pitch,
                copy.to_slice,
                copy.from_pitch,
                copy.from_slice,
                staged
            );
          },
          [](const Set& set) {
            return name_of(
                set.to,
                set.value,
                set.element_bytes,
                set.width,
                set.height,
                set.depth,
                set.pitch,
                set.slice
            );
          },
          [](const HostCall& host) {
            return name_of(reinterpret_cast<std::uintptr_t>(host.function), host.data);
          },
          [](const EventRecord& record) { return name_of(record.event->handle); },
          [](const Allocate& allocate) { return name_of(allocate.address, allocate.bytes); },
          [](const Free& free) { return name_of(free.address, free.of_graph); },
          [](const auto&) { return std::uint64_t{0}; },
      },
      work
  );
}

std::function<void()>
host_function(machine::World& world, const HostCall& host, const machine::Command& command) {
  return [&world, call = host.call, &command] {
    machine::Monitor* monitor = world.monitor();
    if (monitor != nullptr) {
      monitor->runs_function(command, machine::Monitor::Moment::Begins);
    }
    // The thread that runs it must not call the API meanwhile.
    ThreadState& thread = thread_state();
    const bool before = std::exchange(thread.in_callback, true);
    call();
    thread.in_callback = before;
    if (monitor != nullptr) {
      world.driver().alone([&] {
        monitor->runs_function(command, machine::Monitor::Moment::Ends);
      });
    }
  };
}

} // namespace

void perform(memory::AddressSpace& space, const LibraryWork& work, const std::string& label) {
  std::vector<std::byte*> at;
  for (const LibraryMemory& m : work.memory) {
    at.push_back(bytes_of(m) == 0 ? nullptr : reach(space, address_of(m), bytes_of(m)));
    if (at.back() == nullptr && bytes_of(m) != 0) {
      freed_meanwhile(space, label, address_of(m), bytes_of(m));
      return;
    }
  }
  work.compute(at.data());
}

namespace {

/// The work of a copy or a set: a type with a name, so that rows_of() finds it in a command.
template <class T> struct Performance {
  memory::AddressSpace* space;
  T what;
  std::string label;
  machine::Monitor* monitor;
  const machine::Command* command;

  void operator()() const {
    watch(monitor, *command, *space, what);
    perform(*space, what, label);
  }
};

/// Of a copy of a few words; else empty.
std::vector<Copy> words_of(const Copy& copy) {
  std::vector<Copy> words;
  if (!explore::has_few_words(copy.width * copy.height * copy.depth)) {
    return words;
  }
  constexpr std::uint64_t word = explore::bytes_of_copied_word;
  for (std::uint64_t z = 0; z < copy.depth; ++z) {
    for (std::uint64_t y = 0; y < copy.height; ++y) {
      for (std::uint64_t x = 0; x < copy.width;) {
        Copy one = copy;
        one.to += z * copy.to_slice + y * copy.to_pitch + x;
        one.from += z * copy.from_slice + y * copy.from_pitch + x;
        one.width = std::min(copy.width - x, word - one.to % word);
        one.height = one.depth = 1;
        x += one.width;
        words.push_back(one);
      }
    }
  }
  return words;
}

/// Its words are commands that it consists of: each comes when it comes.
void copy_word_by_word(Runtime& runtime, const Operation& operation, machine::Command& command) {
  const std::vector<Copy> words = words_of(std::get<Copy>(operation.work));
  if (words.size() < 2) {
    return;
  }
  command.kind = machine::CommandKind::Empty;
  command.work = {};
  command.touches.reset();
  command.more =
      [&runtime, words, label = operation.label, self = &command, begun = false]() mutable {
        std::vector<machine::CommandPtr> parts;
        if (std::exchange(begun, true)) {
          return parts;
        }
        for (const Copy& word : words) {
          auto part =
              make_command(runtime, Operation{word, label + ", one word of it", self->device});
          (*part)->stream = self->stream;
          (*part)->part_of = self->id;
          runtime.world().submit(*part);
          parts.push_back(*part);
        }
        return parts;
      };
}

} // namespace

std::vector<Rows> rows_of(const machine::Command& command) {
  if (const auto* copy = command.work.target<Performance<Copy>>()) {
    const Copy& c = copy->what;
    return {
        {c.width, c.height, c.to_pitch, c.to_slice},
        {c.width, c.height, c.from_pitch, c.from_slice}
    };
  }
  if (const auto* set = command.work.target<Performance<Set>>()) {
    return {{set->what.width, set->what.height, set->what.pitch, set->what.slice}};
  }
  return {};
}

tl::expected<machine::CommandPtr, cudaError_t>
make_command(Runtime& runtime, const Operation& operation) {
  auto command = std::make_shared<machine::Command>();
  command->device = operation.device;
  command->label = operation.label;
  command->content = content_of(operation.work);
  memory::AddressSpace* space = &runtime.space();
  // The monitor is told what a command does when it does it; the command is there then.
  machine::Monitor* monitor = runtime.world().monitor();
  const machine::Command* self = command.get();
  cudaError_t error = cudaSuccess;
  std::visit(
      Overload{
          [&](const Nothing&) { command->kind = machine::CommandKind::Empty; },
          [&](const KernelLaunch& launch) {
            command->kind = machine::CommandKind::Kernel;
            const auto loaded = runtime.modules().kernel(*launch.function, operation.device);
            if (!loaded) {
              error = loaded.error();
              return;
            }
            const auto grid = runtime.world().make_grid(
                loaded->program,
                *loaded->kernel,
                launch.config,
                launch.parameters,
                operation.device
            );
            if (!grid) {
              complain_once("error: " + grid.error().message);
              error = cudaErrorInvalidValue;
              return;
            }
            command->grid = *grid;
          },
          [&](const Copy& copy) {
            command->kind = machine::CommandKind::Copy;
            command->touches.emplace();
            command->touches->push_back(
                {copy.to,
                 extent(copy.width, copy.height, copy.depth, copy.to_pitch, copy.to_slice),
                 /*write=*/true}
            );
            if (copy.staged == nullptr) {
              command->touches->push_back(
                  {copy.from,
                   extent(copy.width, copy.height, copy.depth, copy.from_pitch, copy.from_slice),
                   /*write=*/false}
              );
            }
            command->work = Performance<Copy>{space, copy, operation.label, monitor, self};
            if (explore::copies_word_by_word()) {
              copy_word_by_word(runtime, operation, *command);
            }
          },
          [&](const Set& set) {
            command->kind = machine::CommandKind::Set;
            command->touches.emplace();
            command->touches->push_back(
                {set.to,
                 extent(set.width, set.height, set.depth, set.pitch, set.slice),
                 /*write=*/true}
            );
            command->work = Performance<Set>{space, set, operation.label, monitor, self};
          },
          [&](const LibraryWork& library) {
            command->kind = machine::CommandKind::Copy;
            command->touches.emplace();
            for (const LibraryMemory& m : library.memory) {
              command->touches->push_back(
                  {address_of(m), bytes_of(m), m.access != LibraryAccess::Read}
              );
            }
            command->work = [space, library, label = operation.label, monitor, self] {
              watch(monitor, *self, *space, library);
              perform(*space, library, label);
            };
          },
          [&](const HostCall& host) {
            command->kind = machine::CommandKind::HostFunction;
            command->work = host_function(runtime.world(), host, *self);
          },
          [&](const EventRecord&) {
            command->kind = machine::CommandKind::EventRecord;
            command->work = [] {};
          },
          [&](const EventWait& wait) {
            command->kind = machine::CommandKind::Empty;
            if (!wait.event->over() || (monitor != nullptr && wait.event->command != nullptr)) {
              command->after.push_back(wait.event->command);
              command->event.record = wait.event->command->id;
            }
          },
          [&](const WaitForValue& wait) {
            command->kind = machine::CommandKind::ValueWait;
            command->value = wait.value;
          },
          [&](const Allocate& allocate) {
            command->kind = machine::CommandKind::Allocate;
            command->work = [] {};
            if (monitor != nullptr) {
              command->work = [monitor, self, allocate] {
                monitor->life_begins(*self, allocate.address, allocate.bytes);
              };
            }
          },
          [&](const Free& free) {
            command->kind = machine::CommandKind::Free;
            command->work = [&memory = runtime.memory(),
                             &use = runtime.graphs().memory_use(),
                             monitor,
                             self,
                             space,
                             free,
                             label = operation.label] {
              if (const auto life = space->find(free.address); monitor != nullptr && life) {
                monitor->life_ends(*self, life->base, life->size);
              }
              const std::lock_guard lock(use.mutex);
              if (use.take_kept(free.address)) {
                return;
              }
              if (free.of_graph) {
                static_cast<void>(space->release(free.address));
              } else if (!memory.release(free.address)) {
                announce_bad_free(*space, free.address, label.c_str());
              }
            };
          },
      },
      operation.work
  );
  if (error != cudaSuccess) {
    return tl::unexpected(error);
  }
  return command;
}

} // namespace heddle::runtime
