// A device assertion fails.
//@ exercises: [EXEC-ASSERT]: expression, file, line and thread
//@ exit: 1
//@ expect: error\[assert\]: .*value < 10
//@ expect: thread \(10,0,0\)
#include <cassert>
#include <cuda_runtime.h>

__global__ void check(int limit) {
  int value = threadIdx.x;
  assert(value < 10);
  (void)value;
}

int main() {
  check<<<1, 11>>>(10);
  cudaDeviceSynchronize();
}
