// Streams and events: which command may not begin before which.
//
// Order, as CUDA documents it ("Stream synchronization behavior"): commands of one stream run in
// the order of the calls. The legacy default stream waits for all work that was put before on
// blocking streams of its device, and later work on blocking streams waits for it. Per-thread
// default streams are blocking streams. Streams made with cudaStreamNonBlocking stand aside. All of
// it becomes Command::after lists; nothing else orders commands.
//
// Handles are numbers that are never used twice, so that a handle used after its destruction is
// recognised (the real library crashes or answers at random).
#pragma once

#include "machine/world.h"
#include "runtime/streams/operation.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace heddle::runtime {

struct Stream;
class IpcEvent; // ipc.h

/// What a stream that is being captured hands its work to. Implemented by graphs.
class CaptureTarget {
public:
  virtual ~CaptureTarget() = default;
  virtual cudaError_t add(Stream& stream, const Operation& operation) = 0;
  virtual cudaError_t record(Stream& stream, const std::shared_ptr<Event>& event) = 0;
  /// The same of an event that the launch put last records by an attribute: what waits for it
  /// depends on the kernel by such an edge.
  virtual cudaError_t record_early(
      Stream& stream,
      const std::shared_ptr<Event>& event,
      const cudaGraphEdgeData& edge
  ) = 0;
  virtual cudaError_t wait(Stream& stream, const std::shared_ptr<Event>& event) = 0;
  /// Something was done that a captured stream does not allow: the capture yields no graph.
  virtual void invalidate() = 0;
  /// The stream is destroyed.
  virtual void leave(Stream& stream) = 0;
};

struct Stream {
  cudaStream_t handle = nullptr;
  std::uint64_t id = 0; // dense, for reports and cudaStreamGetId
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  bool legacy = false;
  bool per_thread = false;
  std::string name;         // "stream 2"
  machine::CommandPtr tail; // the last command put on it
  /// What cudaStreamSetAttribute was given; only tunes.
  std::map<int, cudaLaunchAttributeValue> attributes;
  std::shared_ptr<CaptureTarget> capture;

  bool blocking() const { return !legacy && (flags & cudaStreamNonBlocking) == 0; }
};
using StreamPtr = std::shared_ptr<Stream>;

struct Event {
  cudaEvent_t handle = nullptr;
  int device = 0;
  unsigned flags = 0;
  machine::CommandPtr command; // of the last cudaEventRecord; null: never recorded
  /// While a capture is under way: the target that recorded it, and what it stands for there.
  std::weak_ptr<CaptureTarget> captured_by;
  bool captured = false; // the last record was captured
  std::vector<std::uint64_t> captured_nodes;
  cudaGraphEdgeData captured_edge{}; // from these
  std::shared_ptr<IpcEvent> ipc;     // of an event that other processes have, too

  /// Measured: after the capture the event is of no use until it is recorded again.
  bool stale() const { return captured && captured_by.expired(); }
  bool complete() const { return command == nullptr || command->done.load(); }
  /// Has also completed what it does not stand for (Command::overlaps)?
  bool over() const {
    return complete() && (command == nullptr ||
                          std::ranges::all_of(command->overlaps, [](const machine::Overlap& o) {
                            return o.grid->done.load();
                          }));
  }
  bool timed() const { return (flags & cudaEventDisableTiming) == 0; }
};
using EventPtr = std::shared_ptr<Event>;

/// Thread safe.
class StreamTable {
public:
  StreamTable(machine::World& world, int devices);

  StreamPtr create(int device, unsigned flags, int priority);
  /// The stream's work goes on; its handle is dead.
  void destroy(const StreamPtr& stream);
  StreamPtr legacy(int device) const { return legacy_[static_cast<std::size_t>(device)]; }
  StreamPtr create_per_thread(int device);
  /// nullptr: no such stream. Not for the handles of default streams.
  StreamPtr find(cudaStream_t handle) const;

  /// What the program has created and not destroyed.
  std::size_t created_streams() const;
  std::size_t created_events() const;

  /// The handle was valid once.
  bool was_destroyed(cudaStream_t handle) const;
  bool was_destroyed(cudaEvent_t handle) const;

  EventPtr create_event(int device, unsigned flags);
  void destroy_event(const EventPtr& event);
  EventPtr find_event(cudaEvent_t handle) const;

  /// Puts one command on a stream: fills in `after`, submits, makes it the stream's tail.
  void submit(Stream& stream, const machine::CommandPtr& command);
  /// Does `work` at once if the stream has nothing to wait for, and answers whether it did. Nothing
  /// can be put on any stream meanwhile, so keep it short.
  bool run_if_idle(const Stream& stream, const std::function<void()>& work);
  /// Puts a group on a stream: commands whose `after` is empty wait for the stream, `last` becomes
  /// its tail. In topological order.
  void submit_group(
      Stream& stream,
      std::span<const machine::CommandPtr> group,
      const machine::CommandPtr& last
  );
  void record(Stream& stream, const EventPtr& event, const machine::CommandPtr& command);
  /// `command`, which depends on a kernel of the stream programmatically, records `event`; what is
  /// put on the stream later does not wait for it.
  void
  record_early(const Stream& stream, const EventPtr& event, const machine::CommandPtr& command);
  /// `command`, which is submitted otherwise, records `event`.
  void mark(const EventPtr& event, const machine::CommandPtr& command);
  /// `command` (which does nothing) makes the stream wait for `event` as it was recorded last.
  void wait_event(Stream& stream, const EventPtr& event, const machine::CommandPtr& command);

  /// What a command put on the stream now would wait for: its own tail and, for default-stream
  /// rules, others. Complete ones are left out, unless there is
  /// a monitor.
  std::vector<machine::CommandPtr> pending(const Stream& stream) const;
  /// The last command of every stream of the device that is not complete.
  std::vector<machine::CommandPtr> pending_on_device(int device) const;
  /// A call tells the host that something has completed, and so that all has that is complete.
  void tell() {
    const std::lock_guard lock(mutex_);
    ++told_;
  }
  /// Is one of them the record of an event in an idle stream, and has no call told the host
  /// anything since? A device need not have carried that out when the host asks ([QUERY]).
  bool are_untold(std::span<const machine::CommandPtr> commands) const;
  /// What a state has to tell of streams and events, besides their commands.
  void hash(Hasher& hasher, const machine::World::NameOfCommand& name) const;
  /// cudaDeviceReset: every handle of the device dies.
  void reset(int device);

private:
  bool is_untold(const machine::CommandPtr& command) const {
    return command != nullptr && command->event.told_before == told_;
  }
  /// Does it hold up what is put behind it, or does a monitor want to know of it all the same?
  bool orders(const machine::CommandPtr& command) const;
  /// What a command put on the stream now has to wait for, complete or not: the world leaves out
  /// what is, and drivers are told of all (Command::behind).
  void collect(const Stream& stream, std::vector<machine::CommandPtr>& into) const;
  std::vector<machine::CommandPtr> ordering(const Stream& stream) const; // … that orders()
  void follow(const Stream& stream, machine::Command& command) const;

  machine::World& world_;
  mutable std::mutex mutex_;
  std::uint64_t next_id_ = 1;
  std::uint64_t next_event_ = 1;
  std::uint64_t told_ = 1;                     // how often tell() was called, and 1
  std::vector<StreamPtr> legacy_;              // by device
  std::map<std::uint64_t, StreamPtr> streams_; // created ones and per-thread ones, by id
  std::vector<StreamPtr> destroyed_;           // whose work may not be complete
  std::map<std::uint64_t, EventPtr> events_;
};

} // namespace heddle::runtime
