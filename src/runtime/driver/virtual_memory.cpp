// Implements virtual_memory.h, and the driver's entry points for it.
#include "runtime/driver/virtual_memory.h"

#include "machine/monitor.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/driver/driver.h"
#include "runtime/ipc/ipc.h"
#include "runtime/ipc/shared_file.h"
#include "runtime/memory/implicit_wait.h"
#include "runtime/memory/stream_ordered.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle::runtime {
namespace {

bool whole(std::uint64_t bytes) {
  return bytes != 0 && bytes % VirtualMemory::granularity == 0;
}

/// The last page of a file.
struct SharedMemory {
  std::uint64_t magic = 0x314d'5649'656c'6448ULL; // "HdleIVM1"
  std::uint64_t bytes = 0;
  CUmemAllocationProp properties{};
};
constexpr std::uint64_t last_page = 4096;

std::byte* bytes_at(Runtime& rt, CUdeviceptr p, std::uint64_t bytes) {
  return static_cast<std::byte*>(rt.space().host_pointer(p, bytes));
}

} // namespace

const std::pair<const CUdeviceptr, std::uint64_t>* VirtualMemory::range_of(CUdeviceptr p) const {
  auto it = ranges_.upper_bound(p);
  if (it == ranges_.begin()) {
    return nullptr;
  }
  --it;
  return p - it->first < it->second ? &*it : nullptr;
}

cudaError_t
VirtualMemory::reserve(Runtime& rt, CUdeviceptr* p, std::size_t bytes, std::size_t align) {
  if (p == nullptr || !whole(bytes) || (align != 0 && !std::has_single_bit(align))) {
    return cudaErrorInvalidValue;
  }
  // Addresses alone use up no device's memory.
  constexpr int no_device = -1;
  const auto at = rt.space().allocate(
      bytes,
      std::max<std::uint64_t>(align, granularity),
      memory::AllocationKind::Device,
      no_device
  );
  if (!at) {
    return cudaErrorMemoryAllocation;
  }
  const std::lock_guard lock(mutex_);
  ranges_[*at] = bytes;
  *p = *at;
  return cudaSuccess;
}

cudaError_t VirtualMemory::free_range(Runtime& rt, CUdeviceptr p, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto range = ranges_.find(p);
  if (range == ranges_.end() || range->second != bytes) {
    return cudaErrorInvalidValue;
  }
  const auto mapping = mappings_.lower_bound(p);
  if (mapping != mappings_.end() && mapping->first - p < bytes) {
    return cudaErrorInvalidValue; // something is mapped still
  }
  ranges_.erase(range);
  return rt.space().release(p) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t VirtualMemory::create(
    Runtime& rt,
    CUmemGenericAllocationHandle* handle,
    std::size_t bytes,
    const CUmemAllocationProp* properties
) {
  if (handle == nullptr || properties == nullptr || !whole(bytes) ||
      properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return cudaErrorInvalidValue;
  }
  const bool on_device = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (on_device && !rt.valid_device(properties->location.id)) {
    return cudaErrorInvalidDevice;
  }
  if (!on_device) {
    complain_unsupported("cuMemCreate of host memory");
    return cudaErrorNotSupported;
  }
  const auto types = static_cast<unsigned>(properties->requestedHandleTypes);
  if ((types & ~static_cast<unsigned>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)) != 0) {
    complain_unsupported("cuMemCreate of memory that is shared by other things than descriptors");
    return cudaErrorNotSupported;
  }
  const std::lock_guard lock(mutex_);
  std::uint64_t& used = in_use_[properties->location.id];
  const std::uint64_t others = rt.space().bytes_in_use(properties->location.id);
  if (bytes > rt.model().global_bytes || used + others > rt.model().global_bytes - bytes) {
    return cudaErrorMemoryAllocation;
  }
  int file = -1;
  if (types != 0) {
    file = make_shared_file(bytes + last_page);
    const SharedMemory says{.bytes = bytes, .properties = *properties};
    if (file < 0 || ::pwrite(file, &says, sizeof says, static_cast<off_t>(bytes)) != sizeof says) {
      return cudaErrorMemoryAllocation;
    }
  }
  used += bytes;
  *handle = next_++;
  Allocation& made = allocations_[*handle];
  made.bytes = bytes;
  made.properties = *properties;
  made.file = file;
  return cudaSuccess;
}

