// Memory and events of other processes: cudaIpc*.
#include "runtime/ipc.h"
#include "runtime/outcome.h"
#include "runtime/runtime.h"

#include <cstring>

using namespace heddle::runtime;

namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(IpcHandle));
static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(IpcHandle));

/// The body of each of them.
template <class Body> cudaError_t between_processes(const char* what, Body&& body) {
  return api(what, [&](Runtime& rt, ThreadState& thread) -> cudaError_t {
    if (rt.config().mode == Mode::Check) {
      complain_unsupported(what);
      return cudaErrorNotSupported;
    }
    return body(rt, thread);
  });
}

template <class Handle> IpcHandle read(const Handle& handle) {
  IpcHandle result;
  std::memcpy(&result, &handle, sizeof result);
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
    const cudaError_t error = rt.wait_for_device(allocation->device, "cudaIpcGetMemHandle");
    if (error != cudaSuccess) {
      return error;
    }
    const auto shared = rt.ipc().share(*allocation);
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
    const auto at = rt.ipc().open(read(handle));
    if (!at) {
      return at.error();
    }
    *p = reinterpret_cast<void*>(*at);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* p) {
  return between_processes("cudaIpcCloseMemHandle", [&](Runtime& rt, ThreadState& thread) {
    const cudaError_t error = rt.wait_for_device(thread.device, "cudaIpcCloseMemHandle");
    if (error != cudaSuccess) {
      return error;
    }
    return rt.ipc().close(reinterpret_cast<heddle::memory::Address>(p)) ? cudaSuccess
                                                                        : cudaErrorInvalidValue;
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

} // extern "C"
#pragma GCC visibility pop
