// Cooperative groups: blocks, clusters, grids, each judged at its own scope.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void free_function_bad(int* p) {
  auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) {
    p[0] = 1;
    cg::sync(block); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void free_function(int* p, int n) {
  auto block = cg::this_thread_block();
  for (int i = 0; i < n; ++i) {
    if (block.thread_rank() == 0) p[0] = 1;
    cg::sync(block);
  }
}
__global__ void group_index(int* p, int n) {
  auto block = cg::this_thread_block();
  if (block.group_index().x < n) {
    p[0] = 1;
    block.sync();
  }
  if (block.size() > 32) block.sync();
  p[1] = 1;
}
__global__ void thread_index_bad(int* p, int n) {
  auto block = cg::this_thread_block();
  if (block.thread_index().x < n) {
    p[0] = 1;
    block.sync(); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void tile_in_divergence(int* p) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  if (tile.meta_group_rank() == 0) {
    p[tile.thread_rank()] = 1;
    tile.sync();
  }
  block.sync();
  p[1] = 1;
}
__global__ void tile_rank_bad(int* p) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  if (tile.meta_group_rank() == 0) {
    p[0] = 1;
    block.sync(); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void grid(int* p, int n) {
  auto g = cg::this_grid();
  for (int i = 0; i < n; ++i) {
    p[g.thread_rank()] = i;
    g.sync();
  }
}
__global__ void grid_bad(int* p, int n) {
  auto g = cg::this_grid();
  if (blockIdx.x == 0) {
    p[0] = 1;
    g.sync(); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void cluster(int* p, int n) {
  auto c = cg::this_cluster();
  if (n > 3) c.sync();
  p[0] = 1;
  c.sync();
}
__global__ void cluster_bad(int* p, int n) {
  auto c = cg::this_cluster();
  if (c.block_rank() == 0) {
    p[0] = 1;
    c.sync(); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void split_bad(int* p) {
  auto block = cg::this_thread_block();
  if (threadIdx.x < 3) {
    auto token = block.barrier_arrive(); // expect: thread_synchronization_in_divergent_region
    p[0] = 1;
    block.barrier_wait(static_cast<decltype(token)&&>(token)); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__global__ void split(int* p) {
  auto block = cg::this_thread_block();
  auto token = block.barrier_arrive();
  if (threadIdx.x < 3) p[0] = 1;
  block.barrier_wait(static_cast<decltype(token)&&>(token));
  p[1] = 1;
}
__global__ void vote_by_tile_bad(int* p) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  if (tile.any(p[threadIdx.x] > 0)) {
    p[0] = 1;
    __syncthreads(); // expect: thread_synchronization_in_divergent_region
  }
  p[1] = 1;
}
__device__ void takes_group(cg::thread_block& block, int* p, int n) {
  for (int i = 0; i < n; ++i) {
    p[i] = 1;
    block.sync();
  }
}
__global__ void passes_group(int* p, int n) {
  cg::thread_block block = cg::this_thread_block();
  takes_group(block, p, n);
}
