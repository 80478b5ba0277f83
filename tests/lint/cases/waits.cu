// cuda-progress-grid-wait, cuda-progress-stream-wait: waits between blocks and between kernels.
#include <cooperative_groups.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;
typedef cuda::atomic<int, cuda::thread_scope_device> flag_t;

// A barrier of the grid made by hand.
__global__ void hand_barrier_bad(int* count, int* p) {
  p[blockIdx.x] = 1;
  __threadfence();
  if (threadIdx.x == 0) {
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < gridDim.x); // expect: cuda_progress_grid_wait, cuda_legacy_atomic
  }
  __syncthreads();
  p[gridDim.x + blockIdx.x] = p[(blockIdx.x + 1) % gridDim.x];
}
__global__ void hand_barrier(int* count, int* p) {
  p[blockIdx.x] = 1;
  __threadfence();
  if (threadIdx.x == 0) {
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < gridDim.x); // expect: cuda_legacy_atomic
  }
  __syncthreads();
  p[gridDim.x + blockIdx.x] = p[(blockIdx.x + 1) % gridDim.x];
}
__global__ void grid_sync(int* p) {
  p[blockIdx.x] = 1;
  cg::this_grid().sync();
  p[gridDim.x + blockIdx.x] = p[(blockIdx.x + 1) % gridDim.x];
}
// The same with the count that the host has passed.
__device__ volatile int arrived_blocks;
__device__ int arrival_count;
__global__ void goal_bad(int goal, int* p) {
  p[blockIdx.x] = 1;
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrival_count, 1);
    while (atomicAdd(&arrival_count, 0) != goal) __nanosleep(20); // expect: cuda_progress_grid_wait, cuda_legacy_atomic
  }
  __syncthreads();
}
__global__ void goal_reached(int goal, int* p) {
  p[blockIdx.x] = 1;
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&arrival_count, 1) == goal - 1) p[0] = 2;
  }
}
// Sense reversal.
__global__ void sense_bad(int* count, flag_t* sense, int* p) {
  p[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    int old = sense->load(cuda::memory_order_relaxed);
    __threadfence();
    if (atomicAdd(count, 1) == gridDim.x - 1) {
      *count = 0;
      sense->store(1 - old, cuda::memory_order_release);
    } else {
      while (sense->load(cuda::memory_order_acquire) == old) __nanosleep(20); // expect: cuda_progress_grid_wait
    }
  }
  __syncthreads();
}
// A chain in the order of block indices, and the same by tickets (decoupled look-back).
__global__ void chain_bad(flag_t* flags, int* sums) {
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x > 0) {
      while (flags[blockIdx.x - 1].load(cuda::memory_order_acquire) == 0) __nanosleep(20); // expect: cuda_progress_grid_wait
      before = sums[blockIdx.x - 1];
    }
    sums[blockIdx.x] = before + 1;
    flags[blockIdx.x].store(1, cuda::memory_order_release);
  }
}
__global__ void chain_by_ticket(flag_t* flags, int* sums, int* next) {
  __shared__ int ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(next, 1);
  __syncthreads();
  int mine = ticket;
  if (threadIdx.x == 0) {
    int before = 0;
    if (mine > 0) {
      while (flags[mine - 1].load(cuda::memory_order_acquire) == 0) __nanosleep(20);
      before = sums[mine - 1];
    }
    sums[mine] = before + 1;
    flags[mine].store(1, cuda::memory_order_release);
  }
}
// One block makes, the others wait.
__global__ void producer_block_bad(flag_t* ready, int* data, int* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      data[0] = 42;
      ready->store(1, cuda::memory_order_release);
    }
  } else {
    while (ready->load(cuda::memory_order_acquire) == 0) __nanosleep(20); // expect: cuda_progress_grid_wait
    out[blockIdx.x] = data[0];
  }
}
__global__ void producer_by_exchange_bad(int* ready, int* data, int* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    atomicExch(ready, 1); // expect: cuda_legacy_atomic
  } else {
    while (atomicAdd(ready, 0) == 0) __nanosleep(20); // expect: cuda_progress_grid_wait, cuda_legacy_atomic
    __threadfence();
    out[blockIdx.x] = data[0];
  }
}
// A turn for each block, in the order of their indices, or of their tickets.
__global__ void turns_bad(int* turn, int* sum) {
  if (threadIdx.x == 0) {
    while (atomicAdd(turn, 0) < (int)blockIdx.x) __nanosleep(20); // expect: cuda_progress_grid_wait, cuda_legacy_atomic
    sum[0] += 1;
    __threadfence();
    atomicAdd(turn, 1);
  }
}
__global__ void turns_of_tickets(int* next, int* turn, int* sum) {
  if (threadIdx.x == 0) {
    int mine = atomicAdd(next, 1);
    while (atomicAdd(turn, 0) < mine) __nanosleep(20); // expect: cuda_legacy_atomic
    sum[0] += blockIdx.x;
    __threadfence();
    atomicAdd(turn, 1);
  }
}
__global__ void producer_thread(flag_t* ready, int* data, int* out) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 42;
    ready[blockIdx.x].store(1, cuda::memory_order_release);
  }
  while (ready[blockIdx.x].load(cuda::memory_order_acquire) == 0) __nanosleep(20);
  out[blockIdx.x] = data[blockIdx.x];
}
// Locks: whoever holds one has started.
__global__ void lock(int* mutex, int* sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(mutex, 0, 1) != 0) __nanosleep(20);
    __threadfence();
    sum[0] += 1;
    __threadfence();
    atomicExch(mutex, 0); // expect: cuda_legacy_atomic
  }
}
__global__ void ticket_lock(int* next, flag_t* serving, int* sum) {
  if (threadIdx.x == 0) {
    int mine = atomicAdd(next, 1);
    while (serving->load(cuda::memory_order_acquire) != mine) __nanosleep(20);
    sum[0] += 1;
    serving->store(mine + 1, cuda::memory_order_release);
  }
}
__global__ void test_and_test_and_set(flag_t* mutex, int* sum) {
  if (threadIdx.x == 0) {
    int expected = 0;
    while (!mutex->compare_exchange_weak(expected, 1, cuda::memory_order_acquire)) {
      while (mutex->load(cuda::memory_order_relaxed) != 0) __nanosleep(20);
      expected = 0;
    }
    sum[0] += 1;
    mutex->store(0, cuda::memory_order_release);
  }
}
void launches(int* a, int* b, int* c, flag_t* f, int n) {
  hand_barrier_bad<<<n, 128>>>(a, b);
  hand_barrier<<<1, 128>>>(a, b);
  void* arguments[] = {&b};
  cudaLaunchCooperativeKernel(grid_sync, dim3(n), dim3(128), arguments);
  goal_bad<<<n, 128>>>(n, b);
  goal_reached<<<n, 128>>>(n, b);
  sense_bad<<<n, 128>>>(a, f, b);
  chain_bad<<<n, 128>>>(f, b);
  chain_by_ticket<<<n, 128>>>(f, b, c);
  producer_block_bad<<<n, 128>>>(f, a, b);
  producer_by_exchange_bad<<<n, 128>>>(a, b, c);
  turns_bad<<<n, 128>>>(a, b);
  turns_of_tickets<<<n, 128>>>(a, b, c);
  producer_thread<<<n, 128>>>(f, a, b);
  lock<<<n, 128>>>(a, b);
  ticket_lock<<<n, 128>>>(a, f, b);
  test_and_test_and_set<<<n, 128>>>(f, b);
}

