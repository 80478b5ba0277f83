// A thread dereferences the address of another thread's local variable.
//@ exercises: [MEM-SPACE] / [MEM-BOUNDS]: local memory belongs to one thread. The address names the reader's own local memory there, so nothing is reported; the value is its own.
//@ hardware: reading another thread's local address gives the reader's own memory, whose contents nobody promises
//@ flags: -G
#include <cuda_runtime.h>

#include <cstdio>

__global__ void run(int* out) {
  __shared__ int* pointer;
  volatile int mine = threadIdx.x + 100;
  if (threadIdx.x == 0) {
    pointer = const_cast<int*>(&mine);
  }
  __syncthreads();
  out[threadIdx.x] = *pointer == static_cast<int>(threadIdx.x) + 100;
}

int main() {
  int *out, host[2];
  cudaMalloc(&out, sizeof host);
  run<<<1, 2>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
}
