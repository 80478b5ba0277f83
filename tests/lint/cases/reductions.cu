// Reductions in shared memory, and what goes wrong with their barriers.
template <int BLOCK> __global__ void tree(const float* in, float* out, int n) {
  __shared__ float s[BLOCK];
  int tid = threadIdx.x;
  int i = blockIdx.x * BLOCK + tid;
  s[tid] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int stride = BLOCK / 2; stride > 0; stride >>= 1) {
    if (tid < stride) s[tid] += s[tid + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = s[0];
}
template __global__ void tree<256>(const float*, float*, int);

__global__ void tree_bad(const float* in, float* out, int n) {
  __shared__ float s[256];
  int tid = threadIdx.x;
  int i = blockIdx.x * blockDim.x + tid;
  s[tid] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    if (tid < stride) {
      s[tid] += s[tid + stride];
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
    }
  }
  if (tid == 0) out[blockIdx.x] = s[0];
}

__global__ void guarded_bad(const float* in, float* out, int n) {
  __shared__ float s[256];
  int tid = threadIdx.x;
  int i = blockIdx.x * blockDim.x + tid;
  if (i < n) {
    s[tid] = in[i];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[i] = s[255 - tid];
  }
}

__global__ void guarded(const float* in, float* out, int n) {
  __shared__ float s[256];
  int tid = threadIdx.x;
  int i = blockIdx.x * blockDim.x + tid;
  if (i < n) s[tid] = in[i];
  __syncthreads();
  if (i < n) out[i] = s[255 - tid];
}

__global__ void early_bad(const float* in, float* out, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return; // expect: early_exit_before_synchronization
  s[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = s[0];
}

__global__ void early(const float* in, float* out, int n) {
  __shared__ float s[256];
  if (blockIdx.x * blockDim.x >= n) return;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (i >= n) return;
  out[i] = s[0];
}

template <unsigned int blockSize> __global__ void unrolled(float* g_in, float* g_out, unsigned int n) {
  extern __shared__ float sdata[];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (blockSize * 2) + tid;
  unsigned int gridSize = blockSize * 2 * gridDim.x;
  sdata[tid] = 0;
  while (i < n) {
    sdata[tid] += g_in[i] + g_in[i + blockSize];
    i += gridSize;
  }
  __syncthreads();
  if (blockSize >= 512) { if (tid < 256) { sdata[tid] += sdata[tid + 256]; } __syncthreads(); }
  if (blockSize >= 256) { if (tid < 128) { sdata[tid] += sdata[tid + 128]; } __syncthreads(); }
  if (blockSize >= 128) { if (tid < 64) { sdata[tid] += sdata[tid + 64]; } __syncthreads(); }
  if (tid == 0) g_out[blockIdx.x] = sdata[0];
}
template __global__ void unrolled<128>(float*, float*, unsigned);
template __global__ void unrolled<512>(float*, float*, unsigned);

template <unsigned int blockSize> __global__ void unrolled_bad(float* g_in, float* g_out, unsigned int n) {
  extern __shared__ float sdata[];
  unsigned int tid = threadIdx.x;
  sdata[tid] = g_in[blockIdx.x * blockSize + tid];
  __syncthreads();
  if (blockSize >= 512) { if (tid < 256) { sdata[tid] += sdata[tid + 256]; __syncthreads(); } } // expect: thread_synchronization_in_divergent_region
  if (blockSize >= 256) { if (tid < 128) { sdata[tid] += sdata[tid + 128]; } __syncthreads(); }
  if (tid == 0) g_out[blockIdx.x] = sdata[0];
}
template __global__ void unrolled_bad<512>(float*, float*, unsigned);

__global__ void strided_tail_bad(const int* in, int* out, int n) {
  __shared__ int s[256];
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    s[threadIdx.x] = in[i];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[i] = s[0];
  }
}

__global__ void strided_tail(const int* in, int* out, int n) {
  __shared__ int s[256];
  for (int base = 0; base < n; base += blockDim.x) {
    int i = base + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = s[0];
    __syncthreads();
  }
}

__global__ void rounded(const int* in, int* out, int n) {
  __shared__ int s[256];
  int rounded = (n + blockDim.x - 1) / blockDim.x * blockDim.x;
  for (int i = threadIdx.x; i < rounded; i += blockDim.x) {
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = s[0];
    __syncthreads();
  }
}

__global__ void rounded_other_way(const int* in, int* out, int n, int k) {
  __shared__ int s[256];
  for (int i = threadIdx.x; i < ((n - 1) / k + 1) * k; i += k) {
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = s[0];
    __syncthreads();
  }
}

