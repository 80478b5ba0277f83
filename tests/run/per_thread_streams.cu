// The default stream of each host thread: kernels of two threads do not wait for each other, copies follow their own thread.
//@ exercises: --default-stream per-thread (_ptds and _ptsz entry points), cudaStreamLegacy, cudaStreamPerThread handles
//@ flags: --default-stream per-thread
#include "patience.h"
#include "support.h"

#include <thread>

__global__ void increment(volatile int* data, int n) { // others may wait for one of them
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    data[i] = data[i] + 1;
  }
}

__global__ void wait_for(volatile int* flag) {
  Patience patience;
  while (*flag == 0) {
    patience.wait();
  }
}

int main() {
  std::vector<std::thread> threads;
  std::vector<int> sums(3);
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([t, &sums] {
      std::vector<int> host(256, t * 10);
      int* data;
      CUDA_OK(cudaMalloc(&data, 256 * sizeof(int)));
      CUDA_OK(cudaMemcpy(data, host.data(), 256 * sizeof(int), cudaMemcpyHostToDevice));
      for (int i = 0; i < 5; ++i) {
        increment<<<1, 64>>>(data, 256);
      }
      CUDA_OK(cudaMemcpy(host.data(), data, 256 * sizeof(int), cudaMemcpyDeviceToHost));
      for (int value : host) {
        sums[t] += value;
      }
      CUDA_OK(cudaFree(data));
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  std::printf("sums %d %d %d\n", sums[0], sums[1], sums[2]);

  // A kernel waits in this thread's default stream; another thread's default stream goes on and releases it.
  int* flag;
  CUDA_OK(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
  *flag = 0;
  wait_for<<<1, 1>>>(flag);
  CUDA_OK(cudaGetLastError());
  std::thread([flag] {
    increment<<<1, 1>>>(flag, 1);
    CUDA_OK(cudaStreamSynchronize(cudaStreamPerThread));
  }).join();
  CUDA_OK(cudaStreamSynchronize(nullptr)); // the per-thread stream here
  std::printf("released %d\n", *flag);

  Buffer<int> data(32);
  increment<<<1, 32, 0, cudaStreamLegacy>>>(data, 32);
  CUDA_OK(cudaStreamSynchronize(cudaStreamLegacy));
  increment<<<1, 32, 0, cudaStreamPerThread>>>(data, 32);
  CUDA_OK(cudaStreamSynchronize(cudaStreamPerThread));
  std::printf("both %d\n", data.get()[31]);
  CUDA_OK(cudaFreeHost(flag));
}
