// Implements ipc.h.
#include "runtime/ipc/ipc.h"

#include "runtime/diagnostics/outcome.h"
#include "runtime/ipc/shared_file.h"
#include "runtime/runtime.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <iterator>
#include <thread>

namespace heddle::runtime {
namespace {

constexpr std::uint64_t magic = 0x3143'5049'656c'6448ULL; // "HdleIPC1"
constexpr std::uint64_t page_bytes = 4096;
/// The file that a handle of another process names; -1: there is none any more.
int open_file(const IpcHandle& handle) {
  if (handle.process <= 0 || handle.file < 0) {
    return -1;
  }
  const std::string path = fmt::format("/proc/{}/fd/{}", handle.process, handle.file);
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY; // it might be anything
  const int file = ::open(path.c_str(), flags);
  if (file >= 0 && !is_shared_file(file, handle.file_bytes)) {
    ::close(file);
    return -1;
  }
  return file;
}

bool write_all(int file, const std::byte* from, std::uint64_t bytes) {
  std::uint64_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::pwrite(file, from + done, bytes - done, static_cast<off_t>(done));
    if (n <= 0) {
      return false;
    }
    done += static_cast<std::uint64_t>(n);
  }
  return true;
}

cudaError_t check(const IpcHandle& handle, IpcKind kind) {
  if (handle.magic != magic || handle.kind != kind || handle.offset >= handle.file_bytes) {
    return cudaErrorInvalidResourceHandle;
  }
  // A process cannot open what it shares itself: "invalid device context".
  return handle.process == ::getpid() ? cudaErrorDeviceUninitialized : cudaSuccess;
}

} // namespace

cudaError_t refuse_sharing_in_search(const Runtime& rt, const char* call) {
  if (rt.config().mode != Mode::Check) {
    return cudaSuccess;
  }
  complain_unsupported(call);
  return cudaErrorNotSupported;
}

void IpcEvent::reach(std::uint64_t record) {
  std::uint64_t now = counters_->reached.load();
  while (now < record && !counters_->reached.compare_exchange_weak(now, record)) {
  }
}

void IpcEvent::wait_for(std::uint64_t record) const {
  while (!reached(record)) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

tl::expected<IpcHandle, cudaError_t>
Ipc::share(const memory::Allocation& allocation, IpcKind kind) {
  const std::lock_guard lock(mutex_);
  space_.share_with_processes();
  const std::uint64_t at = allocation.base + static_cast<std::uint64_t>(allocation.delta);
  const std::uint64_t first = at / page_bytes * page_bytes;
  const std::uint64_t end = (at + allocation.size + page_bytes - 1) / page_bytes * page_bytes;
  IpcHandle handle;
  handle.magic = magic;
  handle.process = ::getpid();
  handle.device = allocation.device;
  handle.kind = kind;
  const auto after = segments_.upper_bound(first);
  if (after != segments_.begin() && std::prev(after)->second.end > first) {
    const auto& [begin, segment] = *std::prev(after);
    if (segment.end >= end) {
      handle.file = segment.file;
      handle.file_bytes = segment.end - begin;
      handle.offset = at - begin;
      return handle;
    }
  }
  const bool hits_previous = after != segments_.begin() && std::prev(after)->second.end > first;
  if (hits_previous || (after != segments_.end() && after->first < end)) {
    complain_unsupported("sharing memory that has a page in common with memory shared before");
    return tl::unexpected(cudaErrorNotSupported);
  }
  auto* pages = reinterpret_cast<std::byte*>(first);
  const int file = make_shared_file(end - first);
  if (file < 0 || !write_all(file, pages, end - first) ||
      map_shared_file(file, end - first, pages) == nullptr) {
    return tl::unexpected(cudaErrorMemoryAllocation);
  }
  segments_[first] = {end, file};
  handle.file = file;
  handle.file_bytes = end - first;
  handle.offset = at - first;
  return handle;
}

tl::expected<memory::Address, cudaError_t> Ipc::open(const IpcHandle& handle, IpcKind kind) {
  if (const cudaError_t error = check(handle, kind); error != cudaSuccess) {
    return tl::unexpected(error);
  }
  const std::lock_guard lock(mutex_);
  for (auto& [at, opened] : opened_) {
    if (std::memcmp(&opened.handle, &handle, sizeof handle) == 0) {
      ++opened.count;
      return at;
    }
  }
  const int file = open_file(handle);
  if (file < 0) {
    return tl::unexpected(cudaErrorInvalidResourceHandle);
  }
  space_.share_with_processes();
  const auto base = space_.allocate(
      handle.file_bytes,
      page_bytes,
      memory::AllocationKind::Device,
      handle.device,
      "memory of another process"
  );
  void* const here = base ? space_.host_pointer(*base, handle.file_bytes) : nullptr;
  const bool mapped = here != nullptr && map_shared_file(file, handle.file_bytes, here) != nullptr;
  ::close(file);
  if (!mapped) {
    return tl::unexpected(cudaErrorMapBufferObjectFailed);
  }
  const memory::Address at = *base + handle.offset;
  opened_[at] = {handle, *base, 1};
  return at;
}

bool Ipc::is_open(memory::Address at, IpcKind kind) {
  const std::lock_guard lock(mutex_);
  const auto it = opened_.find(at);
  return it != opened_.end() && it->second.handle.kind == kind;
}

bool Ipc::close(memory::Address at, IpcKind kind) {
  const std::lock_guard lock(mutex_);
  const auto it = opened_.find(at);
  if (it == opened_.end() || it->second.handle.kind != kind) {
    return false;
  }
  if (--it->second.count == 0) {
    const Opened& opened = it->second;
    const std::uint64_t bytes = opened.handle.file_bytes;
    map_own_pages(space_.host_pointer(opened.base, bytes), bytes);
    static_cast<void>(space_.release(opened.base));
    opened_.erase(it);
  }
  return true;
}

tl::expected<IpcHandle, cudaError_t> Ipc::share(Event& event) {
  const std::lock_guard lock(mutex_);
  if (event.ipc != nullptr) {
    const auto it = events_.find(event.ipc.get());
    if (it == events_.end()) { // opened here, made elsewhere
      return tl::unexpected(cudaErrorInvalidResourceHandle);
    }
    return it->second;
  }
  const int file = make_shared_file(page_bytes);
  void* page = file < 0 ? nullptr : map_shared_file(file, page_bytes);
  if (page == nullptr) {
    return tl::unexpected(cudaErrorMemoryAllocation);
  }
  event.ipc = std::make_shared<IpcEvent>(page);
  if (event.command != nullptr) {
    event.ipc->reach(event.ipc->next_record()); // the caller has waited for it
  }
  IpcHandle handle;
  handle.magic = magic;
  handle.process = ::getpid();
  handle.file = file;
  handle.file_bytes = page_bytes;
  handle.device = event.device;
  handle.kind = IpcKind::Event;
  events_[event.ipc.get()] = handle;
  return handle;
}

cudaError_t Ipc::open(const IpcHandle& handle, Event& event) {
  if (const cudaError_t error = check(handle, IpcKind::Event); error != cudaSuccess) {
    return error;
  }
  const int file = open_file(handle);
  void* page = file < 0 ? nullptr : map_shared_file(file, page_bytes);
  if (file >= 0) {
    ::close(file);
  }
  if (page == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  event.ipc = std::make_shared<IpcEvent>(page);
  return cudaSuccess;
}

} // namespace heddle::runtime
