#include <cstdio>
__global__ void scan(int* v) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = v[t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
#ifdef RIGHT
    int x = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += x;
#else
    if (t >= d) s[t] += s[t - d];  //~ data-race
#endif
    __syncthreads();
  }
  v[t] = s[t];
}
int main() {
  int h[64], *d;
  for (int i = 0; i < 64; ++i) h[i] = 1;
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  scan<<<1, 64>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[63]);
  cudaFree(d);
}
