// The kernels of ../kernels and their like as they were before somebody mended them: threads leave too early, or jump
// around a barrier. Below each is the version that was committed in its place.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define TILE 16
#define RETURN_IF_OUTSIDE(i, n) if ((i) >= (n)) return
#define CUDA_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

__global__ void matmul_bad(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float sa[TILE][TILE], sb[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  if (row >= m || col >= n) return; // expect: early_exit_before_synchronization
  float sum = 0;
  for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
    sa[threadIdx.y][threadIdx.x] = t * TILE + threadIdx.x < k ? a[row * k + t * TILE + threadIdx.x] : 0;
    sb[threadIdx.y][threadIdx.x] = t * TILE + threadIdx.y < k ? b[(t * TILE + threadIdx.y) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += sa[threadIdx.y][i] * sb[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
__global__ void matmul_inside_bad(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float sa[TILE][TILE], sb[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  if (row < m && col < n) {
    float sum = 0;
    for (int t = 0; t < k / TILE; ++t) {
      sa[threadIdx.y][threadIdx.x] = a[row * k + t * TILE + threadIdx.x];
      sb[threadIdx.y][threadIdx.x] = b[(t * TILE + threadIdx.y) * n + col];
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
      for (int i = 0; i < TILE; ++i) sum += sa[threadIdx.y][i] * sb[i][threadIdx.x];
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
    }
    c[row * n + col] = sum;
  }
}
__global__ void macro_exit_bad(const int* in, int* out, int n) {
  __shared__ int s[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  RETURN_IF_OUTSIDE(i, n); // expect: early_exit_before_synchronization
  s[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = s[255 - threadIdx.x];
}
__global__ void grid_stride_bad(const float* in, float* out, int n) {
  __shared__ float s[256];
  CUDA_LOOP(i, n) {
    s[threadIdx.x] = in[i];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[i] = s[threadIdx.x ^ 1];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void grid_stride_good(const float* in, float* out, int n) {
  __shared__ float s[256];
  for (int base = blockIdx.x * blockDim.x; base < n; base += blockDim.x * gridDim.x) {
    const int i = base + threadIdx.x;
    if (i < n) s[threadIdx.x] = in[i];
    __syncthreads();
    if (i < n) out[i] = s[threadIdx.x ^ 1];
    __syncthreads();
  }
}
__global__ void reduce_tail_bad(const int* in, int* out, int n) {
  __shared__ int s[512];
  const int tid = threadIdx.x;
  s[tid] = tid < n ? in[tid] : 0;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k >>= 1) {
    if (tid >= k) break; // expect: thread_synchronization_bypassed
    s[tid] += s[tid + k];
    __syncthreads();
  }
  if (tid == 0) out[0] = s[0];
}
__global__ void reduce_return_bad(const int* in, int* out, int n) {
  __shared__ int s[512];
  const int tid = threadIdx.x;
  s[tid] = tid < n ? in[tid] : 0;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k >>= 1) {
    if (tid >= k) return; // expect: early_exit_before_synchronization
    s[tid] += s[tid + k];
    __syncthreads();
  }
  out[0] = s[0];
}
__global__ void reduce_inside_bad(const int* in, int* out, int n) {
  __shared__ int s[512];
  const int tid = threadIdx.x;
  s[tid] = tid < n ? in[tid] : 0;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k >>= 1) {
    if (tid < k) {
      s[tid] += s[tid + k];
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
    }
  }
  if (tid == 0) out[0] = s[0];
}
__global__ void reduce_bound_bad(const int* in, int* out, int n) {
  __shared__ int s[512];
  const int tid = threadIdx.x;
  s[tid] = tid < n ? in[tid] : 0;
  __syncthreads();
  for (int k = blockDim.x / 2; k > tid; k >>= 1) {
    s[tid] += s[tid + k];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  if (tid == 0) out[0] = s[0];
}
__global__ void continue_bad(const float* in, float* out, int n, int steps) {
  __shared__ float s[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int t = 0; t < steps; ++t) {
    if (i >= n) continue; // expect: thread_synchronization_bypassed
    s[threadIdx.x] = in[t * n + i];
    __syncthreads();
    out[t * n + i] = s[255 - threadIdx.x];
    __syncthreads();
  }
}
__global__ void pathfinder_bad(int iteration, const int* wall, int* out, int cols) {
  __shared__ int prev[256], result[256];
  const int tx = threadIdx.x, x = blockIdx.x * 200 + tx;
  prev[tx] = wall[x];
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (tx >= i + 1 && tx <= 254 - i && x < cols) {
      computed = true;
      result[tx] = min(prev[tx - 1], min(prev[tx], prev[tx + 1]));
    }
    __syncthreads();
    if (!computed) break; // expect: thread_synchronization_bypassed
    prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed) out[x] = result[tx];
}
__global__ void convergence_bad(float* x, int n, int limit, float eps) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  for (int it = 0; it < limit; ++it) {
    s[t] = x[t];
    __syncthreads();
    const float next = 0.5f * (s[(t + 1) % 256] + s[(t + 255) % 256]);
    if (fabsf(next - s[t]) < eps) break; // expect: thread_synchronization_bypassed
    __syncthreads();
    x[t] = next;
  }
}
__global__ void convergence_good(float* x, int n, int limit, float eps) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  for (int it = 0; it < limit; ++it) {
    s[t] = x[t];
    __syncthreads();
    const float next = 0.5f * (s[(t + 1) % 256] + s[(t + 255) % 256]);
    if (__syncthreads_and(fabsf(next - s[t]) < eps)) break;
    x[t] = next;
  }
}
// The flag is reset while others still look at it.
__global__ void shared_flag_bad(int* x, int n) {
  __shared__ int changed;
  do {
    if (threadIdx.x == 0) changed = 0;
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
    if (x[threadIdx.x] > n) {
      x[threadIdx.x] -= n;
      changed = 1;
    }
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
  } while (changed);
}
__global__ void shared_flag_good(int* x, int n) {
  __shared__ int changed;
  do {
    __syncthreads();
    if (threadIdx.x == 0) changed = 0;
    __syncthreads();
    if (x[threadIdx.x] > n) {
      x[threadIdx.x] -= n;
      changed = 1;
    }
    __syncthreads();
  } while (changed);
}
// The tile number is read again by slow threads after thread 0 has fetched the next.
__global__ void persistent_bad(int* counter, int tiles, float* out) {
  __shared__ int tile;
  while (true) {
    if (threadIdx.x == 0) tile = atomicAdd(counter, 1);
    __syncthreads();
    if (tile >= tiles) break; // expect: potentially_thread_synchronization_bypassed
    out[tile * blockDim.x + threadIdx.x] = 1;
  }
}
__global__ void groups_exit_bad(const float* in, float* out, int n) {
  cg::thread_block block = cg::this_thread_block();
  extern __shared__ float s[];
  const int i = block.group_index().x * block.size() + block.thread_rank();
  if (i >= n) return; // expect: early_exit_before_synchronization
  s[block.thread_rank()] = in[i];
  block.sync();
  out[i] = s[block.size() - 1 - block.thread_rank()];
}
__global__ void grid_exit_bad(float* x, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  const int i = grid.thread_rank();
  if (i >= n) return; // expect: early_exit_before_synchronization
  for (int s = 0; s < steps; ++s) {
    x[i] *= 0.5f;
    grid.sync();
  }
}
__global__ void grid_sync_some_blocks_bad(float* x, int n) {
  cg::grid_group grid = cg::this_grid();
  if (blockIdx.x < n) {
    x[blockIdx.x] = 1;
    grid.sync(); // expect: thread_synchronization_in_divergent_region
  }
  x[blockIdx.x] += x[0];
}
// A goto to the common end.
__global__ void cleanup_bad(const int* keys, int* out, int n) {
  __shared__ int s[128];
  const int key = keys[blockIdx.x * 128 + threadIdx.x];
  if (key < 0) goto done; // expect: thread_synchronization_bypassed
  s[threadIdx.x] = key;
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = s[127 - threadIdx.x];
done:
  out[n] = 1;
}
// Threads without work leave a helper before its barrier.
__device__ void load_bad(const float* in, float* s, int n) {
  if (threadIdx.x >= n) return; // expect: thread_synchronization_bypassed
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
}
__global__ void helper_return_bad(const float* in, float* out, int n) {
  extern __shared__ float s[];
  load_bad(in, s, n);
  out[threadIdx.x] = s[0];
}
// The number of elements of the block is a thread's own.
__global__ void row_per_thread_bad(const int* row_ptr, const float* v, float* y, int rows) {
  __shared__ float s[128];
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    for (int j = row_ptr[row]; j < row_ptr[row + 1]; ++j) {
      s[threadIdx.x] = v[j];
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
      y[row] += s[threadIdx.x];
    }
  }
}
int main() { return 0; }
