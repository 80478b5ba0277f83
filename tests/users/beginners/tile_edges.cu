#include <cstdio>
#include <vector>
constexpr int T = 8;
__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float as[T][T], bs[T][T];
  int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < (n + T - 1) / T; ++t) {
    int k = t * T;
#ifdef RIGHT
    as[threadIdx.y][threadIdx.x] = y < n && k + threadIdx.x < n ? a[y * n + k + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = x < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + x] : 0;
#else
    if (y < n && k + threadIdx.x < n) as[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    if (x < n && k + threadIdx.y < n) bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
#endif
    __syncthreads();
    for (int i = 0; i < T; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];  //~ uninitialised
    __syncthreads();
  }
  if (x < n && y < n) c[y * n + x] = sum;
}
int main() {
  const int n = 5;
  std::vector<float> h(n * n, 1.0f);
  float *a, *b, *c;
  cudaMalloc(&a, n * n * 4);
  cudaMalloc(&b, n * n * 4);
  cudaMalloc(&c, n * n * 4);
  cudaMemcpy(a, h.data(), n * n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b, h.data(), n * n * 4, cudaMemcpyHostToDevice);
  dim3 grid((n + T - 1) / T, (n + T - 1) / T);
  multiply<<<grid, dim3(T, T)>>>(a, b, c, n);
  cudaMemcpy(h.data(), c, n * n * 4, cudaMemcpyDeviceToHost);
  printf("%f\n", h[0]);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