__global__ void rounded_wrong(const int* in, int* out, int n) {
  __shared__ int s[256];
  int rounded = (n + 31) / 32 * 32;
  for (int i = threadIdx.x; i < rounded; i += blockDim.x) {
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    if (i < n) out[i] = s[0];
  }
}

__global__ void grid_stride_rounded(const int* in, int* out, int n) {
  __shared__ int s[256];
  int end = ((n + blockDim.x - 1) / blockDim.x) * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < end; i += gridDim.x * blockDim.x) {
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = s[255 - threadIdx.x];
    __syncthreads();
  }
}

__global__ void grid_stride_bad(const int* in, int* out, int n) {
  __shared__ int s[256];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    s[threadIdx.x] = in[i];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[i] = s[255 - threadIdx.x];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}

__global__ void always_true() {
  if (threadIdx.x < blockDim.x) __syncthreads();
  if (threadIdx.x < 1024) __syncthreads();
  __syncthreads();
}

__global__ void __launch_bounds__(128) bounded(int* p) {
  if (threadIdx.x < 128) __syncthreads();
  p[threadIdx.x] = 1;
}

__global__ void __launch_bounds__(128) bounded_bad(int* p) {
  if (threadIdx.x < 127) __syncthreads(); // expect: thread_synchronization_in_divergent_region
  p[threadIdx.x] = 1;
}

__global__ void warp_leaders_bad(int* p) {
  if (threadIdx.x / 32 == 0) {
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    p[0] = 1;
  }
  p[1] = 2;
}

__global__ void two_dimensional(const float* a, float* b, int w) {
  __shared__ float t[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  t[threadIdx.y][threadIdx.x] = a[y * w + x];
  __syncthreads();
  b[x * w + y] = t[threadIdx.x][threadIdx.y];
}

// Each warp votes over what all warps have left: the vote is the block's.
__global__ void vote_over_all_warps(const int* in, int* out, int n) {
  __shared__ int done[32];
  if (threadIdx.x < 32) done[threadIdx.x] = 1;
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    int mine = __all_sync(0xffffffff, in[i * blockDim.x + threadIdx.x] == 0);
    if (threadIdx.x % 32 == 0) done[threadIdx.x / 32] = mine;
    __syncthreads();
    int all = done[threadIdx.x & 31];
    __syncthreads();
    if (!__all_sync(0xffffffff, all)) break;
  }
  out[threadIdx.x] = 1;
}
__global__ void vote_over_own_warp(const int* in, int* out, int n) {
  __shared__ int done[1024];
  for (int i = 0; i < n; ++i) {
    done[threadIdx.x] = in[i * blockDim.x + threadIdx.x];
    __syncthreads();
    if (!__all_sync(0xffffffff, done[threadIdx.x])) break; // expect: thread_synchronization_bypassed
  }
  out[threadIdx.x] = 1;
}

// The same in templates that nothing instantiates.
template <int width = 32> __device__ int all_of(int x) { return __all_sync(0xffffffff, x); }
template <class T> __global__ void vote_in_pattern(const T* in, T* out, int n) {
  __shared__ int done[32];
  for (int i = 0; i < n; ++i) {
    int mine = all_of(in[i * blockDim.x + threadIdx.x] == 0);
    if (threadIdx.x % 32 == 0) done[threadIdx.x / 32] = mine;
    __syncthreads();
    int all = done[threadIdx.x & 31];
    __syncthreads();
    all = all_of(all);
    if (!all) break;
  }
  out[threadIdx.x] = 1;
}
template <int width = 32> __device__ int all_by_steps(int x) {
  if (width == 32) return __all_sync(0xffffffff, x);
  for (int offset = width / 2; offset > 0; offset >>= 1) x = __shfl_xor_sync(0xffffffff, x, offset, width) && x;
  return x;
}
template <class T> __global__ void exchange_in_pattern(const T* in, T* out, int n) {
  __shared__ int done[32];
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x % 32 == 0) done[threadIdx.x / 32] = in[i];
    __syncthreads();
    int all = done[threadIdx.x & 31];
    __syncthreads();
    all = all_by_steps(all);
    if (!all) break;
  }
  out[threadIdx.x] = 1;
}
template <class T> __global__ void exchange_in_pattern_bad(const T* in, T* out, int n) {
  for (int i = 0; i < n; ++i) {
    __syncthreads();
    if (!all_by_steps(threadIdx.x + i)) break; // expect: thread_synchronization_bypassed
  }
  out[threadIdx.x] = 1;
}
template <class T> __global__ void vote_in_pattern_bad(const T* in, T* out, int n) {
  for (int i = 0; i < n; ++i) {
    __syncthreads();
    int mine = threadIdx.x + i;
    if (!all_of(mine)) break; // expect: thread_synchronization_bypassed
  }
  out[threadIdx.x] = 1;
}
