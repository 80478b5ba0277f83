// Recursion without an end.
//@ exercises: [MEM-STACK]
//@ exit: 1
//@ expect: error\[stack-overflow\]
#include <cuda_runtime.h>

__device__ __noinline__ int deeper(int n, volatile int* stop) {
  volatile int frame[32];
  frame[n % 32] = n;
  if (*stop) {
    return frame[n % 32];
  }
  return deeper(n + 1, stop) + frame[n % 32];
}

__global__ void run(int* stop, int* out) { *out = deeper(threadIdx.x, stop); }

int main() {
  int* data;
  cudaMalloc(&data, 8);
  cudaMemset(data, 0, 8);
  run<<<1, 2>>>(data, data + 1);
  cudaDeviceSynchronize();
}
