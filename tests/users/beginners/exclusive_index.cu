#include <cstdio>
__global__ void difference(const int* in, int* out, unsigned n) {
  unsigned i = threadIdx.x;
#ifdef RIGHT
  if (i < n) out[i] = i == 0 ? in[0] : in[i] - in[i - 1];
#else
  if (i < n) out[i] = in[i] - in[i - 1];  //~ out-of-bounds
#endif
}
int main() {
  int h[32] = {}, *a, *b;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&b, sizeof h);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  difference<<<1, 32>>>(a, b, 32);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(a);
  cudaFree(b);
}
