// A program that calls the driver API without cuInit, after the runtime API has made that call:
// asking how many devices there are is enough, and it counts for all threads. A context it is not,
// but memory that names its device needs none.
//@ exercises: cudaGetDeviceCount before cuDeviceGet and cuCtxGetDevice, in the same thread and another one; cuMemCreate, cuMemMap and cuMemPoolCreate without a context
//@ flags: -lcuda -lpthread
#include <cstdio>
#include <thread>

#include <cuda.h>
#include <cuda_runtime.h>

static const char* name_of(CUresult result) {
  const char* name = "?";
  cuGetErrorName(result, &name);
  return name;
}

static void ask(const char* when) {
  CUdevice device = -1;
  const CUresult found = cuDeviceGet(&device, 0);
  CUdevice current = -1;
  std::printf("%s: %s, %s\n", when, name_of(found), name_of(cuCtxGetDevice(&current)));
}

static void allocate() {
  CUmemAllocationProp of{};
  of.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  of.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  std::size_t bytes = 0;
  CUmemGenericAllocationHandle handle;
  CUdeviceptr p = 0;
  const CUresult results[] = {
      cuMemGetAllocationGranularity(&bytes, &of, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
      cuMemCreate(&handle, bytes, &of, 0),
      cuMemAddressReserve(&p, bytes, 0, 0, 0),
      cuMemMap(p, bytes, 0, handle, 0),
      cuMemUnmap(p, bytes),
      cuMemAddressFree(p, bytes),
      cuMemRelease(handle),
  };
  for (const CUresult result : results) {
    std::printf("%s\n", name_of(result));
  }
  CUmemPoolProps of_pool{};
  of_pool.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  of_pool.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemoryPool pool;
  std::printf("pool: %s, ", name_of(cuMemPoolCreate(&pool, &of_pool)));
  std::printf("%s\n", name_of(cuMemPoolDestroy(pool)));
}

int main() {
  int version = 0;
  cuDriverGetVersion(&version);
  cudaRuntimeGetVersion(&version);
  ask("versions");
  int devices = 0;
  cudaGetDeviceCount(&devices);
  allocate();
  ask("devices");
  cudaFree(nullptr);
  ask("memory");
  std::thread([] { ask("another thread"); }).join();
}