cudaError_t VirtualMemory::share(
    int* file,
    CUmemGenericAllocationHandle handle,
    CUmemAllocationHandleType type
) const {
  const std::lock_guard lock(mutex_);
  const auto it = allocations_.find(handle);
  if (file == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
      it == allocations_.end() || it->second.file < 0) {
    return cudaErrorInvalidValue;
  }
  *file = ::fcntl(it->second.file, F_DUPFD_CLOEXEC, 0);
  return *file >= 0 ? cudaSuccess : cudaErrorOperatingSystem;
}

cudaError_t VirtualMemory::open(
    Runtime& rt,
    CUmemGenericAllocationHandle* handle,
    int file,
    CUmemAllocationHandleType type
) {
  SharedMemory says{.magic = 0};
  struct stat about{};
  if (handle == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
      ::fstat(file, &about) != 0 || static_cast<std::uint64_t>(about.st_size) <= last_page ||
      ::pread(file, &says, sizeof says, about.st_size - static_cast<off_t>(last_page)) !=
          sizeof says ||
      says.magic != SharedMemory().magic || !is_shared_file(file, says.bytes) ||
      !rt.valid_device(says.properties.location.id)) {
    return cudaErrorInvalidValue;
  }
  const int own = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (own < 0) {
    return cudaErrorOperatingSystem;
  }
  const std::lock_guard lock(mutex_);
  *handle = next_++;
  Allocation& made = allocations_[*handle];
  made.bytes = says.bytes;
  made.properties = says.properties;
  made.file = own;
  made.counted = false;
  return cudaSuccess;
}

void VirtualMemory::forget(CUmemGenericAllocationHandle handle) {
  const auto it = allocations_.find(handle);
  const Allocation& allocation = it->second;
  if (allocation.references <= 0 && allocation.mapped == 0) {
    if (allocation.counted) {
      in_use_[allocation.properties.location.id] -= allocation.bytes;
    }
    if (allocation.file >= 0) {
      ::close(allocation.file);
    }
    allocations_.erase(it);
  }
}

cudaError_t VirtualMemory::release(CUmemGenericAllocationHandle handle) {
  const std::lock_guard lock(mutex_);
  const auto it = allocations_.find(handle);
  if (it == allocations_.end() || it->second.references <= 0) {
    return cudaErrorInvalidValue;
  }
  --it->second.references; // it goes with its mapping
  forget(handle);
  return cudaSuccess;
}

cudaError_t VirtualMemory::retain(CUmemGenericAllocationHandle* handle, CUdeviceptr p) {
  const std::lock_guard lock(mutex_);
  auto it = mappings_.upper_bound(p);
  if (handle == nullptr || it == mappings_.begin()) {
    return cudaErrorInvalidValue;
  }
  --it;
  if (p - it->first >= it->second.bytes) {
    return cudaErrorInvalidValue;
  }
  *handle = it->second.handle;
  ++allocations_.at(*handle).references;
  return cudaSuccess;
}

cudaError_t
VirtualMemory::properties(CUmemAllocationProp* result, CUmemGenericAllocationHandle handle) const {
  const std::lock_guard lock(mutex_);
  const auto it = allocations_.find(handle);
  if (result == nullptr || it == allocations_.end()) {
    return cudaErrorInvalidValue;
  }
  *result = it->second.properties;
  return cudaSuccess;
}

