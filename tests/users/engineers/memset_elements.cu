#include <cstdio>
__global__ void add(int* sums, const int* in, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&sums[i % 16], in[i]);  //~ uninitialised
}
int main() {
  const int n = 64;
  int h[n], *in, *sums;
  for (int i = 0; i < n; ++i) h[i] = 1;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&sums, 16 * sizeof(int));
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
#ifdef RIGHT
  cudaMemset(sums, 0, 16 * sizeof(int));
#else
  cudaMemset(sums, 0, 16);
#endif
  add<<<1, 32>>>(sums, in, n);
  cudaMemcpy(h, sums, 16 * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", h[15]);
  cudaFree(in);
  cudaFree(sums);
}
