#include <cstdio>
__global__ void fill(int* v) { v[threadIdx.x] = threadIdx.x; }
int main() {
  int *d, *h;
  cudaMalloc(&d, 32 * sizeof(int));
  cudaMallocHost(&h, 32 * sizeof(int));
  fill<<<1, 32>>>(d);
  cudaMemcpy(h, d, 32 * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", h[5]);
  cudaFree(d);
#ifdef RIGHT
  cudaFreeHost(h);
#else
  cudaFree(h);  //~ invalid-free
#endif
}
