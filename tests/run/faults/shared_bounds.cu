// Reads one element before and writes past a shared array.
//@ exercises: [MEM-BOUNDS] in static shared memory
//@ exit: 1
//@ expect: error\[out-of-bounds\]: (read|write) of 4 bytes .* shared memory
#include <cuda_runtime.h>

__global__ void rotate(int* out) {
  __shared__ int data[64];
  data[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = data[threadIdx.x + 1024];
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  rotate<<<1, 64>>>(out);
  cudaDeviceSynchronize();
}
