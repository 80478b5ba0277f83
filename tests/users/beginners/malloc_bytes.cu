#include <cstdio>
__global__ void scale(float* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = 2.0f * i;  //~ out-of-bounds
}
int main() {
  const int n = 1000;
  float* d;
  float h[n];
#ifdef RIGHT
  cudaMalloc(&d, n * sizeof(float));
#else
  cudaMalloc(&d, n);
#endif
  scale<<<4, 256>>>(d, n);
  cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost);  //~ out-of-bounds
  printf("%f\n", h[n - 1]);
  cudaFree(d);
}
