// Writes one element past the end of a device allocation.
//@ exercises: [MEM-BOUNDS] in global memory: the report names access, kernel, thread, allocation and line
//@ exit: 1
//@ expect: global_bounds\.cu:14:\d+: error\[out-of-bounds\]: write of 4 bytes
//@ expect: 0 bytes past the end|right after the end
//@ expect: thread \(100,0,0\)
#include <cuda_runtime.h>

#include <cstdio>

__global__ void fill(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) {
    data[i] = i;
  }
}

int main() {
  int* data;
  cudaMalloc(&data, 100 * sizeof(int));
  fill<<<1, 128>>>(data, 100);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
