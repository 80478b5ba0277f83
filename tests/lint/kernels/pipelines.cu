// lint-options: --arch=sm_90 -- -std=c++17
// In the styles of CUTLASS and of CUDA's own samples: stages of a pipeline, mbarriers, roles of warps, named barriers,
// clusters, persistent loops over tiles. Half of them wrong.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
// --- mbarrier by hand
struct Barrier {
  unsigned long long* at;
  __device__ unsigned address() const { return (unsigned)__cvta_generic_to_shared(at); }
  __device__ void init(unsigned count) const { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(count)); }
  __device__ void arrive() const { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory"); }
  __device__ void expect(unsigned bytes) const { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes) : "memory"); }
  __device__ bool test(unsigned phase) const {
    unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(address()), "r"(phase) : "memory");
    return done != 0;
  }
  __device__ void wait(unsigned phase) const { while (!test(phase)) {} }
};
__device__ bool elect_one() {
  unsigned chosen;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(chosen));
  return chosen != 0;
}
__device__ void named_barrier(unsigned id, unsigned threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
template <int Stages> struct State {
  int index = 0;
  unsigned phase = 0;
  __device__ State& operator++() {
    if (++index == Stages) { index = 0; phase ^= 1; }
    return *this;
  }
};
// Producer and consumers, each warp group with a role; all meet before and after.
template <int Stages> __global__ void __launch_bounds__(384) specialised(const float* in, float* out, int tiles) {
  __shared__ alignas(8) unsigned long long full[Stages], empty[Stages];
  __shared__ float buffer[Stages][128];
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) for (int s = 0; s < Stages; ++s) { Barrier{&full[s]}.init(1); Barrier{&empty[s]}.init(2); }
  __syncthreads();
  State<Stages> state;
  if (group == 0) {
    if (threadIdx.x / 32 == 0 && elect_one()) {
      for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        Barrier{&empty[state.index]}.wait(state.phase ^ 1);
        buffer[state.index][0] = in[t];
        Barrier{&full[state.index]}.expect(512);
        ++state;
      }
    }
  } else {
    float sum = 0;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
      Barrier{&full[state.index]}.wait(state.phase);
      sum += buffer[state.index][threadIdx.x % 128];
      named_barrier(group, 128);
      if (threadIdx.x % 128 == 0) Barrier{&empty[state.index]}.arrive();
      ++state;
    }
    out[threadIdx.x] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = 1;
}
template __global__ void specialised<4>(const float*, float*, int);
template <int Stages> __global__ void __launch_bounds__(384) specialised_bad(const float* in, float* out, int tiles) {
  __shared__ alignas(8) unsigned long long full[Stages];
  __shared__ float buffer[Stages][128];
  const int group = threadIdx.x / 128;
  State<Stages> state;
  if (group == 0) {
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
      buffer[state.index][threadIdx.x] = in[t];
      Barrier{&full[state.index]}.expect(512);
      ++state;
    }
  } else {
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
      Barrier{&full[state.index]}.wait(state.phase);
      out[threadIdx.x] += buffer[state.index][threadIdx.x % 128];
      __syncthreads(); // expect: thread_synchronization_in_divergent_region
      ++state;
    }
  }
  out[threadIdx.x] = 1;
}
template __global__ void specialised_bad<4>(const float*, float*, int);
// A producer that ends early, before all others meet.
template <int Stages> __global__ void __launch_bounds__(160) producer_ends(const float* in, float* out, int tiles) {
  __shared__ alignas(8) unsigned long long full[Stages];
  __shared__ float buffer[Stages][128];
  if (threadIdx.x == 0) Barrier{&full[0]}.init(1);
  __syncthreads();
  if (threadIdx.x >= 128) {
    for (int t = 0; t < tiles; ++t) buffer[0][threadIdx.x - 128] = in[t];
    return;
  }
  Barrier{&full[0]}.wait(0);
  named_barrier(1, 128);
  out[threadIdx.x] = buffer[0][threadIdx.x];
}
template __global__ void producer_ends<1>(const float*, float*, int);
template <int Stages> __global__ void __launch_bounds__(160) producer_ends_bad(const float* in, float* out, int tiles) {
  __shared__ alignas(8) unsigned long long full[Stages];
  __shared__ float buffer[Stages][128];
  if (threadIdx.x >= 128) {
    for (int t = 0; t < tiles; ++t) buffer[0][threadIdx.x - 128] = in[t];
    return; // expect: early_exit_before_synchronization
  }
  Barrier{&full[0]}.wait(0);
  __syncthreads();
  out[threadIdx.x] = buffer[0][threadIdx.x];
}
template __global__ void producer_ends_bad<1>(const float*, float*, int);
// A policy class chooses: by `if constexpr`, or by what the thread is.
struct Cooperative { static constexpr bool meets = true; };
struct Alone { static constexpr bool meets = false; };
template <class Policy> struct Mainloop {
  float* shared;
  template <class F> __device__ void run(int tiles, F&& each) {
    for (int t = 0; t < tiles; ++t) {
      each(t);
      if constexpr (Policy::meets) __syncthreads();
    }
  }
};
__global__ void by_policy(float* out, int tiles) {
  __shared__ float s[64];
  Mainloop<Cooperative>{s}.run(tiles, [&](int t) { out[t * 64 + threadIdx.x] = t; });
  if (threadIdx.x < 7) Mainloop<Alone>{s}.run(tiles, [&](int t) { out[t] += 1; });
  out[0] = 1;
}
template <class Policy> struct OwnMainloop {
  template <class F> __device__ void run(int tiles, F&& each) {
    for (int t = 0; t < tiles; ++t) {
      each(t);
      if constexpr (Policy::meets) __syncthreads(); // expect: thread_synchronization_in_divergent_region
    }
  }
};
__global__ void by_policy_bad(float* out, int tiles) {
  OwnMainloop<Alone>{}.run(tiles, [&](int t) { out[t * 64 + threadIdx.x] = t; });
  if (threadIdx.x < 7) OwnMainloop<Cooperative>{}.run(tiles, [&](int t) { out[t] += 1; });
  out[0] = 1;
}
// The body of a loop is a lambda expression with the barrier in it.
template <class F> __device__ void for_each(int begin, int end, int step, F f) { for (int i = begin; i < end; i += step) f(i); }
__global__ void lambda_waits(float* out, int n) {
  __shared__ float s[256];
  for_each(0, n, 256, [&](int i) {
    s[threadIdx.x] = out[i + threadIdx.x];
    __syncthreads();
    out[i + threadIdx.x] = s[255 - threadIdx.x];
    __syncthreads();
  });
}
__global__ void lambda_waits_bad(float* out, int n) {
  __shared__ float s[256];
  for_each(threadIdx.x, n, 256, [&](int i) {
    s[threadIdx.x] = out[i];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[i] = s[255 - threadIdx.x];
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  });
  out[0] = 0;
}
// cuda::barrier: every thread takes part, or somebody is missing.
__global__ void block_barrier(float* out, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&b, block.size());
  block.sync();
  for (int i = 0; i < n; ++i) {
    out[i * 64 + threadIdx.x] = i;
    b.arrive_and_wait();
  }
}
__global__ void block_barrier_initialised_late_bad(float* out, int n) {
  __shared__ cuda::barrier<cuda::thread_scope_block> b;
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) {
    init(&b, block.size());
    block.sync(); // expect: thread_synchronization_in_divergent_region
  }
  b.arrive_and_wait();
  out[threadIdx.x] = n;
}
// cuda::pipeline with stages
template <int Stages> __global__ void staged(const int* in, int* out, int tiles) {
  extern __shared__ int s[];
  auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> shared;
  auto pipe = cuda::make_pipeline(block, &shared);
  for (int compute = 0, fetch = 0; compute < tiles; ++compute) {
    for (; fetch < tiles && fetch < compute + Stages; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s + fetch % Stages * 64, in + fetch * 64, sizeof(int) * 64, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    out[compute * 64 + threadIdx.x] = s[compute % Stages * 64 + threadIdx.x];
    block.sync();
    pipe.consumer_release();
  }
}
template __global__ void staged<2>(const int*, int*, int);
template <int Stages> __global__ void staged_by_half_bad(const int* in, int* out, int tiles) {
  extern __shared__ int s[];
  auto block = cg::this_thread_block();
  const bool loads = block.thread_rank() < block.size() / 2;
  for (int t = 0; t < tiles; ++t) {
    if (loads) {
      s[threadIdx.x] = in[t * 64 + threadIdx.x];
      continue; // expect: thread_synchronization_bypassed
    }
    block.sync();
    out[t] = s[threadIdx.x];
  }
}
template __global__ void staged_by_half_bad<2>(const int*, int*, int);
// --- Clusters
__global__ void __cluster_dims__(2, 1, 1) cluster_waits(float* out) {
  __shared__ float s;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) s = cluster.block_rank();
  cluster.sync();
  float* other = cluster.map_shared_rank(&s, cluster.block_rank() ^ 1);
  out[blockIdx.x * blockDim.x + threadIdx.x] = *other;
  cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) cluster_waits_bad(float* out) {
  __shared__ float s;
  auto cluster = cg::this_cluster();
  if (cluster.block_rank() == 0) {
    s = 1;
    cluster.sync(); // expect: thread_synchronization_in_divergent_region
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
// --- The grid
__global__ void grid_waits(float* out, int rounds) {
  auto grid = cg::this_grid();
  for (int r = 0; r < rounds; ++r) {
    for (int i = grid.thread_rank(); i < 1000; i += grid.size()) out[i] += 1;
    grid.sync();
  }
}
__global__ void grid_waits_bad(float* out, const int* rounds) {
  auto grid = cg::this_grid();
  for (int r = 0; r < rounds[blockIdx.x]; ++r) {
    for (int i = grid.thread_rank(); i < 1000; i += grid.size()) out[i] += 1;
    grid.sync(); // expect: thread_synchronization_in_divergent_region
  }
}
// --- A scheduler of tiles: the block's own, or the thread's
struct Scheduler {
  unsigned at, step;
  __device__ Scheduler(unsigned first, unsigned by) : at(first), step(by) {}
  struct Tile { unsigned m, n; bool valid; };
  __device__ Tile tile(unsigned tiles) const { return {at / 16, at % 16, at < tiles}; }
  __device__ void advance() { at += step; }
};
__global__ void __launch_bounds__(128) persistent(float* out, unsigned tiles) {
  __shared__ float s[128];
  Scheduler scheduler(blockIdx.x, gridDim.x);
  auto tile = scheduler.tile(tiles);
  while (tile.valid) {
    s[threadIdx.x] = tile.m;
    __syncthreads();
    out[tile.n * 128 + threadIdx.x] = s[127 - threadIdx.x];
    __syncthreads();
    scheduler.advance();
    tile = scheduler.tile(tiles);
  }
}
__global__ void __launch_bounds__(128) persistent_by_warp_bad(float* out, unsigned tiles) {
  __shared__ float s[128];
  Scheduler scheduler(blockIdx.x * 4 + threadIdx.x / 32, gridDim.x * 4);
  auto tile = scheduler.tile(tiles);
  while (tile.valid) {
    s[threadIdx.x] = tile.m;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
    out[tile.n * 128 + threadIdx.x] = s[127 - threadIdx.x];
    scheduler.advance();
    tile = scheduler.tile(tiles);
  }
}
