// Implements device_launches.h.
#include "machine/device_launches.h"

#include "base/hash.h"
#include "machine/grid.h"
#include "machine/launch_identity.h"
#include "machine/monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace heddle::machine {

namespace {

using isa::DeviceRuntime;

// Handles of streams that are there without being created (driver_types.h).
enum : std::uint64_t {
  own_stream = 0, // of the block; also under the names of the host's default streams
  legacy_stream = 1,
  per_thread_stream = 2,
  tail_launch = 3,
  fire_and_forget = 4
};
// cudaLimitDevRuntimePendingLaunchCount as it is unless the host sets it. Only the launches that
// led to the grid and its own count here, not those of others: more may be accepted than hardware
// takes. (There is no bound for the depth of nested launches any more.)
constexpr std::size_t max_pending = 2048;

std::uint64_t content_of(const DeviceRuntime::Copy& copy) {
  Hasher hasher;
  for (const std::uint64_t value :
       {copy.to, copy.to_pitch, copy.from, copy.from_pitch, copy.width, copy.height}) {
    hasher.value(value);
  }
  hasher.value(copy.value);
  return hasher.finish().low | 1; // 0: it has none
}

} // namespace

DeviceLaunches::DeviceLaunches(World& world, Grid& parent, std::uint64_t command, unsigned depth)
    : world_(world),
      parent_(parent),
      command_(command),
      depth_(depth) {}

DeviceLaunches::~DeviceLaunches() {
  for (const auto& [address, launch] : buffers_) {
    (void)world_.space().release(address);
  }
}

const isa::Kernel* DeviceLaunches::kernel_at(memory::Address function) const {
  const auto& functions = parent_.kernel().functions;
  const auto it = functions.find(function);
  if (it == functions.end() || !it->second->function->entry) {
    return nullptr;
  }
  const auto kernel = parent_.program()->kernel(it->second->function->name);
  return kernel ? *kernel : nullptr;
}

memory::Address
DeviceLaunches::parameter_buffer(const Caller& caller, const DeviceRuntime::Launch& launch) {
  used_ = true;
  const isa::Kernel* kernel = kernel_at(launch.function);
  if (kernel == nullptr) {
    fail(caller, Error::InvalidDeviceFunction);
    return 0;
  }
  if (depth_ + unfinished_children() >= max_pending) {
    fail(caller, Error::LaunchPendingCountExceeded);
    return 0;
  }
  const auto place = world_.space().allocate(
      std::max(1U, kernel->parameter_bytes),
      64,
      memory::AllocationKind::Heap,
      parent_.device(),
      "parameters of a launch by a kernel"
  );
  if (!place) {
    fail(caller, Error::MemoryAllocation);
    return 0;
  }
  const std::scoped_lock lock(mutex_);
  buffers_[*place] = launch;
  return *place;
}

/// A monitor wants to know what came before the tail launches.
void DeviceLaunches::forget_done() {
  if (world_.monitor() == nullptr) {
    std::erase_if(children_, [](const CommandPtr& c) { return c->done.load(); });
  }
}

std::size_t DeviceLaunches::unfinished_children() {
  const std::scoped_lock lock(mutex_);
  forget_done();
  return static_cast<std::size_t>(std::ranges::count_if(children_, [](const CommandPtr& c) {
    return !c->done.load();
  }));
}

DeviceLaunches::Stream* DeviceLaunches::stream_of(const Caller& caller, std::uint64_t stream) {
  if (stream <= per_thread_stream) {
    return &block_streams_[caller.block];
  }
  const auto it = streams_.find(stream);
  return it == streams_.end() ? nullptr : &it->second;
}

DeviceLaunches::Error
DeviceLaunches::put(const Caller& caller, std::uint64_t stream, const CommandPtr& command) {
  {
    const std::scoped_lock lock(mutex_);
    command->device = parent_.device();
    command->part_of = command_;
    if (stream == tail_launch) {
      command->stream = "the stream of tail launches";
      tail_.push_back(command);
      return Error::Success;
    }
    command->stream = "a stream of the device";
    if (stream != fire_and_forget) {
      Stream* order = stream_of(caller, stream);
      if (order == nullptr) {
        errors_[caller.key()] = Error::InvalidResourceHandle;
        return Error::InvalidResourceHandle;
      }
      command->after = std::exchange(order->last, {command});
    }
    children_.push_back(command);
  }
  world_.submit(command);
  if (caller.monitor != nullptr) {
    caller.monitor->launched(caller.thread, *command);
  }
  return Error::Success;
}

