// Uses more dynamic shared memory than the launch asked for.
//@ exercises: [MEM-BOUNDS] in dynamic shared memory
//@ exit: 1
//@ expect: error\[out-of-bounds\]: write of 4 bytes .* shared memory
//@ expect: the address is right after the end of 'shared memory of the block \(0 static, 400 dynamic\)', 400 bytes
#include <cuda_runtime.h>

__global__ void fill(int n) {
  extern __shared__ int data[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    data[i] = i;
  }
}

int main() {
  fill<<<1, 32, 100 * sizeof(int)>>>(200);
  cudaDeviceSynchronize();
}
