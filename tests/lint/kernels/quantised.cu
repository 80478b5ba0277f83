// lint-options: --arch=sm_80 -- -std=c++17
// In the styles of vLLM, bitsandbytes and llama.cpp: rows of tokens, quantised blocks, sums over warps, conditions that
// are the same for a warp. Half of them wrong.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
constexpr unsigned full = 0xffffffffu;
template <class T, int W = 32> __device__ T sum_of_warp(T v) {
#pragma unroll
  for (int d = W / 2; d > 0; d /= 2) v += __shfl_xor_sync(full, v, d, W);
  return v;
}
template <class T> __device__ T sum_of_warp_under_a_branch(T v) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(full, v, d); // expect: inactive_thread_in_mask
  return v;
}
// --- Sums of a block, with a branch that is the same for each warp
template <int Warps> __device__ float sum_of_block(float v) {
  __shared__ float part[Warps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  v = sum_of_warp(v);
  if (lane == 0) part[warp] = v;
  __syncthreads();
  v = lane < Warps ? part[lane] : 0.f;
  return sum_of_warp(v);
}
__global__ void __launch_bounds__(256) rms_norm(const float* x, float* y, int columns, float eps) {
  const float* row = x + blockIdx.x * columns;
  float v = 0;
  for (int i = threadIdx.x; i < columns; i += 256) v += row[i] * row[i];
  v = sum_of_block<8>(v);
  for (int i = threadIdx.x; i < columns; i += 256) y[blockIdx.x * columns + i] = row[i] * rsqrtf(v / columns + eps);
}
__global__ void __launch_bounds__(256) norm_of_first_lanes_bad(const float* x, float* y) {
  float v = x[threadIdx.x];
  if (threadIdx.x % 32 < 16) v = sum_of_warp_under_a_branch(v);
  y[threadIdx.x] = v;
}
// --- A row for each warp: the exit is one of whole warps, and only warps wait
__global__ void __launch_bounds__(128) row_for_each_warp(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= rows) return;
  float v = 0;
  for (int i = threadIdx.x % 32; i < columns; i += 32) v += x[row * columns + i];
  v = sum_of_warp(v);
  if (threadIdx.x % 32 == 0) y[row] = v;
}
__global__ void __launch_bounds__(128) row_for_each_warp_bad(const float* x, float* y, int rows, int columns) {
  __shared__ float s[128];
  const int row = blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= rows) return; // expect: early_exit_before_synchronization
  s[threadIdx.x] = x[row * columns + threadIdx.x % 32];
  __syncthreads();
  y[row] = s[threadIdx.x ^ 32];
}
// --- Lanes that have left a loop, and a full mask in it
__global__ void row_by_lane_bad(const float* x, float* y, int columns) {
  float v = 0;
  for (int i = threadIdx.x % 32; i < columns; i += 31)
    v += __shfl_xor_sync(full, x[i], 1); // expect: potentially_inactive_thread_in_mask
  y[threadIdx.x] = v;
}
__global__ void row_in_whole_steps(const float* x, float* y, int columns) {
  float v = 0;
  for (int base = 0; base < columns; base += 32) {
    int i = base + threadIdx.x % 32;
    v += __shfl_xor_sync(full, i < columns ? x[i] : 0.f, 1);
  }
  y[threadIdx.x] = v;
}
// --- A mask of those that are here
__global__ void by_ballot(const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned mask = __ballot_sync(full, i < n);
  if (i < n) y[i] = __shfl_sync(mask, x[i], __ffs(mask) - 1);
}
__global__ void by_ballot_in_branch_bad(const int* x, int* y) {
  if (threadIdx.x % 32 < 5) y[threadIdx.x] = __ballot_sync(full, x[threadIdx.x] > 3); // expect: inactive_thread_in_mask
  y[0] = 1;
}
__global__ void by_mask_without_caller_bad(const int* x, int* y) {
  int v = x[threadIdx.x];
  if (threadIdx.x % 32 >= 16) v = __shfl_xor_sync(0x0000ffffu, v, 1); // expect: calling_thread_not_in_mask
  y[threadIdx.x] = v;
}
__global__ void by_mask_with_caller(const int* x, int* y) {
  int v = x[threadIdx.x];
  if (threadIdx.x % 32 >= 16) v = __shfl_xor_sync(0xffff0000u, v, 1);
  y[threadIdx.x] = v;
}
// --- Tiles of cooperative groups
template <int Size> __global__ void rows_by_tile(const float* x, float* y, int rows, int columns) {
  auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
  if (row >= rows) return;
  float v = 0;
  for (int i = tile.thread_rank(); i < columns; i += Size) v += x[row * columns + i];
  v = cg::reduce(tile, v, cg::plus<float>());
  if (tile.thread_rank() == 0) y[row] = v;
}
template __global__ void rows_by_tile<8>(const float*, float*, int, int);
template <int Size> __global__ void rows_by_tile_bad(const float* x, float* y, int rows, int columns) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<Size>(block);
  int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
  if (row >= rows) return; // expect: early_exit_before_synchronization
  float v = cg::reduce(tile, x[row * columns + tile.thread_rank()], cg::plus<float>());
  block.sync();
  if (tile.thread_rank() == 0) y[row] = v;
}
template __global__ void rows_by_tile_bad<8>(const float*, float*, int, int);
// --- Quantised blocks (bitsandbytes): values in pieces, the tail guarded or left
template <class T, int Block, int Each> __global__ void quantise(const T* in, float* absmax, unsigned char* out, int n) {
  const int first = blockIdx.x * Block;
  __shared__ float largest;
  __shared__ float lane_max[Block / Each];
  T values[Each];
  float local = 0;
  for (int i = first; i < n; i += gridDim.x * Block) {
    const int valid = n - i > Block ? Block : n - i;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < Each; ++j) {
      const int at = threadIdx.x * Each + j;
      values[j] = at < valid ? in[i + at] : T(0);
      local = fmaxf(local, fabsf(values[j]));
    }
    lane_max[threadIdx.x] = local;
    __syncthreads();
    if (threadIdx.x == 0) {
      float m = 0;
      for (int t = 0; t < Block / Each; ++t) m = fmaxf(m, lane_max[t]);
      largest = m;
      absmax[i / Block] = m;
    }
    __syncthreads();
    for (int j = 0; j < Each; ++j) if (threadIdx.x * Each + j < valid) out[i + threadIdx.x * Each + j] = values[j] / largest * 127;
  }
}
template __global__ void quantise<float, 256, 2>(const float*, float*, unsigned char*, int);
template <class T, int Block, int Each> __global__ void quantise_bad(const T* in, float* absmax, unsigned char* out, int n) {
  __shared__ float lane_max[Block / Each];
  const int stride = gridDim.x * Block;
  for (int i = blockIdx.x * Block + threadIdx.x * Each; i < n; i += stride) {
    lane_max[threadIdx.x] = fabsf(in[i]);
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[i] = in[i] / lane_max[0] * 127;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
}
template __global__ void quantise_bad<float, 256, 2>(const float*, float*, unsigned char*, int);
// --- Attention over pages: lengths from memory, one sequence for each block
template <int Head, int Page, int Threads> __global__ void __launch_bounds__(Threads) paged(
    float* out, const float* q, const float* cache, const int* table, const int* lengths, int most) {
  extern __shared__ float logits[];
  __shared__ float sums[Threads / 32];
  const int sequence = blockIdx.y, length = lengths[sequence];
  if (blockIdx.z * 512 >= length) return;
  const int pages = (length + Page - 1) / Page;
  float largest = -1e30f;
  for (int page = threadIdx.x / 32; page < pages; page += Threads / 32) {
    const int physical = table[sequence * most + page];
    float v = q[threadIdx.x % 32] * cache[physical * Head + threadIdx.x % 32];
    v = sum_of_warp(v);
    if (threadIdx.x % 32 == 0) logits[page] = v;
    largest = fmaxf(largest, v);
  }
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = largest;
  __syncthreads();
  largest = threadIdx.x % 32 < Threads / 32 ? sums[threadIdx.x % 32] : -1e30f;
  for (int d = Threads / 64; d >= 1; d /= 2) largest = fmaxf(largest, __shfl_xor_sync(full, largest, d));
  for (int i = threadIdx.x; i < length; i += Threads) logits[i] = __expf(logits[i] - largest);
  __syncthreads();
  for (int i = Threads / 32; i > 1; i /= 2) {
    const int middle = i / 2, warp = threadIdx.x / 32;
    if (warp >= middle && warp < i) sums[warp - middle] = logits[threadIdx.x];
    __syncthreads();
    if (warp < middle) logits[threadIdx.x] += sums[warp];
    __syncthreads();
  }
  out[threadIdx.x] = logits[threadIdx.x];
}
template __global__ void paged<64, 16, 128>(float*, const float*, const float*, const int*, const int*, int);
template <int Page, int Threads> __global__ void __launch_bounds__(Threads) paged_bad(
    float* out, const float* cache, const int* lengths) {
  __shared__ float sums[Threads];
  const int length = lengths[blockIdx.y];
  const int pages = (length + Page - 1) / Page;
  for (int page = threadIdx.x / 32; page < pages; page += Threads / 32) {
    sums[threadIdx.x] = cache[page * 32 + threadIdx.x % 32];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[page * 32 + threadIdx.x % 32] = sums[threadIdx.x ^ 32];
  }
}
template __global__ void paged_bad<16, 128>(float*, const float*, const int*);
// --- Experts: the block looks its expert up, or each thread its own
__global__ void experts(const int* ids, const float* x, float* y, int tokens) {
  __shared__ float s[128];
  const int expert = ids[blockIdx.x];
  if (expert == -1) return;
  for (int t = 0; t < tokens; t += 128) {
    s[threadIdx.x] = x[expert * tokens + t + threadIdx.x];
    __syncthreads();
    y[t + threadIdx.x] = s[127 - threadIdx.x];
    __syncthreads();
  }
}
__global__ void experts_by_thread_bad(const int* ids, const float* x, float* y, int tokens) {
  __shared__ float s[128];
  const int expert = ids[blockIdx.x * blockDim.x + threadIdx.x];
  if (expert == -1) return; // expect: early_exit_before_synchronization
  s[threadIdx.x] = x[expert];
  __syncthreads();
  y[threadIdx.x] = s[127 - threadIdx.x];
}
// --- Top k: a loop with a number of rounds from the launch; the winner by all lanes
template <int Each> __global__ void __launch_bounds__(32) top_k(float* x, int* index, int k) {
  float mine[Each];
  for (int i = 0; i < Each; ++i) mine[i] = x[i * 32 + threadIdx.x];
  for (int round = 0; round < k; ++round) {
    float best = mine[0];
    int at = threadIdx.x;
    for (int i = 1; i < Each; ++i) if (mine[i] > best) { best = mine[i]; at = i * 32 + threadIdx.x; }
    for (int d = 16; d > 0; d >>= 1) {
      const float other = __shfl_xor_sync(full, best, d);
      const int other_at = __shfl_xor_sync(full, at, d);
      if (other > best || (other == best && other_at < at)) { best = other; at = other_at; }
    }
    if (at % 32 == threadIdx.x) { mine[at / 32] = -1e30f; index[round] = at; }
  }
}
template __global__ void top_k<4>(float*, int*, int);
template <int Each> __global__ void __launch_bounds__(32) top_k_bad(float* x, int* index) {
  float mine = x[threadIdx.x];
  while (mine > 0) {
    const float best = __shfl_xor_sync(full, mine, 16); // expect: potentially_inactive_thread_in_mask
    if (best > mine) index[threadIdx.x] = 1;
    mine -= best;
  }
  index[32] = 1;
}
template __global__ void top_k_bad<4>(float*, int*);
// --- A vote decides for all, or each thread for itself
__global__ void vote_decides(const float* x, float* y, int n) {
  for (int i = threadIdx.x; ; i += blockDim.x) {
    const bool more = i < n;
    if (!__syncthreads_or(more)) break;
    if (more) y[i] = x[i];
  }
}
__global__ void vote_of_warp_decides_bad(const float* x, float* y, int n) {
  for (int i = threadIdx.x; ; i += blockDim.x) {
    const bool more = i < n;
    if (!__any_sync(full, more)) break; // expect: thread_synchronization_bypassed
    if (more) y[i] = x[i];
    __syncthreads();
  }
}
// --- Rows by threadIdx.y with a block of constant rows (llama.cpp's mul_mat_vec)
template <int Rows> __global__ void __launch_bounds__(Rows * 32, 1) mul_mat_vec(const float* x, float* y, int columns) {
  __shared__ float part[Rows - 1][32];
  float v = 0;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < columns; i += Rows * 32) v += x[blockIdx.x * columns + i];
  if (threadIdx.y > 0) part[threadIdx.y - 1][threadIdx.x] = v;
  __syncthreads();
  if (threadIdx.y > 0) return;
  for (int r = 0; r < Rows - 1; ++r) v += part[r][threadIdx.x];
  v = sum_of_warp(v);
  if (threadIdx.x == 0) y[blockIdx.x] = v;
}
template __global__ void mul_mat_vec<4>(const float*, float*, int);
template <int Rows> __global__ void __launch_bounds__(Rows * 32, 1) mul_mat_vec_bad(const float* x, float* y, int columns) {
  __shared__ float part[Rows][32];
  if (threadIdx.y > 0 && blockIdx.x == 0) return; // expect: early_exit_before_synchronization
  part[threadIdx.y][threadIdx.x] = x[blockIdx.x * columns + threadIdx.x];
  __syncthreads();
  y[blockIdx.x] = part[Rows - 1 - threadIdx.y][threadIdx.x];
}
template __global__ void mul_mat_vec_bad<4>(const float*, float*, int);
