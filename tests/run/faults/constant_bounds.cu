// Reads beyond a constant array.
//@ exercises: [MEM-BOUNDS] in constant memory
//@ exit: 1
//@ expect: error\[out-of-bounds\]: read of 4 bytes .* constant memory
#include <cuda_runtime.h>

__constant__ int table[8];

__global__ void look(const int* index, int* out) { out[threadIdx.x] = table[index[threadIdx.x]]; }

int main() {
  int host[4] = {0, 7, 3, 500000}, *index, *out;
  cudaMalloc(&index, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(index, host, sizeof host, cudaMemcpyHostToDevice);
  look<<<1, 4>>>(index, out);
  cudaDeviceSynchronize();
}
