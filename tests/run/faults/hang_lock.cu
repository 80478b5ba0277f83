// A lock is taken twice by the same thread.
//@ exercises: [HANG-LIVELOCK] on a spin lock
//@ exit: 1
//@ expect: error\[(livelock|deadlock|starvation)\]
#include <cuda_runtime.h>

__device__ int lock;

__device__ void acquire() {
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
}

__global__ void twice(int* data) {
  acquire();
  *data += 1;
  acquire();
  *data += 1;
  atomicExch(&lock, 0);
}

int main() {
  int* data;
  cudaMalloc(&data, 4);
  cudaMemset(data, 0, 4);
  twice<<<1, 1>>>(data);
  cudaDeviceSynchronize();
}
