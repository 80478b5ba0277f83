// Runtime: what the process has of CUDA: devices, memory, modules, streams, and each thread's
// state.
//
// The library is entered through C functions, so there has to be one instance per process. It is
// made by the first call that needs it and never destroyed: programs call the API from static
// destructors.
#pragma once

#include "machine/world.h"
#include "memory/address_space.h"
#include "runtime/config.h"
#include "runtime/cudart.h"
#include "runtime/device/device_attribute.h"
#include "runtime/error.h"
#include "runtime/memory/memory_table.h"
#include "runtime/registration/module.h"
#include "runtime/streams/stream.h"

#include <atomic>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace heddle::unwritten {
class Unwritten; // unwritten/monitor.h
}

namespace heddle::runtime {

class Advice;        // advice.h
class Arrays;        // array.h
class Contexts;      // driver/context.h
class Graphs;        // graph.h
class Ipc;           // ipc.h
class Pools;         // pool.h
class StreamOrdered; // stream_ordered.h
struct Context;

struct LaunchSetup { // what <<<…>>> hands from the caller to the stub
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};

/// State of one host thread.
struct ThreadState {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  bool in_callback = false; // runs a function that a stream called: the API refuses calls
  /// Which captures this thread must not disturb (cudaThreadExchangeStreamCaptureMode).
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  std::vector<LaunchSetup> setups;
  std::vector<StreamPtr> default_streams; // per-thread default streams, by device
  // The driver API's stack of current contexts; `device` is that of the last. Without one the
  // thread has the primary context of `device` as soon as it has used it (Contexts::current).
  std::vector<Context*> contexts;
  bool uses_primary = false;
  std::uint64_t calls = 0; // so far, that api() has carried out
  ~ThreadState();
};
ThreadState& thread_state();

/// What the API keeps of each device besides memory and streams.
struct Device {
  std::atomic<unsigned> flags{cudaDeviceMapHost};
  std::atomic<int> cache_config{cudaFuncCachePreferNone};
  std::atomic<std::size_t> limits[8];
  std::atomic<unsigned> fixed_limits{0}; // bit n: limit n is in use, and cannot be set any more
  std::atomic<unsigned> peers{0};        // bit n: access to device n is enabled
  /// Reset after a fault: the device stays unavailable, as measured on an H200.
  std::atomic<bool> unavailable{false};
  Device();
};

class Runtime {
public:
  /// Ends the process with exit code 2 if the environment asks for something impossible.
  static Runtime& get();
  /// nullptr before the first get().
  static Runtime* existing();

  const Config& config() const { return config_; }
  const machine::DeviceModel& model() const { return model_; }
  int devices() const { return config_.devices; }
  Device& device(int number) { return *devices_[static_cast<std::size_t>(number)]; }
  bool valid_device(int number) const { return number >= 0 && number < devices(); }
  memory::AddressSpace& space() { return space_; }
  const memory::AddressSpace& space() const { return space_; }
  machine::World& world() { return *world_; }
  MemoryTable& memory() { return memory_; }
  Modules& modules() { return *modules_; }
  StreamTable& streams() { return *streams_; }
  Advice& advice() { return *advice_; }
  Arrays& arrays() { return *arrays_; }
  Contexts& contexts() { return *contexts_; }
  /// For the whole process, once: cuInit, or a call of the runtime API that asks for devices.
  void initialise_driver() { driver_initialised_ = devices() != 0; }
  bool driver_initialised() const { return driver_initialised_; }
  Graphs& graphs() { return *graphs_; }
  Ipc& ipc() { return *ipc_; }
  Pools& pools() { return *pools_; }
  /// nullptr: a search or a monitor looks at the accesses themselves.
  StreamOrdered* stream_ordered() { return stream_ordered_.get(); }

  /// The error that every call needing the device returns: after a fault, or with no device at all.
  cudaError_t health(int device) const;

  /// The stream a handle means for this thread; error: cudaErrorInvalidResourceHandle.
  tl::expected<StreamPtr, cudaError_t> stream(cudaStream_t handle);
  tl::expected<EventPtr, cudaError_t> event(cudaEvent_t handle);

