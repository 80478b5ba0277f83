// Calls of the CUDA device runtime, as nvcc -rdc=true writes them: <<<…>>> in device code becomes
// __cudaCDP2GetParameterBufferV2 and __cudaCDP2LaunchDeviceV2, other calls __cudaCDP2<name>.
// cuda_device_runtime_api.h declares them.
//
// Each lane calls for itself, lowest first. What is not here (three-dimensional copies, attributes
// of functions, limits, launches of graphs) is unsupported when it is called.
#include "isa/lower_device_runtime.h"

#include "isa/call_arguments.h"
#include "isa/device_runtime.h"

#include <array>
#include <utility>

namespace heddle::isa {
namespace {

using RuntimeError = DeviceRuntime::Error;
using Sides = std::array<std::uint32_t, 3>;

/// One call by one lane. `faulted`: a pointer that it was given is bad.
struct Call {
  Exec& exec;
  const Op& op;
  DeviceRuntime& runtime;
  int lane = 0;
  bool faulted = false;

  DeviceRuntime::Thread thread() const { return {&exec.warp(), lane}; }
  template <class T> T value(std::uint32_t n) const { return argument<T>(exec, op, lane, n); }
  std::uint64_t word(std::uint32_t n) const { return value<std::uint64_t>(n); }
  /// Writes a result through the pointer that argument n is.
  template <class T> RuntimeError put(std::uint32_t n, T result) {
    std::byte* p = exec.translate(lane, word(n), sizeof(T), /*store=*/true);
    if (p == nullptr) {
      faulted = true;
      return RuntimeError::InvalidValue;
    }
    std::memcpy(p, &result, sizeof(T));
    return RuntimeError::Success;
  }
};

/// T answers what the call returns.
template <auto T> const Op* serve(Exec& exec, const Op& op) {
  auto* runtime = dynamic_cast<DeviceRuntime*>(&exec.environment());
  const char* missing = runtime == nullptr ? "here" : runtime->missing();
  if (missing != nullptr) {
    return exec.stop_unsupported(
        std::string("the device runtime (dynamic parallelism) ") + missing
    );
  }
  for (LaneMask m = exec.mask(); m != 0; m &= m - 1) {
    Call call{exec, op, *runtime, std::countr_zero(m)};
    const auto result = T(call);
    if (call.faulted) {
      return exec.stop_fault();
    }
    give_back(exec, op, call.lane, result);
  }
  return &op + 1;
}

std::uint64_t parameter_buffer(Call& c) {
  DeviceRuntime::Launch launch;
  launch.function = c.word(0);
  const auto grid = c.value<Sides>(1);
  const auto block = c.value<Sides>(2);
  for (std::size_t i = 0; i < 3; ++i) {
    launch.grid[i] = grid[i];
    launch.block[i] = block[i];
  }
  launch.shared = c.value<std::uint32_t>(3);
  return c.runtime.parameter_buffer(c.thread(), launch);
}

RuntimeError launch(Call& c) {
  return c.runtime.launch(c.thread(), c.word(0), c.word(1));
}

RuntimeError create_stream(Call& c) {
  constexpr std::uint32_t non_blocking = 1; // the only kind that device code may create
  if (c.value<std::uint32_t>(1) != non_blocking) {
    return c.runtime.fail(c.thread(), RuntimeError::InvalidValue);
  }
  return c.put(0, c.runtime.create_stream(c.thread()));
}
RuntimeError destroy_stream(Call& c) {
  return c.runtime.destroy_stream(c.thread(), c.word(0));
}

RuntimeError create_event(Call& c) {
  return c.put(0, c.runtime.create_event(c.thread()));
}
RuntimeError destroy_event(Call& c) {
  return c.runtime.destroy_event(c.thread(), c.word(0));
}
RuntimeError record(Call& c) {
  return c.runtime.record(c.thread(), c.word(0), c.word(1));
}
RuntimeError wait_event(Call& c) {
  return c.runtime.wait(c.thread(), c.word(0), c.word(1));
}

template <bool Clear> RuntimeError last_error(Call& c) {
  return c.runtime.last_error(c.thread(), Clear);
}

struct ErrorText {
  RuntimeError error;
  std::string_view name;
  std::string_view text;
};
constexpr ErrorText error_texts[] = {
    {RuntimeError::Success, "cudaSuccess", "no error"},
    {RuntimeError::InvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {RuntimeError::MemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {RuntimeError::InvalidConfiguration,
     "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {RuntimeError::LaunchPendingCountExceeded,
     "cudaErrorLaunchPendingCountExceeded",
     "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"},
    {RuntimeError::InvalidDeviceFunction,
     "cudaErrorInvalidDeviceFunction",
     "invalid device function"},
    {RuntimeError::InvalidResourceHandle,
     "cudaErrorInvalidResourceHandle",
     "invalid resource handle"},
};

/// The text is on the device's heap, where nobody frees it; 0 if the heap is full.
template <bool Name> memory::Address error_text(Call& c) {
  std::string_view text = "unrecognized error code";
  for (const ErrorText& known : error_texts) {
    if (known.error == c.value<std::uint32_t>(0)) {
      text = Name ? known.name : known.text;
    }
  }
  const memory::Address place = c.exec.environment().device_malloc(text.size() + 1);
  for (std::size_t i = 0; place != 0 && i <= text.size(); ++i) {
    *c.exec.translate(c.lane, place + i, 1, /*store=*/true) =
        static_cast<std::byte>(i < text.size() ? text[i] : '\0');
  }
  return place;
}

RuntimeError get_device(Call& c) {
  return c.put<std::int32_t>(0, c.runtime.device());
}
RuntimeError device_count(Call& c) {
  return c.put<std::int32_t>(0, c.runtime.devices());
}
RuntimeError device_attribute(Call& c) {
  std::int32_t value = 0;
  if (!c.runtime.attribute(c.value<std::int32_t>(1), &value)) {
    return c.runtime.fail(c.thread(), RuntimeError::InvalidValue);
  }
  return c.put(0, value);
}

RuntimeError allocate(Call& c) {
  const memory::Address p = c.exec.environment().device_malloc(c.word(1));
  const RuntimeError error = c.put(0, p);
  return p == 0 && error == RuntimeError::Success
             ? c.runtime.fail(c.thread(), RuntimeError::MemoryAllocation)
             : error;
}
RuntimeError release(Call& c) {
  const memory::Address p = c.word(0);
  if (p != 0 && !c.exec.environment().device_free(p)) {
    return c.runtime.fail(c.thread(), RuntimeError::InvalidValue);
  }
  c.exec.forget_freed();
  return RuntimeError::Success;
}

RuntimeError copy(Call& c) { // to, from, bytes, kind, stream
  DeviceRuntime::Copy copy;
  copy.to = c.word(0);
  copy.from = c.word(1);
  copy.width = c.word(2);
  return c.runtime.copy(c.thread(), copy, c.word(4));
}
RuntimeError copy_2d(Call& c) { // to, pitch, from, pitch, width, height, kind, stream
  DeviceRuntime::Copy copy;
  copy.to = c.word(0);
  copy.to_pitch = c.word(1);
  copy.from = c.word(2);
  copy.from_pitch = c.word(3);
  copy.width = c.word(4);
  copy.height = c.word(5);
  return c.runtime.copy(c.thread(), copy, c.word(7));
}
RuntimeError set(Call& c) { // to, value, bytes, stream
  DeviceRuntime::Copy copy;
  copy.set = true;
  copy.to = c.word(0);
  copy.value = static_cast<std::uint8_t>(c.value<std::int32_t>(1));
  copy.width = c.word(2);
  return c.runtime.copy(c.thread(), copy, c.word(3));
}
RuntimeError set_2d(Call& c) { // to, pitch, value, width, height, stream
  DeviceRuntime::Copy copy;
  copy.set = true;
  copy.to = c.word(0);
  copy.to_pitch = c.word(1);
  copy.value = static_cast<std::uint8_t>(c.value<std::int32_t>(2));
  copy.width = c.word(3);
  copy.height = c.word(4);
  return c.runtime.copy(c.thread(), copy, c.word(5));
}

RuntimeError occupancy(Call& c) { // result, function, threads, shared
  const int blocks = c.runtime.resident_blocks(c.word(1), c.value<std::int32_t>(2), c.word(3));
  if (blocks < 0) {
    return c.runtime.fail(c.thread(), RuntimeError::InvalidDeviceFunction);
  }
  return c.put<std::int32_t>(0, blocks);
}

constexpr std::string_view prefix = "__cudaCDP2";
constexpr std::pair<std::string_view, Handler> functions[] = {
    {"GetParameterBufferV2", serve<parameter_buffer>},
    {"LaunchDeviceV2", serve<launch>},
    {"StreamCreateWithFlags", serve<create_stream>},
    {"StreamDestroy", serve<destroy_stream>},
    {"StreamWaitEvent", serve<wait_event>},
    {"EventCreateWithFlags", serve<create_event>},
    {"EventDestroy", serve<destroy_event>},
    {"EventRecord", serve<record>},
    {"EventRecordWithFlags", serve<record>},
    {"GetLastError", serve<last_error<true>>},
    {"PeekAtLastError", serve<last_error<false>>},
    {"GetErrorString", serve<error_text<false>>},
    {"GetErrorName", serve<error_text<true>>},
    {"GetDevice", serve<get_device>},
    {"GetDeviceCount", serve<device_count>},
    {"DeviceGetAttribute", serve<device_attribute>},
    {"Malloc", serve<allocate>},
    {"Free", serve<release>},
    {"MemcpyAsync", serve<copy>},
    {"Memcpy2DAsync", serve<copy_2d>},
    {"MemsetAsync", serve<set>},
    {"Memset2DAsync", serve<set_2d>},
    {"OccupancyMaxActiveBlocksPerMultiprocessor", serve<occupancy>},
    {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", serve<occupancy>},
};

} // namespace

Handler device_runtime_function(std::string_view name) {
  if (!name.starts_with(prefix)) {
    return nullptr;
  }
  name.remove_prefix(prefix.size());
  // _ptsz: for code whose default stream is one per thread; on the device it is the block's anyway.
  if (constexpr std::string_view per_thread = "_ptsz"; name.ends_with(per_thread)) {
    name.remove_suffix(per_thread.size());
  }
  for (const auto& [known, handler] : functions) {
    if (known == name) {
      return handler;
    }
  }
  return nullptr;
}

bool names_launched_kernel(std::string_view name) {
  return name == "__cudaCDP2GetParameterBufferV2";
}

} // namespace heddle::isa
