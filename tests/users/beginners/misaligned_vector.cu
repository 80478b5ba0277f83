#include <cstdio>
__global__ void copy(const float* in, float* out, int n) {
  int i = threadIdx.x;
#ifdef RIGHT
  if (4 * i + 4 <= n) ((float4*)out)[i] = ((const float4*)in)[i];
#else
  if (4 * i + 5 <= n) ((float4*)out)[i] = *(const float4*)(in + 4 * i + 1);  //~ misaligned
#endif
}
int main() {
  float h[128] = {}, *a, *b;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&b, sizeof h);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  copy<<<1, 32>>>(a, b, 128);
  cudaMemcpy(h, b, 64, cudaMemcpyDeviceToHost);
  printf("%f\n", h[5]);
  cudaFree(a);
  cudaFree(b);
}
