// The driver API: copies and sets.
//
// Bytes and rows are what the driver counts in; arrays too are addressed in bytes.
#include "runtime/arrays/array.h"
#include "runtime/driver/driver.h"
#include "runtime/driver/region.h"
#include "runtime/memory/api_call.h"

using namespace heddle::runtime;

namespace heddle::runtime {
namespace {

cudaArray_t array_of(CUarray array) {
  return reinterpret_cast<cudaArray_t>(array);
}

bool is_host(CUmemorytype type) {
  return type == CU_MEMORYTYPE_HOST;
}

/// One end of a copy of two or three dimensions.
struct End {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t x, y, z; // bytes, rows, slices
  std::size_t pitch, height;
};

/// Fills in the end's array, or its pointer, with the position worked into it.
cudaError_t describe(
    Runtime& rt,
    const End& end,
    cudaArray_t& array,
    cudaPos& position,
    cudaPitchedPtr& memory,
    std::size_t& texel_bytes
) {
  if (end.type == CU_MEMORYTYPE_ARRAY) {
    const auto found = rt.arrays().find(array_of(end.array));
    if (!found) {
      return cudaErrorInvalidResourceHandle;
    }
    texel_bytes = found->texel_bytes();
    if (end.x % texel_bytes != 0) {
      return cudaErrorInvalidValue;
    }
    array = found->handle();
    position = {end.x / texel_bytes, end.y, end.z};
    return cudaSuccess;
  }
  const bool on_device = end.type == CU_MEMORYTYPE_DEVICE || end.type == CU_MEMORYTYPE_UNIFIED;
  if (!on_device && !is_host(end.type)) {
    return cudaErrorInvalidValue;
  }
  const char* base = on_device ? static_cast<const char*>(pointer(end.device))
                               : static_cast<const char*>(end.host);
  if (base == nullptr) {
    return cudaErrorInvalidValue;
  }
  const char* at = base + (end.z * end.height + end.y) * end.pitch + end.x;
  memory = {const_cast<char*>(at), end.pitch, end.pitch, end.height};
  return cudaSuccess;
}

} // namespace

cudaMemcpyKind kind_of(CUmemorytype to, CUmemorytype from) {
  if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED) {
    return cudaMemcpyDefault;
  }
  if (is_host(to)) {
    return is_host(from) ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
  }
  return is_host(from) ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

tl::expected<cudaMemcpy3DParms, cudaError_t> region_of(Runtime& rt, const CUDA_MEMCPY3D* p) {
  if (p == nullptr || p->srcLOD != 0 || p->dstLOD != 0) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  cudaMemcpy3DParms result{};
  std::size_t from_texel = 0;
  std::size_t to_texel = 0;
  const End from{
      p->srcMemoryType,
      p->srcHost,
      p->srcDevice,
      p->srcArray,
      p->srcXInBytes,
      p->srcY,
      p->srcZ,
      p->srcPitch,
      p->srcHeight
  };
  const End to{
      p->dstMemoryType,
      p->dstHost,
      p->dstDevice,
      p->dstArray,
      p->dstXInBytes,
      p->dstY,
      p->dstZ,
      p->dstPitch,
      p->dstHeight
  };
  cudaError_t error = describe(rt, from, result.srcArray, result.srcPos, result.srcPtr, from_texel);
  if (error == cudaSuccess) {
    error = describe(rt, to, result.dstArray, result.dstPos, result.dstPtr, to_texel);
  }
  const std::size_t texel = std::max({from_texel, to_texel, std::size_t{1}});
  if (error == cudaSuccess && p->WidthInBytes % texel != 0) {
    error = cudaErrorInvalidValue;
  }
  if (error != cudaSuccess) {
    return tl::unexpected(error);
  }
  result.extent = {p->WidthInBytes / texel, p->Height, p->Depth};
  result.kind = kind_of(p->dstMemoryType, p->srcMemoryType);
  return result;
}

} // namespace heddle::runtime

