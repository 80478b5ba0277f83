// Programs that spend their time in atomic updates, strong accesses and barriers with results: counts,
// sums, graphs, lists, and reductions as they were written before there were shuffles. What comes out
// does not depend on an order: sums are of integers, or of floats that are whole numbers.
#include "kinds.h"

namespace {

constexpr int bins = 4096;

__global__ void count_values(uint32_t* counts, const float* in, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&counts[static_cast<uint32_t>(in[i] * bins) % bins], 1U);
  }
}

__global__ void deposit(float* grid, const float* in, int n) { // charges of particles on four corners
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t x = static_cast<uint32_t>(in[i] * 63), y = static_cast<uint32_t>(in[(i + 7) % n] * 63);
  for (int k = 0; k < 8; ++k) {
    const uint32_t at = ((y + k) % 64) * 64 + x;
    atomicAdd(&grid[at], 1.0f);
    atomicAdd(&grid[(at + 1) % bins], 2.0f);
    atomicAdd(&grid[(at + 64) % bins], 3.0f);
    atomicAdd(&grid[(at + 65) % bins], 4.0f);
  }
}

__global__ void sum_double(double* out, const float* in, int n) {
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += static_cast<int>(in[i] * 1000);
  }
  atomicAdd(&out[threadIdx.x % 8], sum);
}

__global__ void sum_volatile(uint32_t* out, const float* in, int n) { // the end of a block's sum without barriers
  __shared__ volatile uint32_t part[threads];
  const int t = threadIdx.x;
  uint32_t mine = 0;
  for (int k = 0; k < 4; ++k) mine += static_cast<uint32_t>(in[(blockIdx.x * blockDim.x + t + k * 4099) % n] * 1000);
  part[t] = mine;
  __syncthreads();
  for (int d = threads / 2; d > 32; d /= 2) {
    if (t < d) part[t] = part[t] + part[t + d];
    __syncthreads();
  }
  if (t < 32) {
    for (int d = 32; d > 0; d /= 2) {
      if (t < d) part[t] = part[t] + part[t + d];
      __syncwarp();
    }
  }
  if (t == 0) atomicAdd(out, part[0]);
}

__device__ uint32_t blocks_done;
__global__ void last_block(uint32_t* out, uint32_t* sums, const float* in, int n) {
  __shared__ uint32_t sum;
  __shared__ bool last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, static_cast<uint32_t>(in[blockIdx.x * blockDim.x + threadIdx.x] * 1000));
  __syncthreads();
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    for (int i = threadIdx.x; i < static_cast<int>(gridDim.x); i += blockDim.x) atomicAdd(out, sums[i]);
  }
}

__global__ void compact(uint32_t* out, uint32_t* count, const float* in, int n) { // in any order
  __shared__ uint32_t here, begin;
  for (int k = 0; k < 8; ++k) {
    if (threadIdx.x == 0) here = 0;
    __syncthreads();
    const float v = in[(blockIdx.x * blockDim.x + threadIdx.x + k * 1031) % n];
    uint32_t at = 0;
    if (v < 0.4f) at = atomicAdd(&here, 1U);
    __syncthreads();
    if (threadIdx.x == 0) begin = atomicAdd(count, here);
    __syncthreads();
    if (v < 0.4f) {
      atomicAdd(&out[0], static_cast<uint32_t>(v * 1000));
      atomicMax(&out[1], begin + at);
    }
    __syncthreads();
  }
}

__global__ void highest(uint32_t* out, const float* in, int n) { // by compare and swap
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    const float v = in[(i + k * 977) % n];
    uint32_t* place = &out[(i + k) % 512];
    uint32_t old = *place;
    while (__uint_as_float(old) < v) {
      const uint32_t seen = atomicCAS(place, old, __float_as_uint(v));
      if (seen == old) break;
      old = seen;
    }
  }
}

__global__ void shortest_paths(uint32_t* distance, int n) { // rounds until no distance of the block's changes
  __shared__ uint32_t d[threads];
  const int t = threadIdx.x, first = blockIdx.x * threads;
  d[t] = t == 0 ? 0 : 1000000;
  __syncthreads();
  bool changed = true;
  while (__syncthreads_or(changed)) {
    changed = false;
    for (int k = 1; k <= 4; ++k) {
      const int to = (t * 5 + k * 31 + blockIdx.x) % threads;
      const uint32_t through = d[t] + (t * 7 + k * 13) % 29;
      if (atomicMin(&d[to], through) > through) changed = true;
    }
  }
  distance[first + t] = d[t];
}

__global__ void votes_of_blocks(uint32_t* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  uint32_t sum = 0;
  for (int k = 0; k < 32; ++k) {
    sum = sum * 3 + __syncthreads_count(v < 0.5f);
    v = v * 3.7f * (1 - v) + 0.01f;
    if (__syncthreads_and(v < 2)) sum += k;
  }
  out[i] = sum;
}

__global__ void big_arrays(uint32_t* out, const float* in, int n) { // 4 KiB of each thread's own
  uint32_t mine[1024];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t x = static_cast<uint32_t>(in[i] * 1e6f);
  for (int k = 0; k < 1024; ++k) mine[k] = k * x;
  for (int k = 0; k < 1024; ++k) {
    x = x * 1664525 + 1013904223;
    mine[x >> 22] += mine[k];
  }
  uint32_t sum = 0;
  for (int k = 0; k < 1024; ++k) sum = sum * 31 + mine[k];
  out[i] = sum;
}

template <auto kernel> void words(float* out, float* in, int n) {
  kernel<<<n / threads, threads>>>(reinterpret_cast<uint32_t*>(out), in, n);
}

constexpr Kind kinds[] = {
    {"count_values", 1 << 20, words<count_values>},
    {"deposit", 1 << 16, [](float* out, float* in, int n) { deposit<<<n / threads, threads>>>(out, in, n); }},
    {"sum_double", 1 << 18, [](float* out, float* in, int n) {
       sum_double<<<256, threads>>>(reinterpret_cast<double*>(out), in, n);
     }},
    {"sum_volatile", 1 << 18, words<sum_volatile>},
    {"last_block", 1 << 18, [](float* out, float* in, int n) {
       uint32_t* sums;
       cudaMalloc(&sums, n);
       last_block<<<n / threads, threads>>>(reinterpret_cast<uint32_t*>(out), sums, in, n);
       cudaFree(sums);
     }},
    {"compact", 1 << 16, [](float* out, float* in, int n) {
       uint32_t* count;
       cudaMalloc(&count, 4);
       cudaMemset(count, 0, 4);
       compact<<<n / threads, threads>>>(reinterpret_cast<uint32_t*>(out), count, in, n);
       cudaFree(count);
     }},
    {"highest", 1 << 17, words<highest>},
    {"shortest_paths", 1 << 15, [](float* out, float*, int n) {
       shortest_paths<<<n / threads, threads>>>(reinterpret_cast<uint32_t*>(out), n);
     }},
    {"votes_of_blocks", 1 << 16, words<votes_of_blocks>},
    {"big_arrays", 1 << 12, words<big_arrays>},
};

} // namespace

int main(int argc, char** argv) { return run_kinds(kinds, argc, argv); }
