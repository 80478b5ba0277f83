#include <cstdio>
__global__ void square(const float* in, float* out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];  //~ uninitialised
}
int main() {
  const int n = 64;
  float h[n], *in, *out;
  for (int i = 0; i < n; ++i) h[i] = i;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
#ifdef RIGHT
  cudaMemcpy(in, h, n * sizeof(float), cudaMemcpyHostToDevice);
#else
  cudaMemcpy(in, h, n, cudaMemcpyHostToDevice);
#endif
  square<<<1, n>>>(in, out, n);
  cudaMemcpy(h, out, n * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g %g\n", h[3], h[63]);
  cudaFree(in);
  cudaFree(out);
}
