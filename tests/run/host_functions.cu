// Host functions and callbacks in streams: order with kernels and copies, data handed over, a host thread woken by one.
//@ exercises: cudaLaunchHostFunc, cudaStreamAddCallback, host functions seeing device results, std::thread waiting for a host function
#include "support.h"

#include <atomic>
#include <string>
#include <thread>

std::string trace;

__global__ void increment(int* value) { ++*value; }

struct Context {
  int* pinned;
  char mark;
};

void CUDART_CB note(void* data) {
  auto context = static_cast<Context*>(data);
  trace += context->mark;
  trace += std::to_string(*context->pinned);
  *context->pinned += 10;
}

void CUDART_CB callback(cudaStream_t, cudaError_t status, void* data) {
  trace += static_cast<char*>(data);
  trace += cudaGetErrorName(status);
}

int main() {
  int* pinned;
  CUDA_OK(cudaMallocHost(&pinned, sizeof(int)));
  *pinned = 0;
  Buffer<int> value(1);
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  CUDA_OK(cudaDeviceSynchronize());
  Context contexts[] = {{pinned, 'a'}, {pinned, 'b'}, {pinned, 'c'}};
  char label[] = "callback ";
  for (Context& context : contexts) {
    CUDA_OK(cudaMemcpyAsync(value, pinned, sizeof(int), cudaMemcpyHostToDevice, stream));
    increment<<<1, 1, 0, stream>>>(value);
    CUDA_OK(cudaMemcpyAsync(pinned, value, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA_OK(cudaLaunchHostFunc(stream, note, &context));
  }
  CUDA_OK(cudaStreamAddCallback(stream, callback, label, 0));
  CUDA_OK(cudaStreamSynchronize(stream));
  std::printf("%s, value %d\n", trace.c_str(), *pinned);

  // A host thread spins until a host function, ordered after a kernel, releases it.
  static std::atomic<bool> released{false};
  static int seen = 0;
  std::thread waiter([&] {
    while (!released.load(std::memory_order_acquire)) {
      std::this_thread::yield();
    }
    seen = *pinned;
  });
  increment<<<1, 1, 0, stream>>>(value);
  CUDA_OK(cudaMemcpyAsync(pinned, value, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaLaunchHostFunc(stream, [](void*) { released.store(true, std::memory_order_release); }, nullptr));
  waiter.join();
  std::printf("waiter saw %d\n", seen);
  CUDA_OK(cudaStreamSynchronize(stream));

  // Several host threads, each with its own stream.
  std::atomic<int> total{0};
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&total, i] {
      CUDA_OK(cudaSetDevice(0));
      cudaStream_t own;
      CUDA_OK(cudaStreamCreate(&own));
      int* data;
      int host = i * 100;
      CUDA_OK(cudaMalloc(&data, sizeof(int)));
      CUDA_OK(cudaMemcpyAsync(data, &host, sizeof(int), cudaMemcpyHostToDevice, own));
      for (int k = 0; k < 5; ++k) {
        increment<<<1, 1, 0, own>>>(data);
      }
      CUDA_OK(cudaMemcpyAsync(&host, data, sizeof(int), cudaMemcpyDeviceToHost, own));
      CUDA_OK(cudaStreamSynchronize(own));
      total += host;
      CUDA_OK(cudaFree(data));
      CUDA_OK(cudaStreamDestroy(own));
    });
  }
  for (auto& worker : workers) {
    worker.join();
  }
  std::printf("workers %d\n", total.load());
  CUDA_OK(cudaFreeHost(pinned));
}