// Kernels that wait for kernels (Execution.Model.Stream.0 and Stream.1).
__device__ cuda::atomic<int, cuda::thread_scope_system> stream_flag;
__global__ void first() { stream_flag.store(1, cuda::memory_order_relaxed); }
__global__ void second() { while (stream_flag.load(cuda::memory_order_relaxed) == 0) __nanosleep(20); }
void streams_bad(cudaStream_t s0, cudaStream_t s1) {
  first<<<1, 1, 0, s0>>>();
  second<<<1, 1, 0, s1>>>(); // expect: cuda_progress_stream_wait
  cudaDeviceSynchronize();
}
__device__ cuda::atomic<int, cuda::thread_scope_system> ordered_flag;
__global__ void ordered_first() { ordered_flag.store(1, cuda::memory_order_relaxed); }
__global__ void ordered_second() { while (ordered_flag.load(cuda::memory_order_relaxed) == 0) __nanosleep(20); }
void same_stream(cudaStream_t s0) {
  ordered_first<<<1, 1, 0, s0>>>();
  ordered_second<<<1, 1, 0, s0>>>();
  cudaDeviceSynchronize();
}
void by_event(cudaStream_t s0, cudaStream_t s1, cudaEvent_t done) {
  ordered_first<<<1, 1, 0, s0>>>();
  cudaEventRecord(done, s0);
  cudaStreamWaitEvent(s1, done);
  ordered_second<<<1, 1, 0, s1>>>();
  cudaDeviceSynchronize();
}
__global__ void sets(flag_t* flag) { flag->store(1); }
__global__ void waits_for_it(flag_t* flag) { while (flag->load() == 0) __nanosleep(20); }
void wrong_order(flag_t* shared_flag) {
  waits_for_it<<<1, 1>>>(shared_flag); // expect: cuda_progress_stream_wait
  sets<<<1, 1>>>(shared_flag);
}
__global__ void sets_late(flag_t* flag) { flag->store(1); }
__global__ void waits_late(flag_t* flag) { while (flag->load() == 0) __nanosleep(20); }
void right_order(flag_t* shared_flag, flag_t* other, cudaStream_t s1) {
  sets_late<<<1, 1>>>(shared_flag);
  waits_late<<<1, 1>>>(shared_flag);
  sets_late<<<1, 1, 0, s1>>>(other);
}
