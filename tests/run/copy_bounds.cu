// cudaMemcpy and cudaMemset beyond the end of an allocation.
//@ exercises: API arguments: the calls answer cudaErrorInvalidValue as on a GPU
#include <cuda_runtime.h>

#include <cstdio>

int main() {
  char* data;
  cudaMalloc(&data, 64);
  static char host[1 << 22];
  std::printf("%s\n", cudaGetErrorName(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice)));
  std::printf("%s\n", cudaGetErrorName(cudaMemset(data, 0, 1 << 22)));
}
