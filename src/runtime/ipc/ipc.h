// Ipc: device memory and events that other processes use, too (cudaIpc*, cudaMemPoolExport*).
//
// Memory is shared by making its pages those of a file without a name, which the other process maps
// in the place of pages of its own; the handle says where to find the file. Whoever is given small
// memory sees the rest of its page (misses overruns there). An event that is shared is two counters
// on such a page: how often it was recorded, and which record has been reached.
// Not under `heddle check`: what another process does cannot be explored.
#pragma once

#include "memory/address_space.h"
#include "runtime/cudart.h"
#include "runtime/streams/stream.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace heddle::runtime {

class Runtime;

/// Says that `call` is unsupported if this is `heddle check`, and then what it returns.
cudaError_t refuse_sharing_in_search(const Runtime& rt, const char* call);

enum class IpcKind : std::uint32_t {
  Memory,
  PoolMemory, // of a pool, which is given back by cudaFree
  Event
};

/// What a handle says; its size is that of both kinds of handles.
struct IpcHandle {
  std::uint64_t magic = 0;
  std::int32_t process = 0; // that has the file open
  std::int32_t file = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t offset = 0; // of the memory in the file
  std::int32_t device = 0;
  IpcKind kind{};
  std::uint8_t unused[24] = {};
};
static_assert(sizeof(IpcHandle) == CUDA_IPC_HANDLE_SIZE);

/// The counters of an event that processes share.
class IpcEvent {
public:
  /// The page is one of the file; it is never given back.
  explicit IpcEvent(void* page) : counters_(static_cast<Counters*>(page)) {}

  std::uint64_t next_record() { return counters_->recorded.fetch_add(1) + 1; }
  std::uint64_t last_record() const { return counters_->recorded.load(); }
  void reach(std::uint64_t record);
  bool reached(std::uint64_t record) const { return counters_->reached.load() >= record; }
  void wait_for(std::uint64_t record) const;

private:
  struct Counters {
    std::atomic<std::uint64_t> recorded;
    std::atomic<std::uint64_t> reached;
  };
  Counters* counters_;
};

/// Thread safe.
class Ipc {
public:
  explicit Ipc(memory::AddressSpace& space) : space_(space) {}

  /// Of the live device allocation that contains `at`; its start is what the handle stands for.
  /// Nothing may write the memory meanwhile.
  tl::expected<IpcHandle, cudaError_t> share(const memory::Allocation& allocation, IpcKind kind);
  /// The address of the memory here. Error: not a handle, of this process, or of one that has gone.
  tl::expected<memory::Address, cudaError_t> open(const IpcHandle& handle, IpcKind kind);
  /// False: nothing was opened there. It is gone when each open has been closed.
  bool close(memory::Address at, IpcKind kind);
  bool is_open(memory::Address at, IpcKind kind);

  tl::expected<IpcHandle, cudaError_t> share(Event& event);
  /// Makes `event`, which is new, the one that the handle stands for.
  cudaError_t open(const IpcHandle& handle, Event& event);

private:
  struct Segment { // pages of this process that are a file's
    std::uint64_t end = 0;
    int file = -1;
  };
  struct Opened {
    IpcHandle handle;
    memory::Address base = 0; // of the whole file
    int count = 0;
  };

  memory::AddressSpace& space_;
  std::mutex mutex_;
  std::map<std::uint64_t, Segment> segments_; // by host address
  std::map<memory::Address, Opened> opened_;
  std::map<const IpcEvent*, IpcHandle> events_; // those of this process
};

} // namespace heddle::runtime
