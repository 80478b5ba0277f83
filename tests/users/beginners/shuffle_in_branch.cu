#include <cstdio>
__global__ void sum(const int* in, int* out, int n) {
  int t = threadIdx.x;
#ifdef RIGHT
  int v = t < n ? in[t] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (t == 0) *out = v;
#else
  if (t < n) {
    int v = in[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);  //~ uninitialised
    if (t == 0) *out = v;
  }
#endif
}
int main() {
  int h[32], *a, *b;
  for (int i = 0; i < 32; ++i) h[i] = 1;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&b, 4);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  sum<<<1, 32>>>(a, b, 20);
  cudaMemcpy(h, b, 4, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(a);
  cudaFree(b);
}