DeviceLaunches::Error
DeviceLaunches::launch(const Caller& caller, memory::Address buffer, std::uint64_t stream) {
  DeviceRuntime::Launch launch;
  {
    const std::scoped_lock lock(mutex_);
    const auto it = buffers_.find(buffer);
    if (it == buffers_.end()) {
      errors_[caller.key()] = Error::InvalidValue;
      return Error::InvalidValue;
    }
    launch = it->second;
    buffers_.erase(it);
  }
  const isa::Kernel& kernel = *kernel_at(launch.function);
  std::vector<std::byte> parameters(kernel.parameter_bytes);
  if (!parameters.empty()) {
    std::memcpy(
        parameters.data(),
        world_.space().host_pointer(buffer, parameters.size()),
        parameters.size()
    );
  }
  (void)world_.space().release(buffer);
  const auto sides = [](const std::uint32_t (&d)[3]) { return Dim3{d[0], d[1], d[2]}; };
  LaunchConfig config;
  config.grid = sides(launch.grid);
  config.block = sides(launch.block);
  config.dynamic_shared = launch.shared;
  if (const std::uint32_t* cluster = kernel.function->req_cluster; cluster[0] != 0) {
    config.cluster = {cluster[0], std::max(1U, cluster[1]), std::max(1U, cluster[2])};
    config.explicit_cluster = true;
  }
  const auto grid =
      world_.make_grid(parent_.program(), kernel, config, parameters, parent_.device());
  if (!grid) {
    return fail(caller, Error::InvalidConfiguration);
  }
  (*grid)->set_depth(depth_ + 1);
  auto command = std::make_shared<Command>();
  command->kind = CommandKind::Kernel;
  command->grid = *grid;
  command->label = fmt::format("kernel '{}'", (*grid)->describe());
  return put(caller, stream, command);
}

DeviceLaunches::Error
DeviceLaunches::copy(const Caller& caller, const DeviceRuntime::Copy& copy, std::uint64_t stream) {
  used_ = true;
  const auto rows = [&](memory::Address first, std::uint64_t pitch) {
    std::vector<std::byte*> result;
    for (std::uint64_t y = 0; y < copy.height && copy.width != 0; ++y) {
      result.push_back(
          static_cast<std::byte*>(world_.space().host_pointer(first + y * pitch, copy.width))
      );
    }
    return result;
  };
  const std::vector<std::byte*> to = rows(copy.to, copy.to_pitch);
  const std::vector<std::byte*> from =
      copy.set ? std::vector<std::byte*>() : rows(copy.from, copy.from_pitch);
  if (std::ranges::find(to, nullptr) != to.end() ||
      std::ranges::find(from, nullptr) != from.end()) {
    return fail(caller, Error::InvalidValue);
  }
  auto command = std::make_shared<Command>();
  command->kind = copy.set ? CommandKind::Set : CommandKind::Copy;
  command->label = copy.set ? "cudaMemsetAsync of a kernel" : "cudaMemcpyAsync of a kernel";
  command->content = content_of(copy);
  command->work = [to, from, width = copy.width, value = copy.value] {
    for (std::size_t y = 0; y < to.size(); ++y) {
      if (from.empty()) {
        std::memset(to[y], value, width);
      } else {
        std::memmove(to[y], from[y], width);
      }
    }
  };
  return put(caller, stream, command);
}

std::uint64_t DeviceLaunches::create_stream() {
  used_ = true;
  const std::scoped_lock lock(mutex_);
  streams_[next_handle_];
  return next_handle_++;
}

DeviceLaunches::Error DeviceLaunches::destroy_stream(const Caller& caller, std::uint64_t stream) {
  used_ = true;
  const std::scoped_lock lock(mutex_);
  if (streams_.erase(stream) == 0) { // what is in it goes on
    errors_[caller.key()] = Error::InvalidResourceHandle;
    return Error::InvalidResourceHandle;
  }
  return Error::Success;
}

std::uint64_t DeviceLaunches::create_event() {
  used_ = true;
  const std::scoped_lock lock(mutex_);
  events_[next_handle_];
  return next_handle_++;
}

DeviceLaunches::Error DeviceLaunches::destroy_event(const Caller& caller, std::uint64_t event) {
  used_ = true;
  const std::scoped_lock lock(mutex_);
  if (events_.erase(event) == 0) {
    errors_[caller.key()] = Error::InvalidResourceHandle;
    return Error::InvalidResourceHandle;
  }
  return Error::Success;
}

