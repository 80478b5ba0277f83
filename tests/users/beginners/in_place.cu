#include <cstdio>
#include <vector>
__global__ void smooth(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;  //~ data-race
}
int main() {
  const int n = 1024;
  std::vector<float> h(n, 1);
  float *a, *b;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b, h.data(), n * 4, cudaMemcpyHostToDevice);
#ifdef RIGHT
  smooth<<<4, 256>>>(a, b, n);
#else
  smooth<<<4, 256>>>(b, b, n);
#endif
  cudaMemcpy(h.data(), b, n * 4, cudaMemcpyDeviceToHost);
  printf("%f\n", h[7]);
  cudaFree(a);
  cudaFree(b);
}
