#include <cstdio>
__global__ void fill(int* p) { p[threadIdx.x] = threadIdx.x; }
int main() {
  int* p;
  cudaMalloc(&p, 32 * sizeof(int));
  fill<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  int sum = 0;
#ifdef RIGHT
  int h[32];
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) sum += h[i];
#else
  for (int i = 0; i < 32; ++i) sum += p[i];  //~ host-dereference
#endif
  printf("%d\n", sum);
  cudaFree(p);
}
