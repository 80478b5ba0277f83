// Implements stream.h.
#include "runtime/streams/stream.h"

#include "base/hash.h"
#include "machine/grid.h"
#include "runtime/diagnostics/pending_pairs.h"
#include "runtime/handle.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::runtime {
namespace {

constexpr std::uint64_t stream_tag = 0x5354'0000'0000'0000ULL;
constexpr std::uint64_t event_tag = 0x4556'0000'0000'0000ULL;

bool unfinished(const machine::CommandPtr& command) {
  return command != nullptr && !command->done.load();
}

} // namespace

bool StreamTable::orders(const machine::CommandPtr& command) const {
  return world_.monitor() != nullptr ? command != nullptr : unfinished(command);
}

StreamTable::StreamTable(machine::World& world, int devices) : world_(world) {
  for (int device = 0; device < devices; ++device) {
    auto stream = std::make_shared<Stream>();
    stream->handle = cudaStreamLegacy;
    stream->device = device;
    stream->legacy = true;
    stream->id = next_id_++;
    stream->name = devices > 1 ? fmt::format("the default stream of device {}", device)
                               : std::string("the default stream");
    legacy_.push_back(std::move(stream));
  }
}

StreamPtr StreamTable::create(int device, unsigned flags, int priority) {
  PendingPairs::has_streams();
  const std::lock_guard lock(mutex_);
  auto stream = std::make_shared<Stream>();
  stream->id = next_id_++;
  stream->handle = to_handle<cudaStream_t>(stream_tag, stream->id);
  stream->device = device;
  stream->flags = flags;
  stream->priority = priority;
  stream->name = fmt::format("stream {}", stream->id - legacy_.size());
  streams_.emplace(stream->id, stream);
  return stream;
}

StreamPtr StreamTable::create_per_thread(int device) {
  StreamPtr stream = create(device, cudaStreamDefault, 0);
  stream->per_thread = true;
  stream->handle = cudaStreamPerThread;
  stream->name = "a per-thread default " + stream->name;
  return stream;
}

void StreamTable::destroy(const StreamPtr& stream) {
  const std::lock_guard lock(mutex_);
  streams_.erase(stream->id);
  std::erase_if(destroyed_, [this](const StreamPtr& s) { return !orders(s->tail); });
  if (orders(stream->tail)) {
    destroyed_.push_back(stream);
  }
}

StreamPtr StreamTable::find(cudaStream_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto it = streams_.find(to_id(stream_tag, handle));
  return it == streams_.end() ? nullptr : it->second;
}

bool StreamTable::was_destroyed(cudaStream_t handle) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = to_id(stream_tag, handle);
  return id > legacy_.size() && id < next_id_ && !streams_.contains(id);
}

bool StreamTable::was_destroyed(cudaEvent_t handle) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = to_id(event_tag, handle);
  return id != 0 && id < next_event_ && !events_.contains(id);
}

EventPtr StreamTable::create_event(int device, unsigned flags) {
  const std::lock_guard lock(mutex_);
  auto event = std::make_shared<Event>();
  const std::uint64_t id = next_event_++;
  event->handle = to_handle<cudaEvent_t>(event_tag, id);
  event->device = device;
  event->flags = flags;
  events_.emplace(id, event);
  return event;
}

std::size_t StreamTable::created_streams() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(streams_, [](const auto& entry) {
    return !entry.second->per_thread;
  }));
}

std::size_t StreamTable::created_events() const {
  const std::lock_guard lock(mutex_);
  return events_.size();
}

void StreamTable::destroy_event(const EventPtr& event) {
  const std::lock_guard lock(mutex_);
  events_.erase(to_id(event_tag, event->handle));
}

EventPtr StreamTable::find_event(cudaEvent_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto it = events_.find(to_id(event_tag, handle));
  return it == events_.end() ? nullptr : it->second;
}

void StreamTable::collect(const Stream& stream, std::vector<machine::CommandPtr>& into) const {
  const auto add = [&](const machine::CommandPtr& command) {
    if (command != nullptr) {
      into.push_back(command);
    }
  };
  add(stream.tail);
  if (stream.legacy) {
    for (const auto& [id, other] : streams_) {
      if (other->device == stream.device && other->blocking()) {
        add(other->tail);
      }
    }
    for (const StreamPtr& other : destroyed_) {
      if (other->device == stream.device && other->blocking()) {
        add(other->tail);
      }
    }
  } else if (stream.blocking()) {
    add(legacy_[static_cast<std::size_t>(stream.device)]->tail);
  }
}

std::vector<machine::CommandPtr> StreamTable::ordering(const Stream& stream) const {
  std::vector<machine::CommandPtr> commands;
  collect(stream, commands);
  std::erase_if(commands, [this](const auto& command) { return !orders(command); });
  return commands;
}

// [DEP-EARLY]: only the kernel right before it in its own stream may overlap with it.
void StreamTable::follow(const Stream& stream, machine::Command& command) const {
  collect(stream, command.after);
  const bool programmatic = command.grid != nullptr && command.grid->config().programmatic;
  if (programmatic && stream.tail != nullptr && stream.tail->kind == machine::CommandKind::Kernel) {
    std::erase(command.after, stream.tail);
    command.early.push_back({stream.tail});
  }
}

