// Frees the middle of an allocation, and a stack address.
//@ exercises: [MEM-FREE] on the host side: an address that no call returned
//@ exit: 1
//@ expect: error\[invalid-free\]
#include <cuda_runtime.h>

#include <cstdio>

int main() {
  int *data, host;
  cudaMalloc(&data, 64);
  std::printf("%s\n", cudaGetErrorName(cudaFree(data + 4)));
  std::printf("%s\n", cudaGetErrorName(cudaFree(&host)));
}
