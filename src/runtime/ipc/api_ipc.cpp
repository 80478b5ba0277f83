// Memory and events of other processes: cudaIpc*, and pools whose memory they share.
#include "runtime/diagnostics/outcome.h"
#include "runtime/ipc/ipc.h"
#include "runtime/ipc/shared_file.h"
#include "runtime/memory/implicit_wait.h"
#include "runtime/memory/pool.h"
#include "runtime/runtime.h"

#include <unistd.h>

#include <cstring>

using namespace heddle::runtime;

namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(IpcHandle));
static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(IpcHandle));

/// The body of each of them.
template <class Body> cudaError_t between_processes(const char* what, Body&& body) {
  return api(what, [&](Runtime& rt, ThreadState& thread) -> cudaError_t {
    const cudaError_t refused = refuse_sharing_in_search(rt, what);
    return refused != cudaSuccess ? refused : body(rt, thread);
  });
}

/// What the descriptor of a pool leads to.
struct PoolFile {
  std::uint64_t magic = 0x3150'5049'656c'6448ULL; // "HdleIPP1"
  std::int32_t device = 0;
};

template <class Handle> IpcHandle read(const Handle& handle) {
  IpcHandle result;
  std::memcpy(static_cast<void*>(&result), &handle, sizeof result);
  return result;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* p) {
  return between_processes("cudaIpcGetMemHandle", [&](Runtime& rt, ThreadState&) {
    const auto allocation = rt.space().find(reinterpret_cast<heddle::memory::Address>(p));
    if (handle == nullptr || !allocation ||
        allocation->kind != heddle::memory::AllocationKind::Device || allocation->device < 0) {
      return cudaErrorInvalidValue;
    }
    // The pages are exchanged: nobody may write them meanwhile.
    const cudaError_t error = wait_implicitly(rt, allocation->device, "cudaIpcGetMemHandle");
    if (error != cudaSuccess) {
      return error;
    }
    const auto shared = rt.ipc().share(*allocation, IpcKind::Memory);
    if (!shared) {
      return shared.error();
    }
    std::memcpy(handle, &*shared, sizeof *handle);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenMemHandle(void** p, cudaIpcMemHandle_t handle, unsigned int flags) {
  return between_processes("cudaIpcOpenMemHandle", [&](Runtime& rt, ThreadState&) {
    if (p == nullptr || flags != cudaIpcMemLazyEnablePeerAccess) {
      return cudaErrorInvalidValue;
    }
    const auto at = rt.ipc().open(read(handle), IpcKind::Memory);
    if (!at) {
      return at.error();
    }
    *p = reinterpret_cast<void*>(*at);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* p) {
  return between_processes("cudaIpcCloseMemHandle", [&](Runtime& rt, ThreadState& thread) {
    const cudaError_t error = wait_implicitly(rt, thread.device, "cudaIpcCloseMemHandle");
    if (error != cudaSuccess) {
      return error;
    }
    const auto at = reinterpret_cast<heddle::memory::Address>(p);
    return rt.ipc().close(at, IpcKind::Memory) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event_handle) {
  return between_processes("cudaIpcGetEventHandle", [&](Runtime& rt, ThreadState&) {
    const auto event = rt.event(event_handle);
    if (!event) {
      return event.error();
    }
    if (handle == nullptr || ((*event)->flags & cudaEventInterprocess) == 0) {
      return cudaErrorInvalidResourceHandle;
    }
    if ((*event)->command != nullptr && (*event)->ipc == nullptr) {
      const cudaError_t error =
          rt.wait({(*event)->command}, (*event)->device, "cudaIpcGetEventHandle");
      if (error != cudaSuccess) {
        return error;
      }
    }
    const auto shared = rt.ipc().share(**event);
    if (!shared) {
      return shared.error();
    }
    std::memcpy(handle, &*shared, sizeof *handle);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* result, cudaIpcEventHandle_t handle) {
  return between_processes("cudaIpcOpenEventHandle", [&](Runtime& rt, ThreadState& thread) {
    if (result == nullptr) {
      return cudaErrorInvalidValue;
    }
    const EventPtr event =
        rt.streams().create_event(thread.device, cudaEventDisableTiming | cudaEventInterprocess);
    if (const cudaError_t error = rt.ipc().open(read(handle), *event); error != cudaSuccess) {
      rt.streams().destroy_event(event);
      return error;
    }
    *result = event->handle;
    return cudaSuccess;
  });
}

// --- Pools ---------------------------------------------------------------------------------------

cudaError_t cudaMemPoolExportToShareableHandle(
    void* result,
    cudaMemPool_t handle,
    cudaMemAllocationHandleType type,
    unsigned int flags
) {
  return between_processes("cudaMemPoolExportToShareableHandle", [&](Runtime& rt, ThreadState&) {
    const PoolPtr pool = rt.pools().find(handle);
    if (result == nullptr || pool == nullptr || !pool->shareable || pool->imported ||
        type != cudaMemHandleTypePosixFileDescriptor || flags != 0) {
      return cudaErrorInvalidValue;
    }
    const int file = make_shared_file(sizeof(PoolFile));
    const PoolFile says{.device = pool->device};
    if (file < 0 || ::pwrite(file, &says, sizeof says, 0) != sizeof says) {
      return cudaErrorOperatingSystem;
    }
    std::memcpy(result, &file, sizeof file);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolImportFromShareableHandle(
    cudaMemPool_t* result,
    void* handle,
    cudaMemAllocationHandleType type,
    unsigned int flags
) {
  return between_processes("cudaMemPoolImportFromShareableHandle", [&](Runtime& rt, ThreadState&) {
    if (result == nullptr || type != cudaMemHandleTypePosixFileDescriptor || flags != 0) {
      return cudaErrorInvalidValue;
    }
    PoolFile says{.magic = 0};
    const auto file = static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
    if (!is_shared_file(file, sizeof says) || ::pread(file, &says, sizeof says, 0) != sizeof says ||
        says.magic != PoolFile().magic || !rt.valid_device(says.device)) {
      return cudaErrorInvalidValue;
    }
    const PoolPtr pool = rt.pools().create(says.device);
    pool->shareable = pool->imported = true;
    *result = pool->handle;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* data, void* p) {
  static_assert(sizeof *data == sizeof(IpcHandle));
  return between_processes("cudaMemPoolExportPointer", [&](Runtime& rt, ThreadState&) {
    const auto owned = rt.memory().find(reinterpret_cast<heddle::memory::Address>(p));
    const PoolPtr pool = owned ? rt.pools().find(owned->pool) : nullptr;
    if (data == nullptr || pool == nullptr || !pool->shareable) {
      return cudaErrorInvalidValue;
    }
    // The pages are exchanged: nobody may write them meanwhile.
    const cudaError_t error = wait_implicitly(rt, pool->device, "cudaMemPoolExportPointer");
    if (error != cudaSuccess) {
      return error;
    }
    const auto allocation = rt.space().find(owned->base);
    const auto shared = allocation ? rt.ipc().share(*allocation, IpcKind::PoolMemory)
                                   : tl::unexpected(cudaErrorInvalidValue);
    if (!shared) {
      return shared.error();
    }
    std::memcpy(data, &*shared, sizeof *data);
    return cudaSuccess;
  });
}

cudaError_t
cudaMemPoolImportPointer(void** p, cudaMemPool_t handle, cudaMemPoolPtrExportData* data) {
  return between_processes("cudaMemPoolImportPointer", [&](Runtime& rt, ThreadState&) {
    const PoolPtr pool = rt.pools().find(handle);
    if (p == nullptr || data == nullptr || pool == nullptr || !pool->imported) {
      return cudaErrorInvalidValue;
    }
    const auto at = rt.ipc().open(read(*data), IpcKind::PoolMemory);
    if (!at) {
      return at.error();
    }
    *p = reinterpret_cast<void*>(*at);
    return cudaSuccess;
  });
}

} // extern "C"
#pragma GCC visibility pop
