#include <cstdio>
#include <vector>
// Each block adds its partial sum to the result.
__global__ void dot(const float* a, const float* b, float* out, int n) {
  __shared__ float cache[128];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  cache[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) cache[threadIdx.x] += cache[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
#ifdef RIGHT
    atomicAdd(out, cache[0]);
#else
    *out += cache[0];  //~ data-race
#endif
  }
}
int main() {
  const int n = 1000;
  std::vector<float> h(n, 1.0f);
  float *a, *b, *out, result = 0;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMalloc(&out, sizeof(float));
  cudaMemcpy(a, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, sizeof(float));
  dot<<<4, 128>>>(a, b, out, n);
  cudaMemcpy(&result, out, sizeof(float), cudaMemcpyDeviceToHost);
  printf("dot = %g\n", result);
  cudaFree(a);
  cudaFree(b);
  cudaFree(out);
}
