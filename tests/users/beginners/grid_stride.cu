#include <cstdio>
#include <vector>
__global__ void saxpy(float a, const float* x, float* y, int n) {
#ifdef RIGHT
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
#else
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x)
#endif
    y[i] = a * x[i] + y[i];  //~ data-race
}
int main() {
  const int n = 2000;
  std::vector<float> h(n, 1);
  float *x, *y;
  cudaMalloc(&x, n * 4);
  cudaMalloc(&y, n * 4);
  cudaMemcpy(x, h.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(y, h.data(), n * 4, cudaMemcpyHostToDevice);
  saxpy<<<4, 128>>>(2, x, y, n);
  cudaMemcpy(h.data(), y, n * 4, cudaMemcpyDeviceToHost);
  printf("%f\n", h[1999]);
  cudaFree(x);
  cudaFree(y);
}
