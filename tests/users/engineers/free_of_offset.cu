#include <cstdio>
__global__ void fill(int* v) { v[threadIdx.x] = threadIdx.x; }
int main() {
  int *d, h[32];
  cudaMalloc(&d, 32 * sizeof(int));
  fill<<<1, 32>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
#ifdef RIGHT
  cudaFree(d);
#else
  d += 4;
  cudaFree(d);  //~ invalid-free
#endif
  printf("%d\n", h[5]);
}
