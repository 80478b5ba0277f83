#include <cstdio>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ unsigned arrived;
__global__ void phases(int* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  v[i] = i;
#ifdef RIGHT
  cg::this_grid().sync();
#else
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) < gridDim.x) {}  //~ starvation
    __threadfence();
  }
  __syncthreads();
#endif
  int x = v[(i + 32) % n];
  v[n + i] = x;
}
int main() {
  int n = 128, *v, h[128];
  cudaMalloc(&v, 2 * n * sizeof(int));
#ifdef RIGHT
  void* arguments[] = {&v, &n};
  cudaLaunchCooperativeKernel((void*)phases, dim3(4), dim3(32), arguments, 0, 0);
#else
  phases<<<4, 32>>>(v, n);
#endif
  cudaMemcpy(h, v + n, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(v);
}
