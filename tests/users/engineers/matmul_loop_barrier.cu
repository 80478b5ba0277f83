#include <cstdio>
#include <vector>
constexpr int T = 8;
__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float as[T][T], bs[T][T];
  int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < n / T; ++t) {
    as[threadIdx.y][threadIdx.x] = a[y * n + t * T + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t * T + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < T; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];  //~ data-race
#ifdef RIGHT
    __syncthreads();
#endif
  }
  c[y * n + x] = sum;
}
int main() {
  const int n = 24;
  std::vector<float> h(n * n, 1);
  float *a, *b, *c;
  cudaMalloc(&a, n * n * sizeof(float));
  cudaMalloc(&b, n * n * sizeof(float));
  cudaMalloc(&c, n * n * sizeof(float));
  cudaMemcpy(a, h.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, h.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
  multiply<<<dim3(n / T, n / T), dim3(T, T)>>>(a, b, c, n);
  cudaMemcpy(h.data(), c, n * n * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g\n", h[5]);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
