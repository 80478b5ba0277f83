// What cooperative and cluster launches answer: how much fits, which cluster shapes are allowed.
//@ exercises: cudaLaunchCooperativeKernel limits, cluster dimensions by attribute and by declaration
#include "codes.h"

#include <cooperative_groups.h>

__global__ void together(int* p) {
  cooperative_groups::this_grid().sync();
  if (p) *p = 1;
}
__global__ void k() {}
__global__ void __cluster_dims__(2, 1, 1) pair() {}

static cudaError_t launch(const void* f, dim3 grid, dim3 block, dim3 cluster, bool cooperative = false) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  cudaLaunchAttribute attributes[2];
  config.attrs = attributes;
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = cluster.x;
  attributes[0].val.clusterDim.y = cluster.y;
  attributes[0].val.clusterDim.z = cluster.z;
  attributes[1].id = cudaLaunchAttributeCooperative;
  attributes[1].val.cooperative = 1;
  config.numAttrs = cooperative ? 2 : 1;
  int* nothing = nullptr;
  void* arguments[] = {&nothing};
  return cudaLaunchKernelExC(&config, f, arguments);
}

int main() {
  int* nothing = nullptr;
  void* arguments[] = {&nothing};
  const auto all = (const void*)together;
  CODE(cudaLaunchCooperativeKernel(all, dim3(132), dim3(64), arguments, 0, 0));
  CODE(cudaLaunchCooperativeKernel(all, dim3(132 * 2 + 1), dim3(1024), arguments, 0, 0));
  CODE(cudaLaunchCooperativeKernel(all, dim3(132 * 32), dim3(32), arguments, 0, 0));
  CODE(cudaLaunchCooperativeKernel(all, dim3(132 * 32 + 1), dim3(32), arguments, 0, 0));
  CODE(cudaLaunchCooperativeKernel(all, dim3(0), dim3(32), arguments, 0, 0));
  CODE(cudaLaunchCooperativeKernel(all, dim3(1), dim3(2048), arguments, 0, 0));
  CODE(cudaDeviceSynchronize());

  const auto plain = (const void*)k;
  CODE(launch(plain, 4, 32, dim3(2, 1, 1)));
  CODE(launch(plain, 5, 32, dim3(2, 1, 1)));
  CODE(launch(plain, 16, 32, dim3(8, 1, 1)));
  CODE(launch(plain, 16, 32, dim3(16, 1, 1)));
  CODE(launch(plain, 18, 32, dim3(9, 1, 1)));
  CODE(cudaFuncSetAttribute(k, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CODE(launch(plain, 16, 32, dim3(16, 1, 1)));
  CODE(launch(plain, 32, 32, dim3(32, 1, 1)));
  CODE(launch(plain, dim3(4, 4, 4), 32, dim3(2, 2, 2)));
  CODE(launch(plain, 4, 32, dim3(2, 0, 1)));
  const auto declared = (const void*)pair;
  CODE(launch(declared, 4, 32, dim3(2, 1, 1)));
  CODE(launch(declared, 4, 32, dim3(4, 1, 1)));
  CODE(launch(declared, 4, 32, dim3(0, 0, 0)));
  LAUNCH(pair<<<4, 32>>>());
  LAUNCH(pair<<<5, 32>>>());
  cudaFuncAttributes a;
  CODE(cudaFuncGetAttributes(&a, declared));
  std::printf("%d, %d %d %d\n", a.clusterDimMustBeSet, a.requiredClusterWidth, a.requiredClusterHeight,
              a.requiredClusterDepth);
  CODE(launch(all, 8, 32, dim3(2, 1, 1), true));
  CODE(launch(all, 132 * 32 + 2, 32, dim3(2, 1, 1), true));
  CODE(cudaDeviceSynchronize());
}
