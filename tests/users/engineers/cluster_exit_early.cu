#include <cstdio>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// A block of a cluster reads its neighbour's shared memory.
__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ int mine;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = cluster.block_rank() + 10;
  cluster.sync();
  if (threadIdx.x == 0) {
    int* other = cluster.map_shared_rank(&mine, cluster.block_rank() ^ 1);
    out[cluster.block_rank()] = *other;  //~ out-of-bounds
  }
#ifdef RIGHT
  cluster.sync();
#endif
}
int main() {
  int *out, h[2];
  cudaMalloc(&out, sizeof h);
  exchange<<<2, 32>>>(out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d %d\n", h[0], h[1]);
  cudaFree(out);
}
