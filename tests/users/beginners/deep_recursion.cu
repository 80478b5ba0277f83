#include <cstdio>
__device__ __noinline__ int depth(int n, int* out) {
  volatile int big[64];
  big[n % 64] = n;
  return n == 0 ? 0 : depth(n - 1, out) + big[n % 64] - n + 1;  //~ stack-overflow
}
__global__ void k(int* out, int n) { *out = depth(n, out); }
int main() {
  int *d, h;
  cudaMalloc(&d, 4);
#ifdef RIGHT
  k<<<1, 1>>>(d, 2);
#else
  k<<<1, 1>>>(d, 500);
#endif
  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
  printf("%d\n", h);
  cudaFree(d);
}