namespace {

/// Two dimensions are three with one slice.
CUDA_MEMCPY3D in_three(const CUDA_MEMCPY2D& p) {
  CUDA_MEMCPY3D result{};
  result.srcXInBytes = p.srcXInBytes;
  result.srcY = p.srcY;
  result.srcMemoryType = p.srcMemoryType;
  result.srcHost = p.srcHost;
  result.srcDevice = p.srcDevice;
  result.srcArray = p.srcArray;
  result.srcPitch = p.srcPitch;
  result.srcHeight = p.Height;
  result.dstXInBytes = p.dstXInBytes;
  result.dstY = p.dstY;
  result.dstMemoryType = p.dstMemoryType;
  result.dstHost = p.dstHost;
  result.dstDevice = p.dstDevice;
  result.dstArray = p.dstArray;
  result.dstPitch = p.dstPitch;
  result.dstHeight = p.Height;
  result.WidthInBytes = p.WidthInBytes;
  result.Height = p.Height;
  result.Depth = 1;
  return result;
}

/// All contexts share one address space.
CUDA_MEMCPY3D without_contexts(const CUDA_MEMCPY3D_PEER& p) {
  CUDA_MEMCPY3D result{};
  result.srcXInBytes = p.srcXInBytes;
  result.srcY = p.srcY;
  result.srcZ = p.srcZ;
  result.srcLOD = p.srcLOD;
  result.srcMemoryType = p.srcMemoryType;
  result.srcHost = p.srcHost;
  result.srcDevice = p.srcDevice;
  result.srcArray = p.srcArray;
  result.srcPitch = p.srcPitch;
  result.srcHeight = p.srcHeight;
  result.dstXInBytes = p.dstXInBytes;
  result.dstY = p.dstY;
  result.dstZ = p.dstZ;
  result.dstLOD = p.dstLOD;
  result.dstMemoryType = p.dstMemoryType;
  result.dstHost = p.dstHost;
  result.dstDevice = p.dstDevice;
  result.dstArray = p.dstArray;
  result.dstPitch = p.dstPitch;
  result.dstHeight = p.dstHeight;
  result.WidthInBytes = p.WidthInBytes;
  result.Height = p.Height;
  result.Depth = p.Depth;
  return result;
}

cudaError_t copy_3d(const Call& call, const CUDA_MEMCPY3D* p) {
  const cudaMemcpyKind kind =
      p == nullptr ? cudaMemcpyDefault : kind_of(p->dstMemoryType, p->srcMemoryType);
  return call_copy(call, kind, [&](Runtime& rt, ThreadState&) -> tl::expected<Copy, cudaError_t> {
    const auto region = region_of(rt, p);
    return region ? copy_of(rt, *region) : tl::unexpected(region.error());
  });
}

cudaError_t copy_2d(const Call& call, const CUDA_MEMCPY2D* p) {
  if (p == nullptr) {
    return cudaErrorInvalidValue;
  }
  const CUDA_MEMCPY3D same = in_three(*p);
  return copy_3d(call, &same);
}

cudaError_t copy_3d_peer(const Call& call, const CUDA_MEMCPY3D_PEER* p) {
  if (p == nullptr) {
    return cudaErrorInvalidValue;
  }
  const CUDA_MEMCPY3D same = without_contexts(*p);
  return copy_3d(call, &same);
}

cudaError_t
copy(const Call& call, cudaMemcpyKind kind, void* to, const void* from, std::size_t bytes) {
  return call_copy(call, kind, [&](Runtime&, ThreadState&) {
    return linear_copy(to, from, bytes);
  });
}

/// A place in an array of one dimension, or an address.
struct Place {
  CUarray array = nullptr;
  std::size_t offset = 0;
  const void* address = nullptr;
};

tl::expected<heddle::memory::Address, cudaError_t>
locate(Runtime& rt, const Place& place, std::size_t bytes) {
  if (place.array == nullptr) {
    return reinterpret_cast<heddle::memory::Address>(place.address);
  }
  const auto array = rt.arrays().find(reinterpret_cast<cudaArray_t>(place.array));
  if (!array) {
    return tl::unexpected(cudaErrorInvalidResourceHandle);
  }
  if (place.offset > array->pitch() || bytes > array->pitch() - place.offset) {
    return tl::unexpected(cudaErrorInvalidValue);
  }
  return array->data + place.offset;
}

cudaError_t copy_array(
    const Call& call,
    cudaMemcpyKind kind,
    const Place& to,
    const Place& from,
    std::size_t bytes
) {
  return call_copy(call, kind, [&](Runtime& rt, ThreadState&) -> tl::expected<Copy, cudaError_t> {
    const auto to_at = locate(rt, to, bytes);
    const auto from_at = locate(rt, from, bytes);
    if (!to_at || !from_at) {
      return tl::unexpected(!to_at ? to_at.error() : from_at.error());
    }
    Copy result;
    result.to = *to_at;
    result.from = *from_at;
    result.width = bytes;
    return result;
  });
}

cudaError_t
set(const Call& call,
    CUdeviceptr to,
    std::size_t pitch,
    unsigned value,
    unsigned element_bytes,
    std::size_t width,
    std::size_t height) {
  return call_set(call, [&]() -> tl::expected<Set, cudaError_t> {
    if (to % element_bytes != 0 ||
        (height > 1 && (pitch % element_bytes != 0 || pitch < width * element_bytes))) {
      return tl::unexpected(cudaErrorInvalidValue);
    }
    Set result;
    result.to = to;
    result.value = value;
    result.element_bytes = element_bytes;
    result.width = width * element_bytes;
    result.height = height;
    result.pitch = pitch;
    return result;
  });
}

/// cuMemcpyPeer & co. name contexts, the runtime devices.
template <class Body> cudaError_t between(CUcontext to, CUcontext from, Body&& body) {
  const Context* to_context = Runtime::get().contexts().find(to);
  const Context* from_context = Runtime::get().contexts().find(from);
  if (to_context == nullptr || from_context == nullptr) {
    return runtime_error(CUDA_ERROR_INVALID_CONTEXT);
  }
  return body(to_context->device, from_context->device);
}

} // namespace

