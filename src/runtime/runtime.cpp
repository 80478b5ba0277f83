// Implements runtime.h.
#include "runtime/runtime.h"

#include "base/processors.h"
#include "explore/search/explorer.h"
#include "isa/region.h"
#include "jit/tiers.h"
#include "machine/engine.h"
#include "machine/grid.h"
#include "machine/held_back.h"
#include "machine/monitor.h"
#include "machine/monitor_pair.h"
#include "machine/unawaited.h"
#include "race/monitor.h"
#include "runtime/arrays/array.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/host_accesses.h"
#include "runtime/diagnostics/host_fault.h"
#include "runtime/diagnostics/host_place.h"
#include "runtime/diagnostics/interrupt.h"
#include "runtime/diagnostics/leaks.h"
#include "runtime/diagnostics/not_looked_at.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/diagnostics/pending_memory.h"
#include "runtime/diagnostics/race_diagnostic.h"
#include "runtime/diagnostics/unawaited_work.h"
#include "runtime/diagnostics/unseen_error.h"
#include "runtime/diagnostics/unwritten_diagnostic.h"
#include "runtime/driver/context.h"
#include "runtime/forked_child.h"
#include "runtime/ipc/ipc.h"
#include "runtime/memory/advice.h"
#include "runtime/memory/pool.h"
#include "runtime/memory/stream_ordered.h"
#include "runtime/reference_driver.h"
#include "runtime/search_start.h"
#include "runtime/streams/graph.h"
#include "runtime/unsupported.h"
#include "simt/lockstep.h"
#include "unwritten/monitor.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>

