#include <cstdio>
// Each warp reverses 32 numbers in shared memory.
__global__ void reverse(int* v) {
  __shared__ int s[64];
  int t = threadIdx.x, lane = t & 31, base = t & ~31;
  s[t] = v[t];
#ifdef RIGHT
  __syncwarp();
#endif
  v[t] = s[base + 31 - lane];  //~ data-race
}
int main() {
  int h[64], *d;
  for (int i = 0; i < 64; ++i) h[i] = i;
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  reverse<<<1, 64>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(d);
}
