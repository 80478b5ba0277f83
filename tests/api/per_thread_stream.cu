// -default-stream per-thread: each host thread's work is a stream of its own; two threads whose kernels
// wait for each other both finish.
//@ exercises: the *_ptsz and *_ptds entry points, per-thread default streams, host threads
//@ flags: -default-stream per-thread -Xcompiler -pthread
#include <cstdio>
#include <cuda_runtime.h>
#include <thread>

__global__ void meet(volatile int* mine, volatile int* other) {
  *mine = 1;
  __threadfence();
  while (*other == 0) {
  }
}
__global__ void add(int* values, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    values[i] += 1;
  }
}

static void work(int index, int* flags, int* sum) {
  int* values;
  int host[100] = {};
  cudaMalloc(&values, sizeof host);
  cudaMemset(values, 0, sizeof host);
  meet<<<1, 1>>>(flags + index, flags + 1 - index);
  for (int i = 0; i < 5; ++i) {
    add<<<1, 32>>>(values, 100);
  }
  cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
  for (const int value : host) {
    *sum += value;
  }
  if (cudaStreamSynchronize(0) != cudaSuccess || cudaStreamQuery(cudaStreamPerThread) != cudaSuccess) {
    *sum = -1;
  }
  cudaFree(values);
}

int main() {
  int* flags;
  int sums[2] = {};
  cudaMalloc(&flags, 8);
  cudaMemset(flags, 0, 8);
  cudaStreamSynchronize(0);
  std::thread a(work, 0, flags, sums);
  std::thread b(work, 1, flags, sums + 1);
  a.join();
  b.join();
  std::printf("%d %d %s\n", sums[0], sums[1], cudaGetErrorName(cudaGetLastError()));
}
