// DeviceLaunches: what the threads of one grid ask of the device runtime: launches of further
// grids, and streams, events and copies that order them (CUDA C++ Programming Guide, "CUDA Dynamic
// Parallelism").
//
// A launch becomes a Command like any other; its `after` list is the order of the stream it is in:
// the stream without a name is the block's own, so that launches of one block follow each other and
// those of different blocks do not; a launch to be forgotten follows nothing. A grid has completed
// when all its blocks have ended and all that they launched has completed, and after that, one
// after the other, its tail launches: the driver asks unfinished() until nothing is left.
//
// Named streams and events are known to the whole grid here, although only the block that made them
// may use them: programs that break that rule pass.
#pragma once

#include "isa/device_runtime.h"
#include "machine/world.h"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace heddle::machine {

class BlockMonitor; // monitor.h

class DeviceLaunches {
public:
  using Error = isa::DeviceRuntime::Error;
  /// A thread of the grid.
  struct Caller {
    std::uint64_t block = 0;  // of the grid
    std::uint64_t thread = 0; // of the block
    BlockMonitor* monitor = nullptr;
    std::pair<std::uint64_t, std::uint64_t> key() const { return {block, thread}; }
  };

  /// `command`: the grid's; `depth`: launches that led to it, 0: the host's.
  DeviceLaunches(World& world, Grid& parent, std::uint64_t command, unsigned depth);
  ~DeviceLaunches();

  memory::Address parameter_buffer(const Caller& caller, const isa::DeviceRuntime::Launch& launch);
  Error launch(const Caller& caller, memory::Address buffer, std::uint64_t stream);
  Error copy(const Caller& caller, const isa::DeviceRuntime::Copy& copy, std::uint64_t stream);
  std::uint64_t create_stream();
  Error destroy_stream(const Caller& caller, std::uint64_t stream);
  std::uint64_t create_event();
  Error destroy_event(const Caller& caller, std::uint64_t event);
  Error record(const Caller& caller, std::uint64_t event, std::uint64_t stream);
  Error wait(const Caller& caller, std::uint64_t stream, std::uint64_t event);
  Error last_error(const Caller& caller, bool clear);
  Error fail(const Caller& caller, Error error);
  int resident_blocks(memory::Address kernel, int threads, std::uint64_t shared) const;
  const World& world() const { return world_; }
  unsigned depth() const { return depth_; }

  /// When all blocks have ended: what has to complete before the grid has; empty: nothing more.
  /// Submits the next tail launch.
  std::vector<CommandPtr> unfinished();

  /// Has some thread asked for anything? Cheap: searches want to know in every state.
  bool used() const { return used_.load(std::memory_order_relaxed); }
  /// Has everything completed that was launched, and is only a tail launch left?
  bool next_is_tail() const;
  /// … and nothing left?
  bool over() const;
  /// For a fingerprint: what its future depends on, commands by the numbers that `number` gives to
  /// those which have not completed.
  void write_state(
      std::vector<std::uint64_t>& words,
      const std::function<std::uint64_t(const CommandPtr&)>& number
  ) const;

private:
  bool children_done() const;
  struct Stream {
    std::vector<CommandPtr> last; // what the next command comes after
  };
  const isa::Kernel* kernel_at(memory::Address function) const;
  void forget_done();
  std::size_t unfinished_children();
  Stream* stream_of(const Caller& caller, std::uint64_t stream);
  Error put(const Caller& caller, std::uint64_t stream, const CommandPtr& command);

  World& world_;
  Grid& parent_;
  std::uint64_t command_;
  unsigned depth_;
  std::atomic<bool> used_{false};
  mutable std::mutex mutex_;
  // Of streams and events; small ones have a meaning of their own.
  static constexpr std::uint64_t first_handle = 0x1000;
  std::uint64_t next_handle_ = first_handle;
  std::map<memory::Address, isa::DeviceRuntime::Launch> buffers_;
  std::map<std::uint64_t, Stream> block_streams_; // by block
  std::map<std::uint64_t, Stream> streams_;       // by handle
  std::map<std::uint64_t, std::vector<CommandPtr>> events_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Error> errors_; // by Caller::key()
  std::vector<CommandPtr> children_;                                // submitted
  std::vector<CommandPtr> tail_;                                    // not yet
};

} // namespace heddle::machine
