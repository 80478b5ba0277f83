// What the driver says of pointers that it does not know: no error, and every attribute null; and of pools' memory.
//@ exercises: cuPointerGetAttributes with memory of the host, of cudaMalloc and of a pool
//@ hardware: handles are only looked at for being null
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define GET(name) reinterpret_cast<decltype(&name)>(get(#name))
void* get(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &result);
  return function;
}

void tell(const char* name, const void* p) {
  unsigned type = 77;
  int managed = 77;
  int device = 77;
  int access = 77;
  CUmemoryPool pool = reinterpret_cast<CUmemoryPool>(77);
  CUcontext context = reinterpret_cast<CUcontext>(77);
  std::size_t size = 77;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS,
                                      CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, CU_POINTER_ATTRIBUTE_CONTEXT,
                                      CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* data[] = {&type, &managed, &device, &access, &pool, &context, &size};
  const int error = GET(cuPointerGetAttributes)(7, attributes, data, reinterpret_cast<CUdeviceptr>(p));
  std::printf("%-8s %d: type %u, managed %d, device %d, access %d, pool %d, context %d, size %zu\n", name, error, type,
              managed & 0xff, device, access, pool != nullptr, context != nullptr, size);
}

int main() {
  int local = 0;
  void* heap = std::malloc(64);
  void* device;
  void* managed;
  void* pooled;
  cudaMalloc(&device, 64);
  cudaMallocManaged(&managed, 64);
  cudaMallocAsync(&pooled, 64, nullptr);
  cudaStreamSynchronize(nullptr);
  tell("stack", &local);
  tell("heap", heap);
  tell("device", device);
  tell("managed", managed);
  tell("pooled", pooled);
}
