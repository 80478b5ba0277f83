#include <cstdio>
#include <vector>
constexpr int T = 16;
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[T][T + 1];
  int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];  //~ data-race
#ifdef RIGHT
  __syncthreads();
#endif
  x = blockIdx.y * T + threadIdx.x;
  y = blockIdx.x * T + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
int main() {
  const int n = 32;
  std::vector<float> h(n * n);
  for (int i = 0; i < n * n; ++i) h[i] = i;
  float *a, *b;
  cudaMalloc(&a, n * n * sizeof(float));
  cudaMalloc(&b, n * n * sizeof(float));
  cudaMemcpy(a, h.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
  transpose<<<dim3(2, 2), dim3(T, T)>>>(a, b, n);
  cudaMemcpy(h.data(), b, n * n * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g\n", h[1]);
  cudaFree(a);
  cudaFree(b);
}
