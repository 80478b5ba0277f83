// Warps that work on their own, and the groups of the samples: all of it right.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define FULL_MASK 0xffffffffu
#define WARP_SIZE 32

// Shared memory of any type, as the samples have it.
template <class T> struct SharedMemory {
  __device__ inline operator T*() {
    extern __shared__ int __smem[];
    return (T*)__smem;
  }
  __device__ inline operator const T*() const {
    extern __shared__ int __smem[];
    return (T*)__smem;
  }
};
template <class T> __global__ void reduce_shared_memory(T* in, T* out, unsigned n) {
  cg::thread_block cta = cg::this_thread_block();
  T* sdata = SharedMemory<T>();
  unsigned tid = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  T mine = (i < n) ? in[i] : 0;
  if (i + blockDim.x < n) mine += in[i + blockDim.x];
  sdata[tid] = mine;
  cg::sync(cta);
  for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
    if (tid < s) sdata[tid] = mine = mine + sdata[tid + s];
    cg::sync(cta);
  }
  cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
  if (cta.thread_rank() < 32) {
    if (blockDim.x >= 64) mine += sdata[tid + 32];
    for (int offset = tile32.size() / 2; offset > 0; offset /= 2) mine += tile32.shfl_down(mine, offset);
  }
  if (cta.thread_rank() == 0) out[blockIdx.x] = mine;
}
template __global__ void reduce_shared_memory<double>(double*, double*, unsigned);

// A warp for each row; the number of the warp counts through the grid.
__global__ void spmv_warp_per_row(const int* ptr, const int* col, const float* val, const float* x, float* y, int rows) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int warp = thread / WARP_SIZE, lane = thread % WARP_SIZE;
  if (warp >= rows) return;
  float sum = 0;
  for (int j = ptr[warp] + lane; j < ptr[warp + 1]; j += WARP_SIZE) sum += val[j] * x[col[j]];
  for (int d = WARP_SIZE / 2; d > 0; d >>= 1) sum += __shfl_down_sync(FULL_MASK, sum, d);
  if (lane == 0) y[warp] = sum;
}
__global__ void warps_in_strides(const float* in, float* out, int rows, int cols) {
  const int lane = threadIdx.x & 31, warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, warps = (gridDim.x * blockDim.x) >> 5;
  for (int row = warp; row < rows; row += warps) {
    float best = -1e30f;
    for (int c = lane; c < cols; c += 32) best = fmaxf(best, in[row * cols + c]);
    for (int d = 16; d; d >>= 1) best = fmaxf(best, __shfl_xor_sync(FULL_MASK, best, d));
    float s = 0;
    for (int c = lane; c < cols; c += 32) s += expf(in[row * cols + c] - best);
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(FULL_MASK, s, d);
    for (int c = lane; c < cols; c += 32) out[row * cols + c] = expf(in[row * cols + c] - best) / s;
  }
}
__global__ void warps_of_block(const float* in, float* out, int rows, int cols) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, per_block = blockDim.x / 32;
  const int row = blockIdx.x * per_block + warp;
  if (row < rows) {
    float s = 0;
    for (int c = lane; c < cols; c += 32) s += in[row * cols + c];
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(FULL_MASK, s, d);
    if (lane == 0) out[row] = s;
    __syncwarp();
  }
}
__global__ void two_dimensional(const float* in, float* out, int rows, int cols) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += 32) s += in[row * cols + c];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(FULL_MASK, s, d);
  if (threadIdx.x == 0) out[row] = s;
}
// A row of a sparse matrix has its own length, but the whole warp has the same.
__global__ void ragged(const int* ptr, const float* val, float* y, int rows) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= rows) return;
  const int begin = ptr[warp], end = ptr[warp + 1];
  float total = 0;
  for (int base = begin; base < end; base += 32) {
    float v = base + lane < end ? val[base + lane] : 0;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(FULL_MASK, v, d);
    total += v;
    if (total > 1e6f) break;
  }
  if (lane == 0) y[warp] = total;
}
// One atomic for all threads that come by.
__device__ int aggregated_add(int* counter) {
  const unsigned active = __activemask();
  const int leader = __ffs(active) - 1, lane = threadIdx.x & 31;
  int base = 0;
  if (lane == leader) base = atomicAdd(counter, __popc(active));
  base = __shfl_sync(active, base, leader);
  return base + __popc(active & ((1u << lane) - 1));
}
__global__ void filter(const int* in, int* out, int* counter, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (in[i] > 0) out[aggregated_add(counter)] = in[i];
}
__global__ void filter_groups(const int* in, int* out, int* counter, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) {
    cg::coalesced_group active = cg::coalesced_threads();
    int base = 0;
    if (active.thread_rank() == 0) base = atomicAdd(counter, active.size());
    out[active.shfl(base, 0) + active.thread_rank()] = in[i];
  }
}
// Threads with the same key add up among themselves.
__global__ void by_key(const int* keys, const float* values, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned inside = __ballot_sync(FULL_MASK, i < n);
  if (i < n) {
    unsigned peers = __match_any_sync(inside, keys[i]);
    const int first = __ffs(peers) - 1, lane = threadIdx.x % 32;
    float v = values[i];
    peers &= 0xfffffffeu << lane;
    while (__any_sync(inside, peers)) {
      const int next = __ffs(peers);
      const float other = __shfl_sync(inside, v, next - 1);
      if (next) v += other;
      const unsigned done = __ballot_sync(inside, lane & 1);
      peers &= ~done;
    }
    if (lane == first) atomicAdd(&sums[keys[i]], v);
  }
}
// A warp goes through a queue together.
__global__ void warp_work(int* head, const int* items, float* out, int n) {
  const int lane = threadIdx.x % 32;
  for (;;) {
    int at = 0;
    if (lane == 0) at = atomicAdd(head, 1);
    at = __shfl_sync(FULL_MASK, at, 0);
    if (at >= n) break;
    float v = items[at] * lane;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(FULL_MASK, v, d);
    if (lane == 0) out[at] = v;
    __syncwarp();
  }
}
// A group of any kind.
__device__ int reduce_sum(cg::thread_group g, int* temp, int val) {
  const int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    temp[lane] = val;
    g.sync();
    if (lane < i) val += temp[lane + i];
    g.sync();
  }
  return val;
}
__global__ void sum_any_group(int* sum, const int* in, int n) {
  extern __shared__ int temp[];
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) mine += in[i];
  auto g = cg::this_thread_block();
  const int total = reduce_sum(g, temp, mine);
  if (g.thread_rank() == 0) atomicAdd(sum, total);
}
__global__ void sum_tiles(int* sum, const int* in, int n) {
  extern __shared__ int temp[];
  auto g = cg::this_thread_block();
  const int tile_index = g.thread_rank() / 4;
  auto tile = cg::tiled_partition(g, 4);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int total = reduce_sum(tile, temp + 4 * tile_index, i < n ? in[i] : 0);
  if (tile.thread_rank() == 0) atomicAdd(sum, total);
}
int main() { return 0; }
__device__ float sum_in_first_warp(float v) {
  assert(threadIdx.x < 32);
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(FULL_MASK, v, d);
  __syncwarp();
  return v;
}
__global__ void asserted(float* x) {
  if (threadIdx.x / 32 == 0) x[threadIdx.x] = sum_in_first_warp(x[threadIdx.x]);
}
