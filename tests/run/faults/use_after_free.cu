// Uses device memory after cudaFree.
//@ exercises: [MEM-LIFETIME]: the report names the freed allocation
//@ exit: 1
//@ expect: error\[use-after-free\]: write of 4 bytes
//@ expect: freed
#include <cuda_runtime.h>

__global__ void set(int* data) { data[threadIdx.x] = 1; }

int main() {
  int* data;
  cudaMalloc(&data, 4096);
  set<<<1, 32>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
  set<<<1, 32>>>(data);
  cudaDeviceSynchronize();
}
