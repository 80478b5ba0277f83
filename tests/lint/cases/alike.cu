// Flags in shared memory, conditions that are alike for the block, warps, named barriers.
__global__ void flag_read_after(const int* in, int* out, int n) {
  __shared__ bool found[4];
  if (threadIdx.x < 4) found[threadIdx.x] = false;
  __syncthreads();
  if (in[threadIdx.x] > n) found[in[threadIdx.x] & 3] = true;
  __syncthreads();
  if (found[0] || found[1]) {
    out[threadIdx.x] = 1;
    __syncthreads();
    out[0] += 1;
  }
}
__global__ void flag_read_at_once_bad(const int* in, int* out, int n) {
  __shared__ bool found[4];
  if (threadIdx.x < 4) found[threadIdx.x] = false;
  __syncthreads();
  if (in[threadIdx.x] > n) found[in[threadIdx.x] & 3] = true;
  if (found[0] || found[1]) {
    out[threadIdx.x] = 1;
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
    out[0] += 1;
  }
}
__global__ void flag_of_thread_bad(const int* in, int* out) {
  __shared__ int flags[256];
  flags[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (flags[255 - threadIdx.x]) {
    out[threadIdx.x] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[0] += 1;
  }
}
__global__ void flag_reset_too_soon_bad(int* out, int n) {
  __shared__ int again;
  do {
    if (threadIdx.x == 0) again = 0;
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
    if (out[threadIdx.x] > n) again = 1;
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
  } while (again);
}
__global__ void flag_reset_in_time(int* out, int n) {
  __shared__ int again;
  do {
    __syncthreads();
    if (threadIdx.x == 0) again = 0;
    __syncthreads();
    if (out[threadIdx.x] > n) {
      out[threadIdx.x] /= 2;
      again = 1;
    }
    __syncthreads();
  } while (again);
}
__global__ void two_flags(int* out, int n) {
  __shared__ int changed[2];
  if (threadIdx.x < 2) changed[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0;; k ^= 1) {
    if (out[threadIdx.x] > n) changed[k] = 1;
    __syncthreads();
    if (!changed[k]) break;
    if (threadIdx.x == 0) changed[k ^ 1] = 0;
    __syncthreads();
  }
}
__global__ void queue_of_blocks(int* next, float* data, int n) {
  __shared__ int item;
  while (true) {
    if (threadIdx.x == 0) item = atomicAdd(next, 1);
    __syncthreads();
    const int mine = item;
    __syncthreads();
    if (mine >= n) return;
    data[mine * blockDim.x + threadIdx.x] += 1;
  }
}
__global__ void queue_of_threads_bad(int* next, float* data, int n) {
  while (true) {
    const int mine = atomicAdd(next, 1);
    if (mine >= n) return; // expect: early_exit_before_synchronization
    data[mine] += 1;
    __syncthreads();
  }
}
__global__ void sizes(float* p, int n) {
  if (blockDim.x > 64) __syncthreads();
  if (blockDim.x * gridDim.x < n) __syncthreads();
  if (blockIdx.x * blockDim.x + blockDim.x <= n) {
    p[threadIdx.x] = 1;
    __syncthreads();
  }
  for (int s = blockDim.x / 2; s > 32; s >>= 1) {
    if (threadIdx.x < s) p[threadIdx.x] += p[threadIdx.x + s];
    __syncthreads();
  }
  p[1] = 2;
}
__global__ void tree_bad(float* p) {
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) {
      p[threadIdx.x] += p[threadIdx.x + s];
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
    }
  }
}
__global__ void rows_bad(float* p, int n) {
  if (threadIdx.y < n) {
    p[threadIdx.y] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[0] = 2;
}
__global__ void rows(float* p, int n) {
  if (threadIdx.y < blockDim.y) {
    p[threadIdx.y] = 1;
    __syncthreads();
  }
  p[0] = 2;
}
__global__ void warp_bad(float* p) {
  const int warp = threadIdx.x / 32;
  if (warp == 0) {
    p[threadIdx.x] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[0] = 2;
}
__global__ void warp(float* p) {
  const int warp = threadIdx.x / warpSize;
  if (warp == 0) {
    p[threadIdx.x] = 1;
    __syncwarp();
    p[threadIdx.x ^ 1] = 1;
  }
  __syncthreads();
  p[0] = 2;
}
__global__ void __launch_bounds__(32) one_warp(float* p) {
  const int warp = threadIdx.x / 32;
  if (warp == 0) {
    p[threadIdx.x] = 1;
    __syncthreads();
  }
  if (__any_sync(0xffffffff, p[threadIdx.x] > 2)) __syncthreads();
  p[0] = 2;
}
__global__ void __launch_bounds__(32) one_warp_bad(float* p) {
  if (threadIdx.x < 16) {
    p[threadIdx.x] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[0] = 2;
}
__global__ void __launch_bounds__(64) two_warps_bad(float* p) {
  if (__any_sync(0xffffffff, p[threadIdx.x] > 2)) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 2;
}
__global__ void __launch_bounds__(128) within_bounds(float* p) {
  if (threadIdx.x < 128) __syncthreads();
  p[0] = 2;
}
__global__ void specialised(float* p, int n) {
  __shared__ float buffer[128];
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; ++i) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      buffer[threadIdx.x] = p[i];
      asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  } else if (threadIdx.x < 64) {
    for (int i = 0; i < n; ++i) {
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      asm volatile("bar.sync 2, 64;" ::: "memory");
      p[i] = buffer[threadIdx.x - 32];
    }
  }
  __syncthreads();
  p[0] = 1;
}
__device__ void named(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
__global__ void named_by_register(float* p) {
  if (threadIdx.x / 64 == 1) named(1 + threadIdx.x / 64, 64);
  p[0] = 1;
}
__global__ void all_by_register(float* p, int id) {
  asm volatile("bar.sync %0;" ::"r"(id));
  asm volatile("barrier.sync.aligned %0;" ::"r"(id));
  p[0] = 1;
}
__global__ void all_by_register_bad(float* p, int id) {
  if (threadIdx.x < 5) asm volatile("bar.sync %0;" ::"r"(id)); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void barrier_function_bad(float* p) {
  if (threadIdx.x < 5) __barrier_sync(0); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void barrier_function(float* p) {
  __barrier_sync(1);
  if (threadIdx.x < 64) __barrier_sync_count(2, 64);
  p[0] = 1;
}
__global__ void red_by_assembly(int* p) {
  int any;
  asm volatile("{ .reg .pred a, b; setp.ne.u32 a, %1, 0; barrier.sync.aligned 0; bar.red.or.pred b, 0, a; selp.u32 %0, 1, 0, b; }" : "=r"(any) : "r"(p[threadIdx.x]));
  if (any) __syncthreads();
  p[0] = 1;
}
__global__ void elected_bad(float* p) {
  int leader;
  asm volatile("{ .reg .pred q; elect.sync _|q, 0xffffffff; selp.u32 %0, 1, 0, q; }" : "=r"(leader));
  if (leader) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void clock_bad(float* p) {
  const long long start = clock64();
  while (clock64() - start < 1000) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void ballot_bad(int* p) {
  const unsigned votes = __ballot_sync(~0u, p[threadIdx.x] > 0);
  for (unsigned left = votes; left != 0; left &= left - 1) {
    p[left] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void ballot_of_uniform(int* p, int n) {
  const unsigned votes = __ballot_sync(~0u, n > 0);
  if (votes != 0) __syncthreads();
  p[0] = 1;
}
__global__ void shuffled_bad(int* p) {
  const int v = __shfl_sync(~0u, p[threadIdx.x], 0);
  if (v > 3) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__constant__ int table[64];
__global__ void constants(int* p) {
  for (int i = 0; i < table[blockIdx.x]; ++i) {
    if (table[i] > 3) __syncthreads();
    p[threadIdx.x] += i;
  }
}
__global__ void constants_bad(int* p) {
  if (table[threadIdx.x]) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void tail_of_tiles(const float* a, float* c, int n) {
  __shared__ float t[32][33];
  const int tiles = (n + 31) / 32;
  for (int k = 0; k < tiles; ++k) {
    const int column = k * 32 + threadIdx.x;
    t[threadIdx.y][threadIdx.x] = column < n ? a[column] : 0;
    __syncthreads();
    if (column < n) {
      for (int i = 0; i < 32 && k * 32 + i < n; ++i) c[column] += t[threadIdx.y][i];
    }
    __syncthreads();
  }
}
__global__ void tail_of_tiles_bad(const float* a, float* c, int n) {
  __shared__ float t[32][33];
  for (int column = threadIdx.x; column < n; column += 32) {
    t[threadIdx.y][threadIdx.x] = a[column];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    c[column] += t[threadIdx.y][0];
  }
}
__global__ void rounded_stride(const float* a, float* c, int n) {
  const int end = (n + blockDim.x - 1) / blockDim.x * blockDim.x;
  for (int i = threadIdx.x; i < end; i += blockDim.x) {
    if (i < n) c[i] = a[i];
    __syncthreads();
  }
}
__global__ void rounded_down_bad(const float* a, float* c, int n) {
  const int end = n / blockDim.x * blockDim.x + 1;
  for (int i = threadIdx.x; i < end; i += blockDim.x) {
    c[i] = a[i];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void uniform_pieces(float* p, int n) {
  const int x = threadIdx.x & ~(blockDim.x - 1);
  const int y = threadIdx.x - threadIdx.x;
  const int z = (threadIdx.x ^ threadIdx.x) + n;
  if (y == 0) __syncthreads();
  if (z > 3) __syncthreads();
  p[x] = 1;
}
__global__ void pointer_test(float* p, const float* q) {
  if (q != nullptr) {
    p[threadIdx.x] = q[threadIdx.x];
    __syncthreads();
  }
  p[0] = 1;
}
__global__ void pointer_test_bad(float* p, const float* q) {
  const float* mine = threadIdx.x < 3 ? q : nullptr;
  if (mine != nullptr) {
    p[threadIdx.x] = mine[0];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[0] = 1;
}
__global__ void volatile_flag_bad(volatile int* flag, int* p) {
  if (*flag) {
    p[threadIdx.x] = 1;
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
  }
  p[0] = 1;
}
