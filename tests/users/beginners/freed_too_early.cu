#include <cstdio>
__global__ void add(const int* a, int* b) { b[threadIdx.x] = a[threadIdx.x] + 1; }  //~ use-after-free
int main() {
  int h[32] = {}, *a, *b;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&b, sizeof h);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  add<<<1, 32>>>(a, b);
#ifndef RIGHT
  cudaFree(a);  //~ use-after-free
#endif
  add<<<1, 32>>>(a, b);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
#ifdef RIGHT
  cudaFree(a);
#endif
  cudaFree(b);
}
