// cuda-missing-release, cuda-missing-acquire, cuda-scope-too-narrow.
#include <cuda/atomic>
typedef cuda::atomic<int, cuda::thread_scope_device> flag_t;
typedef cuda::atomic<int, cuda::thread_scope_block> block_flag_t;

__global__ void relaxed_store_bad(int* data, flag_t* ready, int* out) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 42;
    ready[blockIdx.x].store(1, cuda::memory_order_relaxed); // expect: cuda_missing_release
  } else {
    while (ready[blockIdx.x].load(cuda::memory_order_acquire) == 0) __nanosleep(9);
    out[threadIdx.x] = data[blockIdx.x];
  }
}
__global__ void release_store(int* data, flag_t* ready, int* out) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 42;
    ready[blockIdx.x].store(1, cuda::memory_order_release);
  } else {
    while (ready[blockIdx.x].load(cuda::memory_order_acquire) == 0) __nanosleep(9);
    out[threadIdx.x] = data[blockIdx.x];
  }
}
__global__ void relaxed_load_bad(int* data, flag_t* ready, int* out) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 42;
    ready[blockIdx.x].store(1, cuda::memory_order_release);
  } else {
    while (ready[blockIdx.x].load(cuda::memory_order_relaxed) == 0) __nanosleep(9); // expect: cuda_missing_acquire
    out[threadIdx.x] = data[blockIdx.x];
  }
}
__global__ void fences(int* data, flag_t* ready, int* out) {
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 42;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    ready[blockIdx.x].store(1, cuda::memory_order_relaxed);
  } else {
    while (ready[blockIdx.x].load(cuda::memory_order_relaxed) == 0) __nanosleep(9);
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    out[threadIdx.x] = data[blockIdx.x];
  }
}
// Through a reference.
__global__ void reference_bad(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (threadIdx.x == 0) {
    data[0] = 42;
    ready.store(1, cuda::memory_order_relaxed); // expect: cuda_missing_release
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) __nanosleep(9);
    out[threadIdx.x] = data[0];
  }
}
__global__ void reference(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (threadIdx.x == 0) {
    data[0] = 42;
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) __nanosleep(9);
    out[threadIdx.x] = data[0];
  }
}
// The block that comes last adds up (threadFenceReduction).
__device__ unsigned finished_blocks;
__global__ void last_block_bad(float* partial, float* total) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1;
    unsigned ticket = atomicInc(&finished_blocks, gridDim.x); // expect: cuda_missing_release
    is_last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last) {
    float sum = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += partial[i];
    total[threadIdx.x] = sum;
  }
}
__device__ unsigned finished_blocks_good;
__global__ void last_block(float* partial, float* total) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1;
    __threadfence();
    unsigned ticket = atomicInc(&finished_blocks_good, gridDim.x);
    is_last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last) {
    float sum = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += partial[i];
    total[threadIdx.x] = sum;
  }
}
__device__ unsigned finished_blocks_narrow;
__global__ void last_block_narrow_bad(float* partial, float* total) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1;
    __threadfence_block();
    unsigned ticket = atomicInc(&finished_blocks_narrow, gridDim.x); // expect: cuda_scope_too_narrow
    is_last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last) {
    float sum = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += partial[i];
    total[threadIdx.x] = sum;
  }
}
// A lock whose release does not come after the work.
__global__ void lock_bad(int* mutex, int* sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(mutex, 0, 1) != 0) __nanosleep(9);
    sum[0] += 1;
    atomicExch(mutex, 0); // expect: cuda_missing_release, cuda_legacy_atomic
  }
}
__global__ void lock_fenced(int* mutex, int* sum) {
  if (threadIdx.x == 0) {
    while (atomicCAS(mutex, 0, 1) != 0) __nanosleep(9);
    __threadfence();
    sum[0] += 1;
    __threadfence();
    atomicExch(mutex, 0); // expect: cuda_legacy_atomic
  }
}
// Counters that publish nothing.
__global__ void compaction(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) out[atomicAdd(count, 1)] = in[i];
}
__global__ void frontier(const int* edges, const int* heads, int* distance, int* next, int* count, int level, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    for (int e = heads[i]; e < heads[i + 1]; ++e) {
      int to = edges[e];
      if (atomicCAS(&distance[to], -1, level) == -1) next[atomicAdd(count, 1)] = to;
    }
  }
}
// Double addition by hand: a loop around atomicCAS that is no lock.
__global__ void add_double(unsigned long long* sum, double* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  data[i] = i;
  unsigned long long old = *sum, assumed;
  do {
    assumed = old;
    old = atomicCAS(sum, assumed, assumed + 1);
  } while (assumed != old);
  data[i] += 1;
}

