#include <cstdio>
#ifdef RIGHT
constexpr int bytes = 40 << 10;
#else
constexpr int bytes = 60 << 10;
#endif
__global__ void fill(int* v) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  v[threadIdx.x] = s[31 - threadIdx.x];
}
int main() {
  int h[32] = {}, *d;
  cudaMalloc(&d, sizeof h);
  cudaMemset(d, 0, sizeof h);
  fill<<<1, 32, bytes>>>(d);  //~ api-misuse
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(d);
}
