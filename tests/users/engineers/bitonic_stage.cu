#include <cstdio>
__global__ void sort(int* v) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = v[t];
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      int other = t ^ j;
      if (other > t && (s[t] > s[other]) == ((t & k) == 0)) {
        int x = s[t];
        s[t] = s[other];
        s[other] = x;  //~ data-race
      }
#ifdef RIGHT
      __syncthreads();
#endif
    }
#ifndef RIGHT
    __syncthreads();
#endif
  }
  v[t] = s[t];
}
int main() {
  int h[128], *d;
  for (int i = 0; i < 128; ++i) h[i] = (i * 37) % 128;
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  sort<<<1, 128>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d %d\n", h[0], h[127]);
  cudaFree(d);
}
