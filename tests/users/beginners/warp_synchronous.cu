#include <cstdio>
__global__ void sum(const int* in, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
#ifdef RIGHT
    for (int d = 32; d > 0; d /= 2) {
      int v = s[t] + s[t + d];
      __syncwarp();
      if (t < d) s[t] = v;
      __syncwarp();
    }
#else
    volatile int* v = s;
    v[t] += v[t + 32];
    v[t] += v[t + 16];  //~ unordered-access
    v[t] += v[t + 8];  //~ unordered-access
    v[t] += v[t + 4];  //~ unordered-access
    v[t] += v[t + 2];  //~ unordered-access
    v[t] += v[t + 1];  //~ unordered-access
#endif
  }
  if (t == 0) *out = s[0];
}
int main() {
  int h[64], *a, *b;
  for (int i = 0; i < 64; ++i) h[i] = 1;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&b, 4);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  sum<<<1, 64>>>(a, b);
  cudaMemcpy(h, b, 4, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(a);
  cudaFree(b);
}
