#include <cstdio>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void phases(int* v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  v[i] = i;
  cg::this_grid().sync();  //~ trap
  v[(i + 32) % 64] += 1;
}
int main() {
  int *d, h[64];
  cudaMalloc(&d, sizeof h);
#ifdef RIGHT
  void* arguments[] = {&d};
  cudaLaunchCooperativeKernel((void*)phases, dim3(2), dim3(32), arguments);
#else
  phases<<<2, 32>>>(d);
#endif
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(d);
}
