// Destructors that free device memory after cudaDeviceReset: told, but not a defect; a second free is one.
//@ exercises: [MEM-FREE] cudaDeviceReset
//@ exit: 1
//@ expect: warning\[invalid-free\]: cudaFreeHost of 0x[0-9a-f]+, which cudaDeviceReset has freed
//@ expect: warning\[invalid-free\]: cudaFree of 0x[0-9a-f]+, which cudaDeviceReset has freed
//@ expect: error\[double-free\]: cudaFree of 0x[0-9a-f]+, which has been freed before
#include <cstdio>
#include <cuda_runtime.h>

struct Buffer {
  int* p = nullptr;
  Buffer() { cudaMalloc(&p, 4096); }
  ~Buffer() { std::printf("%s\n", cudaGetErrorName(cudaFree(p))); }
};

int main() {
  Buffer buffer;
  int* pinned;
  int* freed;
  cudaMallocHost(&pinned, 4096);
  cudaMalloc(&freed, 4096);
  cudaFree(freed);
  cudaDeviceReset();
  std::printf("%s\n", cudaGetErrorName(cudaFreeHost(pinned)));
  std::printf("%s\n", cudaGetErrorName(cudaFree(freed)));
}
