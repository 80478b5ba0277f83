// The driver API: start, devices, primary contexts.
#include "runtime/driver/driver.h"

#include <algorithm>
#include <cstring>

using namespace heddle::runtime;

namespace {

/// A property that cudaGetDeviceProperties knows.
template <class Tell> CUresult property(CUdevice device, const void* result, Tell&& tell) {
  return after_init([&]() -> cudaError_t {
    Runtime& rt = Runtime::get();
    if (!rt.valid_device(device)) {
      return cudaErrorInvalidDevice;
    }
    if (result == nullptr) {
      return cudaErrorInvalidValue;
    }
    cudaDeviceProp properties;
    fill_properties(properties, rt.model(), device);
    tell(properties);
    return cudaSuccess;
  });
}

CUresult uuid_of(CUuuid* uuid, CUdevice device) {
  return property(device, uuid, [&](const cudaDeviceProp& p) { *uuid = p.uuid; });
}

template <class Body> CUresult about_primary(CUdevice device, Body&& body) {
  return after_init([&]() -> cudaError_t {
    Runtime& rt = Runtime::get();
    return rt.valid_device(device) ? body(rt, rt.contexts().primary(device))
                                   : cudaErrorInvalidDevice;
  });
}

CUresult release_primary(CUdevice device) {
  return about_primary(device, [](Runtime&, Context& context) {
    if (context.retained <= 0) {
      return runtime_error(CUDA_ERROR_INVALID_CONTEXT);
    }
    --context.retained;
    return cudaSuccess;
  });
}

CUresult reset_primary(CUdevice device) {
  return about_primary(device, [&](Runtime&, Context&) {
    return on_device(device, [] { return cudaDeviceReset(); });
  });
}

CUresult set_primary_flags(CUdevice device, unsigned flags) {
  return about_primary(device, [&](Runtime&, Context& context) {
    if ((flags & ~unsigned{CU_CTX_FLAGS_MASK}) != 0) {
      return cudaErrorInvalidValue;
    }
    context.flags = flags;
    return cudaSuccess;
  });
}

} // namespace

// The older forms of calls that have newer ones are defined too.
#undef cuDeviceGetUuid
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags

#pragma GCC visibility push(default)
extern "C" {

CUresult cuInit(unsigned flags) {
  Runtime& rt = Runtime::get();
  if (flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (rt.devices() == 0) {
    return CUDA_ERROR_NO_DEVICE;
  }
  rt.initialise_driver();
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  return driver_error(cudaDriverGetVersion(version));
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return after_init([&]() -> cudaError_t {
    if (device == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (!Runtime::get().valid_device(ordinal)) {
      return cudaErrorInvalidDevice;
    }
    *device = ordinal;
    return cudaSuccess;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return after_init([&] { return cudaGetDeviceCount(count); });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return property(device, name, [&](const cudaDeviceProp& p) {
    if (length > 0) {
      std::strncpy(name, p.name, static_cast<std::size_t>(length));
      name[length - 1] = '\0';
    }
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return uuid_of(uuid, device);
}
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return uuid_of(uuid, device);
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  return property(device, bytes, [&](const cudaDeviceProp& p) { *bytes = p.totalGlobalMem; });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return after_init([&] { // the numbers are the runtime's
    return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device);
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return property(device, major == nullptr ? nullptr : minor, [&](const cudaDeviceProp& p) {
    *major = p.major;
    *minor = p.minor;
  });
}

CUresult cuDeviceGetProperties(CUdevprop* result, CUdevice device) {
  return property(device, result, [&](const cudaDeviceProp& p) {
    *result = {};
    result->maxThreadsPerBlock = p.maxThreadsPerBlock;
    std::copy_n(p.maxThreadsDim, 3, result->maxThreadsDim);
    std::copy_n(p.maxGridSize, 3, result->maxGridSize);
    result->sharedMemPerBlock = static_cast<int>(p.sharedMemPerBlock);
    result->totalConstantMemory = static_cast<int>(p.totalConstMem);
    result->SIMDWidth = p.warpSize;
    result->memPitch = static_cast<int>(p.memPitch);
    result->regsPerBlock = p.regsPerBlock;
    result->clockRate =
        device_attribute(Runtime::get().model(), cudaDevAttrClockRate, device).value_or(0);
    result->textureAlign = static_cast<int>(p.textureAlignment);
  });
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return after_init([&] { return cudaDeviceGetPCIBusId(text, length, device); });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  return after_init([&] { return cudaDeviceGetByPCIBusId(device, text); });
}

CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType, CUdevice device) {
  return property(device, supported, [&](const cudaDeviceProp&) { *supported = 0; });
}

CUresult cuDeviceCanAccessPeer(int* result, CUdevice device, CUdevice peer) {
  return after_init([&] { return cudaDeviceCanAccessPeer(result, device, peer); });
}

CUresult
cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice from, CUdevice to) {
  return after_init([&] {
    return cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(attribute), from, to);
  });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return after_init([&] { return cudaDeviceGetDefaultMemPool(pool, device); });
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return after_init([&] { return cudaDeviceGetMemPool(pool, device); });
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return after_init([&] { return cudaDeviceSetMemPool(device, pool); });
}

CUresult
cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  return after_init([&] {
    return cudaDeviceGetGraphMemAttribute(
        device,
        static_cast<cudaGraphMemAttributeType>(attribute),
        value
    );
  });
}
CUresult
cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  return after_init([&] {
    return cudaDeviceSetGraphMemAttribute(
        device,
        static_cast<cudaGraphMemAttributeType>(attribute),
        value
    );
  });
}
CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return after_init([&] { return cudaDeviceGraphMemTrim(device); });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* result, CUdevice device) {
  return about_primary(device, [&](Runtime& rt, Context& context) {
    if (result == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (const cudaError_t sick = rt.health(device); sick != cudaSuccess) {
      return sick;
    }
    ++context.retained;
    *result = handle_of(&context);
    return cudaSuccess;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return release_primary(device);
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return release_primary(device);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return reset_primary(device);
}
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return reset_primary(device);
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return set_primary_flags(device, flags);
}
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return set_primary_flags(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return about_primary(device, [&](Runtime&, Context& context) {
    if (flags == nullptr || active == nullptr) {
      return cudaErrorInvalidValue;
    }
    const ThreadState& thread = thread_state();
    const bool used = thread.uses_primary && thread.contexts.empty();
    *flags = context.flags;
    *active = context.retained > 0 || used ? 1 : 0;
    return cudaSuccess;
  });
}

} // extern "C"
#pragma GCC visibility pop
