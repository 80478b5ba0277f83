// The driver API: allocation, host memory, managed memory, pools, and what can be asked of
// pointers.
#include "runtime/driver/driver.h"
#include "runtime/memory/memory_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace heddle::runtime;
using heddle::memory::AddressSpace;
using heddle::memory::AllocationKind;

static_assert(sizeof(CUmemLocation) == sizeof(cudaMemLocation), "locations are the runtime's");
static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps), "properties of pools too");
static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc), "and who may access them");

namespace {

cudaMemLocation location(const CUmemLocation& l) {
  cudaMemLocation result{};
  result.type = static_cast<cudaMemLocationType>(l.type);
  result.id = l.id;
  return result;
}

cudaMemLocation location(CUdevice device) {
  cudaMemLocation result{};
  result.type = device == CU_DEVICE_CPU ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  result.id = std::max(device, 0);
  return result;
}

/// Allocations of no bytes are refused, other than by the runtime.
template <class Body> cudaError_t allocate(std::size_t bytes, Body&& body) {
  return bytes == 0 ? cudaErrorInvalidValue : body();
}

cudaError_t address_range(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr p) {
  const auto allocation = Runtime::get().space().find(p);
  if (!allocation) {
    return runtime_error(CUDA_ERROR_NOT_FOUND);
  }
  if (base != nullptr) {
    *base = allocation->base;
  }
  if (bytes != nullptr) {
    *bytes = allocation->size;
  }
  return cudaSuccess;
}

/// Writes a value where `data` points.
template <class T> cudaError_t give(void* data, const T& value) {
  std::memcpy(data, &value, sizeof value);
  return cudaSuccess;
}

cudaError_t pointer_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr p) {
  if (data == nullptr) {
    return cudaErrorInvalidValue;
  }
  Runtime& rt = Runtime::get();
  const auto allocation = rt.space().find(p);
  if (!allocation) {
    return cudaErrorInvalidValue;
  }
  const bool on_device = AddressSpace::in_device_range(p);
  const bool managed = allocation->kind == AllocationKind::Managed;
  const auto owned = rt.memory().find(allocation->base);
  const int device = std::max(allocation->device, 0); // of a reserved range: any
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    return give(data, handle_of(&rt.contexts().primary(device)));
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return give(data, on_device || managed ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return give(data, p);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    return on_device ? cudaErrorInvalidValue : give(data, pointer(p));
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    return give(data, 0);
  case CU_POINTER_ATTRIBUTE_BUFFER_ID:
  case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    return give(data, static_cast<unsigned long long>(allocation->id));
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return give(data, managed ? 1U : 0U);
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return give(data, device);
  case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    return give(data, allocation->kind == AllocationKind::Device ? 1 : 0);
  case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
  case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    return give(data, 0);
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
  case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    return give(data, static_cast<CUdeviceptr>(allocation->base));
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
  case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    return give(data, static_cast<std::size_t>(allocation->size));
  case CU_POINTER_ATTRIBUTE_MAPPED:
    return give(data, 1);
  case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    return give(data, static_cast<unsigned long long>(CU_MEM_HANDLE_TYPE_NONE));
  case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    return give(data, static_cast<int>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    return give(data, owned ? owned->pool : cudaMemPool_t{nullptr});
  default:
    return cudaErrorInvalidValue;
  }
}

/// Of a pointer that CUDA does not know, every attribute is null, and that is no error.
cudaError_t pointer_attributes(
    unsigned count,
    const CUpointer_attribute* attributes,
    void** data,
    CUdeviceptr p
) {
  if (attributes == nullptr || data == nullptr) {
    return cudaErrorInvalidValue;
  }
  for (unsigned i = 0; i < count; ++i) {
    if (pointer_attribute(data[i], attributes[i], p) == cudaSuccess) {
      continue;
    }
    switch (attributes[i]) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      give(data[i], std::uint64_t{0});
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      give(data[i], -2); // CU_DEVICE_INVALID
      break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      give(data[i], 0);
      break;
    default:
      return cudaErrorInvalidValue;
    }
  }
  return cudaSuccess;
}

