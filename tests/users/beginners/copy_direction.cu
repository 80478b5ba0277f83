#include <cstdio>
__global__ void add(int* v) { v[threadIdx.x] += 1; }
int main() {
  int h[32] = {}, *d;
  cudaMalloc(&d, sizeof h);
#ifdef RIGHT
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
#else
  cudaMemcpy(d, h, sizeof h, cudaMemcpyDeviceToHost);  //~ api-misuse
#endif
  add<<<1, 32>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[3]);
  cudaFree(d);
}
