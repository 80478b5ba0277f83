#include <cstdio>
__global__ void reverse(int* v, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = v[t];  //~ out-of-bounds
  __syncthreads();
  v[t] = s[n - t - 1];
}
int main() {
  const int n = 64;
  int h[n], *d;
  for (int i = 0; i < n; ++i) h[i] = i;
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
#ifdef RIGHT
  reverse<<<1, n, n * sizeof(int)>>>(d, n);
#else
  reverse<<<1, n>>>(d, n);
#endif
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(d);
}
