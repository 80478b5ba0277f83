// Threads wait across warps of a block, across blocks of a cluster and across blocks of a cooperative grid.
//@ exercises: [CLUSTER] and [COOP] progress: flags in shared, distributed shared and global memory, in both directions of block index; hand-written grid barriers
//@ seeds: 1 2
#include "../patience.h"
#include "../support.h"

#include <cooperative_groups.h>
#include <cuda/atomic>

namespace cg = cooperative_groups;

__global__ void warps(int* out) {
  // Warp 0 waits for warp 3, which waits for warp 1, which waits for warp 2.
  __shared__ cuda::atomic<int, cuda::thread_scope_block> stage;
  __shared__ int value;
  int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    stage.store(0);
  }
  __syncthreads();
  constexpr int order[4] = {3, 1, 0, 2};
  if (threadIdx.x % 32 == 0) {
    Patience patience;
    while (stage.load(cuda::memory_order_acquire) != order[warp]) {
      patience.wait();
    }
    value = (order[warp] == 0 ? 1 : value * 10 + order[warp] + 1);
    stage.store(order[warp] + 1, cuda::memory_order_release);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    *out = value;
  }
}

__global__ void __cluster_dims__(4, 1, 1) cluster_blocks(int* out) {
  // Block 0 waits for block 3 through block 3's shared memory, and so on downwards.
  __shared__ int flag;
  auto cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank();
  if (threadIdx.x == 0) {
    flag = 0;
  }
  cluster.sync();
  if (threadIdx.x == 0) {
    if (rank < 3) {
      int* remote = cluster.map_shared_rank(&flag, rank + 1);
      cuda::atomic_ref<int, cuda::thread_scope_device> ready(*remote);
      Patience patience;
      while (ready.load(cuda::memory_order_acquire) == 0) {
        patience.wait();
      }
      out[blockIdx.x] = out[blockIdx.x + 1] + 1;
    } else {
      out[blockIdx.x] = static_cast<int>(blockIdx.x) * 100;
    }
    cuda::atomic_ref<int, cuda::thread_scope_device>(flag).store(1, cuda::memory_order_release);
  }
  cluster.sync();
}

__global__ void cluster_global_flag(int* flags) {
  // Two blocks of a cluster by attribute, flags in global memory, both directions at once.
  auto cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank();
  int* mine = flags + blockIdx.x;
  int* partner = flags + (blockIdx.x ^ 1);
  if (threadIdx.x == 0) {
    Patience patience;
    for (int i = 1; i <= 20; ++i) {
      cuda::atomic_ref<int, cuda::thread_scope_device>(*mine).store(i, cuda::memory_order_release);
      while (cuda::atomic_ref<int, cuda::thread_scope_device>(*partner).load(cuda::memory_order_acquire) < i) {
        patience.wait();
      }
    }
    (void)rank;
  }
}

__global__ void grid_chain(int* flags, int* out) {
  // In a cooperative grid every block may wait for every other one: here for the next higher index.
  if (threadIdx.x == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device> mine(flags[blockIdx.x]);
    if (blockIdx.x + 1 < gridDim.x) {
      cuda::atomic_ref<int, cuda::thread_scope_device> next(flags[blockIdx.x + 1]);
      Patience patience;
      while (next.load(cuda::memory_order_acquire) == 0) {
        patience.wait();
      }
      out[blockIdx.x] = out[blockIdx.x + 1] + 1;
    } else {
      out[blockIdx.x] = 1;
    }
    mine.store(1, cuda::memory_order_release);
  }
}

__device__ void barrier_by_hand(unsigned* arrived, volatile unsigned* generation) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned before = *generation;
    __threadfence();
    if (atomicAdd(arrived, 1u) == gridDim.x - 1) {
      atomicExch(arrived, 0u);
      __threadfence();
      *generation = before + 1;
    } else {
      Patience patience;
      while (*generation == before) {
        patience.wait();
      }
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void grid_barrier(unsigned* state, int* data, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int round = 0; round < rounds; ++round) {
    int value = data[(i + blockDim.x) % n];
    barrier_by_hand(state, state + 1);
    data[i] = value + 1;
    barrier_by_hand(state, state + 1);
  }
}

int main() {
  Buffer<int> out(64), flags(64);
  Buffer<unsigned> state(2);
  warps<<<1, 128>>>(out);
  SYNC_OK();
  std::printf("warps %d\n", out.get()[0]);

  cluster_blocks<<<8, 32>>>(out);
  SYNC_OK();
  std::printf("cluster %d %d\n", out.get()[0], out.get()[4]);

  cudaLaunchConfig_t config{};
  config.gridDim = 6;
  config.blockDim = 64;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUDA_OK(cudaLaunchKernelEx(&config, cluster_global_flag, flags.data()));
  SYNC_OK();
  std::printf("cluster flags %d %d\n", flags.get()[0], flags.get()[5]);

  flags.clear();
  out.clear();
  int *pf = flags, *po = out;
  void* chain_arguments[] = {&pf, &po};
  CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_chain), dim3(16), dim3(32), chain_arguments, 0, nullptr));
  SYNC_OK();
  std::printf("grid chain %d\n", out.get()[0]);

  std::vector<int> start(8 * 32);
  for (std::size_t i = 0; i < start.size(); ++i) {
    start[i] = static_cast<int>(i);
  }
  Buffer<int> data(start);
  unsigned* ps = state;
  int *pd = data, rounds = 5;
  void* barrier_arguments[] = {&ps, &pd, &rounds};
  CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_barrier), dim3(8), dim3(32), barrier_arguments, 0, nullptr));
  SYNC_OK();
  std::printf("grid barrier %d %016llx\n", data.get()[0], static_cast<unsigned long long>(digest(data.get())));
}
