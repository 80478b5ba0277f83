// Implements library_work.h.
//
// May be wrong: memory between the stretches (lda > m) counts as needed up to the last one, as with
// pitched copies.
#include "runtime/streams/library_work.h"

#include "explore/search/explorer.h"
#include "machine/fault_diagnostic.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/host_place.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/diagnostics/python_place.h"
#include "runtime/runtime.h"
#include "runtime/streams/library_reach.h"

#include <fmt/format.h>

using namespace heddle::runtime;

namespace {

std::uint64_t extent(const LibraryMemory& memory) {
  return memory.width == 0 || memory.count == 0 ? 0
                                                : (memory.count - 1) * memory.pitch + memory.width;
}

/// What reports call the work: with the line of a Python script, because an operator of PyTorch
/// alone says little about which of many it was.
std::string work_label(const char* call) {
  const void* const caller = heddle::explore::is_exploring() ? nullptr : python_caller();
  const PythonPlace* const place = caller == nullptr ? nullptr : python_place(caller);
  return place == nullptr ? call : fmt::format("{} ({}:{})", call, place->file, place->line);
}

/// The work that this thread computes.
thread_local const std::string* computed_work = nullptr;

/// Is all of it memory that the device reaches? If not it is reported.
bool is_there(
    const heddle::memory::AddressSpace& space,
    const LibraryMemory& memory,
    const char* call
) {
  const std::uint64_t bytes = extent(memory);
  const auto at = reinterpret_cast<heddle::memory::Address>(memory.at);
  if (bytes == 0 || memory.on_host) {
    return true;
  }
  const auto found = space.find(at);
  if (found && found->contains(at, bytes)) {
    return true;
  }
  const auto nearest = space.nearest(at);
  const bool freed = !found && nearest && nearest->freed && at - nearest->base < nearest->size;
  const bool host = !found && !heddle::memory::AddressSpace::in_device_range(at);
  heddle::report::Diagnostic d(
      freed  ? heddle::report::Finding::UseAfterFree
      : host ? heddle::report::Finding::HostMemory
             : heddle::report::Finding::OutOfBounds,
      fmt::format(
          "{} {} {} bytes of {} at {:#x}{}",
          call,
          memory.access == LibraryAccess::Read ? "reads" : "writes",
          bytes,
          memory.name,
          at,
          freed  ? ", which has been freed"
          : host ? ", which is host memory"
                 : ", which leave their allocation"
      )
  );
  if (!host) {
    heddle::machine::note_if_near(d, nearest, at);
  }
  add_call(d);
  announce(d);
  return false;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

int heddle_library_work(
    void* handle,
    const char* call,
    const LibraryMemory* memory,
    std::size_t count,
    LibraryCompute compute,
    void* data,
    void (*destroy)(void*)
) {
  const std::shared_ptr<void> owned(data, destroy);
  const std::string label = work_label(call);
  return api(call, [&](Runtime& rt, ThreadState& thread) {
    const auto stream = rt.stream(static_cast<cudaStream_t>(handle));
    if (!stream) {
      return stream.error();
    }
    LibraryWork work;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_there(rt.space(), memory[i], call)) {
        return cudaErrorIllegalAddress;
      }
      work.memory.push_back(memory[i]);
    }
    work.compute = [owned, compute, label](std::byte* const* at) {
      computed_work = &label;
      compute(owned.get(), at);
      computed_work = nullptr;
    };
    const auto command = rt.enqueue(**stream, Operation{std::move(work), label, thread.device});
    return command ? cudaSuccess : command.error();
  });
}

void* heddle_library_reach(const char* call, const void* at, std::uint64_t bytes) {
  const auto& space = Runtime::get().space();
  const LibraryMemory memory{"a matrix", at, bytes, 1, 0, LibraryAccess::ReadWrite, false};
  if (!is_there(space, memory, call)) {
    return nullptr;
  }
  const auto address = reinterpret_cast<heddle::memory::Address>(at);
  return heddle::memory::AddressSpace::in_device_range(address) ? space.host_pointer(address, bytes)
                                                                : const_cast<void*>(at);
}

void heddle_library_failed(const char* call, const char* reason) {
  announce(
      heddle::report::Diagnostic(
          heddle::report::Finding::Assert,
          fmt::format("{}: {}", computed_work != nullptr ? *computed_work : call, reason)
      )
  );
}

void heddle_library_unsupported(const char* call) {
  complain_library(fmt::format("{} is not implemented by Heddle", call), call);
}

} // extern "C"
#pragma GCC visibility pop
