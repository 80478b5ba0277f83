// Host code writes to managed memory that it has freed.
//@ exercises: [MEM-LIFETIME]: host accesses to managed memory after cudaFree
//@ exit: 1
//@ expect: error\[use-after-free\]: host code writes at
//@ expect: byte 4 of allocation #1, 64 bytes at .*, which has been freed
#include <cuda_runtime.h>

__global__ void fill(int* p) { p[threadIdx.x] = 1; }

int main() {
  int* p;
  cudaMallocManaged(&p, 64);
  fill<<<1, 16>>>(p);
  cudaDeviceSynchronize();
  cudaFree(p);
  static_cast<volatile int*>(p)[1] = 2;
}
