// __syncthreads is reached by half of the threads; the others wait at a flag that is set after it.
//@ exercises: [BAR-6] / [HANG-DEADLOCK] with a barrier that can never complete
//@ exit: 1
//@ expect: error\[(deadlock|livelock|barrier-divergence)\]
#include <cuda_runtime.h>

__global__ void run(volatile int* flag) {
  if (threadIdx.x < 32) {
    __syncthreads();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __syncthreads();
  }
}

int main() {
  int* flag;
  cudaMalloc(&flag, 4);
  cudaMemset(flag, 0, 4);
  run<<<1, 64>>>(flag);
  cudaDeviceSynchronize();
}
