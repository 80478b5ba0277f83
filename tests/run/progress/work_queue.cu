// Persistent kernels: blocks take work from a queue until it is empty; work creates more work; a producer kernel's blocks feed consumer blocks of the same cooperative grid.
//@ exercises: [DEV]/[COOP]: dynamic work distribution by atomics, termination detection, bounded multi-producer multi-consumer queue with sequence numbers
#include "../patience.h"
#include "../support.h"

#include <cuda/atomic>

template <class T> using Atomic = cuda::atomic<T, cuda::thread_scope_device>;

__global__ void persistent(const int* tasks, int count, int* next, long long* results) {
  __shared__ int task;
  while (true) {
    if (threadIdx.x == 0) {
      task = atomicAdd(next, 1);
    }
    __syncthreads();
    if (task >= count) {
      return;
    }
    long long sum = 0;
    for (int i = threadIdx.x; i < tasks[task]; i += blockDim.x) {
      sum += static_cast<long long>(i) * i;
    }
    for (int offset = 16; offset; offset /= 2) {
      sum += __shfl_down_sync(0xffffffffu, sum, offset);
    }
    if (threadIdx.x == 0) {
      results[task] = sum;
    }
    __syncthreads();
  }
}

// A tree is walked by many threads: each taken node adds its children, until nothing is pending.
struct Walk {
  Atomic<int> pending, bottom, top;
  Atomic<int> items[2048]; // 0: not yet written
  Atomic<int> visited;
};

__global__ void walk_tree(Walk* walk, int limit) {
  Patience patience;
  while (walk->pending.load(cuda::memory_order_acquire) > 0) {
    int take = walk->bottom.load(cuda::memory_order_relaxed);
    if (take < walk->top.load(cuda::memory_order_acquire) &&
        walk->bottom.compare_exchange_strong(take, take + 1, cuda::memory_order_acq_rel)) {
      int node;
      while ((node = walk->items[take].load(cuda::memory_order_acquire)) == 0) {
        patience.wait();
      }
      for (int child : {2 * node, 2 * node + 1}) {
        if (child <= limit) {
          walk->pending.fetch_add(1, cuda::memory_order_relaxed);
          int slot = walk->top.fetch_add(1, cuda::memory_order_relaxed);
          walk->items[slot].store(child, cuda::memory_order_release);
        }
      }
      walk->visited.fetch_add(node, cuda::memory_order_relaxed);
      walk->pending.fetch_sub(1, cuda::memory_order_release);
    }
    patience.wait();
  }
}

// A bounded queue in which each slot carries the turn it is ready for.
struct Queue {
  static constexpr unsigned size = 16;
  struct Slot {
    Atomic<unsigned> turn;
    int value;
  } slots[size];
  Atomic<unsigned> head, tail;

  __device__ void push(int value) {
    unsigned position = head.fetch_add(1, cuda::memory_order_relaxed);
    Slot& slot = slots[position % size];
    Patience patience;
    while (slot.turn.load(cuda::memory_order_acquire) != position / size * 2) {
      patience.wait();
    }
    slot.value = value;
    slot.turn.store(position / size * 2 + 1, cuda::memory_order_release);
  }
  __device__ int pop() {
    unsigned position = tail.fetch_add(1, cuda::memory_order_relaxed);
    Slot& slot = slots[position % size];
    Patience patience;
    while (slot.turn.load(cuda::memory_order_acquire) != position / size * 2 + 1) {
      patience.wait();
    }
    int value = slot.value;
    slot.turn.store(position / size * 2 + 2, cuda::memory_order_release);
    return value;
  }
};

__global__ void producers_and_consumers(Queue* queue, int per_thread, unsigned long long* sum) {
  // The first half of the blocks produces, the second consumes: all must run, so the grid is cooperative.
  int half = gridDim.x / 2;
  for (int i = 0; i < per_thread; ++i) {
    if (blockIdx.x < half) {
      queue->push(static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) * per_thread) + i);
    } else {
      atomicAdd(sum, static_cast<unsigned long long>(queue->pop()));
    }
  }
}

int main() {
  constexpr int count = 200;
  std::vector<int> tasks(count);
  for (int i = 0; i < count; ++i) {
    tasks[i] = i * 37 % 500;
  }
  Buffer<int> dtasks(tasks), next(1);
  Buffer<long long> results(count);
  persistent<<<6, 32>>>(dtasks, count, next, results);
  SYNC_OK();
  std::printf("persistent %lld %016llx\n", results.get()[10], static_cast<unsigned long long>(digest(results.get())));

  std::vector<Walk> start(1);
  start[0].pending = 1;
  start[0].top = 1;
  start[0].items[0] = 1;
  Walk* walk;
  CUDA_OK(cudaMalloc(&walk, sizeof(Walk)));
  CUDA_OK(cudaMemcpy(walk, start.data(), sizeof(Walk), cudaMemcpyHostToDevice));
  walk_tree<<<4, 32>>>(walk, 1000);
  SYNC_OK();
  CUDA_OK(cudaMemcpy(static_cast<void*>(start.data()), walk, sizeof(Walk), cudaMemcpyDeviceToHost));
  std::printf("tree %d visited, sum %d\n", start[0].top.load(), start[0].visited.load());
  CUDA_OK(cudaFree(walk));

  Queue* queue;
  CUDA_OK(cudaMalloc(&queue, sizeof(Queue)));
  CUDA_OK(cudaMemset(queue, 0, sizeof(Queue)));
  Buffer<unsigned long long> sum(1);
  unsigned long long* ps = sum;
  int per_thread = 10;
  void* arguments[] = {&queue, &per_thread, &ps};
  CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(producers_and_consumers), dim3(4), dim3(32), arguments, 0, nullptr));
  SYNC_OK();
  std::printf("queue %llu\n", sum.get()[0]);
  CUDA_OK(cudaFree(queue));
}
