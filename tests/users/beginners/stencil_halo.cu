#include <cstdio>
#include <vector>
constexpr int R = 3, B = 128;
__global__ void stencil(const int* in, int* out, int n) {
  __shared__ int s[B + 2 * R];
  int g = blockIdx.x * B + threadIdx.x, l = threadIdx.x + R;
  s[l] = in[g + R];
  if (threadIdx.x < R) {
    s[l - R] = in[g];
    s[l + B] = in[g + B + R];
  }
#ifdef RIGHT
  __syncthreads();
#endif
  int sum = 0;
  for (int o = -R; o <= R; ++o) sum += s[l + o];  //~ data-race
  out[g] = sum;
}
int main() {
  const int n = 512;
  std::vector<int> h(n + 2 * R, 1);
  int *a, *b;
  cudaMalloc(&a, h.size() * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaMemcpy(a, h.data(), h.size() * sizeof(int), cudaMemcpyHostToDevice);
  stencil<<<n / B, B>>>(a, b, n);
  cudaMemcpy(h.data(), b, n * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", h[n / 2]);
  cudaFree(a);
  cudaFree(b);
}