cudaError_t VirtualMemory::map(
    Runtime& rt,
    CUdeviceptr p,
    std::size_t bytes,
    CUmemGenericAllocationHandle handle
) {
  const std::lock_guard lock(mutex_);
  const auto* range = range_of(p);
  const auto it = allocations_.find(handle);
  if (range == nullptr || !whole(bytes) || p % granularity != 0 ||
      bytes > range->second - (p - range->first) || it == allocations_.end() ||
      bytes > it->second.bytes) {
    return cudaErrorInvalidValue;
  }
  const auto next = mappings_.lower_bound(p);
  const bool hits_next = next != mappings_.end() && next->first - p < bytes;
  const bool hits_last =
      next != mappings_.begin() && p - std::prev(next)->first < std::prev(next)->second.bytes;
  if (hits_next || hits_last) {
    return cudaErrorInvalidValue;
  }
  Allocation& allocation = it->second;
  if (allocation.file >= 0) {
    if (map_shared_file(allocation.file, bytes, bytes_at(rt, p, bytes)) == nullptr) {
      return cudaErrorMapBufferObjectFailed;
    }
  } else if (allocation.mapped != 0) {
    complain_unsupported("a second mapping of what one cuMemCreate made");
    return cudaErrorNotSupported;
  }
  if (allocation.file >= 0 || !allocation.contents.empty()) {
    if (machine::Monitor* const monitor = rt.world().monitor()) {
      rt.world().driver().alone([&] { monitor->mapped(p, bytes); });
    }
  }
  if (!allocation.contents.empty()) {
    std::memcpy(bytes_at(rt, p, bytes), allocation.contents.data(), bytes);
    allocation.contents.clear();
  }
  ++allocation.mapped;
  mappings_[p] = Mapping{bytes, handle, {}};
  if (StreamOrdered* lives = rt.stream_ordered()) {
    lives->made_by_host(p, bytes, StreamOrdered::Kind::Memory);
  }
  return cudaSuccess;
}

cudaError_t VirtualMemory::unmap(Runtime& rt, CUdeviceptr p, std::size_t bytes) {
  // It waits for nobody.
  tell_freed(rt, {p, bytes, {}}, thread_state().device, "cuMemUnmap");
  if (StreamOrdered* lives = rt.stream_ordered()) {
    lives->ended_by_host(p, "cuMemUnmap");
  }
  const std::lock_guard lock(mutex_);
  // Whole mappings, and nothing between them.
  std::uint64_t covered = 0;
  auto end = mappings_.find(p);
  while (end != mappings_.end() && end->first == p + covered && covered < bytes) {
    covered += end->second.bytes;
    ++end;
  }
  if (bytes == 0 || covered != bytes) {
    return cudaErrorInvalidValue;
  }
  for (auto it = mappings_.find(p); it != end; it = mappings_.erase(it)) {
    Allocation& allocation = allocations_.at(it->second.handle);
    std::byte* at = bytes_at(rt, it->first, it->second.bytes);
    if (allocation.file >= 0) {
      map_own_pages(at, it->second.bytes);
    } else {
      if (allocation.references > 0) {
        allocation.contents.assign(at, at + it->second.bytes);
      }
      std::memset(at, 0, it->second.bytes);
    }
    --allocation.mapped;
    forget(it->second.handle);
  }
  return cudaSuccess;
}

cudaError_t VirtualMemory::set_access(
    CUdeviceptr p,
    std::size_t bytes,
    const CUmemAccessDesc* list,
    std::size_t n
) {
  const std::lock_guard lock(mutex_);
  if (list == nullptr || n == 0 || bytes == 0) {
    return cudaErrorInvalidValue;
  }
  std::uint64_t covered = 0;
  auto end = mappings_.find(p);
  while (end != mappings_.end() && end->first == p + covered && covered < bytes) {
    covered += end->second.bytes;
    ++end;
  }
  if (covered != bytes) {
    return cudaErrorInvalidValue;
  }
  for (auto it = mappings_.find(p); it != end; ++it) {
    for (std::size_t i = 0; i < n; ++i) {
      if (list[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        it->second.access[list[i].location.id] = list[i].flags;
      }
    }
  }
  return cudaSuccess;
}

cudaError_t VirtualMemory::get_access(
    unsigned long long* flags,
    const CUmemLocation* where,
    CUdeviceptr p
) const {
  const std::lock_guard lock(mutex_);
  auto it = mappings_.upper_bound(p);
  if (flags == nullptr || where == nullptr || it == mappings_.begin()) {
    return cudaErrorInvalidValue;
  }
  --it;
  if (p - it->first >= it->second.bytes) {
    return cudaErrorInvalidValue;
  }
  const auto access = it->second.access.find(where->id);
  *flags = access == it->second.access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : access->second;
  return cudaSuccess;
}

} // namespace heddle::runtime

