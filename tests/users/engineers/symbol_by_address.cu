#include <cstdio>
__device__ float table[16];
__global__ void fill() { table[threadIdx.x] = threadIdx.x; }
int main() {
  float h[16] = {};
  fill<<<1, 16>>>();
#ifdef RIGHT
  cudaMemcpyFromSymbol(h, table, sizeof h);
#else
  cudaMemcpy(h, table, sizeof h, cudaMemcpyDeviceToHost);  //~ api-misuse
#endif
  printf("%g\n", h[3]);
}
