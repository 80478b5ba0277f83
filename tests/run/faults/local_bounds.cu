// Writes outside a local array, by far.
//@ exercises: [MEM-BOUNDS] in local memory
//@ exit: 1
//@ expect: error\[(out-of-bounds|stack-overflow)\]: write of 4 bytes
#include <cuda_runtime.h>

__global__ void scatter(const int* index, int* out) {
  int data[16];
  for (int i = 0; i < 16; ++i) {
    data[i] = i;
  }
  data[index[threadIdx.x]] = 7;
  int sum = 0;
  for (int i = 0; i < 16; ++i) {
    sum += data[(i + index[0]) & 15];
  }
  out[threadIdx.x] = sum;
}

int main() {
  int host[4] = {0, 1, 2, 100000000}, *index, *out;
  cudaMalloc(&index, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(index, host, sizeof host, cudaMemcpyHostToDevice);
  scatter<<<1, 4>>>(index, out);
  cudaDeviceSynchronize();
}
