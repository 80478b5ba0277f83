// The driver API: contexts and what is set for them.
#include "runtime/driver/driver.h"

#pragma GCC visibility push(default)
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>
#pragma GCC visibility pop

using namespace heddle::runtime;

namespace {

CUresult create(CUcontext* result, unsigned flags, CUdevice device) {
  return after_init([&]() -> cudaError_t {
    Runtime& rt = Runtime::get();
    if (result == nullptr || (flags & ~unsigned{CU_CTX_FLAGS_MASK}) != 0) {
      return cudaErrorInvalidValue;
    }
    if (!rt.valid_device(device)) {
      return cudaErrorInvalidDevice;
    }
    if (const cudaError_t sick = rt.health(device); sick != cudaSuccess) {
      return sick;
    }
    Context& context = rt.contexts().create(device, flags);
    rt.contexts().push(thread_state(), context);
    *result = handle_of(&context);
    return cudaSuccess;
  });
}

/// `body(Runtime&, Context&)` for a context that is named; null means the current one.
template <class Body> CUresult about_context(CUcontext handle, Body&& body) {
  return after_init([&]() -> cudaError_t {
    Runtime& rt = Runtime::get();
    Context* context =
        handle == nullptr ? rt.contexts().current(thread_state()) : rt.contexts().find(handle);
    return context == nullptr ? runtime_error(CUDA_ERROR_INVALID_CONTEXT) : body(rt, *context);
  });
}

CUresult destroy(CUcontext handle) {
  return after_init([&]() -> cudaError_t {
    Runtime& rt = Runtime::get();
    Context* context = rt.contexts().find(handle);
    if (context == nullptr || context->primary) {
      return runtime_error(CUDA_ERROR_INVALID_CONTEXT);
    }
    // What is under way is finished first.
    const cudaError_t error = on_device(context->device, [] { return cudaDeviceSynchronize(); });
    context->alive = false;
    if (rt.contexts().current(thread_state()) == context) {
      rt.contexts().pop(thread_state());
    }
    return error;
  });
}

} // namespace

