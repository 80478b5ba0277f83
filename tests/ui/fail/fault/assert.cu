//@ command: run
#include <cassert>

__device__ __noinline__ void check(int x) {
  assert(x < 3 && "small"); //~ ERROR assert assertion `x < 3 && "small"` failed
}

__global__ void kernel() {
  check(static_cast<int>(threadIdx.x));
}

int main() {
  kernel<<<1, 8>>>();
  return cudaDeviceSynchronize() == cudaErrorAssert ? 0 : 5;
}