void StreamTable::submit(Stream& stream, const machine::CommandPtr& command) {
  const std::lock_guard lock(mutex_);
  follow(stream, *command);
  command->stream = stream.name;
  stream.tail = command;
  world_.submit(command);
}

bool StreamTable::run_if_idle(const Stream& stream, const std::function<void()>& work) {
  const std::lock_guard lock(mutex_);
  if (!ordering(stream).empty()) {
    return false;
  }
  work();
  return true;
}

void StreamTable::submit_group(
    Stream& stream,
    std::span<const machine::CommandPtr> group,
    const machine::CommandPtr& last
) {
  const std::lock_guard lock(mutex_);
  for (const machine::CommandPtr& command : group) {
    if (command->after.empty() && command->early.empty()) {
      collect(stream, command->after);
    }
    command->stream = stream.name;
  }
  stream.tail = last;
  for (const machine::CommandPtr& command : group) {
    world_.submit(command);
  }
}

void StreamTable::record(
    Stream& stream,
    const EventPtr& event,
    const machine::CommandPtr& command
) {
  {
    const std::lock_guard lock(mutex_);
    command->event.record = event->command != nullptr ? event->command->id : 0;
  }
  submit(stream, command);
  const std::lock_guard lock(mutex_);
  command->event.told_before = command->done.load() ? told_ : 0;
  event->command = command;
}

void StreamTable::record_early(
    const Stream& stream,
    const EventPtr& event,
    const machine::CommandPtr& command
) {
  const std::lock_guard lock(mutex_);
  command->stream = stream.name;
  command->event.record = event->command != nullptr ? event->command->id : 0;
  world_.submit(command);
  event->command = command;
}

void StreamTable::mark(const EventPtr& event, const machine::CommandPtr& command) {
  const std::lock_guard lock(mutex_);
  event->command = command;
}

void StreamTable::wait_event(
    Stream& stream,
    const EventPtr& event,
    const machine::CommandPtr& command
) {
  {
    const std::lock_guard lock(mutex_);
    if (event->command != nullptr) {
      command->after.push_back(event->command);
      command->event.record = event->command->id;
    }
  }
  submit(stream, command);
}

std::vector<machine::CommandPtr> StreamTable::pending(const Stream& stream) const {
  const std::lock_guard lock(mutex_);
  std::vector<machine::CommandPtr> commands;
  collect(stream, commands);
  return commands;
}

std::vector<machine::CommandPtr> StreamTable::pending_on_device(int device) const {
  const std::lock_guard lock(mutex_);
  std::vector<machine::CommandPtr> commands;
  const auto add = [&](const StreamPtr& stream) {
    if (stream->device == device && unfinished(stream->tail)) {
      commands.push_back(stream->tail);
    }
  };
  for (const StreamPtr& stream : legacy_) {
    add(stream);
  }
  for (const auto& [id, stream] : streams_) {
    add(stream);
  }
  for (const StreamPtr& stream : destroyed_) {
    add(stream);
  }
  return commands;
}

bool StreamTable::are_untold(std::span<const machine::CommandPtr> commands) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(commands, [&](const machine::CommandPtr& command) {
    return is_untold(command);
  });
}

void StreamTable::hash(Hasher& hasher, const machine::World::NameOfCommand& name) const {
  const std::lock_guard lock(mutex_);
  const auto add_command = [&](const machine::CommandPtr& command) {
    const std::uint64_t recorded = command != nullptr ? 1 : 0;
    hasher.value(recorded == 0 || command->done.load() ? recorded : name(*command));
    hasher.value(is_untold(command));
  };
  const auto add_stream = [&](const StreamPtr& stream) {
    hasher.value(stream->id);
    hasher.value(stream->device);
    hasher.value(stream->flags);
    hasher.value(stream->priority);
    hasher.value(stream->capture != nullptr);
    const bool matters = unfinished(stream->tail) || is_untold(stream->tail);
    add_command(matters ? stream->tail : nullptr);
  };
  hasher.value(next_id_);
  hasher.value(next_event_);
  std::ranges::for_each(legacy_, add_stream);
  for (const auto& [id, stream] : streams_) {
    add_stream(stream);
  }
  for (const StreamPtr& stream : destroyed_) {
    if (unfinished(stream->tail)) {
      add_stream(stream);
    }
  }
  for (const auto& [id, event] : events_) {
    hasher.value(id);
    hasher.value(event->device);
    hasher.value(event->flags);
    hasher.value(event->captured);
    hasher.value(event->captured_by.expired());
    add_command(event->command);
  }
}

void StreamTable::reset(int device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [&](const auto& entry) {
    return entry.second->device == device && !entry.second->per_thread;
  });
  std::erase_if(events_, [&](const auto& entry) { return entry.second->device == device; });
  std::erase_if(destroyed_, [&](const StreamPtr& stream) { return stream->device == device; });
}

} // namespace heddle::runtime
