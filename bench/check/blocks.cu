// Several blocks of several threads, for the speed of the search: the moves of a thread must not cost
// what its whole cluster costs.
//
//   program dine|alike|shared BLOCKS THREADS
//
// dine: philosophers, each at a place of its own; alike: threads that nothing tells apart take two
// locks, one after the other; shared: each block has a table, in its shared memory. Locals are
// volatile, so that they stay in local memory.
#include <cuda/atomic>

#include <cstdlib>
#include <cstring>

using Lock = cuda::atomic<int, cuda::thread_scope_device>;
using BlockLock = cuda::atomic<int, cuda::thread_scope_block>;

constexpr int places = 16;
__device__ Lock forks[places];

template <class L> __device__ void acquire(L& lock, volatile int& waited) {
  while (lock.exchange(1, cuda::memory_order_acquire) != 0) {
    waited = 1;
  }
}
template <class L> __device__ void release(L& lock) { lock.store(0, cuda::memory_order_release); }

/// In order of their numbers, so that there is no circle.
template <class L> __device__ void eat(L* table, int me, int all) {
  volatile int waited[2] = {0, 0};
  const int right = (me + 1) % all;
  const int first = me < right ? me : right, second = me < right ? right : me;
  acquire(table[first], waited[0]);
  acquire(table[second], waited[1]);
  release(table[first]);
  release(table[second]);
  if (waited[0] + waited[1] > 2) {
    __trap();
  }
}

__global__ void dine() { eat(forks, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x); }

__global__ void alike() {
  volatile int waited = 0;
  for (int k = 0; k < 2; ++k) {
    acquire(forks[k], waited);
    release(forks[k]);
  }
  if (waited > 1) {
    __trap();
  }
}

__global__ void shared() {
  __shared__ BlockLock table[places];
  table[threadIdx.x] = 0;
  __syncthreads();
  eat(table, threadIdx.x, blockDim.x);
}

int main(int argc, char** argv) {
  if (argc != 4) {
    return 2;
  }
  void (*const kernel)() = std::strcmp(argv[1], "dine") == 0    ? dine
                           : std::strcmp(argv[1], "alike") == 0 ? alike
                                                                : shared;
  kernel<<<std::atoi(argv[2]), std::atoi(argv[3])>>>();
  return cudaDeviceSynchronize();
}
