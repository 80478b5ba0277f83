// Cooperative groups of every kind in divergent code.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void cluster_arrive_bad(int* p) {
  auto c = cg::this_cluster();
  if (c.block_rank() == 0) {
    c.barrier_arrive(); // expect: thread_synchronization_in_divergent_region
  }
  p[0] = 1;
  c.barrier_wait();
  p[1] = 1;
}
__global__ void cluster_of_threads_bad(int* p) {
  auto c = cg::this_cluster();
  if (threadIdx.x == 0) {
    p[0] = 1;
    c.sync(); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void cluster_free_function_bad(int* p) {
  auto c = cg::this_cluster();
  if (cg::this_cluster().thread_rank() == 0) {
    p[0] = 1;
    cg::sync(c); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void grid_of_threads_bad(int* p, int n) {
  cg::grid_group g = cg::this_grid();
  for (int i = g.thread_rank(); i < n; i += g.size()) {
    p[i] = 1;
    g.sync(); // expect: thread_synchronization_in_divergent_region
  }
}
__global__ void grid_after_return_bad(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return; // expect: early_exit_before_synchronization
  p[i] = 1;
  cg::this_grid().sync();
  p[i] += p[0];
}
__global__ void grid_all(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 1;
  cg::this_grid().sync();
  if (i < n) p[i] += p[0];
}
__global__ void tiles(int* p) {
  auto block = cg::this_thread_block();
  auto tile8 = cg::tiled_partition<8>(block);
  if (tile8.meta_group_rank() % 2 == 0) {
    p[threadIdx.x] = tile8.shfl_down(p[threadIdx.x], 1);
    tile8.sync();
  }
  auto active = cg::coalesced_threads();
  if (threadIdx.x % 3 == 0) {
    auto some = cg::coalesced_threads();
    some.sync();
    p[some.thread_rank()] = 1;
  }
  block.sync();
  p[0] = active.size();
}
__global__ void tile_of_many_warps(int* p) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<4>(cg::tiled_partition<32>(block));
  if (tile.thread_rank() == 0) p[0] = 1;
  tile.sync();
  block.sync();
  p[1] = 1;
}
__global__ void static_group_bad(int* p) {
  cg::thread_block::sync();
  if (threadIdx.x == 2) cg::thread_block::sync(); // expect: thread_synchronization_in_divergent_region
  p[1] = 1;
}
__global__ void group_as_base_bad(int* p) {
  cg::thread_group g = cg::this_thread_block();
  if (threadIdx.x < 3) {
    p[0] = 1;
    g.sync(); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void group_as_base(int* p, int n) {
  cg::thread_group g = cg::this_thread_block();
  if (n < 3) {
    p[0] = 1;
    g.sync();
  }
  cg::thread_group t = cg::tiled_partition(g, 16);
  if (threadIdx.x < 16) t.sync();
  p[1] = 1;
}
__device__ int sum_of(cg::thread_group g, int* scratch, int v) {
  const int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    scratch[lane] = v;
    g.sync();
    if (lane < i) v += scratch[lane + i];
    g.sync();
  }
  return v;
}
__global__ void sum_of_block(int* p) {
  __shared__ int scratch[256];
  auto block = cg::this_thread_block();
  p[threadIdx.x] = sum_of(block, scratch, p[threadIdx.x]);
}
__global__ void sum_of_tiles(int* p) {
  __shared__ int scratch[256];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  if (threadIdx.x < 32) p[threadIdx.x] = sum_of(tile, scratch, p[threadIdx.x]);
}
__device__ int sum_of_bad(cg::thread_group g, int* scratch, int v) {
  const int lane = g.thread_rank();
  scratch[lane] = v;
  g.sync(); // expect: thread_synchronization_in_divergent_region
  return scratch[0];
}
__global__ void sum_of_some_bad(int* p) {
  __shared__ int scratch[256];
  auto block = cg::this_thread_block();
  if (threadIdx.x < 100) p[threadIdx.x] = sum_of_bad(block, scratch, p[threadIdx.x]);
  p[0] = 1;
}
__global__ void base_by_function_bad(int* p) {
  cg::thread_group g = cg::this_thread_block();
  if (threadIdx.x % 2) cg::sync(g); // expect: thread_synchronization_in_divergent_region
  p[0] = 1;
}
template <class Group> __device__ void generic(Group& g, int* p) {
  p[g.thread_rank()] = 1;
  g.sync(); // expect: thread_synchronization_in_divergent_region
}
__global__ void generic_group_bad(int* p) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  if (threadIdx.x < 32) {
    generic(tile, p);
    generic(block, p);
  }
  p[0] = 1;
}
__global__ void split_token_bad(int* p) {
  auto block = cg::this_thread_block();
  auto token = block.barrier_arrive();
  if (threadIdx.x < 32) {
    p[0] = 1;
    block.barrier_wait(static_cast<decltype(token)&&>(token)); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void warps_with_masks(int* p) {
  if (threadIdx.x % 32 < 16) {
    __syncwarp(0x0000ffff);
    p[threadIdx.x] = 1;
    __syncwarp(0xffff);
  } else {
    __syncwarp(0xffff0000);
    p[threadIdx.x] = 1;
  }
  __syncwarp();
  p[0] = 1;
}