DeviceLaunches::Error
DeviceLaunches::record(const Caller& caller, std::uint64_t event, std::uint64_t stream) {
  used_ = true;
  const std::scoped_lock lock(mutex_);
  const auto it = events_.find(event);
  const Stream* order = stream_of(caller, stream);
  if (it == events_.end() || order == nullptr) {
    errors_[caller.key()] = Error::InvalidResourceHandle;
    return Error::InvalidResourceHandle;
  }
  it->second = order->last;
  return Error::Success;
}

DeviceLaunches::Error
DeviceLaunches::wait(const Caller& caller, std::uint64_t stream, std::uint64_t event) {
  used_ = true;
  const std::scoped_lock lock(mutex_);
  const auto it = events_.find(event);
  Stream* order = stream_of(caller, stream);
  if (it == events_.end() || order == nullptr) {
    errors_[caller.key()] = Error::InvalidResourceHandle;
    return Error::InvalidResourceHandle;
  }
  order->last.insert(order->last.end(), it->second.begin(), it->second.end());
  return Error::Success;
}

DeviceLaunches::Error DeviceLaunches::last_error(const Caller& caller, bool clear) {
  const std::scoped_lock lock(mutex_);
  const auto it = errors_.find(caller.key());
  if (it == errors_.end()) {
    return Error::Success;
  }
  const Error error = it->second;
  if (clear) {
    errors_.erase(it);
  }
  return error;
}

DeviceLaunches::Error DeviceLaunches::fail(const Caller& caller, Error error) {
  used_ = true;
  const std::scoped_lock lock(mutex_);
  return errors_[caller.key()] = error;
}

int DeviceLaunches::resident_blocks(
    memory::Address function,
    int threads,
    std::uint64_t shared
) const {
  const isa::Kernel* kernel = kernel_at(function);
  return kernel == nullptr || threads <= 0 ? -1
                                           : static_cast<int>(machine::resident_blocks(
                                                 world_.model(),
                                                 static_cast<std::uint32_t>(threads),
                                                 kernel->dynamic_shared_offset + shared
                                             ));
}

bool DeviceLaunches::children_done() const {
  return std::ranges::all_of(children_, [](const CommandPtr& c) { return c->done.load(); });
}

bool DeviceLaunches::next_is_tail() const {
  const std::scoped_lock lock(mutex_);
  return children_done() && !tail_.empty();
}

bool DeviceLaunches::over() const {
  const std::scoped_lock lock(mutex_);
  return children_done() && tail_.empty();
}

void DeviceLaunches::write_state(
    std::vector<std::uint64_t>& words,
    const std::function<std::uint64_t(const CommandPtr&)>& number
) const {
  const std::scoped_lock lock(mutex_);
  const auto write_all = [&](const std::vector<CommandPtr>& commands) {
    for (const CommandPtr& command : commands) {
      if (!command->done.load()) {
        words.push_back(number(command));
      }
    }
    words.push_back(~std::uint64_t{0});
  };
  words.push_back(next_handle_);
  for (const auto& [address, launch] : buffers_) {
    words.push_back(address);
    words.push_back(launch.function);
    words.insert(words.end(), std::begin(launch.grid), std::end(launch.grid));
    words.insert(words.end(), std::begin(launch.block), std::end(launch.block));
    words.push_back(launch.shared);
  }
  for (const auto& [block, stream] : block_streams_) {
    words.push_back(block);
    write_all(stream.last);
  }
  for (const auto& [handle, stream] : streams_) {
    words.push_back(handle);
    write_all(stream.last);
  }
  for (const auto& [handle, commands] : events_) {
    words.push_back(handle);
    write_all(commands);
  }
  for (const auto& [caller, error] : errors_) {
    words.insert(words.end(), {caller.first, caller.second, error});
  }
  write_all(children_);
  for (const CommandPtr& command : tail_) {
    Hasher hasher;
    hasher.text(command->label);
    hasher.value(command->content);
    if (command->grid != nullptr) {
      hasher.value(launch_identity(*command->grid));
    }
    words.push_back(hasher.finish().low);
  }
}

std::vector<CommandPtr> DeviceLaunches::unfinished() {
  CommandPtr next;
  {
    const std::scoped_lock lock(mutex_);
    forget_done();
    std::vector<CommandPtr> under_way;
    std::ranges::copy_if(children_, std::back_inserter(under_way), [](const CommandPtr& c) {
      return !c->done.load();
    });
    if (!under_way.empty() || tail_.empty()) {
      return under_way;
    }
    next = tail_.front();
    tail_.erase(tail_.begin());
    next->after = children_;
    next->after_threads = true;
    children_.push_back(next);
  }
  world_.submit(next);
  return {next};
}

} // namespace heddle::machine