// The driver's calls about banks of shared memory are the runtime's, which are deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC visibility push(default)
extern "C" {

CUresult cuCtxCreate_v2(CUcontext* result, unsigned flags, CUdevice device) {
  return create(result, flags, device);
}
CUresult cuCtxCreate_v3(
    CUcontext* result,
    CUexecAffinityParam* /*affinity*/,
    int /*count*/,
    unsigned flags,
    CUdevice device
) {
  return create(result, flags, device);
}
CUresult cuCtxCreate_v4(
    CUcontext* result,
    CUctxCreateParams* /*parameters*/, // execution affinity only tunes
    unsigned flags,
    CUdevice device
) {
  return create(result, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  return destroy(context);
}
CUresult cuCtxDetach(CUcontext context) {
  return destroy(context);
}

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  return after_init([&]() -> cudaError_t {
    Runtime& rt = Runtime::get();
    Context* context = rt.contexts().find(handle);
    if (context == nullptr) {
      return runtime_error(CUDA_ERROR_INVALID_CONTEXT);
    }
    rt.contexts().push(thread_state(), *context);
    return cudaSuccess;
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext* result) {
  return after_init([&]() -> cudaError_t {
    Context* top = Runtime::get().contexts().pop(thread_state());
    if (top == nullptr) {
      return runtime_error(CUDA_ERROR_INVALID_CONTEXT);
    }
    if (result != nullptr) {
      *result = handle_of(top);
    }
    return cudaSuccess;
  });
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  return after_init([&]() -> cudaError_t {
    Runtime& rt = Runtime::get();
    Context* context = rt.contexts().find(handle);
    if (context == nullptr && handle != nullptr) {
      return runtime_error(CUDA_ERROR_INVALID_CONTEXT);
    }
    rt.contexts().set_current(thread_state(), context);
    return cudaSuccess;
  });
}

CUresult cuCtxGetCurrent(CUcontext* result) {
  return after_init([&]() -> cudaError_t {
    if (result == nullptr) {
      return cudaErrorInvalidValue;
    }
    *result = handle_of(Runtime::get().contexts().current(thread_state()));
    return cudaSuccess;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return about_context(nullptr, [&](Runtime&, Context& context) {
    if (device == nullptr) {
      return cudaErrorInvalidValue;
    }
    *device = context.device;
    return cudaSuccess;
  });
}
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  return about_context(handle, [&](Runtime&, Context& context) {
    if (device == nullptr) {
      return cudaErrorInvalidValue;
    }
    *device = context.device;
    return cudaSuccess;
  });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return about_context(nullptr, [&](Runtime&, Context& context) {
    if (flags == nullptr) {
      return cudaErrorInvalidValue;
    }
    *flags = context.flags;
    return cudaSuccess;
  });
}
CUresult cuCtxSetFlags(unsigned flags) {
  return about_context(nullptr, [&](Runtime&, Context& context) {
    if ((flags & ~unsigned{CU_CTX_FLAGS_MASK}) != 0) {
      return cudaErrorInvalidValue;
    }
    context.flags = flags;
    return cudaSuccess;
  });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return about_context(handle, [&](Runtime&, Context& context) {
    if (id == nullptr) {
      return cudaErrorInvalidValue;
    }
    *id = context.id;
    return cudaSuccess;
  });
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  return about_context(handle, [&](Runtime&, Context&) {
    if (version == nullptr) {
      return cudaErrorInvalidValue;
    }
    *version = 3020; // of the interface that contexts have had since
    return cudaSuccess;
  });
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return about_context(handle, [](Runtime&, Context& context) {
    return on_device(context.device, [] { return cudaDeviceSynchronize(); });
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return in_context([&]() -> cudaError_t {
    Context* context = Runtime::get().contexts().find(peer);
    return context == nullptr ? runtime_error(CUDA_ERROR_INVALID_CONTEXT)
                              : cudaDeviceEnablePeerAccess(context->device, flags);
  });
}
CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return in_context([&]() -> cudaError_t {
    Context* context = Runtime::get().contexts().find(peer);
    return context == nullptr ? runtime_error(CUDA_ERROR_INVALID_CONTEXT)
                              : cudaDeviceDisablePeerAccess(context->device);
  });
}

// clang-format off
HEDDLE_DRIVER(cuCtxSynchronize, cudaDeviceSynchronize(), void)
HEDDLE_DRIVER(cuCtxSetLimit, cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value),
    CUlimit limit, std::size_t value)
HEDDLE_DRIVER(cuCtxGetLimit, cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)),
    std::size_t* value, CUlimit limit)
HEDDLE_DRIVER(cuCtxGetCacheConfig, cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(config)),
    CUfunc_cache* config)
HEDDLE_DRIVER(cuCtxSetCacheConfig, cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config)),
    CUfunc_cache config)
HEDDLE_DRIVER(cuCtxGetSharedMemConfig,
    cudaDeviceGetSharedMemConfig(reinterpret_cast<cudaSharedMemConfig*>(config)), CUsharedconfig* config)
HEDDLE_DRIVER(cuCtxSetSharedMemConfig,
    cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(config)), CUsharedconfig config)
HEDDLE_DRIVER(cuCtxGetStreamPriorityRange, cudaDeviceGetStreamPriorityRange(least, greatest),
    int* least, int* greatest)
HEDDLE_DRIVER(cuCtxResetPersistingL2Cache, cudaCtxResetPersistingL2Cache(), void)
// clang-format on

CUresult cuProfilerStart() {
  return after_init([] { return cudaProfilerStart(); });
}
CUresult cuProfilerStop() {
  return after_init([] { return cudaProfilerStop(); });
}

// The driver's log: what Heddle has to say stands on stderr, so no callback is ever called.
CUresult
cuLogsRegisterCallback(CUlogsCallback callback, void* /*data*/, CUlogsCallbackHandle* handle) {
  if (callback == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (handle != nullptr) {
    *handle = reinterpret_cast<CUlogsCallbackHandle>(callback);
  }
  return CUDA_SUCCESS;
}
CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return handle == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

} // extern "C"
#pragma GCC visibility pop
