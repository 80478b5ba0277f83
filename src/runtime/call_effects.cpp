// What calls leave behind, for whoever names states (heddle check): implements the part of
// runtime.h that is about it.
//
// A state is told by memory, by the commands that are not complete, by where the host threads
// stand, by what the API keeps of each thread (name_of), and by its streams and events
// (StreamTable::hash). What else a call leaves behind (a graph's nodes, an attribute, a texture) is
// not looked at: the driver is told that there was such a call, and tells states apart by all those
// that there were. So a function that is missing here costs states, and none that is here may keep
// anything else.
#include "base/hash.h"
#include "runtime/runtime.h"

#include <algorithm>
#include <array>

namespace heddle::runtime {

namespace {

constexpr auto others = std::to_array<std::string_view>({
    "cudaArrayGetInfo",
    "cudaDeviceSynchronize",
    "cudaEventCreate",
    "cudaEventCreateWithFlags",
    "cudaEventDestroy",
    "cudaEventElapsedTime",
    "cudaEventQuery",
    "cudaEventRecord",
    "cudaEventRecordWithFlags",
    "cudaEventSynchronize",
    "cudaFree",
    "cudaFreeHost",
    "cudaGraphLaunch",
    "cudaHostAlloc",
    "cudaLaunchCooperativeKernel",
    "cudaLaunchHostFunc",
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaMalloc",
    "cudaMallocHost",
    "cudaMallocManaged",
    "cudaMallocPitch",
    "cudaMemcpy",
    "cudaMemcpy2D",
    "cudaMemcpy2DAsync",
    "cudaMemcpyAsync",
    "cudaMemcpyFromSymbol",
    "cudaMemcpyFromSymbolAsync",
    "cudaMemcpyPeer",
    "cudaMemcpyPeerAsync",
    "cudaMemcpyToSymbol",
    "cudaMemcpyToSymbolAsync",
    "cudaMemset",
    "cudaMemset2D",
    "cudaMemset2DAsync",
    "cudaMemsetAsync",
    "cudaStreamAddCallback",
    "cudaStreamCreate",
    "cudaStreamCreateWithFlags",
    "cudaStreamCreateWithPriority",
    "cudaStreamDestroy",
    "cudaStreamIsCapturing",
    "cudaStreamQuery",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
});

} // namespace

bool leaves_nothing_else(std::string_view function) {
  constexpr std::string_view prefix = "cuda", asks = "Get";
  const std::size_t get = function.find(asks, prefix.size());
  return (function.starts_with(prefix) && get != std::string_view::npos) ||
         std::ranges::find(others, function) != others.end();
}

std::uint64_t name_of(const ThreadState& thread) {
  Hasher hasher;
  hasher.value(thread.device);
  hasher.value(thread.last_error);
  hasher.value(thread.in_callback);
  hasher.value(thread.capture_mode);
  hasher.value(thread.uses_primary);
  for (const LaunchSetup& setup : thread.setups) {
    for (const dim3& size : {setup.grid, setup.block}) {
      hasher.value(size.x);
      hasher.value(size.y);
      hasher.value(size.z);
    }
    hasher.value(setup.shared);
    hasher.value(setup.stream);
  }
  hasher.value(thread.default_streams.size());
  for (const Context* context : thread.contexts) {
    hasher.value(context);
  }
  return hasher.finish().low;
}

void call_is_over(const ThreadState& thread, std::uint64_t code) {
  const Runtime* runtime = Runtime::existing();
  if (runtime == nullptr || runtime->config().mode != Mode::Check) {
    return;
  }
  machine::Driver& driver = Runtime::get().world().driver();
  driver.api_holds(name_of(thread));
  driver.api_returned(code);
}

} // namespace heddle::runtime
