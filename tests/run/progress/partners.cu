// Two kernels of independent streams, and a kernel and a host thread, that need each other while both run. CUDA does not promise that this ends; `heddle run` runs the partners at the same time, as hardware with room does.
//@ exercises: concurrent kernels of two streams waiting for each other, host thread answering without API calls
#include "../patience.h"
#include "../support.h"

#include <cuda/atomic>

#include <thread>

using Atomic = cuda::atomic<int, cuda::thread_scope_system>;

__global__ void play(Atomic* ball, int parity, int rounds) {
  Patience patience;
  for (int i = 0; i < rounds; ++i) {
    while (ball->load(cuda::memory_order_acquire) % 2 != parity) {
      patience.wait();
    }
    ball->fetch_add(1, cuda::memory_order_acq_rel);
  }
}

int main() {
  Atomic* ball;
  CUDA_OK(cudaHostAlloc(&ball, sizeof *ball, cudaHostAllocMapped));
  new (ball) Atomic(0);
  cudaStream_t a, b;
  CUDA_OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  // The one that waits first is launched first.
  play<<<1, 1, 0, a>>>(ball, 1, 25);
  play<<<1, 1, 0, b>>>(ball, 0, 25);
  SYNC_OK();
  std::printf("two streams %d\n", ball->load());

  ball->store(0);
  play<<<1, 1, 0, a>>>(ball, 1, 25);
  CUDA_OK(cudaGetLastError());
  std::thread partner([&] {
    Patience patience;
    for (int i = 0; i < 25; ++i) {
      while (ball->load(cuda::memory_order_acquire) % 2 != 0) {
        patience.wait();
      }
      ball->fetch_add(1, cuda::memory_order_acq_rel);
    }
  });
  SYNC_OK();
  partner.join();
  std::printf("host thread %d\n", ball->load());
}
