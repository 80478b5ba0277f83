// Groups used where only some threads come by, and conditions that came through memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int reduce_sum(cg::thread_block g, int* temp, int val) {
  const int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    temp[lane] = val;
    g.sync();
    if (lane < i) {
      val += temp[lane + i];
      g.sync(); // expect: thread_synchronization_in_divergent_region
    }
  }
  return val;
}
__global__ void sum_bad(int* sum, const int* in, int n) {
  extern __shared__ int temp[];
  auto g = cg::this_thread_block();
  const int total = reduce_sum(g, temp, in[g.thread_rank()]);
  if (g.thread_rank() == 0) atomicAdd(sum, total);
}
__device__ int reduce_any(cg::thread_group g, int* temp, int val) {
  const int lane = g.thread_rank();
  temp[lane] = val;
  g.sync(); // expect: thread_synchronization_in_divergent_region
  return temp[0];
}
__global__ void sum_of_half_bad(int* out, const int* in, int n) {
  extern __shared__ int temp[];
  const cg::thread_block block = cg::this_thread_block();
  int v = 0;
  if (block.thread_rank() < n) v = reduce_any(block, temp, in[threadIdx.x]);
  out[threadIdx.x] = v;
}
__global__ void tile_zero_bad(float* x) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  if (tile.meta_group_rank() == 0) {
    x[tile.thread_rank()] = 1;
    block.sync(); // expect: thread_synchronization_in_divergent_region
  }
  x[block.thread_rank() + 32] = x[0];
}
__global__ void tile_zero_good(float* x) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  if (tile.meta_group_rank() == 0) {
    x[tile.thread_rank()] = 1;
    tile.sync();
  }
  block.sync();
  x[block.thread_rank() + 32] = x[0];
}
__global__ void own_element_bad(const int* in, int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  while (s[threadIdx.x] > 0) {
    s[threadIdx.x] /= 2;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void common_element_good(const int* in, int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  while (s[0] > 0) {
    __syncthreads();
    s[threadIdx.x] /= 2;
    __syncthreads();
  }
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void common_element_bad(const int* in, int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  while (s[0] > 0) {
    s[threadIdx.x] /= 2;
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
  }
  out[threadIdx.x] = s[threadIdx.x];
}
__global__ void global_flag_bad(int* done, float* x, int n) {
  while (!*done) {
    x[threadIdx.x] *= 0.5f;
    if (x[threadIdx.x] < 1.0f / n) *done = 1;
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
  }
}
__global__ void parity_flag_good(const int* in, int* out, int n) {
  __shared__ int any[3];
  if (threadIdx.x < 3) any[threadIdx.x] = 0;
  __syncthreads();
  int v = in[threadIdx.x];
  for (int k = 0;; ++k) {
    if (threadIdx.x == 0) any[(k + 1) % 3] = 0;
    if (v > n) {
      v -= n;
      any[k % 3] = 1;
    }
    __syncthreads();
    if (!any[k % 3]) break;
  }
  out[threadIdx.x] = v;
}
// With two flags, thread 0 clears the one that slow threads still look at.
__global__ void parity_flag_bad(const int* in, int* out, int n) {
  __shared__ int any[2];
  if (threadIdx.x < 2) any[threadIdx.x] = 0;
  __syncthreads();
  int v = in[threadIdx.x];
  for (int k = 0;; ++k) {
    if (threadIdx.x == 0) any[(k + 1) % 2] = 0;
    if (v > n) {
      v -= n;
      any[k % 2] = 1;
    }
    __syncthreads();
    if (!any[k % 2]) break; // expect: potentially_thread_synchronization_bypassed
  }
  out[threadIdx.x] = v;
}
__global__ void sections_good(const float* in, float* out, int n) {
  extern __shared__ float memory[];
  float* values = memory;
  int* count = reinterpret_cast<int*>(memory + blockDim.x);
  if (threadIdx.x == 0) *count = n;
  __syncthreads();
  for (int r = 0; r < *count; ++r) {
    values[threadIdx.x] = in[r * blockDim.x + threadIdx.x];
    __syncthreads();
    out[r * blockDim.x + threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
  }
}
__global__ void sections_bad(const float* in, float* out, int n) {
  extern __shared__ float memory[];
  float* values = memory;
  int* count = reinterpret_cast<int*>(memory + blockDim.x);
  if (threadIdx.x == 0) *count = n;
  __syncthreads();
  for (int r = 0; r < *count; ++r) {
    values[threadIdx.x] = in[r * blockDim.x + threadIdx.x];
    __syncthreads(); // expect: potentially_thread_synchronization_in_divergent_region
    if (values[threadIdx.x] < 0) *count = 0;
  }
}
int main() { return 0; }