// The forms of one operation: at once or on a stream, with the legacy or the thread's default
// stream. `suffix` and `async` are what the names of the two end in; the names are pasted here
// because cuda.h has macros called like them.
#define HEDDLE_DRIVER_AT_ONCE(name, suffix, body, arguments, ...)                                  \
  CUresult name##suffix(__VA_ARGS__) {                                                             \
    return in_context([&] { return body(at_once(#name), HEDDLE_UNWRAP arguments); });              \
  }                                                                                                \
  CUresult name##suffix##_ptds(__VA_ARGS__) {                                                      \
    return in_context([&] { return body(at_once_per_thread(#name), HEDDLE_UNWRAP arguments); });   \
  }
#define HEDDLE_DRIVER_LATER(name, async, body, arguments, ...)                                     \
  CUresult name##Async##async(__VA_ARGS__, CUstream stream) {                                      \
    return in_context([&] {                                                                        \
      return body(later(#name "Async", stream), HEDDLE_UNWRAP arguments);                          \
    });                                                                                            \
  }                                                                                                \
  CUresult name##Async##async##_ptsz(__VA_ARGS__, CUstream stream) {                               \
    return in_context([&] {                                                                        \
      return body(later(#name "Async", per_thread(stream)), HEDDLE_UNWRAP arguments);              \
    });                                                                                            \
  }

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
HEDDLE_DRIVER_AT_ONCE(cuMemcpy, , copy, (cudaMemcpyDefault, pointer(to), pointer(from), bytes),
    CUdeviceptr to, CUdeviceptr from, std::size_t bytes)
HEDDLE_DRIVER_LATER(cuMemcpy, , copy, (cudaMemcpyDefault, pointer(to), pointer(from), bytes),
    CUdeviceptr to, CUdeviceptr from, std::size_t bytes)
HEDDLE_DRIVER_AT_ONCE(cuMemcpyHtoD, _v2, copy, (cudaMemcpyHostToDevice, pointer(to), from, bytes),
    CUdeviceptr to, const void* from, std::size_t bytes)
HEDDLE_DRIVER_LATER(cuMemcpyHtoD, _v2, copy, (cudaMemcpyHostToDevice, pointer(to), from, bytes),
    CUdeviceptr to, const void* from, std::size_t bytes)
HEDDLE_DRIVER_AT_ONCE(cuMemcpyDtoH, _v2, copy, (cudaMemcpyDeviceToHost, to, pointer(from), bytes),
    void* to, CUdeviceptr from, std::size_t bytes)
HEDDLE_DRIVER_LATER(cuMemcpyDtoH, _v2, copy, (cudaMemcpyDeviceToHost, to, pointer(from), bytes),
    void* to, CUdeviceptr from, std::size_t bytes)
HEDDLE_DRIVER_AT_ONCE(cuMemcpyDtoD, _v2, copy, (cudaMemcpyDeviceToDevice, pointer(to), pointer(from), bytes),
    CUdeviceptr to, CUdeviceptr from, std::size_t bytes)
HEDDLE_DRIVER_LATER(cuMemcpyDtoD, _v2, copy, (cudaMemcpyDeviceToDevice, pointer(to), pointer(from), bytes),
    CUdeviceptr to, CUdeviceptr from, std::size_t bytes)

HEDDLE_DRIVER_AT_ONCE(cuMemcpyHtoA, _v2, copy_array,
    (cudaMemcpyHostToDevice, Place{to, offset, nullptr}, Place{nullptr, 0, from}, bytes),
    CUarray to, std::size_t offset, const void* from, std::size_t bytes)
HEDDLE_DRIVER_LATER(cuMemcpyHtoA, _v2, copy_array,
    (cudaMemcpyHostToDevice, Place{to, offset, nullptr}, Place{nullptr, 0, from}, bytes),
    CUarray to, std::size_t offset, const void* from, std::size_t bytes)
HEDDLE_DRIVER_AT_ONCE(cuMemcpyAtoH, _v2, copy_array,
    (cudaMemcpyDeviceToHost, Place{nullptr, 0, to}, Place{from, offset, nullptr}, bytes),
    void* to, CUarray from, std::size_t offset, std::size_t bytes)
HEDDLE_DRIVER_LATER(cuMemcpyAtoH, _v2, copy_array,
    (cudaMemcpyDeviceToHost, Place{nullptr, 0, to}, Place{from, offset, nullptr}, bytes),
    void* to, CUarray from, std::size_t offset, std::size_t bytes)
HEDDLE_DRIVER_AT_ONCE(cuMemcpyDtoA, _v2, copy_array,
    (cudaMemcpyDeviceToDevice, Place{to, offset, nullptr}, Place{nullptr, 0, pointer(from)}, bytes),
    CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes)
HEDDLE_DRIVER_AT_ONCE(cuMemcpyAtoD, _v2, copy_array,
    (cudaMemcpyDeviceToDevice, Place{nullptr, 0, pointer(to)}, Place{from, offset, nullptr}, bytes),
    CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes)
HEDDLE_DRIVER_AT_ONCE(cuMemcpyAtoA, _v2, copy_array,
    (cudaMemcpyDeviceToDevice, Place{to, to_offset, nullptr}, Place{from, offset, nullptr}, bytes),
    CUarray to, std::size_t to_offset, CUarray from, std::size_t offset, std::size_t bytes)

HEDDLE_DRIVER_AT_ONCE(cuMemcpy2D, _v2, copy_2d, (p), const CUDA_MEMCPY2D* p)
HEDDLE_DRIVER_AT_ONCE(cuMemcpy2DUnaligned, _v2, copy_2d, (p), const CUDA_MEMCPY2D* p)
HEDDLE_DRIVER_LATER(cuMemcpy2D, _v2, copy_2d, (p), const CUDA_MEMCPY2D* p)
HEDDLE_DRIVER_AT_ONCE(cuMemcpy3D, _v2, copy_3d, (p), const CUDA_MEMCPY3D* p)
HEDDLE_DRIVER_LATER(cuMemcpy3D, _v2, copy_3d, (p), const CUDA_MEMCPY3D* p)
HEDDLE_DRIVER_AT_ONCE(cuMemcpy3DPeer, , copy_3d_peer, (p), const CUDA_MEMCPY3D_PEER* p)
HEDDLE_DRIVER_LATER(cuMemcpy3DPeer, , copy_3d_peer, (p), const CUDA_MEMCPY3D_PEER* p)

HEDDLE_DRIVER_AT_ONCE(cuMemsetD8, _v2, set, (to, 0, value, 1, n, 1),
    CUdeviceptr to, unsigned char value, std::size_t n)
HEDDLE_DRIVER_LATER(cuMemsetD8, , set, (to, 0, value, 1, n, 1),
    CUdeviceptr to, unsigned char value, std::size_t n)
HEDDLE_DRIVER_AT_ONCE(cuMemsetD16, _v2, set, (to, 0, value, 2, n, 1),
    CUdeviceptr to, unsigned short value, std::size_t n)
HEDDLE_DRIVER_LATER(cuMemsetD16, , set, (to, 0, value, 2, n, 1),
    CUdeviceptr to, unsigned short value, std::size_t n)
HEDDLE_DRIVER_AT_ONCE(cuMemsetD32, _v2, set, (to, 0, value, 4, n, 1),
    CUdeviceptr to, unsigned value, std::size_t n)
HEDDLE_DRIVER_LATER(cuMemsetD32, , set, (to, 0, value, 4, n, 1),
    CUdeviceptr to, unsigned value, std::size_t n)
HEDDLE_DRIVER_AT_ONCE(cuMemsetD2D8, _v2, set, (to, pitch, value, 1, width, height),
    CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width, std::size_t height)
HEDDLE_DRIVER_LATER(cuMemsetD2D8, , set, (to, pitch, value, 1, width, height),
    CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width, std::size_t height)
HEDDLE_DRIVER_AT_ONCE(cuMemsetD2D16, _v2, set, (to, pitch, value, 2, width, height),
    CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width, std::size_t height)
HEDDLE_DRIVER_LATER(cuMemsetD2D16, , set, (to, pitch, value, 2, width, height),
    CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width, std::size_t height)
HEDDLE_DRIVER_AT_ONCE(cuMemsetD2D32, _v2, set, (to, pitch, value, 4, width, height),
    CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height)
HEDDLE_DRIVER_LATER(cuMemsetD2D32, , set, (to, pitch, value, 4, width, height),
    CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height)

HEDDLE_DRIVER(cuMemcpyPeer,
    between(to_context, from_context, [&](int to_device, int from_device) {
      return cudaMemcpyPeer(pointer(to), to_device, pointer(from), from_device, bytes); }),
    CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, std::size_t bytes)
HEDDLE_DRIVER(cuMemcpyPeer_ptds,
    between(to_context, from_context, [&](int to_device, int from_device) {
      return cudaMemcpyPeer(pointer(to), to_device, pointer(from), from_device, bytes); }),
    CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, std::size_t bytes)
HEDDLE_DRIVER_STREAM(cuMemcpyPeerAsync,
    between(to_context, from_context, [&](int to_device, int from_device) {
      return cudaMemcpyPeerAsync(pointer(to), to_device, pointer(from), from_device, bytes, stream); }),
    CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, std::size_t bytes, CUstream stream)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
