// A shuffle whose mask leaves out half of the threads that execute it.
//@ exercises: [WARP-MASK]
//@ flags: -lineinfo
//@ exit: 1
//@ expect: error\[warp-mask\]: the mask 0x0000ffff of a warp.s collective does not name lane 16
//@ expect: warp_mask.cu:10
#include <cuda_runtime.h>

__global__ void sum(int* values) {
  values[threadIdx.x] += __shfl_down_sync(0xffff, values[threadIdx.x], 1);
}

int main() {
  int* values;
  cudaMalloc(&values, 128);
  sum<<<1, 32>>>(values);
  cudaDeviceSynchronize();
}