// Scopes.
__global__ void counter_bad(int* count) {
  atomicAdd_block(count, 1); // expect: cuda_scope_too_narrow
}
__global__ void counter(int* count) {
  atomicAdd(count, 1);
}
__global__ void histogram_bad(const int* in, int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd_block(&bins[in[i]], 1); // expect: cuda_scope_too_narrow
}
__global__ void histogram_of_block(const int* in, int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd_block(&bins[blockIdx.x * 256 + in[i]], 1);
}
__global__ void histogram_in_block(const int* in, int* bins) {
  __shared__ int own[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd_block(&own[in[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
__global__ void object_bad(block_flag_t* count) {
  count->fetch_add(1); // expect: cuda_scope_too_narrow
}
__global__ void object_of_block(block_flag_t* counts) {
  counts[blockIdx.x].fetch_add(1);
}
__global__ void one_block(int* count) {
  atomicAdd_block(count, 1);
}
__global__ void not_launched(int* count) {
  atomicAdd_block(count, 1);
}
void launch_scopes(int* count, const int* in, block_flag_t* flags, int n) {
  counter_bad<<<n, 64>>>(count);
  counter<<<n, 64>>>(count);
  histogram_bad<<<n, 64>>>(in, count);
  histogram_of_block<<<n, 64>>>(in, count);
  histogram_in_block<<<n, 64>>>(in, count);
  object_bad<<<n, 64>>>(flags);
  object_of_block<<<n, 64>>>(flags);
  one_block<<<1, 64>>>(count);
}
// A lock, taken with acquire and left with release.
__device__ cuda::atomic<int, cuda::thread_scope_device> lock_word;
__global__ void exchange_lock(int* counter) {
  for (bool done = false; !done;) {
    if (lock_word.exchange(1, cuda::memory_order_acquire) == 0) {
      *counter += 1;
      lock_word.store(0, cuda::memory_order_release);
      done = true;
    }
  }
}
// Partners in one block may use the scope of the block.
__global__ void partners(int* data, int* out, int* flag) {
  cuda::atomic_ref<int, cuda::thread_scope_block> ready(flag[blockIdx.x]);
  if (threadIdx.x == 0) {
    data[blockIdx.x] = 1;
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) __nanosleep(9);
    out[threadIdx.x] = data[blockIdx.x];
  }
}

// Members of one structure.
struct Mailbox {
  int data;
  flag_t ready;
};
__global__ void members_bad(Mailbox* box, int* out) {
  if (blockIdx.x == 0) {
    box->data = 42;
    box->ready.store(1, cuda::memory_order_relaxed); // expect: cuda_missing_release
  } else {
    while (box->ready.load(cuda::memory_order_acquire) == 0) __nanosleep(9);
    out[blockIdx.x] = box->data;
  }
}
__global__ void members(Mailbox* box, int* out) {
  if (blockIdx.x == 0) {
    box->data = 42;
    box->ready.store(1, cuda::memory_order_release);
  } else {
    while (box->ready.load(cuda::memory_order_acquire) == 0) __nanosleep(9);
    out[blockIdx.x] = box->data;
  }
}
// Another member than the one that is read afterwards.
struct Statistics {
  int data, count;
  flag_t ready;
};
__global__ void another_member(Statistics* all, int* out) {
  if (blockIdx.x == 0) {
    all->count = 1;
    all->ready.store(1, cuda::memory_order_relaxed);
  } else {
    while (all->ready.load(cuda::memory_order_acquire) == 0) __nanosleep(9);
    out[blockIdx.x] = all->data;
  }
}
// In an array of structures, and of a structure in a structure.
struct Ring {
  int count;
  Mailbox slots[4];
};
__global__ void nested_bad(Ring* ring, int* out) {
  if (blockIdx.x == 0) {
    ring->slots[threadIdx.x].data = 42;
    ring->slots[threadIdx.x].ready.store(1, cuda::memory_order_relaxed); // expect: cuda_missing_release
  } else {
    while (ring->slots[threadIdx.x].ready.load(cuda::memory_order_acquire) == 0) __nanosleep(9);
    out[threadIdx.x] = ring->slots[threadIdx.x].data;
  }
}
__global__ void nested_acquire_bad(Ring* ring, int* out) {
  if (blockIdx.x == 0) {
    ring->slots[threadIdx.x].data = 42;
    ring->slots[threadIdx.x].ready.store(1, cuda::memory_order_release);
  } else {
    while (ring->slots[threadIdx.x].ready.load(cuda::memory_order_relaxed) == 0) __nanosleep(9); // expect: cuda_missing_acquire
    out[threadIdx.x] = ring->slots[threadIdx.x].data;
  }
}
// A lock in the object that it guards.
struct Account {
  int lock, money;
};
__global__ void guarded(Account* account) {
  while (atomicCAS(&account->lock, 0, 1) != 0) __nanosleep(9);
  __threadfence();
  account->money += 1;
  __threadfence();
  atomicExch(&account->lock, 0); // expect: cuda_legacy_atomic
}

// --- One thread waits, a barrier of the block lets the others go on
__global__ void one_waits_bad(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicExch(flag, 1); // expect: cuda_missing_release, cuda_legacy_atomic
    }
    return;
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) { // expect: cuda_legacy_atomic
    }
  }
  __syncthreads();
  out[threadIdx.x] = data[threadIdx.x];
}
__global__ void one_waits(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicExch(flag, 1); // expect: cuda_legacy_atomic
    }
    return;
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) { // expect: cuda_legacy_atomic
    }
    __threadfence();
  }
  __syncthreads();
  out[threadIdx.x] = data[threadIdx.x];
}
/// What is read before the barrier has nothing to do with the flag.
__global__ void read_before(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicExch(flag, 1); // expect: cuda_legacy_atomic
    }
    return;
  }
  out[threadIdx.x] = data[threadIdx.x];
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) { // expect: cuda_legacy_atomic
    }
  }
  __syncthreads();
}