cudaError_t set_pointer_attribute(const void* value, CUpointer_attribute attribute, CUdeviceptr p) {
  // Every operation that the attribute is about is done in order here.
  return value != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS &&
                 Runtime::get().space().find(p)
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// clang-format off
HEDDLE_DRIVER(cuMemGetInfo_v2, cudaMemGetInfo(free, total), std::size_t* free, std::size_t* total)
HEDDLE_DRIVER(cuMemAlloc_v2, allocate(bytes, [&] { return cudaMalloc(pointer(p), bytes); }),
    CUdeviceptr* p, std::size_t bytes)
HEDDLE_DRIVER(cuMemAllocPitch_v2,
    allocate(width * height, [&] { return cudaMallocPitch(pointer(p), pitch, width, height); }),
    CUdeviceptr* p, std::size_t* pitch, std::size_t width, std::size_t height, unsigned /*element_bytes*/)
// The address tells whose memory it is: no context is needed.
CUresult cuMemFree_v2(CUdeviceptr p) {
  return heddle::runtime::after_init([&] { return cudaFree(pointer(p)); });
}
HEDDLE_DRIVER(cuMemGetAddressRange_v2, address_range(base, bytes, p),
    CUdeviceptr* base, std::size_t* bytes, CUdeviceptr p)
HEDDLE_DRIVER(cuMemAllocHost_v2, allocate(bytes, [&] { return cudaMallocHost(p, bytes); }),
    void** p, std::size_t bytes)
HEDDLE_DRIVER(cuMemFreeHost, cudaFreeHost(p), void* p)
HEDDLE_DRIVER(cuMemHostAlloc, allocate(bytes, [&] { return cudaHostAlloc(p, bytes, flags); }),
    void** p, std::size_t bytes, unsigned flags)
HEDDLE_DRIVER(cuMemHostGetDevicePointer_v2, cudaHostGetDevicePointer(pointer(result), p, flags),
    CUdeviceptr* result, void* p, unsigned flags)
HEDDLE_DRIVER(cuMemHostGetFlags, cudaHostGetFlags(flags, p), unsigned* flags, void* p)
HEDDLE_DRIVER(cuMemHostRegister_v2, cudaHostRegister(p, bytes, flags), void* p, std::size_t bytes, unsigned flags)
HEDDLE_DRIVER(cuMemHostUnregister, cudaHostUnregister(p), void* p)
HEDDLE_DRIVER(cuMemAllocManaged, allocate(bytes, [&] { return cudaMallocManaged(pointer(p), bytes, flags); }),
    CUdeviceptr* p, std::size_t bytes, unsigned flags)
HEDDLE_DRIVER(cuMemAdvise_v2,
    cudaMemAdvise(pointer(p), bytes, static_cast<cudaMemoryAdvise>(advice), location(where)),
    CUdeviceptr p, std::size_t bytes, CUmem_advise advice, CUmemLocation where)
HEDDLE_DRIVER_STREAM(cuMemPrefetchAsync_v2, cudaMemPrefetchAsync(pointer(p), bytes, location(where), flags, stream),
    CUdeviceptr p, std::size_t bytes, CUmemLocation where, unsigned flags, CUstream stream)
HEDDLE_DRIVER(cuMemRangeGetAttribute,
    cudaMemRangeGetAttribute(data, size, static_cast<cudaMemRangeAttribute>(attribute), pointer(p), bytes),
    void* data, std::size_t size, CUmem_range_attribute attribute, CUdeviceptr p, std::size_t bytes)
HEDDLE_DRIVER(cuMemRangeGetAttributes,
    cudaMemRangeGetAttributes(data, sizes, reinterpret_cast<cudaMemRangeAttribute*>(attributes), count, pointer(p),
        bytes),
    void** data, std::size_t* sizes, CUmem_range_attribute* attributes, std::size_t count, CUdeviceptr p,
    std::size_t bytes)
HEDDLE_DRIVER(cuIpcGetMemHandle, cudaIpcGetMemHandle(reinterpret_cast<cudaIpcMemHandle_t*>(handle), pointer(p)),
    CUipcMemHandle* handle, CUdeviceptr p)
HEDDLE_DRIVER(cuIpcOpenMemHandle_v2, cudaIpcOpenMemHandle(pointer(p), std::bit_cast<cudaIpcMemHandle_t>(handle), flags),
    CUdeviceptr* p, CUipcMemHandle handle, unsigned flags)
HEDDLE_DRIVER(cuIpcCloseMemHandle, cudaIpcCloseMemHandle(pointer(p)), CUdeviceptr p)
HEDDLE_DRIVER(cuIpcGetEventHandle, cudaIpcGetEventHandle(reinterpret_cast<cudaIpcEventHandle_t*>(handle), event),
    CUipcEventHandle* handle, CUevent event)
HEDDLE_DRIVER(cuIpcOpenEventHandle, cudaIpcOpenEventHandle(event, std::bit_cast<cudaIpcEventHandle_t>(handle)),
    CUevent* event, CUipcEventHandle handle)
HEDDLE_DRIVER(cuFlushGPUDirectRDMAWrites,
    cudaDeviceFlushGPUDirectRDMAWrites(
        static_cast<cudaFlushGPUDirectRDMAWritesTarget>(target), static_cast<cudaFlushGPUDirectRDMAWritesScope>(scope)),
    CUflushGPUDirectRDMAWritesTarget target, CUflushGPUDirectRDMAWritesScope scope)
HEDDLE_DRIVER(cuPointerGetAttribute, pointer_attribute(data, attribute, p),
    void* data, CUpointer_attribute attribute, CUdeviceptr p)
HEDDLE_DRIVER(cuPointerGetAttributes, pointer_attributes(count, attributes, data, p),
    unsigned count, CUpointer_attribute* attributes, void** data, CUdeviceptr p)
HEDDLE_DRIVER(cuPointerSetAttribute, set_pointer_attribute(value, attribute, p),
    const void* value, CUpointer_attribute attribute, CUdeviceptr p)

HEDDLE_DRIVER_STREAM(cuMemAllocAsync, cudaMallocAsync(pointer(p), bytes, stream),
    CUdeviceptr* p, std::size_t bytes, CUstream stream)
HEDDLE_DRIVER_STREAM(cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync(pointer(p), bytes, pool, stream),
    CUdeviceptr* p, std::size_t bytes, CUmemoryPool pool, CUstream stream)
HEDDLE_DRIVER_STREAM(cuMemFreeAsync, cudaFreeAsync(pointer(p), stream), CUdeviceptr p, CUstream stream)
HEDDLE_DRIVER_ANYWHERE(cuMemPoolCreate, cudaMemPoolCreate(pool, reinterpret_cast<const cudaMemPoolProps*>(properties)),
    CUmemoryPool* pool, const CUmemPoolProps* properties)
HEDDLE_DRIVER_ANYWHERE(cuMemPoolDestroy, cudaMemPoolDestroy(pool), CUmemoryPool pool)
HEDDLE_DRIVER_ANYWHERE(cuMemPoolTrimTo, cudaMemPoolTrimTo(pool, keep), CUmemoryPool pool, std::size_t keep)
HEDDLE_DRIVER_ANYWHERE(cuMemPoolSetAttribute, cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value),
    CUmemoryPool pool, CUmemPool_attribute attribute, void* value)
