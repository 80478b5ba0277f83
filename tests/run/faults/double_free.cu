// Frees device memory twice with cudaFree.
//@ exercises: [MEM-FREE] on the host side; the call itself answers cudaErrorInvalidValue
//@ exit: 1
//@ expect: error\[double-free\]
#include <cuda_runtime.h>

#include <cstdio>

int main() {
  int* data;
  cudaMalloc(&data, 64);
  cudaFree(data);
  std::printf("%s\n", cudaGetErrorName(cudaFree(data)));
}
