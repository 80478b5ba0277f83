// The memory that allocation nodes of graphs hold, as a device is asked for it.
//
// Heddle keeps it from the creation of the node to the end of the last graph that contains it, so
// "used" and "reserved" are the same, and trimming has nothing to give back. All devices answer for
// all graphs.
#include "runtime/streams/graph.h"

using namespace heddle::runtime;

#pragma GCC visibility push(default)
extern "C" {

cudaError_t
cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return api("cudaDeviceGetGraphMemAttribute", [&](Runtime& rt, ThreadState&) {
    if (!rt.valid_device(device)) {
      return cudaErrorInvalidDevice;
    }
    if (value == nullptr || attribute < cudaGraphMemAttrUsedMemCurrent ||
        attribute > cudaGraphMemAttrReservedMemHigh) {
      return cudaErrorInvalidValue;
    }
    const GraphMemoryUse& use = rt.graphs().memory_use();
    const bool now = attribute == cudaGraphMemAttrUsedMemCurrent ||
                     attribute == cudaGraphMemAttrReservedMemCurrent;
    *static_cast<std::uint64_t*>(value) = now ? use.now : use.most;
    return cudaSuccess;
  });
}

/// As documented, only the high watermarks can be set, and only to zero.
cudaError_t
cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return api("cudaDeviceSetGraphMemAttribute", [&](Runtime& rt, ThreadState&) {
    if (!rt.valid_device(device)) {
      return cudaErrorInvalidDevice;
    }
    if (value == nullptr || *static_cast<const std::uint64_t*>(value) != 0 ||
        (attribute != cudaGraphMemAttrUsedMemHigh &&
         attribute != cudaGraphMemAttrReservedMemHigh)) {
      return cudaErrorInvalidValue;
    }
    GraphMemoryUse& use = rt.graphs().memory_use();
    use.most = use.now.load();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return api("cudaDeviceGraphMemTrim", [&](Runtime& rt, ThreadState&) {
    return rt.valid_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

} // extern "C"
#pragma GCC visibility pop
