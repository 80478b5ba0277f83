// Operation: one piece of work as the API describes it, before it becomes a machine::Command.
//
// Every call that puts work on a stream builds an Operation and hands it to StreamTable::enqueue.
// That is the one place where a stream that is being captured turns work into a graph node instead
// of a command; a graph launch makes commands of the same Operations again.
#pragma once

#include "base/result.h"
#include "machine/world.h"
#include "memory/address_space.h"
#include "runtime/cudart.h"
#include "runtime/streams/library_work.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace heddle::runtime {

struct Function; // module.h
struct Event;    // event.h

/// `depth` slices of `height` rows of `width` bytes. Addresses are device addresses or host
/// pointers.
struct Copy {
  memory::Address to = 0, from = 0;
  std::uint64_t width = 0, height = 1, depth = 1;
  std::uint64_t to_pitch = 0, to_slice = 0; // bytes from row to row, from slice to slice
  std::uint64_t from_pitch = 0, from_slice = 0;
  /// Set: the bytes were copied at the call (pageable host memory may be reused after it); `from`
  /// is an offset in it.
  std::shared_ptr<const std::vector<std::byte>> staged;
};

struct Set {
  memory::Address to = 0;
  std::uint32_t value = 0;
  std::uint32_t element_bytes = 1;                // 1, 2 or 4
  std::uint64_t width = 0, height = 1, depth = 1; // width in bytes
  std::uint64_t pitch = 0, slice = 0;
};

struct KernelLaunch {
  Function* function = nullptr;
  machine::LaunchConfig config;
  std::vector<std::byte> parameters; // laid out as the kernel wants them
  int priority = 0;
};

struct HostCall {
  std::function<void()> call;
  cudaHostFn_t function = nullptr; // of a graph's node: what the call is made of
  void* data = nullptr;
};

struct EventRecord {
  std::shared_ptr<Event> event;
};

/// Waits for the event as it was recorded last when the command is made (nodes of graphs).
struct EventWait {
  std::shared_ptr<Event> event;
};

/// Memory whose address the program already has; it may be used once this has run.
struct Allocate {
  memory::Address address = 0;
  std::uint64_t bytes = 0;
  cudaMemPoolProps pool{};
};

struct Free {
  memory::Address address = 0;
  /// By the graph that has allocated it: the address stays reserved for its next launch.
  bool of_graph = false;
};

/// Waits for a value in memory.
struct WaitForValue {
  machine::ValueWait value;
};

/// What a stand-in for one of NVIDIA's libraries computes. Names are not kept.
struct LibraryWork {
  std::vector<LibraryMemory> memory;
  std::function<void(std::byte* const*)> compute;
};

/// Orders, does nothing (cudaStreamWaitEvent, empty graph nodes).
struct Nothing {};

using Work = std::variant<
    Nothing,
    KernelLaunch,
    Copy,
    Set,
    HostCall,
    EventRecord,
    EventWait,
    Allocate,
    Free,
    WaitForValue,
    LibraryWork>;

struct Operation {
  Work work;
  std::string label; // "cudaMemcpyAsync", for reports
  int device = 0;
};

class Runtime;

/// Checks what must hold when the work is submitted and builds the command; the caller fills
/// `after`. The error is what the API call returns; its reason in words has then been printed if a
/// program cannot find it out by itself.
tl::expected<machine::CommandPtr, cudaError_t>
make_command(Runtime& runtime, const Operation& operation);

/// Does a copy or a set now. Memory that has been freed since the call is a defect of the program:
/// it is reported and nothing is written.
void perform(memory::AddressSpace& space, const Copy& copy, const std::string& label);
void perform(memory::AddressSpace& space, const Set& set, const std::string& label);
void perform(memory::AddressSpace& space, const LibraryWork& work, const std::string& label);

} // namespace heddle::runtime
