// What the calls about devices answer: numbers out of range, limits, flags, bus ids.
//@ exercises: cudaSetDevice, attributes, properties, cudaDeviceGetLimit/SetLimit, flags, error names
#include "codes.h"

int main() {
  int n = 0;
  std::size_t size = 0;
  unsigned flags = 0;
  cudaDeviceProp properties;
  CODE(cudaSetDevice(-1));
  CODE(cudaSetDevice(99));
  CODE(cudaGetDevice(nullptr));
  CODE(cudaGetDevice(&n));
  CODE(cudaGetDeviceCount(nullptr));
  CODE(cudaDeviceGetAttribute(&n, static_cast<cudaDeviceAttr>(9999), 0));
  CODE(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 99));
  CODE(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
  CODE(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0));
  std::printf("%d\n", n);
  CODE(cudaGetDeviceProperties(&properties, 99));
  CODE(cudaGetDeviceProperties(nullptr, 0));
  CODE(cudaGetDeviceProperties(&properties, 0));
  for (int limit = 0; limit < 7; ++limit) {
    const cudaError_t code = cudaDeviceGetLimit(&size, static_cast<cudaLimit>(limit));
    std::printf("limit %d: %d, %zu\n", limit, code, code == cudaSuccess ? size : 0);
  }
  cudaGetLastError();
  CODE(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 30));
  CODE(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  CODE(cudaDeviceGetLimit(&size, cudaLimitStackSize));
  std::printf("%zu\n", size);
  CODE(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 26));
  CODE(cudaDeviceSetLimit(static_cast<cudaLimit>(77), 0));
  CODE(cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
  CODE(cudaDeviceGetLimit(&size, static_cast<cudaLimit>(77)));
  int least = 1;
  int greatest = 1;
  CODE(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  std::printf("%d %d\n", least, greatest);
  CODE(cudaGetDeviceFlags(&flags));
  std::printf("%x\n", flags);
  CODE(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  CODE(cudaSetDeviceFlags(0xfff));
  CODE(cudaGetDeviceFlags(&flags));
  std::printf("%x\n", flags);
  cudaFuncCache cache;
  CODE(cudaDeviceGetCacheConfig(&cache));
  std::printf("%d\n", cache);
  CODE(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  CODE(cudaDeviceGetCacheConfig(&cache));
  std::printf("%d\n", cache);
  char bus[32];
  CODE(cudaDeviceGetPCIBusId(bus, 32, 0));
  CODE(cudaDeviceGetByPCIBusId(&n, "9999:00:00.0"));
  CODE(cudaDeviceGetByPCIBusId(&n, bus));
  std::printf("%d\n", n);
  CODE(cudaInitDevice(0, 0, 0));
  CODE(cudaInitDevice(7, 0, 0));
  CODE(cudaChooseDevice(&n, &properties));
  std::printf("%s | %s\n", cudaGetErrorName(static_cast<cudaError_t>(12345)),
              cudaGetErrorString(static_cast<cudaError_t>(-1)));
  for (int code = 0; code < 1000; ++code) {
    const char* name = cudaGetErrorName(static_cast<cudaError_t>(code));
    if (name[0] == 'c') {
      std::printf("%d %s: %s\n", code, name, cudaGetErrorString(static_cast<cudaError_t>(code)));
    }
  }
}
