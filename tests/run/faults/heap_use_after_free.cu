// Uses memory of the device heap after deleting it.
//@ exercises: [MEM-LIFETIME] on the device heap
//@ exit: 1
//@ expect: error\[use-after-free\]: (read|write) of 4 bytes
#include <cuda_runtime.h>

__global__ void run(volatile int* out) {
  volatile int* data = new int[100];
  data[5] = 3;
  delete[] data;
  *out = data[5];
}

int main() {
  int* out;
  cudaMalloc(&out, 4);
  run<<<1, 1>>>(out);
  cudaDeviceSynchronize();
}
