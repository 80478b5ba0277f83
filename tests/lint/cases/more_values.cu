// Rule CUDA-1.14: values that differ between threads, and values that only look as if. With twins.
__global__ void shared_after_barrier_bad(int* p) {
  __shared__ int limit;
  limit = threadIdx.x;
  int mine = limit; // no barrier: each thread may read another value
  while (mine-- > 0) { p[mine] = 1; __syncthreads(); } // expect: potentially_thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void shared_after_barrier(int* p) {
  __shared__ int limit;
  if (threadIdx.x == 0) limit = p[blockIdx.x];
  __syncthreads();
  int mine = limit;
  while (mine-- > 0) { p[mine] = 1; __syncthreads(); }
  p[0] = 1;
}
__global__ void shared_array_bad(int* p) {
  __shared__ int limits[128];
  limits[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  if (limits[threadIdx.x] > 3) { p[0] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void shared_array(int* p) {
  __shared__ int limits[128];
  limits[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  if (limits[7] > 3) { p[0] = 1; __syncthreads(); }
  p[1] = 1;
}
__global__ void atomic_result_bad(int* p) {
  __shared__ int count;
  if (atomicAdd(&count, 1) == 3) { p[0] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void atomic_total(int* p) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (p[threadIdx.x]) atomicAdd(&count, 1);
  __syncthreads();
  if (count == 3) { p[0] = 1; __syncthreads(); }
  p[1] = 1;
}
__global__ void vote_of_warp_bad(int* p) {
  if (__any_sync(0xffffffff, p[threadIdx.x])) { p[0] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void vote_of_block(int* p) {
  if (__syncthreads_or(p[threadIdx.x])) { p[0] = 1; __syncthreads(); }
  p[1] = 1;
}
__global__ void ballot_bad(int* p) {
  int n = __popc(__ballot_sync(0xffffffff, p[threadIdx.x]));
  for (int i = 0; i < n; ++i) { p[i] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void count_of_block(int* p) {
  int n = __syncthreads_count(p[threadIdx.x]);
  for (int i = 0; i < n; ++i) { p[i] = 1; __syncthreads(); }
  p[1] = 1;
}
__global__ void shuffle_bad(int* p) {
  int n = __shfl_sync(0xffffffff, p[threadIdx.x], 0);
  for (int i = 0; i < n; ++i) { p[i] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void __launch_bounds__(32) shuffle_in_one_warp(int* p) {
  int n = __shfl_sync(0xffffffff, p[threadIdx.x], 0);
  for (int i = 0; i < n; ++i) { p[i] = 1; __syncthreads(); }
  p[1] = 1;
}
__global__ void warp_index_bad(int* p) {
  int warp = threadIdx.x >> 5;
  if (warp == 0) { p[0] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void __launch_bounds__(32) only_warp(int* p) {
  int warp = threadIdx.x >> 5;
  if (warp == 0) { p[0] = 1; __syncthreads(); }
  p[1] = 1;
}
__global__ void __launch_bounds__(256) wider_bound_bad(int* p) {
  if (threadIdx.x < 128) { p[0] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void __launch_bounds__(256) bound(int* p) {
  if (threadIdx.x < 256) { p[0] = 1; __syncthreads(); }
  p[1] = 1;
}
// Trip counts.
__global__ void tail_bad(int* p, int n) {
  for (int i = threadIdx.x; i < n; i += 256) { p[i] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void rounded_up(int* p, int n) {
  for (int i = threadIdx.x; i < ((n - 1) / 256 + 1) * 256; i += 256) { if (i < n) p[i] = 1; __syncthreads(); }
  p[0] = 1;
}
__global__ void tile_bad(const float* a, float* c, int n) {
  __shared__ float t[16][16];
  float sum = 0;
  int row = blockIdx.y * 16 + threadIdx.y;
  for (int k = threadIdx.x; k < n; k += 16) {
    t[threadIdx.y][threadIdx.x] = a[row * n + k];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    for (int j = 0; j < 16; ++j) sum += t[threadIdx.y][j];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  c[row] = sum;
}
__global__ void tile(const float* a, float* c, int n) {
  __shared__ float t[16][16];
  float sum = 0;
  int row = blockIdx.y * 16 + threadIdx.y;
  for (int k0 = 0; k0 < n; k0 += 16) {
    int k = k0 + threadIdx.x;
    t[threadIdx.y][threadIdx.x] = k < n ? a[row * n + k] : 0;
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum += t[threadIdx.y][j];
    __syncthreads();
  }
  c[row] = sum;
}
__global__ void triangle_bad(int* p, int n) {
  for (int j = threadIdx.x; j < n; ++j) { p[j] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void triangle(int* p, int n) {
  for (int j = 0; j < n; ++j) { if (j >= threadIdx.x) p[j] = 1; __syncthreads(); }
  p[0] = 1;
}
__global__ void shift_loop_bad(int* p) {
  for (int o = threadIdx.x; o > 0; o >>= 1) { p[o] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void shift_loop(int* p) {
  for (int o = blockDim.x / 2; o > 0; o >>= 1) { if (threadIdx.x < o) p[threadIdx.x] += p[threadIdx.x + o]; __syncthreads(); }
  p[0] = 1;
}
__global__ void first_of_range_bad(const int* start, int* p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int e = start[i]; e < start[i + 1]; ++e) { p[e] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void first_of_range(const int* start, int* p) {
  int i = blockIdx.x;
  for (int e = start[i]; e < start[i + 1]; ++e) { if (threadIdx.x == e % 32) p[e + 100] = 1; __syncthreads(); }
}
// Through variables, arrays and structures of the thread's own.
struct Range { int first, last; };
__global__ void own_structure_bad(int* p, int n) {
  Range r = {0, n};
  r.last = threadIdx.x;
  for (int i = r.first; i < r.last; ++i) { p[i] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void own_structure(int* p, int n) {
  Range r = {(int)threadIdx.x, n};
  for (int i = 0; i < r.last; ++i) { p[i + r.first] = 1; __syncthreads(); }
  p[0] = 1;
}
__global__ void own_array_bad(int* p, int n) {
  int a[4];
  for (int k = 0; k < 4; ++k) a[k] = p[threadIdx.x * 4 + k];
  if (a[n] > 0) { p[0] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void own_array(int* p, int n) {
  int a[4];
  for (int k = 0; k < 4; ++k) a[k] = p[blockIdx.x * 4 + k];
  if (a[n] > 0) { p[100] = 1; __syncthreads(); }
}
__global__ void own_pointer_bad(int* p, int n) {
  int mine = threadIdx.x, ours = n;
  int* which = &mine;
  if (n > 4) which = &ours;
  if (*which > 3) { p[0] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void own_pointer(int* p, int n) {
  int theirs = n + 1, ours = n;
  int* which = &theirs;
  if (n > 4) which = &ours;
  if (*which > 3) { p[0] = 1; __syncthreads(); }
  p[1] = 1;
}
__global__ void overwritten_bad(int* p, int n) {
  int k = n;
  if (p[threadIdx.x]) k = 0;
  if (k) { p[0] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void overwritten(int* p, int n) {
  int k = threadIdx.x;
  p[k] = 1;
  k = n;
  if (k) { p[0] = 1; __syncthreads(); }
  p[1] = 1;
}
// Arithmetic.
__global__ void parity_bad(int* p) {
  if ((threadIdx.x ^ blockIdx.x) & 1) { p[0] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void parity(int* p) {
  if ((gridDim.x ^ blockIdx.x) & 1) { p[0] = 1; __syncthreads(); }
  p[1] = 1;
}
__global__ void cancelled_bad(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i - blockIdx.x < n) { p[0] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void cancelled(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i - threadIdx.x < n) { p[0] = 1; __syncthreads(); }
  p[1] = 1;
}
__global__ void clamped_bad(int* p, int n) {
  int k = min((int)threadIdx.x, n);
  for (int i = 0; i < k; ++i) { p[i] = 1; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void clamped(int* p, int n) {
  int k = min((int)blockIdx.x, n);
  for (int i = 0; i < k; ++i) { p[i] = 1; __syncthreads(); }
  p[1] = 1;
}
__global__ void clock_in_loop_bad(int* p) {
  long long end = clock64() + 1000;
  while (clock64() < end) { ++p[threadIdx.x]; __syncthreads(); } // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
__global__ void clock_decided_by_one(int* p) {
  __shared__ bool go_on;
  long long end = clock64() + 1000;
  do {
    ++p[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) go_on = clock64() < end;
    __syncthreads();
  } while (go_on);
}
__device__ int external_choice(int);
__global__ void unknown_bad(int* p) {
  if (external_choice(threadIdx.x)) { p[0] = 1; __syncthreads(); } // expect: potentially_thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void unknown(int* p) {
  int mine = external_choice(threadIdx.x);
  __syncthreads();
  p[1] = mine;
}
