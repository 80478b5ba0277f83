// Reads far away from every allocation, through an index of 64 bits that is wrong.
//@ exercises: [MEM-BOUNDS] far from any object; [EXEC-STICKY]: errors returned by later calls
//@ exit: 1
//@ expect: error\[out-of-bounds\]: read of 8 bytes
#include <cuda_runtime.h>

#include <cstdio>

__global__ void read(const double* data, long long index, double* out) { *out = data[index]; }

int main() {
  double* data;
  cudaMalloc(&data, 64);
  read<<<2, 1>>>(data, 1ll << 30, data);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  // The context is lost: everything after it fails in the same way.
  std::printf("%s\n", cudaGetErrorName(cudaMalloc(&data, 64)));
}
