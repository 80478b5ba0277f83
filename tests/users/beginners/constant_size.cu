#include <cstdio>
__constant__ float weights[8];
__global__ void apply(float* out) { out[threadIdx.x] = weights[threadIdx.x]; }  //~ out-of-bounds
int main() {
  float h[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *d;
#ifdef RIGHT
  const int n = 8;
#else
  const int n = 16;
#endif
  cudaMemcpyToSymbol(weights, h, sizeof h);
  cudaMalloc(&d, 16 * sizeof(float));
  apply<<<1, n>>>(d);
  float r[8];
  cudaMemcpy(r, d, sizeof r, cudaMemcpyDeviceToHost);
  printf("%f\n", r[7]);
  cudaFree(d);
}
