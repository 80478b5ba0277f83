// lint-options: --arch=sm_80 -- -std=c++17
// In the styles of CUB, CUTLASS, llama.cpp and of teaching: half of them wrong.
#include <cooperative_groups.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;
// block reduction (CUB)
template <int T> struct BlockReduce {
  struct Storage { float warp[T / 32]; };
  Storage& s;
  __device__ BlockReduce(Storage& storage) : s(storage) {}
  __device__ float sum(float v) {
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) s.warp[threadIdx.x / 32] = v;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    v = threadIdx.x < T / 32 ? s.warp[threadIdx.x] : 0;
    if (threadIdx.x < 32) for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d); // expect: potentially_inactive_thread_in_mask
    return v;
  }
};
__global__ void __launch_bounds__(256) reduce_all(const float* in, float* out, int n) {
  __shared__ BlockReduce<256>::Storage s;
  int i = blockIdx.x * 256 + threadIdx.x;
  float v = i < n ? in[i] : 0;
  v = BlockReduce<256>(s).sum(v);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}
__global__ void __launch_bounds__(256) reduce_some_bad(const float* in, float* out, int n) {
  __shared__ BlockReduce<256>::Storage s;
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    float v = BlockReduce<256>(s).sum(in[i]);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
  }
}
// tiles (teaching)
__global__ void tiles(const float* a, float* c, int n) {
  __shared__ float t[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < (n + 15) / 16; ++k) {
    t[threadIdx.y][threadIdx.x] = row < n && k * 16 + threadIdx.x < n ? a[row * n + k * 16 + threadIdx.x] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += t[threadIdx.y][i];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}
__global__ void tiles_with_exit_bad(const float* a, float* c, int n) {
  __shared__ float t[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= n || col >= n) return; // expect: early_exit_before_synchronization
  float sum = 0;
  for (int k = 0; k < (n + 15) / 16; ++k) {
    t[threadIdx.y][threadIdx.x] = a[row * n + k * 16 + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += t[threadIdx.y][i];
    __syncthreads();
  }
  c[row * n + col] = sum;
}
// stages of a pipeline (CUTLASS)
template <int Stages> __global__ void __launch_bounds__(128) pipelined(const float4* in, float4* out, int tiles) {
  __shared__ float4 buffer[Stages][128];
  int stage = 0;
  for (int s = 0; s < Stages - 1; ++s) if (s < tiles) buffer[s][threadIdx.x] = in[s * 128 + threadIdx.x];
  for (int t = 0; t < tiles; ++t) {
    __syncthreads();
    int next = t + Stages - 1;
    if (next < tiles) buffer[next % Stages][threadIdx.x] = in[next * 128 + threadIdx.x];
    out[t * 128 + threadIdx.x] = buffer[stage][127 - threadIdx.x];
    stage = stage + 1 == Stages ? 0 : stage + 1;
  }
}
template __global__ void pipelined<3>(const float4*, float4*, int);
template <int Stages> __global__ void __launch_bounds__(128) pipelined_by_warp_bad(const float4* in, float4* out, int tiles) {
  __shared__ float4 buffer[Stages][128];
  int group = threadIdx.x / 64;
  for (int t = group; t < tiles; t += 2) {
    buffer[t % Stages][threadIdx.x] = in[t * 128 + threadIdx.x];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[t * 128 + threadIdx.x] = buffer[t % Stages][127 - threadIdx.x];
  }
}
template __global__ void pipelined_by_warp_bad<3>(const float4*, float4*, int);
// sums over a row (llama.cpp)
template <int W> __device__ float warp_sum(float x) {
  for (int d = W / 2; d > 0; d >>= 1) x += __shfl_xor_sync(0xffffffff, x, d, W);
  return x;
}
template <int block> __global__ void norm(const float* x, float* y, int columns) {
  int row = blockIdx.x, tid = threadIdx.x;
  float sum = 0;
  for (int c = tid; c < columns; c += block) sum += x[row * columns + c];
  sum = warp_sum<32>(sum);
  if constexpr (block > 32) {
    __shared__ float s[32];
    if (tid % 32 == 0) s[tid / 32] = sum;
    __syncthreads();
    sum = tid % 32 < block / 32 ? s[tid % 32] : 0;
    sum = warp_sum<32>(sum);
  }
  for (int c = tid; c < columns; c += block) y[row * columns + c] = x[row * columns + c] - sum;
}
template __global__ void norm<1024>(const float*, float*, int);
template <int block> __global__ void norm_in_loop_bad(const float* x, float* y, int columns) {
  __shared__ float s[32];
  int row = blockIdx.x, tid = threadIdx.x;
  for (int c = tid; c < columns; c += block) {
    float sum = x[row * columns + c];
    s[tid % 32] = sum;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    y[row * columns + c] = s[0];
  }
}
template __global__ void norm_in_loop_bad<1024>(const float*, float*, int);
// flash attention (llama.cpp)
template <int ncols> __global__ void __launch_bounds__(128) attention(const float* q, float* o, int ne, int mask) {
  __shared__ float kq[ncols][128];
  __shared__ int all_masked;
  for (int k = 0; k < ne; k += 128) {
    if (mask) {
      if (threadIdx.x == 0) all_masked = 1;
      __syncthreads();
      if (q[k + threadIdx.x] > -1000) all_masked = 0;
      __syncthreads();
      int skip = all_masked;
      __syncthreads();
      if (skip) continue;
    }
    for (int j = 0; j < ncols; ++j) kq[j][threadIdx.x] = q[k + threadIdx.x] * j;
    __syncthreads();
    for (int j = 0; j < ncols; ++j) o[j] += kq[j][127 - threadIdx.x];
    __syncthreads();
  }
}
template __global__ void attention<2>(const float*, float*, int, int);
template <int ncols> __global__ void __launch_bounds__(128) attention_bad(const float* q, float* o, int ne) {
  __shared__ float kq[ncols][128];
  for (int k = 0; k < ne; k += 128) {
    if (q[k + threadIdx.x] < -1000) continue; // expect: thread_synchronization_bypassed
    for (int j = 0; j < ncols; ++j) kq[j][threadIdx.x] = q[k + threadIdx.x] * j;
    __syncthreads();
    for (int j = 0; j < ncols; ++j) o[j] += kq[j][127 - threadIdx.x];
  }
}
template __global__ void attention_bad<2>(const float*, float*, int);
// the last block (threadFenceReduction)
__device__ unsigned arrived, arrived_bad;
__global__ void last_block(float* part, float* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x;
    __threadfence();
    last = atomicInc(&arrived, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    __threadfence();
    float v = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) v += part[i];
    __syncthreads();
    out[threadIdx.x] = v;
  }
}
__global__ void last_thread_bad(float* part, float* out) {
  part[blockIdx.x] = blockIdx.x;
  __threadfence();
  if (atomicInc(&arrived_bad, gridDim.x) == gridDim.x - 1) {
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[threadIdx.x] = part[threadIdx.x];
  }
  out[0] = 1;
}
// masks of warps
__global__ void ballots(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned mask = __ballot_sync(~0u, i < n);
  if (i < n) out[i] = __shfl_sync(mask, in[i], 0);
}
__global__ void ballots_bad(const int* in, int* out) {
  if (threadIdx.x % 2 == 0) out[threadIdx.x] = __shfl_sync(~0u, in[threadIdx.x], 0); // expect: inactive_thread_in_mask
  out[0] = 1;
}
// the mask does not name the caller
__global__ void named(int* out) {
  unsigned mine = 1u << (threadIdx.x % 32);
  out[threadIdx.x] = __any_sync(mine, out[threadIdx.x]);
}
__global__ void not_named_bad(int* out) {
  out[threadIdx.x] = __any_sync(0x0000ffff, out[threadIdx.x]); // expect: potentially_calling_thread_not_in_mask
}
// groups
__global__ void sums_of_tiles(int* out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int v = out[block.thread_rank()];
  if (tile.meta_group_rank() == 0) {
    for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
    tile.sync();
  }
  block.sync();
  out[block.thread_rank()] = v;
}
__global__ void block_in_tile_bad(int* out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  if (tile.meta_group_rank() == 0) block.sync(); // expect: thread_synchronization_in_divergent_region
  out[block.thread_rank()] = 1;
}
// neighbours in a warp
__global__ void neighbours(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = out[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = s[(threadIdx.x + 1) % 32];
}
__global__ void neighbours_bad(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = out[threadIdx.x];
  out[threadIdx.x] = s[(threadIdx.x + 1) % 32]; // expect: cuda_syncwarp_missing
}
// scopes
__global__ void counts(int* n) { atomicAdd(n, 1); }
__global__ void counts_bad(int* n) { atomicAdd_block(n, 1); } // expect: cuda_scope_too_narrow
// a helper that returns early
__device__ bool load_tile(const float* in, float* s, int n) {
  if (threadIdx.x < n) s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  return s[0] > 0;
}
__global__ void helper_waits(const float* in, float* out, int n) {
  __shared__ float s[256];
  if (!load_tile(in, s, n)) return;
  __syncthreads();
  out[threadIdx.x] = s[n - 1];
}
__device__ bool load_tile_bad(const float* in, float* s, int n) {
  if (threadIdx.x >= n) return false; // expect: thread_synchronization_bypassed
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  return true;
}
__global__ void helper_returns_bad(const float* in, float* out, int n) {
  __shared__ float s[256];
  load_tile_bad(in, s, n);
  out[threadIdx.x] = s[0];
}
// loops rounded up
__global__ void rounded(const float* in, float* out, int n) {
  for (int i = threadIdx.x; i < (n + blockDim.x - 1) / blockDim.x * blockDim.x; i += blockDim.x) {
    float v = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = v;
  }
}
__global__ void not_rounded_bad(const float* in, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float v = in[i];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[i] = v;
  }
}
// switch
__global__ void switched(float* out, int mode) {
  switch (mode) {
  case 0: out[threadIdx.x] = 1; __syncthreads(); break;
  case 1: __syncthreads(); out[threadIdx.x] = 2; break;
  default: break;
  }
  out[0] = 3;
}
__global__ void switched_bad(float* out) {
  switch (threadIdx.x & 3) {
  case 0: out[threadIdx.x] = 1; __syncthreads(); break; // expect: thread_synchronization_in_divergent_region
  default: break;
  }
  out[0] = 3;
}
// lambdas
__global__ void lambda(float* out, int n) {
  auto each = [&](auto f) { for (int i = 0; i < n; ++i) { f(i); __syncthreads(); } };
  each([&](int i) { if (threadIdx.x < i) out[i] = 1; });
}
__global__ void lambda_bad(float* out, int n) {
  auto wait = [&] { out[threadIdx.x] = 1; __syncthreads(); }; // expect: thread_synchronization_in_divergent_region
  if (threadIdx.x < n) wait();
  out[0] = 2;
}
// short circuit
__global__ void short_circuit(int* out, int n) {
  if (n > 3 && __syncthreads_or(out[threadIdx.x])) out[0] = 1;
}
__global__ void short_circuit_bad(int* out, int n) {
  if (out[threadIdx.x] > n && __syncthreads_or(1)) out[0] = 1; // expect: thread_synchronization_in_divergent_region
  out[1] = 2;
}
// loops that make no progress
__global__ void waits_for_flag(volatile int* flag) { while (*flag == 0) {} } // expect: cuda_volatile_sync
__global__ void plain_flag_bad(int* flag) { while (*flag == 0) {} } // expect: cuda_progress_loop
// a flag of the helper
__device__ void finish(float* p, bool wait) { p[threadIdx.x] = 1; if (wait) __syncthreads(); }
__global__ void flag_of_helper(float* p) { if (threadIdx.x < 5) finish(p, false); finish(p, true); p[0] = 1; }
__device__ void finish_bad(float* p, bool wait) { p[threadIdx.x] = 1; if (wait) __syncthreads(); } // expect: thread_synchronization_in_divergent_region
__global__ void flag_of_helper_bad(float* p) { if (threadIdx.x < 5) finish_bad(p, true); p[0] = 1; }
// both sides wait
__global__ void both_sides(float* p, int n) {
  if (n > 4) { p[threadIdx.x] = 1; __syncthreads(); } else { __syncthreads(); p[threadIdx.x] = 2; }
  p[0] = 3;
}
__global__ void both_sides_bad(float* p, int n) {
  if (threadIdx.x > 4) { p[threadIdx.x] = 1; __syncthreads(); } else { __syncthreads(); p[threadIdx.x] = 2; } // expect: unaligned_synchronization
  p[0] = 3;
}
void launches(int* n, float* f) {
  counts<<<4, 32>>>(n); counts_bad<<<4, 32>>>(n); neighbours<<<1, 32>>>(n); neighbours_bad<<<1, 32>>>(n);
}
