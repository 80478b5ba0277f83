// Bulk asynchronous copies with transaction counts: into shared memory, out of it, and into another block's shared memory.
//@ exercises: [BAR-MBARRIER]: cp.async.bulk, mbarrier.arrive.expect_tx, cuda::device::memcpy_async_tx, barrier_arrive_tx, cuda::ptx::cp_async_bulk, bulk groups, fence.proxy.async, raw mbarrier with phases
#include "support.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void into_shared(const int* in, int* out) {
  __shared__ alignas(128) int tile[1024];
  __shared__ barrier ready;
  if (threadIdx.x == 0) {
    init(&ready, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  for (int round = 0; round < 3; ++round) {
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
      // Two copies count against one phase.
      cuda::memcpy_async(tile, in + round * 1024, cuda::aligned_size_t<16>(512 * sizeof(int)), ready);
      cuda::device::memcpy_async_tx(tile + 512, in + round * 1024 + 512, cuda::aligned_size_t<16>(512 * sizeof(int)), ready);
      token = cuda::device::barrier_arrive_tx(ready, 1, 512 * sizeof(int));
    } else {
      token = ready.arrive();
    }
    ready.wait(std::move(token));
    int sum = 0;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) {
      sum += tile[1023 - i] * (i % 5 + 1);
    }
    out[round * blockDim.x + threadIdx.x] = sum;
    __syncthreads();
  }
}

__global__ void out_of_shared(int* out) {
  __shared__ alignas(16) int tile[256];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x * threadIdx.x);
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, static_cast<unsigned>(sizeof tile));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

__global__ void reduce_into_global(int* out) {
  __shared__ alignas(16) int tile[64];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x + blockIdx.x);
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, tile, static_cast<unsigned>(sizeof tile));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

__global__ void __cluster_dims__(2, 1, 1) to_other_block(int* out) {
  __shared__ alignas(16) int source[128];
  __shared__ alignas(16) int target[128];
  __shared__ alignas(8) cuda::std::uint64_t bar;
  auto cluster = cg::this_cluster();
  source[threadIdx.x] = static_cast<int>(blockIdx.x * 1000 + threadIdx.x);
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1u);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, static_cast<unsigned>(sizeof target));
  }
  ptx::fence_proxy_async(ptx::space_shared);
  cluster.sync();
  if (threadIdx.x == 0) {
    unsigned other = cluster.block_rank() ^ 1;
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(target, other), source,
                       static_cast<unsigned>(sizeof source), cluster.map_shared_rank(&bar, other));
  }
  while (!ptx::mbarrier_try_wait_parity(&bar, 0u)) {
  }
  out[blockIdx.x * 128 + threadIdx.x] = target[127 - threadIdx.x];
  cluster.sync();
}

__global__ void raw_mbarrier(int* out) {
  // Two phases of a barrier for 3 arrivals, driven by hand by one warp.
  __shared__ alignas(8) cuda::std::uint64_t bar;
  __shared__ int stage;
  int lane = threadIdx.x;
  if (lane == 0) {
    ptx::mbarrier_init(&bar, 3u);
    stage = 0;
  }
  __syncthreads();
  for (int phase = 0; phase < 4; ++phase) {
    if (lane < 3) {
      if (lane == 2) {
        atomicAdd(&stage, 1);
      }
      ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar);
    }
    while (!ptx::mbarrier_test_wait_parity(&bar, static_cast<unsigned>(phase & 1))) {
    }
    out[phase * 32 + lane] = *static_cast<volatile int*>(&stage) * 10 + phase;
    __syncthreads();
  }
}

int main() {
  std::vector<int> values(3 * 1024);
  for (int i = 0; i < 3 * 1024; ++i) {
    values[i] = i * 13 % 4099;
  }
  Buffer<int> in(values), out(384);
  auto show = [&](const char* name) {
    SYNC_OK();
    auto result = out.get();
    std::printf("%s %d %d %d %016llx\n", name, result[0], result[100], result[255], static_cast<unsigned long long>(digest(result)));
    out.clear();
  };
  into_shared<<<1, 128>>>(in, out);
  show("into shared");
  out_of_shared<<<1, 256>>>(out);
  show("out of shared");
  reduce_into_global<<<10, 64>>>(out);
  show("reduced");
  to_other_block<<<2, 128>>>(out);
  show("other block");
  raw_mbarrier<<<1, 32>>>(out);
  show("raw");
}
