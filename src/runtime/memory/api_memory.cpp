// Memory: device, managed and pinned allocations, registration of host memory, pointer attributes.
//
// Return codes for wrong arguments are as measured on an H200 (CUDA 13.0). cudaFree and its like
// wait for all work of the device, as the real library does: programs rely on it, though it is not
// promised.
#include "base/outside.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/ipc/ipc.h"
#include "runtime/memory/implicit_wait.h"
#include "runtime/memory/pool.h"
#include "runtime/memory/stream_ordered.h"
#include "runtime/runtime.h"
#include "runtime/streams/graph.h"
#include "runtime/version.h"

#include <algorithm>

using namespace heddle::runtime;
using heddle::memory::Address;
using heddle::memory::AddressSpace;
using heddle::memory::AllocationKind;

namespace {

Address address(const void* p) {
  return reinterpret_cast<Address>(p);
}

cudaError_t allocate_pinned(void** p, std::size_t bytes, unsigned flags, const char* what) {
  return api(what, [&](Runtime& rt, ThreadState& thread) {
    constexpr unsigned known =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (p == nullptr || (flags & ~known) != 0) {
      return cudaErrorInvalidValue;
    }
    *p = nullptr;
    if (bytes == 0) {
      return cudaSuccess;
    }
    if (const cudaError_t error = rt.refuse_during_capture(); error != cudaSuccess) {
      return error;
    }
    const unsigned kept =
        flags | cudaHostAllocMapped; // with unified addressing all of it is mapped
    const auto at = rt.memory().allocate_host(bytes, AllocationKind::Pinned, kept, thread.device);
    if (!at) {
      return at.error();
    }
    tell_allocated(rt, {address(*at), bytes, {}}, thread.device);
    *p = *at;
    return cudaSuccess;
  });
}

/// `p` is not there to be freed.
void complain_of_free(Runtime& rt, const void* p, const char* call) {
  if (rt.memory().take_reset(address(p))) {
    warn_of_free_after_reset(address(p), call);
  } else {
    announce_bad_free(rt.space(), address(p), call);
  }
}

/// The free of something that this process did not allocate: memory of another one's pool, or a
/// mistake.
cudaError_t free_foreign(Runtime& rt, const void* p, int device, const char* call) {
  if (!rt.ipc().is_open(address(p), IpcKind::PoolMemory)) {
    complain_of_free(rt, p, call);
    return cudaErrorInvalidValue;
  }
  const cudaError_t error = wait_implicitly(rt, device, call);
  rt.ipc().close(address(p), IpcKind::PoolMemory);
  return error;
}

Freed all_of(Runtime& rt, const Owned& owned) {
  return {owned.base, owned.bytes, [&rt, base = owned.base] {
            return rt.memory().release(base) ? cudaSuccess : cudaErrorInvalidValue;
          }};
}

/// Memory of a pool: "the driver assumes that all accesses to the allocation are complete and
/// performs no further synchronization" (CUDA Programming Guide, Stream Ordered Memory Allocator).
cudaError_t free_at_once(Runtime& rt, const Owned& owned) {
  auto command = make_command(rt, Operation{Free{owned.base}, "cudaFree", owned.device});
  if (!command) {
    return command.error();
  }
  (*command)->stream = "no stream";
  if (StreamOrdered* lives = rt.stream_ordered()) {
    lives->ended_by_host(owned.base, "cudaFree");
  }
  rt.world().submit(*command);
  return rt.wait({*command}, owned.device, "cudaFree");
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  return api("cudaMalloc", [&](Runtime& rt, ThreadState& thread) {
    if (p == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (bytes == 0) {
      *p = nullptr;
      return cudaSuccess;
    }
    if (const cudaError_t error = rt.refuse_during_capture(); error != cudaSuccess) {
      return error;
    }
    const auto at = rt.memory().allocate_device(bytes, thread.device, rt.model().global_bytes);
    if (!at) {
      return at.error();
    }
    rt.space().restrict_to_peers(*at);
    *p = reinterpret_cast<void*>(*at);
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* p) {
  return api("cudaFree", [&](Runtime& rt, ThreadState& thread) {
    if (p == nullptr) {
      return cudaSuccess;
    }
    const auto owned = rt.memory().find(address(p));
    if (!owned ||
        (owned->kind != AllocationKind::Device && owned->kind != AllocationKind::Managed)) {
      return free_foreign(rt, p, thread.device, "cudaFree");
    }
    rt.graphs().memory_use().free(address(p));
    if (owned->pool != nullptr) {
      return free_at_once(rt, *owned);
    }
    return free_implicitly(rt, {{owned->device}}, all_of(rt, *owned), "cudaFree");
  });
}

cudaError_t cudaMallocHost(void** p, std::size_t bytes) {
  return allocate_pinned(p, bytes, cudaHostAllocDefault, "cudaMallocHost");
}

cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned int flags) {
  return allocate_pinned(p, bytes, flags, "cudaHostAlloc");
}

cudaError_t cudaFreeHost(void* p) {
  return api("cudaFreeHost", [&](Runtime& rt, ThreadState&) {
    if (p == nullptr) {
      return cudaSuccess;
    }
    const auto owned = rt.memory().find(address(p));
    if (!owned || owned->kind != AllocationKind::Pinned) {
      complain_of_free(rt, p, "cudaFreeHost");
      return cudaErrorInvalidValue;
    }
    return free_implicitly(rt, all_devices(rt), all_of(rt, *owned), "cudaFreeHost");
  });
}

cudaError_t cudaMallocManaged(void** p, std::size_t bytes, unsigned int flags) {
  return api("cudaMallocManaged", [&](Runtime& rt, ThreadState& thread) {
    if (p == nullptr || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) {
      return cudaErrorInvalidValue;
    }
    *p = nullptr;
    if (bytes == 0) {
      return cudaSuccess;
    }
    const auto at = rt.memory().allocate_host(bytes, AllocationKind::Managed, flags, thread.device);
    if (!at) {
      return at.error();
    }
    tell_allocated(rt, {address(*at), bytes, {}}, thread.device);
    *p = *at;
    return cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void* p, std::size_t bytes, unsigned int flags) {
  return api("cudaHostRegister", [&](Runtime& rt, ThreadState& thread) {
    constexpr unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                               cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    if (p == nullptr || bytes == 0 || (flags & ~known) != 0 ||
        AddressSpace::in_device_range(address(p))) {
      return cudaErrorInvalidValue;
    }
    wait_until_free(rt, p, bytes, "cudaHostRegister");
    return rt.memory().add_registered(p, bytes, flags | cudaHostRegisterMapped, thread.device);
  });
}

cudaError_t cudaHostUnregister(void* p) {
  return api("cudaHostUnregister", [&](Runtime& rt, ThreadState&) {
    if (p == nullptr) {
      return cudaErrorInvalidValue;
    }
    const auto owned = rt.memory().containing(address(p));
    if (!owned) {
      return cudaErrorHostMemoryNotRegistered;
    }
    if (owned->kind != AllocationKind::Registered || owned->base != address(p)) {
      return cudaErrorInvalidValue;
    }
    Freed freed = all_of(rt, *owned);
    freed.is_hosts = true;
    return free_implicitly(rt, all_devices(rt), freed, "cudaHostUnregister");
  });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* p, unsigned int flags) {
  return api("cudaHostGetDevicePointer", [&](Runtime& rt, ThreadState&) {
    if (device_pointer == nullptr || flags != 0) {
      return cudaErrorInvalidValue;
    }
    const auto owned = rt.memory().containing(address(p));
    if (!owned ||
        (owned->kind != AllocationKind::Pinned && owned->kind != AllocationKind::Registered)) {
      return cudaErrorInvalidValue;
    }
    *device_pointer = p;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* p) {
  return api("cudaHostGetFlags", [&](Runtime& rt, ThreadState&) {
    const auto owned = rt.memory().containing(address(p));
    if (flags == nullptr || !owned || owned->kind == AllocationKind::Device) {
      return cudaErrorInvalidValue;
    }
    *flags = owned->kind == AllocationKind::Managed ? unsigned{cudaHostAllocMapped} : owned->flags;
    return cudaSuccess;
  });
}

namespace {

/// Of all memory of a device; in a search nobody else uses any.
std::uint64_t used_by_others(std::uint64_t all) {
  constexpr std::uint64_t parts = 16;
  switch (heddle::outside_of_process()) {
  case heddle::FromOutside::Less:
    return all;
  case heddle::FromOutside::Some:
    return all / parts * 9;
  case heddle::FromOutside::Much:
    return all / parts * 15;
  case heddle::FromOutside::Usual:
  case heddle::FromOutside::More:
    break;
  }
  return 0;
}

} // namespace

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return api("cudaMemGetInfo", [&](Runtime& rt, ThreadState& thread) {
    rt.world().driver().observe("cudaMemGetInfo");
    const std::uint64_t all = rt.model().global_bytes;
    const std::uint64_t used =
        std::max(used_by_others(all), std::min(all, rt.space().bytes_in_use(thread.device)));
    if (free != nullptr) {
      *free = all - used;
    }
    if (total != nullptr) {
      *total = all;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* p) {
  return api("cudaPointerGetAttributes", [&](Runtime& rt, ThreadState&) {
    if (attributes == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (cudart_version() >= 13000) { // before, the structure ended with hostPointer
      *attributes = {};
    }
    attributes->devicePointer = nullptr;
    const auto allocation = rt.space().find(address(p));
    if (!allocation) {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = const_cast<void*>(p);
      return cudaSuccess;
    }
    const bool on_device = AddressSpace::in_device_range(address(p));
    attributes->type = on_device                                     ? cudaMemoryTypeDevice
                       : allocation->kind == AllocationKind::Managed ? cudaMemoryTypeManaged
                                                                     : cudaMemoryTypeHost;
    attributes->device = std::max(allocation->device, 0); // of a reserved range: any
    attributes->devicePointer = const_cast<void*>(p);
    attributes->hostPointer = on_device ? nullptr : const_cast<void*>(p);
    return cudaSuccess;
  });
}

cudaError_t cudaMallocAsync(void** p, std::size_t bytes, cudaStream_t handle) {
  return api("cudaMallocAsync", [&](Runtime& rt, ThreadState&) {
    return allocate_from_pool(rt, p, bytes, nullptr, handle, "cudaMallocAsync");
  });
}
cudaError_t cudaMallocAsync_ptsz(void** p, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(p, bytes, per_thread(stream));
}

cudaError_t cudaFreeAsync(void* p, cudaStream_t handle) {
  return api("cudaFreeAsync", [&](Runtime& rt, ThreadState&) {
    const auto stream = rt.stream(handle);
    if (!stream) {
      return stream.error();
    }
    if (p == nullptr) {
      return cudaSuccess;
    }
    const auto owned = rt.memory().find(address(p));
    if (!owned || owned->kind != AllocationKind::Device) {
      return free_foreign(rt, p, (*stream)->device, "cudaFreeAsync");
    }
    if ((*stream)->capture == nullptr) {
      rt.graphs().memory_use().free(address(p));
    }
    const auto command = rt.enqueue(**stream, Operation{Free{address(p)}, "cudaFreeAsync", 0});
    return command ? cudaSuccess : command.error();
  });
}
cudaError_t cudaFreeAsync_ptsz(void* p, cudaStream_t stream) {
  return cudaFreeAsync(p, per_thread(stream));
}

} // extern "C"
#pragma GCC visibility pop
