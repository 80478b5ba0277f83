// Device management: choice of device, synchronisation, reset, attributes, properties, limits,
// flags.
//
// Limits are kept and answered; cudaLimitMallocHeapSize has an effect (device malloc), the stack
// limit not: a thread's stack grows as far as Heddle's own limit. Cache and bank settings have no
// meaning on a virtual device and are only remembered.
#include "runtime/arrays/array.h"
#include "runtime/driver/context.h"
#include "runtime/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace heddle::runtime;

namespace {

constexpr unsigned known_device_flags =
    cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;
constexpr std::size_t limit_count = 8;

bool known_schedule(unsigned flags) {
  const unsigned schedule = flags & cudaDeviceScheduleMask;
  return (schedule & (schedule - 1)) == 0;
}

} // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return api_plain([&](Runtime& rt, ThreadState&) {
    if (count == nullptr) {
      return cudaErrorInvalidValue;
    }
    *count = rt.devices();
    return rt.devices() == 0 ? cudaErrorNoDevice : cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return api_plain([&](Runtime& rt, ThreadState& thread) {
    if (rt.devices() == 0) {
      return cudaErrorNoDevice;
    }
    if (device == nullptr) {
      return cudaErrorInvalidValue;
    }
    *device = thread.device;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return api_plain([&](Runtime& rt, ThreadState& thread) {
    if (rt.devices() == 0) {
      return cudaErrorNoDevice;
    }
    if (!rt.valid_device(device)) {
      return cudaErrorInvalidDevice;
    }
    if (!thread.contexts.empty()) {
      thread.contexts.back() = &rt.contexts().primary(device);
    }
    thread.device = device;
    thread.uses_primary = true;
    return cudaSuccess;
  });
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
  return api_plain([&](Runtime& rt, ThreadState&) {
    if (!rt.valid_device(device)) {
      return cudaErrorInvalidDevice;
    }
    if ((flags & ~static_cast<unsigned>(cudaInitDeviceFlagsAreValid)) != 0 ||
        (device_flags & ~known_device_flags) != 0) {
      return cudaErrorInvalidValue;
    }
    if ((flags & cudaInitDeviceFlagsAreValid) != 0) {
      rt.device(device).flags = device_flags | cudaDeviceMapHost;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return api_plain([&](Runtime& rt, ThreadState&) {
    if (devices == nullptr || count < 0) {
      return cudaErrorInvalidValue;
    }
    for (int i = 0; i < count; ++i) {
      if (!rt.valid_device(devices[i])) {
        return cudaErrorInvalidDevice;
      }
    }
    return cudaSuccess; // it only states a preference
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return api_plain([&](Runtime&, ThreadState&) {
    if (device == nullptr || wanted == nullptr) {
      return cudaErrorInvalidValue;
    }
    *device = 0; // all virtual devices are alike
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return api("cudaDeviceSynchronize", [&](Runtime& rt, ThreadState& thread) {
    return rt.wait_for_device(thread.device, "cudaDeviceSynchronize");
  });
}

cudaError_t cudaDeviceReset() {
  return api_plain([&](Runtime& rt, ThreadState& thread) {
    if (rt.devices() == 0) {
      return cudaErrorNoDevice;
    }
    const cudaError_t sick = rt.health(thread.device);
    if (sick != cudaSuccess) {
      // Measured: the call succeeds and the device stays unavailable for the rest of the process.
      rt.device(thread.device).unavailable = true;
      return cudaSuccess;
    }
    rt.world().driver().api_call("cudaDeviceReset");
    const cudaError_t result = rt.wait_for_device(thread.device, "cudaDeviceReset");
    rt.device(thread.device).fixed_limits = 0;
    rt.streams().reset(thread.device);
    rt.modules().reset(thread.device);
    rt.arrays().release_device(thread.device);
    rt.memory().release_device(thread.device);
    return result;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return api_plain([&](Runtime& rt, ThreadState&) {
    if (value == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (!rt.valid_device(device)) {
      return cudaErrorInvalidDevice;
    }
    const auto answer = device_attribute(rt.model(), static_cast<int>(attribute), device);
    if (!answer) {
      return cudaErrorInvalidValue;
    }
    *value = *answer;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return api_plain([&](Runtime& rt, ThreadState&) {
    if (properties == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (!rt.valid_device(device)) {
      return cudaErrorInvalidDevice;
    }
    fill_properties(*properties, rt.model(), device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return api("cudaDeviceGetLimit", [&](Runtime& rt, ThreadState& thread) {
    if (value == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (limit == cudaLimitDevRuntimeSyncDepth) {
      return cudaErrorUnsupportedLimit;
    }
    if (static_cast<std::size_t>(limit) >= limit_count) {
      return cudaErrorInvalidValue;
    }
    *value = rt.device(thread.device).limits[limit];
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return api("cudaDeviceSetLimit", [&](Runtime& rt, ThreadState& thread) {
    if (limit == cudaLimitDevRuntimeSyncDepth) {
      return cudaErrorUnsupportedLimit;
    }
    constexpr std::size_t max_stack = 512 * 1024; // local memory of a thread, every architecture
    if (static_cast<std::size_t>(limit) >= limit_count ||
        (limit == cudaLimitStackSize && value > max_stack)) {
      return cudaErrorInvalidValue;
    }
    if ((rt.device(thread.device).fixed_limits >> static_cast<unsigned>(limit) & 1U) != 0) {
      return cudaErrorInvalidValue;
    }
    rt.device(thread.device).limits[limit] = value;
    if (limit == cudaLimitMallocHeapSize) {
      rt.world().set_heap_limit(value);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return api("cudaDeviceGetCacheConfig", [&](Runtime& rt, ThreadState& thread) {
    if (config == nullptr) {
      return cudaErrorInvalidValue;
    }
    *config = static_cast<cudaFuncCache>(rt.device(thread.device).cache_config.load());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return api("cudaDeviceSetCacheConfig", [&](Runtime& rt, ThreadState& thread) {
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) {
      return cudaErrorInvalidValue;
    }
    rt.device(thread.device).cache_config = config;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return api("cudaDeviceGetSharedMemConfig", [&](Runtime&, ThreadState&) {
    if (config == nullptr) {
      return cudaErrorInvalidValue;
    }
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return api("cudaDeviceSetSharedMemConfig", [&](Runtime&, ThreadState&) {
    return config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte
               ? cudaErrorInvalidValue
               : cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api("cudaDeviceGetStreamPriorityRange", [&](Runtime&, ThreadState&) {
    if (least != nullptr) {
      *least = 0;
    }
    if (greatest != nullptr) {
      *greatest = -5;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return api("cudaGetDeviceFlags", [&](Runtime& rt, ThreadState& thread) {
    if (flags == nullptr) {
      return cudaErrorInvalidValue;
    }
    *flags = rt.device(thread.device).flags;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return api("cudaSetDeviceFlags", [&](Runtime& rt, ThreadState& thread) {
    if ((flags & ~known_device_flags) != 0 || !known_schedule(flags)) {
      return cudaErrorInvalidValue;
    }
    rt.device(thread.device).flags = flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return api_plain([&](Runtime& rt, ThreadState&) {
    if (text == nullptr || length <= 0) {
      return cudaErrorInvalidValue;
    }
    if (!rt.valid_device(device)) {
      return cudaErrorInvalidDevice;
    }
    const std::string id = fmt::format("0000:{:02X}:00.0", 1 + device);
    if (static_cast<std::size_t>(length) <= id.size()) {
      return cudaErrorInvalidValue;
    }
    std::memcpy(text, id.c_str(), id.size() + 1);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return api_plain([&](Runtime& rt, ThreadState&) {
    if (device == nullptr || text == nullptr) {
      return cudaErrorInvalidValue;
    }
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned slot = 0;
    // "[domain]:[bus]:[device].[function]", also without domain, all hexadecimal.
    if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
      domain = 0;
      if (std::sscanf(text, "%x:%x", &bus, &slot) != 2) {
        return cudaErrorInvalidValue;
      }
    }
    const int number = static_cast<int>(bus) - 1;
    if (domain != 0 || slot != 0 || !rt.valid_device(number)) {
      return cudaErrorInvalidDevice;
    }
    *device = number;
    return cudaSuccess;
  });
}

/// The second-level cache keeps nothing on a virtual device.
cudaError_t cudaCtxResetPersistingL2Cache() {
  return api("cudaCtxResetPersistingL2Cache", [](Runtime&, ThreadState&) { return cudaSuccess; });
}

/// Nobody but the host and the devices writes their memory.
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(
    cudaFlushGPUDirectRDMAWritesTarget target,
    cudaFlushGPUDirectRDMAWritesScope scope
) {
  return api("cudaDeviceFlushGPUDirectRDMAWrites", [&](Runtime&, ThreadState&) {
    const bool known = target == cudaFlushGPUDirectRDMAWritesTargetCurrentDevice &&
                       (scope == cudaFlushGPUDirectRDMAWritesToOwner ||
                        scope == cudaFlushGPUDirectRDMAWritesToAllDevices);
    return known ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(
    std::size_t* width,
    const cudaChannelFormatDesc* channels,
    int device
) {
  return api("cudaDeviceGetTexture1DLinearMaxWidth", [&](Runtime& rt, ThreadState&) {
    if (!rt.valid_device(device)) {
      return cudaErrorInvalidDevice;
    }
    if (width == nullptr || channels == nullptr || texel_bytes(*channels) == 0) {
      return cudaErrorInvalidValue;
    }
    *width = std::size_t{1} << 28;
    return cudaSuccess;
  });
}

} // extern "C"
