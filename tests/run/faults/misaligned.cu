// Loads a 16-byte vector from an address that is only a multiple of 4.
//@ exercises: [MEM-ALIGN]
//@ exit: 1
//@ expect: misaligned\.cu:\d+:\d+: error\[misaligned\]: read of 16 bytes
#include <cuda_runtime.h>

__global__ void load(const float* data, float4* out) { *out = *reinterpret_cast<const float4*>(data + 1); }

int main() {
  float* data;
  cudaMalloc(&data, 256);
  load<<<1, 1>>>(data, reinterpret_cast<float4*>(data + 8));
  cudaDeviceSynchronize();
}
