// A kernel that launches another one: dynamic parallelism is a gap that says so.
//@ exercises: [SCOPE]: device-side launches
//@ flags: -rdc=true -lcudadevrt
//@ exit: 3
//@ expect: unsupported
#include <cuda_runtime.h>

#include <cstdio>

__global__ void child(int* out) { out[threadIdx.x] = 1; }
__global__ void parent(int* out) { child<<<1, 32>>>(out); }

int main() {
  int* out;
  cudaMalloc(&out, 128);
  parent<<<1, 1>>>(out);
  cudaDeviceSynchronize();
}