  /// Puts work on a stream (or into the graph it is being captured into). The command is null in
  /// the second case.
  tl::expected<machine::CommandPtr, cudaError_t> enqueue(Stream& stream, Operation operation);
  /// The same, and waits until it is done.
  cudaError_t run(Stream& stream, Operation operation, const char* what);
  /// Blocks until all are complete or the device has failed; returns health(). `what` names the
  /// call.
  /// For commands, or for events by their records.
  enum class Awaited : bool {
    Commands,
    Events
  };
  cudaError_t wait(
      std::vector<machine::CommandPtr> commands,
      int device,
      const char* what,
      Awaited awaited = Awaited::Commands
  );
  cudaError_t wait_for_device(int device, const char* what);
  /// cudaSuccess if all are complete, else cudaErrorNotReady.
  cudaError_t query(
      const std::vector<machine::CommandPtr>& commands,
      int device,
      Awaited awaited = Awaited::Commands
  );
  /// cudaEventRecord and cudaStreamWaitEvent, captured or not.
  cudaError_t record(Stream& stream, const EventPtr& event);
  /// `event` is recorded when `on` has come to where it lets others begin ([DEP-EARLY]).
  cudaError_t
  record_early(const Stream& stream, const EventPtr& event, machine::EarlyDependency on);
  cudaError_t wait_event(Stream& stream, const EventPtr& event);

  /// For calls that may wait for, or change, what a capture under way relies on: refused with
  /// cudaErrorStreamCaptureUnsupported, which invalidates the captures.
  cudaError_t refuse_during_capture();
  /// The same for a call that waits for a stream or asks about it.
  cudaError_t refuse_during_capture(const Stream& stream);

private:
  explicit Runtime(Config config);
  cudaError_t refuse_implicit(const Stream& stream);
  void
  host_waited(std::span<const machine::CommandPtr> commands, Awaited awaited = Awaited::Commands);
  unwritten::Unwritten* set_monitors(); // nullptr: none of that kind
  /// A small copy or set that has nothing to wait for is done by the calling thread.
  bool run_at_once(const Stream& stream, const Operation& operation);

  Config config_;
  machine::DeviceModel model_;
  memory::AddressSpace space_;
  MemoryTable memory_{space_};
  std::unique_ptr<Advice> advice_;
  std::unique_ptr<Arrays> arrays_;
  std::unique_ptr<machine::World> world_;
  std::unique_ptr<Modules> modules_;
  std::unique_ptr<StreamTable> streams_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::unique_ptr<Contexts> contexts_;
  std::atomic<bool> driver_initialised_{false};
  std::unique_ptr<Graphs> graphs_;
  std::unique_ptr<Ipc> ipc_;
  std::unique_ptr<Pools> pools_;
  std::unique_ptr<StreamOrdered> stream_ordered_;
};

/// Records a call's result as the thread's last error, as the real library does.
cudaError_t record_error(ThreadState& thread, cudaError_t code);

/// Names what the API keeps of a thread.
std::uint64_t name_of(const ThreadState& thread);
/// Is all that a call of the function leaves behind in memory, in commands, or named by name_of()
/// and StreamTable::hash()? False: who names states has to be told of each call.
bool leaves_nothing_else(std::string_view function);
/// A call of a thread comes back with `code`.
void call_is_over(const ThreadState& thread, std::uint64_t code);

/// The body of an entry point that needs neither a device nor its driver.
///   return api_bare([&](Runtime& rt, ThreadState& thread) { … return cudaSuccess; });
template <class Body> cudaError_t api_bare(Body&& body) {
  ThreadState& thread = thread_state();
  if (thread.in_callback) {
    return record_error(thread, cudaErrorNotPermitted);
  }
  cudaError_t error = cudaErrorMemoryAllocation;
  try {
    error = body(Runtime::get(), thread);
  } catch (const std::bad_alloc&) {
  }
  record_error(thread, error);
  call_is_over(thread, error);
  return error;
}

/// The body of an entry point that needs no working device, but the driver, whose cuInit it does.
template <class Body> cudaError_t api_plain(Body&& body) {
  return api_bare([&](Runtime& rt, ThreadState& thread) {
    rt.initialise_driver();
    return body(rt, thread);
  });
}

/// The body of every other entry point: refused after a fault; a scheduling point of the host.
template <class Body> cudaError_t api(const char* name, Body&& body) {
  return api_plain([&](Runtime& rt, ThreadState& thread) -> cudaError_t {
    thread.uses_primary = true;
    rt.world().driver().api_call(name);
    if (const cudaError_t sick = rt.health(thread.device); sick != cudaSuccess) {
      return sick;
    }
    ++thread.calls;
    const cudaError_t error = body(rt, thread);
    if (!leaves_nothing_else(name)) {
      rt.world().driver().api_changed();
    }
    rt.world().driver().api_return(name);
    return error;
  });
}

/// The stream that a *_ptsz entry point means by 0.
inline cudaStream_t per_thread(cudaStream_t stream) {
  return stream == nullptr ? cudaStreamPerThread : stream;
}

} // namespace heddle::runtime
