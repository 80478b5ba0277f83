// Launches that the device refuses, by a program that does not look at their codes: each kernel's
// first refusal is told, with the limit that it exceeds.
//@ exercises: [API-ARGS] launches; nobody asks for the error code, so they are errors when the program ends
//@ exit: 1
//@ expect: warning\[api-misuse\]: a launch of wide\(int\*\) does not take place: a block has 1056 threads, the device allows 1024
//@ expect: the launch returns cudaErrorInvalidValue
//@ expect: a launch of tall\(int\*\) does not take place: the grid is \(1,65536,1\), the device allows \(2147483647,65535,65535\)
//@ expect: a launch of empty\(int\*\) does not take place: the block \(0,1,1\) is empty
//@ expect: a launch of bounded\(int\*\) does not take place: a block has 256 threads, its __launch_bounds__ allow 128
//@ expect: a launch of greedy\(int\*\) does not take place: it asks for 65536 bytes of dynamic shared memory beside 4 static ones, 49148 are allowed; cudaFuncSetAttribute
#include <cuda_runtime.h>

#include <cstdio>

__global__ void wide(int* p) { p[threadIdx.x] = 1; }
__global__ void tall(int* p) { p[threadIdx.x] = 1; }
__global__ void empty(int* p) { p[threadIdx.x] = 1; }
__global__ void __launch_bounds__(128) bounded(int* p) { p[threadIdx.x] = 1; }
__global__ void greedy(int* p) {
  __shared__ int sum;
  extern __shared__ int many[];
  many[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, many[blockDim.x - 1 - threadIdx.x]);
  __syncthreads();
  p[threadIdx.x] = sum;
}

int main() {
  int* p;
  cudaMalloc(&p, 1 << 20);
  for (int i = 0; i < 3; ++i) wide<<<1, dim3(32, 33)>>>(p);
  tall<<<dim3(1, 65536), 1>>>(p);
  empty<<<1, 0>>>(p);
  bounded<<<1, 256>>>(p);
  greedy<<<1, 256, 65536>>>(p);
  cudaDeviceSynchronize();
  int first = -1;
  cudaMemset(p, 0, 4);
  cudaMemcpy(&first, p, 4, cudaMemcpyDeviceToHost);
  std::printf("the memory holds %d\n", first);
  cudaFree(p);
}
