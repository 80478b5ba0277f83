// Frees memory of the device heap twice.
//@ exercises: [MEM-FREE] on the device heap
//@ exit: 1
//@ expect: error\[double-free\]
#include <cuda_runtime.h>

__device__ void* memory;

__global__ void take() { memory = malloc(64); }
__global__ void give() { free(memory); }

int main() {
  take<<<1, 1>>>();
  give<<<1, 1>>>();
  give<<<1, 1>>>();
  cudaDeviceSynchronize();
}
