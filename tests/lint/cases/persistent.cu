// Work counters, flags in shared memory, votes.
__device__ int counter;

__global__ void queue(int* out, int n) {
  __shared__ int item;
  while (true) {
    if (threadIdx.x == 0) item = atomicAdd(&counter, 1);
    __syncthreads();
    int mine = item;
    __syncthreads();
    if (mine >= n) break;
    out[mine * blockDim.x + threadIdx.x] = mine;
    __syncthreads();
  }
}

// Without the second barrier thread 0 may overwrite the item before the others have read it.
__global__ void queue_racy(int* out, int n) {
  __shared__ int item;
  while (true) {
    if (threadIdx.x == 0) item = atomicAdd(&counter, 1);
    __syncthreads();
    int mine = item;
    if (mine >= n) break; // expect: potentially_thread_synchronization_bypassed
    out[mine * blockDim.x + threadIdx.x] = mine;
  }
  __syncthreads();
}

__global__ void queue_unread(int* out, int n) {
  __shared__ int item;
  for (;;) {
    if (threadIdx.x == 0) item = atomicAdd(&counter, 1);
    int mine = item;
    if (mine >= n) return; // expect: potentially_early_exit_before_synchronization
    __syncthreads();
    out[mine] = 1;
    __syncthreads();
  }
}

__global__ void queue_each_bad(int* out, int n) {
  int mine = atomicAdd(&counter, 1);
  while (mine < n) {
    out[mine] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    mine = atomicAdd(&counter, 1);
  }
}

__global__ void until_done(const int* in, int* out, int n) {
  bool done = false;
  int i = threadIdx.x;
  do {
    if (!done) {
      out[i] = in[i];
      done = in[i] < 0;
    }
    i += blockDim.x;
  } while (__syncthreads_or(!done && i < n));
}

__global__ void until_all(const int* in, int* out) {
  int i = threadIdx.x;
  bool done = false;
  while (!__syncthreads_and(done)) {
    done = in[i] == 0;
    out[i] = 1;
  }
}

__global__ void until_warp_done_bad(const int* in, int* out) {
  int i = threadIdx.x;
  while (__any_sync(0xffffffff, in[i] > 0)) {
    out[i] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}

__global__ void counted(const int* in, int* out) {
  int many = __syncthreads_count(in[threadIdx.x] > 0);
  for (int i = 0; i < many; ++i) {
    out[i] = 1;
    __syncthreads();
  }
}

__global__ void changed_flag(int* label, const int* next, int n) {
  __shared__ int changed;
  do {
    __syncthreads();
    if (threadIdx.x == 0) changed = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      int other = label[next[i]];
      if (other < label[i]) {
        label[i] = other;
        changed = 1;
      }
    }
    __syncthreads();
  } while (changed);
}

__global__ void changed_flag_bad(int* label, const int* next, int n) {
  __shared__ int changed;
  do {
    if (threadIdx.x == 0) changed = 0;
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      if (label[next[i]] < label[i]) changed = 1;
    }
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
  } while (changed);
}

__global__ void broadcast_first(const int* in, int* out) {
  __shared__ int limit;
  if (threadIdx.x == 0) limit = in[blockIdx.x];
  __syncthreads();
  for (int i = 0; i < limit; ++i) {
    out[i * blockDim.x + threadIdx.x] = i;
    __syncthreads();
  }
}

__global__ void shuffle_broadcast_bad(const int* in, int* out) {
  int limit = __shfl_sync(0xffffffff, in[threadIdx.x], 0);
  for (int i = 0; i < limit; ++i) {
    out[i] = i;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}

__global__ void row_length(const int* rows, float* out) {
  int first = rows[blockIdx.x];
  int last = rows[blockIdx.x + 1];
  for (int i = first; i < last; ++i) {
    out[i] = threadIdx.x;
    __syncthreads();
  }
}

__global__ void row_length_bad(const int* rows, float* out) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = rows[row]; i < rows[row + 1]; ++i) {
    out[i] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}

__global__ void volatile_flag(volatile int* stop, int* out) {
  while (*stop == 0) {
    out[threadIdx.x] = 1;
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
  }
}

__global__ void clock_bad(int* out) {
  long long start = clock64();
  while (clock64() - start < 1000) {
    out[0] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}

__global__ void last_block(int* out, unsigned blocks) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd((unsigned*)&counter, 1u) == blocks - 1;
  }
  __syncthreads();
  if (last) {
    out[threadIdx.x] = 0;
    __syncthreads();
    out[0] = 1;
  }
}
