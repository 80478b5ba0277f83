#include <cstdio>
__global__ void fill(int* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = 1;
}
int main() {
  const int n = 100;
  int h[n] = {}, *d;
  cudaMalloc(&d, sizeof h);
  cudaMemset(d, 0, sizeof h);
#ifdef RIGHT
  fill<<<(n + 255) / 256, 256>>>(d, n);
#else
  fill<<<n / 256, 256>>>(d, n);  //~ api-misuse
#endif
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(d);
}