namespace heddle::runtime {
namespace {

std::atomic<Runtime*> instance{nullptr};

bool complete(const std::vector<machine::CommandPtr>& commands) {
  for (const machine::CommandPtr& command : commands) {
    if (!command->done.load()) {
      return false;
    }
  }
  return true;
}

/// Frames of calls are what checks tell about, and moves of a search and of lockstep warps.
Calls calls_in(const Config& config) {
  const bool plain = config.mode == Mode::Run && config.warps == Warps::Independent &&
                     !config.races && !config.unwritten;
  return plain ? Calls::Inlined : Calls::AsWritten;
}

constexpr int timed_out = 124; // as `timeout` answers where the time is over

using Worked = decltype(machine::EngineOptions::worked);
using Executed = std::shared_ptr<std::atomic<std::uint64_t>>; // instructions
/// Called after each turn of a cluster: ends the program after so many instructions.
Worked ended_after(std::uint64_t most, Executed executed, Worked inner) {
  return [most,
          executed = std::move(executed),
          inner = std::move(inner)](const machine::Grid& grid, const machine::Worked& worked) {
    if ((*executed += worked.instructions) > most) {
      ::_exit(timed_out);
    }
    if (inner) {
      inner(grid, worked);
    }
  };
}

/// What the host has done visibly for others; always 0 if the program is not instrumented.
std::uint64_t& host_operations() {
  static std::uint64_t operations = 0;
  using Count = void(std::uint64_t*);
  static auto* count = reinterpret_cast<Count*>(::dlsym(RTLD_DEFAULT, "heddle_count_operations"));
  if (count != nullptr) {
    count(&operations);
  }
  return operations;
}

/// A run with a limit of instructions also ends where no device executes one: host threads have
/// blocked each other, or one of them asks again and again for what does not happen.
void end_without_devices(machine::Engine& engine, Executed executed) {
  std::thread([&engine, executed = std::move(executed), &operations = host_operations()] {
    constexpr auto between_looks = std::chrono::milliseconds(250);
    constexpr int enough_looks = 8;
    constexpr std::uint64_t enough_operations = 40'000'000; // less than a second
    const auto asked = [&] { return __atomic_load_n(&operations, __ATOMIC_RELAXED); };
    std::uint64_t seen = 0;
    std::uint64_t since = 0;
    for (int asleep = 0, still = 0; asleep < enough_looks;) {
      std::this_thread::sleep_for(between_looks);
      asleep = engine.is_asleep() ? asleep + 1 : 0;
      if (const std::uint64_t now = *executed; now != seen || still == 0) {
        seen = now;
        since = asked();
        still = 1;
      } else if (++still > enough_looks && asked() - since > enough_operations) {
        break;
      }
    }
    ::_exit(timed_out);
  }).detach();
}

/// Who decides which thread moves: the engine, or under `heddle check` the explorer.
std::unique_ptr<machine::Driver> make_driver(machine::World& world, const Config& config) {
  if (config.mode == Mode::Check && !begins_at_a_kernel()) {
    return make_searching_driver(world, config);
  }
  if (!config.reference.empty()) {
    return std::make_unique<ReferenceDriver>(world, config.reference);
  }
  machine::EngineOptions options;
  options.workers = config.threads.value_or(0);
  options.seed = config.seed;
  if (config.mode == Mode::Check) { // what comes before the search is the same each time
    options.seed = 0;
  }
  if (config.races || config.unwritten) {
    options.seed = config.seed.value_or(0);
    options.one_at_a_time = true;
  }
  if (config.warps == Warps::Lockstep) {
    simt::LockstepOptions lockstep;
    lockstep.seed = config.seed;
    lockstep.stale_reads = config.stale_reads;
    lockstep.common_exit = config.common_exit;
    lockstep.trace_steps = config.warp_trace;
    lockstep.trace = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
    options.workers = config.stale_reads ? 1 : options.workers;
    options.warp_rules = simt::lockstep(std::move(lockstep));
  }
  if (config.compile.when != jit::Tiers::When::Never && config.warps == Warps::Independent) {
    using Watch = jit::LaunchShape::Watch;
    jit::Tiers::Options tiers = config.compile;
    tiers.watch = config.unwritten ? Watch::All : config.races ? Watch::Shared : Watch::Nothing;
    tiers.one_processor = usable_processors() == 1;
    // Before the lambda: captures have no order.
    const Watch tiers_watch = tiers.watch;
    options.worked = [tiers_watch, tiers = std::make_shared<jit::Tiers>(std::move(tiers))](
                         const machine::Grid& grid,
                         const machine::Worked& worked
                     ) {
      const machine::Dim3& block = grid.config().block;
      const std::uint32_t row = isa::region_row(block.x, block.y, block.z);
      if (worked.submitted) {
        const std::uint64_t blocks = grid.cluster_count() * grid.blocks_per_cluster();
        const bool is_watched = tiers_watch != Watch::Nothing; // its code is not complete yet
        if (!is_watched) {
          tiers->worked(
              *grid.program(),
              grid.kernel(),
              {.row = row, .launch = 0, .instructions = blocks * block.count()}
          );
        }
        return;
      }
      tiers->worked(
          *grid.program(),
          grid.kernel(),
          {row,
           grid.id(),
           grid.cluster_count(),
           worked.instructions,
           worked.clusters,
           worked.to_come}
      );
    };
  }
  const auto executed = std::make_shared<std::atomic<std::uint64_t>>(0);
  if (config.max_instructions) {
    options.worked = ended_after(*config.max_instructions, executed, std::move(options.worked));
  }
  report_on_interrupt(world);
  if (config.max_seconds) {
    end_after(*config.max_seconds);
  }
  auto engine = std::make_unique<machine::Engine>(world, std::move(options));
  if (config.max_instructions) {
    end_without_devices(*engine, executed);
  }
  if (config.mode == Mode::Run && !config.races && !config.unwritten) {
    return std::make_unique<machine::HeldBack>(
        std::move(engine),
        std::make_unique<PendingMemory>(world.space())
    );
  }
  return engine;
}

} // namespace

namespace {

/// A thread's state, in the thread's own memory: the heap is the program's.
struct StateOfThread {
  alignas(ThreadState) std::byte bytes[sizeof(ThreadState)];
  bool is_there = false;
  ThreadState& state() { return *std::launder(reinterpret_cast<ThreadState*>(bytes)); }
};
thread_local StateOfThread state_of_thread;
/// Of the thread that loads the library: the main one. (Numbers of threads do not say it where the
/// explorer executes several of them.)
const StateOfThread* const state_of_main_thread = &state_of_thread;

/// Destroys a thread's state with the thread. That of the main thread stays: destructors of static
/// objects call the API when its own objects are gone.
struct EndOfThread {
  ~EndOfThread() {
    if (&state_of_thread != state_of_main_thread && state_of_thread.is_there) {
      state_of_thread.is_there = false;
      state_of_thread.state().~ThreadState();
    }
  }
};

} // namespace

ThreadState& thread_state() {
  if (!state_of_thread.is_there) {
    thread_local EndOfThread end;
    new (state_of_thread.bytes) ThreadState;
    state_of_thread.is_there = true;
  }
  return state_of_thread.state();
}

ThreadState::~ThreadState() {
  if (Runtime* runtime = Runtime::existing()) {
    for (const StreamPtr& stream : default_streams) {
      if (stream != nullptr) {
        runtime->streams().destroy(stream);
      }
    }
  }
}

Device::Device() {
  // cudaLimit: what an H200 answers without having been asked for anything else.
  limits[cudaLimitStackSize] = 1024;
  limits[cudaLimitPrintfFifoSize] = 8650752;
  limits[cudaLimitMallocHeapSize] = 8388608;
  limits[cudaLimitDevRuntimeSyncDepth] = 0;
  limits[cudaLimitDevRuntimePendingLaunchCount] = 2048;
  limits[cudaLimitMaxL2FetchGranularity] = 64;
  limits[cudaLimitPersistingL2CacheSize] = 11796480;
  limits[7] = 0;
}

Runtime::Runtime(Config config)
    : config_(std::move(config)),
      model_(*machine::device_model(config_.device)) {
  world_ = std::make_unique<machine::World>(space_, model_, std::max(config_.devices, 1));
  install_exit_handler();
  say_at_exit_what_was_not_looked_at(config_);
  say_that_kernels_are_interpreted();
  unwritten::Unwritten* const unwritten = set_monitors();
  world_->set_driver(make_driver(*world_, config_));
  modules_ = std::make_unique<Modules>(space_, arch_of(model_), config_.devices, calls_in(config_));
  streams_ = std::make_unique<StreamTable>(*world_, std::max(config_.devices, 1));
  world_->set_api_state([this](Hasher& hasher, const machine::World::NameOfCommand& name) {
    streams_->hash(hasher, name);
  });
  for (int i = 0; i < std::max(config_.devices, 1); ++i) {
    devices_.push_back(std::make_unique<Device>());
  }
  contexts_ = std::make_unique<Contexts>(std::max(config_.devices, 1));
  advice_ = std::make_unique<Advice>();
  arrays_ = std::make_unique<Arrays>(space_, memory_);
  graphs_ = std::make_unique<Graphs>();
  ipc_ = std::make_unique<Ipc>(space_);
  pools_ = std::make_unique<Pools>(std::max(config_.devices, 1));
  world_->on_fault([this](const machine::FaultReport& fault) {
    if (stream_ordered_ == nullptr || !stream_ordered_->has_told(fault)) {
      announce_fault(fault);
    }
  });
  world_->on_remark(announce_remark);
  if (config_.guide_barriers) {
    world_->let_ended_hold_up_barriers();
  }
  if (config_.defect_exit_code) {
    set_defect_exit_code(*config_.defect_exit_code);
  }
  if (config_.leaks) {
    announce_leaks_at_exit(*this);
  }
  announce_unseen_errors_at_exit();
  if (config_.mode == Mode::Run) {
    memory_.remember_callers();
    world_->follow_unawaited();
    stream_ordered_ = std::make_unique<StreamOrdered>(*world_, config_.races);
    announce_unawaited_at_exit(*this); // the last one: it comes first
  }
  if (config_.races || config_.unwritten) {
    watch_host_accesses(*this, unwritten);
  }
  if (config_.mode == Mode::Run) { // a search is made of forks of its own
    watch_forks();
  }
  install_host_fault_handler(space_);
}

unwritten::Unwritten* Runtime::set_monitors() {
  std::unique_ptr<machine::Monitor> monitor;
  unwritten::Unwritten* result = nullptr;
  if (config_.unwritten) {
    auto unwritten = std::make_unique<unwritten::Unwritten>(space_);
    announce_unwritten_at_exit(*unwritten);
    result = unwritten.get();
    monitor = std::move(unwritten);
  }
  if (config_.races) {
    auto races = std::make_unique<race::Races>(space_, config_.seed.value_or(0), callers_in_call);
    set_races_of_host(*races);
    announce_races_at_exit(*races, space_, {config_.library_races, config_.same_value_races});
    if (monitor != nullptr) {
      monitor = std::make_unique<machine::MonitorPair>(std::move(races), std::move(monitor));
    } else {
      monitor = std::move(races);
    }
  }
  if (monitor != nullptr) {
    world_->set_monitor(std::move(monitor));
  }
  return result;
}

Runtime& Runtime::get() {
  static std::once_flag once;
  std::call_once(once, [] {
    Result<Config> config = read_config([](const char* name) { return std::getenv(name); });
    if (!config) {
      fmt::print(stderr, "heddle: error: {}\n", config.error().message);
      std::fflush(nullptr);
      ::_exit(static_cast<int>(Outcome::Usage));
    }
    instance.store(new Runtime(std::move(*config)));
  });
  return *instance.load();
}

Runtime* Runtime::existing() {
  return instance.load();
}

cudaError_t Runtime::health(int device) const {
  if (is_forked_child()) {
    return cudaErrorInitializationError;
  }
  if (config_.devices == 0) {
    return cudaErrorNoDevice;
  }
  if (devices_[static_cast<std::size_t>(device)]->unavailable.load()) {
    return cudaErrorDevicesUnavailable;
  }
  if (world_->has_fault()) {
    if (const auto fault = world_->fault()) {
      return error_of(*fault);
    }
  }
  return cudaSuccess;
}

tl::expected<StreamPtr, cudaError_t> Runtime::stream(cudaStream_t handle) {
  ThreadState& thread = thread_state();
  if (handle == nullptr || handle == cudaStreamLegacy) {
    return streams_->legacy(thread.device);
  }
  if (handle == cudaStreamPerThread) {
    auto& mine = thread.default_streams;
    const auto index = static_cast<std::size_t>(thread.device);
    if (mine.size() <= index) {
      mine.resize(index + 1);
    }
    if (mine[index] == nullptr) {
      mine[index] = streams_->create_per_thread(thread.device);
    }
    return mine[index];
  }
  StreamPtr stream = streams_->find(handle);
  if (stream == nullptr) {
    if (streams_->was_destroyed(handle)) {
      announce_stale_handle("a stream");
    }
    return tl::unexpected(cudaErrorInvalidResourceHandle);
  }
  return stream;
}

tl::expected<EventPtr, cudaError_t> Runtime::event(cudaEvent_t handle) {
  EventPtr event = streams_->find_event(handle);
  if (event == nullptr) {
    if (streams_->was_destroyed(handle)) {
      announce_stale_handle("an event");
    }
    return tl::unexpected(cudaErrorInvalidResourceHandle);
  }
  return event;
}

cudaError_t Runtime::refuse_during_capture() {
  return graphs_->refuse_unsafe(thread_state());
}

cudaError_t Runtime::refuse_during_capture(const Stream& stream) {
  if (stream.capture != nullptr) {
    stream.capture->invalidate();
    return cudaErrorStreamCaptureUnsupported;
  }
  const cudaError_t error = refuse_implicit(stream);
  return error != cudaSuccess ? error : refuse_during_capture();
}

cudaError_t Runtime::refuse_implicit(const Stream& stream) {
  return stream.legacy ? graphs_->refuse_implicit(stream.device) : cudaSuccess;
}

tl::expected<machine::CommandPtr, cudaError_t>
Runtime::enqueue(Stream& stream, Operation operation) {
  operation.device = stream.device;
  if (const cudaError_t error = refuse_implicit(stream); error != cudaSuccess) {
    return tl::unexpected(error);
  }
  if (stream.capture != nullptr) {
    world_->driver().api_changed();
    if (const cudaError_t error = stream.capture->add(stream, operation); error != cudaSuccess) {
      return tl::unexpected(error);
    }
    return nullptr;
  }
  auto command = make_command(*this, operation);
  if (command) {
    streams_->submit(stream, *command);
    if (stream_ordered_ != nullptr) {
      stream_ordered_->submitted(operation, **command);
    }
  }
  return command;
}

bool Runtime::run_at_once(const Stream& stream, const Operation& operation) {
  // The explorer, a monitor, and who compares commands have to see every one.
  if (config_.mode != Mode::Run || world_->monitor() != nullptr || stream.capture != nullptr ||
      PendingPairs::has_some()) {
    return false;
  }
  constexpr std::uint64_t small = 64 << 10; // a thread switch costs more than copying this much
  if (const auto* copy = std::get_if<Copy>(&operation.work)) {
    return copy->width * copy->height * copy->depth <= small &&
           streams_->run_if_idle(stream, [&] { perform(space_, *copy, operation.label); });
  }
  if (const auto* set = std::get_if<Set>(&operation.work)) {
    return set->width * set->height * set->depth <= small &&
           streams_->run_if_idle(stream, [&] { perform(space_, *set, operation.label); });
  }
  return false;
}

cudaError_t Runtime::run(Stream& stream, Operation operation, const char* what) {
  if (stream.capture != nullptr) {
    stream.capture->invalidate();
    return cudaErrorStreamCaptureUnsupported;
  }
  if (const cudaError_t error = refuse_implicit(stream); error != cudaSuccess) {
    return error;
  }
  if (run_at_once(stream, operation)) {
    host_waited(streams_->pending(stream));
    world_->flush_output();
    return health(stream.device);
  }
  auto command = enqueue(stream, std::move(operation));
  if (!command) {
    return command.error();
  }
  return wait({*command}, stream.device, what);
}

cudaError_t Runtime::wait(
    std::vector<machine::CommandPtr> commands,
    int device,
    const char* what,
    Awaited awaited
) {
  if (!complete(commands)) {
    world_->driver().wait(
        [this, &commands] { return complete(commands) || world_->has_fault(); },
        commands,
        what
    );
  }
  streams_->tell();
  host_waited(commands, awaited);
  world_->flush_output();
  return health(device);
}

void Runtime::host_waited(std::span<const machine::CommandPtr> commands, Awaited awaited) {
  PendingMemory::host_knows();
  forget_results_of_host();
  if (machine::Monitor* monitor = world_->monitor()) {
    monitor->host_waited({.commands = commands, .for_events = awaited == Awaited::Events});
  }
  if (machine::Unawaited* unawaited = world_->unawaited()) {
    unawaited->host_waited(commands);
  }
}

cudaError_t Runtime::wait_for_device(int device, const char* what) {
  if (const cudaError_t refused = refuse_during_capture(); refused != cudaSuccess) {
    return refused;
  }
  const std::uint64_t last = world_->unawaited() != nullptr ? world_->unawaited()->last() : 0;
  const cudaError_t error = wait(streams_->pending_on_device(device), device, what);
  if (machine::Monitor* monitor = world_->monitor()) {
    monitor->host_waited({.commands = {}, .device = device, .last = last});
  }
  if (machine::Unawaited* unawaited = world_->unawaited()) {
    unawaited->host_waited_for(device);
  }
  return error;
}

cudaError_t
Runtime::query(const std::vector<machine::CommandPtr>& commands, int device, Awaited awaited) {
  const auto done = [this, &commands] { return complete(commands) || world_->has_fault(); };
  const bool ready = (complete(commands) && !streams_->are_untold(commands)) ||
                     world_->driver().query(done, commands);
  if (const cudaError_t sick = health(device); sick != cudaSuccess) {
    return sick;
  }
  if (ready) {
    streams_->tell();
  }
  if (ready) {
    host_waited(commands, awaited);
  }
  return ready ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t Runtime::record(Stream& stream, const EventPtr& event) {
  if (event->device != stream.device) {
    return cudaErrorInvalidResourceHandle;
  }
  if (stream.capture != nullptr) {
    return stream.capture->record(stream, event);
  }
  if (const cudaError_t error = refuse_implicit(stream); error != cudaSuccess) {
    return error;
  }
  event->captured_by.reset();
  event->captured = false;
  auto command =
      make_command(*this, Operation{EventRecord{event}, "cudaEventRecord", stream.device});
  if (!command) {
    return command.error();
  }
  if (event->ipc != nullptr) {
    (*command)->work = [ipc = event->ipc, record = event->ipc->next_record()] {
      ipc->reach(record);
    };
  }
  streams_->record(stream, event, *command);
  return cudaSuccess;
}

cudaError_t
Runtime::record_early(const Stream& stream, const EventPtr& event, machine::EarlyDependency on) {
  if (event->device != stream.device || event->ipc != nullptr || event->timed()) { // as documented
    return event->device != stream.device ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
  }
  event->captured_by.reset();
  event->captured = false;
  auto command =
      make_command(*this, Operation{EventRecord{event}, "an event of a launch", stream.device});
  if (!command) {
    return command.error();
  }
  (*command)->early.push_back(std::move(on));
  streams_->record_early(stream, event, *command);
  return cudaSuccess;
}

cudaError_t Runtime::wait_event(Stream& stream, const EventPtr& event) {
  if (event->stale()) {
    return cudaErrorInvalidValue;
  }
  // Waiting for an event that was recorded in a capture makes this stream part of that capture.
  if (const auto target = event->captured_by.lock()) {
    world_->driver().api_changed();
    return target->wait(stream, event);
  }
  if (stream.capture != nullptr) {
    world_->driver().api_changed();
    return stream.capture->wait(stream, event);
  }
  if (event->ipc != nullptr) { // another process may have recorded it last
    const std::uint64_t record = event->ipc->last_record();
    if (event->ipc->reached(record)) {
      return cudaSuccess;
    }
    HostCall wait;
    wait.call = [ipc = event->ipc, record] { ipc->wait_for(record); };
    const auto command = enqueue(stream, Operation{std::move(wait), "cudaStreamWaitEvent", 0});
    return command ? cudaSuccess : command.error();
  }
  const bool order_is_followed = world_->monitor() != nullptr || world_->unawaited() != nullptr;
  if (event->command == nullptr || (event->over() && !order_is_followed)) {
    return cudaSuccess;
  }
  auto command = make_command(*this, Operation{Nothing{}, "cudaStreamWaitEvent", stream.device});
  if (!command) {
    return command.error();
  }
  streams_->wait_event(stream, event, *command);
  return cudaSuccess;
}

int unsupported_call(const char* name) {
  complain_unsupported(name);
  return record_error(thread_state(), cudaErrorNotSupported);
}

int unsupported_driver_call(const char* name) {
  complain_unsupported(name);
  return cudaErrorNotSupported; // CUDA_ERROR_NOT_SUPPORTED has the same number
}

/// A host function has called the API: refused, and nobody may look at the code.
void warn_of_call_in_host_function() {
  const std::string text =
      "a host function of a stream (cudaLaunchHostFunc, cudaStreamAddCallback) calls the CUDA API";
  report::Diagnostic d(report::Finding::ApiMisuse, text);
  d.notes.emplace_back(
      "the call returns cudaErrorNotPermitted; NVIDIA's library may deadlock instead"
  );
  if (!explore::note_finding(d)) {
    complain_once("warning: " + text + ": it returns cudaErrorNotPermitted");
  }
}

cudaError_t record_error(ThreadState& thread, cudaError_t code) {
  if (code == cudaErrorNotPermitted && thread.in_callback) {
    warn_of_call_in_host_function();
  }
  // Measured: a query's NotReady is no error to remember.
  if (code != cudaSuccess && code != cudaErrorNotReady) {
    thread.last_error = code;
    note_failure(code);
  }
  return code;
}

} // namespace heddle::runtime
