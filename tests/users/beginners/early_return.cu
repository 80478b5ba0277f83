#include <cstdio>
__global__ void reverse(int* v, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
#ifdef RIGHT
  if (t < n) s[t] = v[t];
  __syncthreads();
  if (t < n) v[t] = s[n - 1 - t];
#else
  if (t >= n) return;
  s[t] = v[t];
  __syncthreads();  //~ barrier-divergence
  v[t] = s[n - 1 - t];
#endif
}
int main() {
  int h[50], *d;
  for (int i = 0; i < 50; ++i) h[i] = i;
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  reverse<<<1, 64>>>(d, 50);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(d);
}