using namespace heddle::runtime;

namespace {

VirtualMemory& memory() {
  return Runtime::get().contexts().virtual_memory();
}

cudaError_t
export_memory(void* result, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type) {
  const cudaError_t refused =
      refuse_sharing_in_search(Runtime::get(), "cuMemExportToShareableHandle");
  return refused != cudaSuccess ? refused : memory().share(static_cast<int*>(result), handle, type);
}

cudaError_t
import_memory(CUmemGenericAllocationHandle* handle, void* from, CUmemAllocationHandleType type) {
  Runtime& rt = Runtime::get();
  const auto file = static_cast<int>(reinterpret_cast<std::intptr_t>(from));
  const cudaError_t refused = refuse_sharing_in_search(rt, "cuMemImportFromShareableHandle");
  return refused != cudaSuccess ? refused : memory().open(rt, handle, file, type);
}

cudaError_t granularity(std::size_t* result, const CUmemAllocationProp* properties) {
  if (result == nullptr || properties == nullptr) {
    return cudaErrorInvalidValue;
  }
  *result = VirtualMemory::granularity;
  return cudaSuccess;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
HEDDLE_DRIVER_ANYWHERE(cuMemAddressReserve, memory().reserve(Runtime::get(), p, bytes, align),
    CUdeviceptr* p, std::size_t bytes, std::size_t align, CUdeviceptr /*wish*/, unsigned long long /*flags*/)
HEDDLE_DRIVER_ANYWHERE(cuMemAddressFree, memory().free_range(Runtime::get(), p, bytes), CUdeviceptr p, std::size_t bytes)
HEDDLE_DRIVER_ANYWHERE(cuMemCreate, memory().create(Runtime::get(), handle, bytes, properties),
    CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* properties,
    unsigned long long /*flags*/)
HEDDLE_DRIVER_ANYWHERE(cuMemRelease, memory().release(handle), CUmemGenericAllocationHandle handle)
HEDDLE_DRIVER_ANYWHERE(cuMemMap,
    offset != 0 ? cudaErrorInvalidValue : memory().map(Runtime::get(), p, bytes, handle),
    CUdeviceptr p, std::size_t bytes, std::size_t offset, CUmemGenericAllocationHandle handle,
    unsigned long long /*flags*/)
HEDDLE_DRIVER_ANYWHERE(cuMemUnmap, memory().unmap(Runtime::get(), p, bytes), CUdeviceptr p, std::size_t bytes)
HEDDLE_DRIVER_ANYWHERE(cuMemSetAccess, memory().set_access(p, bytes, list, n),
    CUdeviceptr p, std::size_t bytes, const CUmemAccessDesc* list, std::size_t n)
HEDDLE_DRIVER_ANYWHERE(cuMemGetAccess, memory().get_access(flags, where, p),
    unsigned long long* flags, const CUmemLocation* where, CUdeviceptr p)
HEDDLE_DRIVER_ANYWHERE(cuMemGetAllocationGranularity, granularity(result, properties),
    std::size_t* result, const CUmemAllocationProp* properties, CUmemAllocationGranularity_flags /*which*/)
HEDDLE_DRIVER_ANYWHERE(cuMemGetAllocationPropertiesFromHandle, memory().properties(properties, handle),
    CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle)
HEDDLE_DRIVER_ANYWHERE(cuMemExportToShareableHandle, flags != 0 ? cudaErrorInvalidValue : export_memory(result, handle, type),
    void* result, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type, unsigned long long flags)
HEDDLE_DRIVER_ANYWHERE(cuMemImportFromShareableHandle, import_memory(handle, from, type),
    CUmemGenericAllocationHandle* handle, void* from, CUmemAllocationHandleType type)
HEDDLE_DRIVER_ANYWHERE(cuMemRetainAllocationHandle, memory().retain(handle, reinterpret_cast<CUdeviceptr>(p)),
    CUmemGenericAllocationHandle* handle, void* p)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