// --- Barriers of the grid, written by hand
__device__ void meet_bad(unsigned* barrier) {
  __syncthreads();
  if (threadIdx.x == 0) {
    if (atomicAdd(&barrier[0], 1) + 1 == gridDim.x) { // expect: cuda_missing_release
      atomicExch(&barrier[1], 1); // expect: cuda_missing_release, cuda_legacy_atomic
    } else {
      while (atomicAdd(&barrier[1], 0) == 0) { // expect: cuda_legacy_atomic
      }
    }
  }
  __syncthreads();
}
__global__ void grid_meets_bad(int* data, unsigned* barrier, int* out) {
  data[blockIdx.x] = 1;
  meet_bad(barrier);
  out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
}
__device__ void meet_narrowly_bad(unsigned* barrier) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_block();
    if (atomicAdd(&barrier[0], 1) + 1 == gridDim.x) { // expect: cuda_scope_too_narrow
      atomicExch(&barrier[1], 1); // expect: cuda_scope_too_narrow, cuda_legacy_atomic
    } else {
      while (atomicAdd(&barrier[1], 0) == 0) { // expect: cuda_legacy_atomic
      }
    }
  }
  __syncthreads();
}
__global__ void grid_meets_narrowly_bad(int* data, unsigned* barrier, int* out) {
  data[blockIdx.x] = 1;
  meet_narrowly_bad(barrier);
  out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
}
__device__ void meet(unsigned* barrier) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&barrier[0], 1) + 1 == gridDim.x) {
      atomicExch(&barrier[1], 1); // expect: cuda_legacy_atomic
    } else {
      while (atomicAdd(&barrier[1], 0) == 0) { // expect: cuda_legacy_atomic
      }
    }
    __threadfence();
  }
  __syncthreads();
}
__global__ void grid_meets(int* data, unsigned* barrier, int* out) {
  data[blockIdx.x] = 1;
  meet(barrier);
  out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
}
