// Kernels of two streams hand work to each other in an order that stream dependencies promise, many times.
//@ exercises: [DEP]: a spin that can only be reached when its condition already holds, or whose writer was finished first; events across streams; host functions as links
//@ seeds: 1 2
#include "../patience.h"
#include "../support.h"

#include <cuda/atomic>

using Ref = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void produce(int* flag, int* data, int value) {
  data[threadIdx.x] = value + threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    Ref(*flag).store(value, cuda::memory_order_release);
  }
}

__global__ void consume(int* flag, const int* data, int value, int* sum) {
  Patience patience;
  while (Ref(*flag).load(cuda::memory_order_acquire) != value) {
    patience.wait();
  }
  atomicAdd(sum, data[threadIdx.x]);
}

void CUDART_CB set_by_host(void* data) { *static_cast<volatile int*>(data) = 1; }

__global__ void wait_for_host(volatile int* flag, int* out) {
  Patience patience;
  while (*flag == 0) {
    patience.wait();
  }
  *out = 7;
}

int main() {
  Buffer<int> flag(1), data(32), sum(1);
  cudaStream_t a, b;
  CUDA_OK(cudaStreamCreate(&a));
  CUDA_OK(cudaStreamCreate(&b));
  cudaEvent_t produced, consumed;
  CUDA_OK(cudaEventCreateWithFlags(&produced, cudaEventDisableTiming));
  CUDA_OK(cudaEventCreateWithFlags(&consumed, cudaEventDisableTiming));
  CUDA_OK(cudaDeviceSynchronize());
  // The same stream: the producer has completed before the consumer may start.
  for (int i = 1; i <= 5; ++i) {
    produce<<<1, 32, 0, a>>>(flag, data, i);
    consume<<<1, 32, 0, a>>>(flag, data, i, sum);
  }
  CUDA_OK(cudaStreamSynchronize(a));
  std::printf("one stream %d\n", sum.get()[0]);
  // Two streams tied by events.
  for (int i = 6; i <= 10; ++i) {
    produce<<<1, 32, 0, a>>>(flag, data, i);
    CUDA_OK(cudaEventRecord(produced, a));
    CUDA_OK(cudaStreamWaitEvent(b, produced, 0));
    consume<<<1, 32, 0, b>>>(flag, data, i, sum);
    CUDA_OK(cudaEventRecord(consumed, b));
    CUDA_OK(cudaStreamWaitEvent(a, consumed, 0));
  }
  CUDA_OK(cudaDeviceSynchronize());
  std::printf("two streams %d\n", sum.get()[0]);

  int* host_flag;
  CUDA_OK(cudaHostAlloc(&host_flag, sizeof(int), cudaHostAllocMapped));
  *host_flag = 0;
  Buffer<int> out(1);
  CUDA_OK(cudaLaunchHostFunc(a, set_by_host, host_flag));
  wait_for_host<<<1, 1, 0, a>>>(host_flag, out);
  CUDA_OK(cudaStreamSynchronize(a));
  std::printf("host function %d\n", out.get()[0]);
}
