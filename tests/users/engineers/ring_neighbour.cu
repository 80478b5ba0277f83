#include <cstdio>
__global__ void ring(const int* in, int* out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
#ifdef RIGHT
  int left = (i + n - 1) % n;
#else
  int left = (i - 1) % n;
#endif
  out[i] = in[left] + in[(i + 1) % n];  //~ out-of-bounds
}
int main() {
  const int n = 40;
  int h[n], *in, *out;
  for (int i = 0; i < n; ++i) h[i] = i;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  ring<<<1, 64>>>(in, out, n);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(in);
  cudaFree(out);
}
