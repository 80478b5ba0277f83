// A kernel gets a pointer to ordinary host memory that was never registered.
//@ exercises: [MEM-HOST]: host memory is not for the device
//@ exit: 1
//@ expect: error\[host-memory\]: (read|write) of 4 bytes
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void increment(int* value) { ++*value; }

int main() {
  int* value = static_cast<int*>(std::malloc(sizeof(int)));
  *value = 1;
  increment<<<1, 1>>>(value);
  cudaDeviceSynchronize();
}