HEDDLE_DRIVER_ANYWHERE(cuMemPoolGetAttribute, cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value),
    CUmemoryPool pool, CUmemPool_attribute attribute, void* value)
HEDDLE_DRIVER_ANYWHERE(cuMemPoolSetAccess,
    cudaMemPoolSetAccess(pool, reinterpret_cast<const cudaMemAccessDesc*>(list), count),
    CUmemoryPool pool, const CUmemAccessDesc* list, std::size_t count)
HEDDLE_DRIVER_ANYWHERE(cuMemPoolGetAccess,
    cudaMemPoolGetAccess(reinterpret_cast<cudaMemAccessFlags*>(flags), pool, reinterpret_cast<cudaMemLocation*>(where)),
    CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* where)
HEDDLE_DRIVER_ANYWHERE(cuMemPoolExportToShareableHandle,
    cudaMemPoolExportToShareableHandle(result, pool, static_cast<cudaMemAllocationHandleType>(type),
                                       static_cast<unsigned>(flags)),
    void* result, CUmemoryPool pool, CUmemAllocationHandleType type, unsigned long long flags)
HEDDLE_DRIVER_ANYWHERE(cuMemPoolImportFromShareableHandle,
    cudaMemPoolImportFromShareableHandle(pool, handle, static_cast<cudaMemAllocationHandleType>(type),
                                         static_cast<unsigned>(flags)),
    CUmemoryPool* pool, void* handle, CUmemAllocationHandleType type, unsigned long long flags)
HEDDLE_DRIVER_ANYWHERE(cuMemPoolExportPointer,
    cudaMemPoolExportPointer(reinterpret_cast<cudaMemPoolPtrExportData*>(data), reinterpret_cast<void*>(p)),
    CUmemPoolPtrExportData* data, CUdeviceptr p)
HEDDLE_DRIVER_ANYWHERE(cuMemPoolImportPointer,
    cudaMemPoolImportPointer(pointer(p), pool, reinterpret_cast<cudaMemPoolPtrExportData*>(data)),
    CUdeviceptr* p, CUmemoryPool pool, CUmemPoolPtrExportData* data)
// clang-format on

// The forms of CUDA 12, which name a device.
#undef cuMemPrefetchAsync
#undef cuMemAdvise
// clang-format off
HEDDLE_DRIVER_STREAM(cuMemPrefetchAsync, cudaMemPrefetchAsync(pointer(p), bytes, location(device), 0, stream),
    CUdeviceptr p, std::size_t bytes, CUdevice device, CUstream stream)
HEDDLE_DRIVER(cuMemAdvise,
    cudaMemAdvise(pointer(p), bytes, static_cast<cudaMemoryAdvise>(advice), location(device)),
    CUdeviceptr p, std::size_t bytes, CUmem_advise advice, CUdevice device)
// clang-format on

} // extern "C"
#pragma GCC visibility pop
