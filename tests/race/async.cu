// Clusters, mbarriers, pipelines and asynchronous copies (spec/races.md: [RACE-ASYNC]).
#include "cases.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

template <bool right> __global__ void __cluster_dims__(2, 1, 1) cluster(int* out) {
  __shared__ int s[64];
  auto group = cg::this_cluster();
  s[threadIdx.x] = threadIdx.x;
  if (right) {
    group.sync();
  } else {
    __syncthreads();
  }
  int* other = group.map_shared_rank(s, group.block_rank() ^ 1);
  out[blockIdx.x * 64 + threadIdx.x] = other[63 - threadIdx.x];
  group.sync();
}
CASE(cluster_sync, "shared memory") { cluster<right><<<4, 64>>>(device_memory<int>(256)); }

template <bool right> __global__ void __cluster_dims__(2, 1, 1) relaxed(int* out) {
  __shared__ int s[32];
  auto group = cg::this_cluster();
  s[threadIdx.x] = threadIdx.x;
  if (right) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  } else {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  }
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  out[blockIdx.x * 32 + threadIdx.x] = group.map_shared_rank(s, group.block_rank() ^ 1)[threadIdx.x];
  group.sync();
}
CASE(cluster_arrive_relaxed, "shared memory") { relaxed<right><<<2, 32>>>(device_memory<int>(64)); }

// Each lane has waited for its own copy; that of another lane is there behind a barrier only.
template <bool right> __global__ void own_copies(const int* in, int* out) {
  __shared__ int s[2][32];
  for (int i = 0; i < 2; ++i) {
    __pipeline_memcpy_async(&s[i][threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
  }
  for (int i = 0; i < 2; ++i) {
    __pipeline_wait_prior(1 - i);
    if (right || i == 0) {
      __syncwarp();
    }
    out[i * 32 + threadIdx.x] = s[i][31 - threadIdx.x];
  }
}
CASE(own_copies_only, "RACE-ASYNC") {
  own_copies<right><<<1, 32>>>(device_memory<int>(32), device_memory<int>(64));
}

using Barrier = cuda::barrier<cuda::thread_scope_block>;
template <bool right> __global__ void producer(int* out) {
  __shared__ Barrier full, empty;
  __shared__ int s[32];
  if (threadIdx.x == 0) {
    init(&full, 64);
    init(&empty, 64);
  }
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    if (threadIdx.x < 32) {
      if (right) {
        empty.arrive_and_wait();
      }
      s[threadIdx.x] = i;
      full.arrive_and_wait();
    } else {
      if (right) {
        (void)empty.arrive();
      }
      full.arrive_and_wait();
      out[i * 32 + threadIdx.x - 32] = s[threadIdx.x - 32];
    }
  }
}
CASE(barrier_one_way, "data-race") { producer<right><<<1, 64>>>(device_memory<int>(128)); }

template <bool right> __global__ void group_copy(const int* in, int* out) {
  __shared__ int s[128];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, sizeof s);
  if (right) {
    cg::wait(block);
  } else {
    block.sync();
  }
  out[threadIdx.x] = s[127 - threadIdx.x];
}
CASE(memcpy_async_not_waited, "has not been waited for") {
  group_copy<right><<<1, 128>>>(device_memory<int>(128), device_memory<int>(128));
}

template <bool right> __global__ void own_copy(const int* in, int* out) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  if (right) {
    __pipeline_wait_prior(0);
  }
  out[threadIdx.x] = s[threadIdx.x];
}
CASE(own_copy_not_waited, "has not been waited for") {
  own_copy<right><<<1, 64>>>(device_memory<int>(64), device_memory<int>(64));
}

template <bool right> __global__ void stages(const int* in, int* out) {
  __shared__ int s[2][64];
  __pipeline_memcpy_async(&s[0][threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (i + 1 < 4) {
      __pipeline_memcpy_async(&s[(i + 1) % 2][threadIdx.x], &in[(i + 1) * 64 + threadIdx.x], 4);
    }
    __pipeline_commit();
    __pipeline_wait_prior(right ? 1 : 2);
    __syncthreads();
    sum += s[i % 2][63 - threadIdx.x];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
CASE(two_stages, "has not been waited for") { stages<right><<<1, 64>>>(device_memory<int>(256), device_memory<int>(64)); }

template <bool right> __global__ void copy_needs_barrier(const int* in, int* out) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (right) {
    __syncthreads();
  }
  out[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(copy_of_others, "data-race") {
  copy_needs_barrier<right><<<1, 64>>>(device_memory<int>(64), device_memory<int>(64));
}

template <bool right> __global__ void barrier_copy(const int* in, int* out) {
  __shared__ Barrier bar;
  __shared__ alignas(16) int s[256];
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
  }
  __syncthreads();
  cuda::memcpy_async(&s[threadIdx.x * 4], &in[threadIdx.x * 4], cuda::aligned_size_t<16>(16), bar);
  if (right) {
    bar.arrive_and_wait();
  } else {
    (void)bar.arrive();
  }
  out[threadIdx.x] = s[255 - threadIdx.x];
}
CASE(memcpy_async_barrier, "data-race") {
  barrier_copy<right><<<1, 64>>>(device_memory<int>(256), device_memory<int>(64));
}

template <bool right> __global__ void bulk(const int* in, int* out) {
  __shared__ Barrier bar;
  __shared__ alignas(16) int s[64];
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::memcpy_async(s, in, cuda::aligned_size_t<16>(sizeof s), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, 0);
  } else {
    token = bar.arrive();
  }
  if (right || threadIdx.x != 32) {
    bar.wait(std::move(token));
  }
  out[threadIdx.x] = s[63 - threadIdx.x];
}
CASE(bulk_copy_not_waited, "has not been waited for") {
  bulk<right><<<1, 64>>>(device_memory<int>(64), device_memory<int>(64));
}

template <bool right> __global__ void bulk_out(int* out) {
  __shared__ alignas(16) int s[64];
  s[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out),
                 "r"((unsigned)__cvta_generic_to_shared(s)), "r"((int)sizeof s)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (right) {
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
  }
  __syncthreads();
  s[threadIdx.x] = 0;
}
CASE(bulk_source_overwritten, "has not been waited for") { bulk_out<right><<<1, 64>>>(device_memory<int>(64)); }

template <bool right> __global__ void pipeline(const int* in, int* out) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int s[2][64];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int stage = 0, fetched = 0; stage < 4; ++stage) {
    for (; fetched < 4 && fetched < stage + 2; ++fetched) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, s[fetched % 2], in + fetched * 64, sizeof s[0], pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += s[right ? stage % 2 : (stage + 1) % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
CASE(pipeline_other_stage, "data-race") {
  pipeline<right><<<1, 64>>>(device_memory<int>(256), device_memory<int>(64));
}
