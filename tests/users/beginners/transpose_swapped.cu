#include <cstdio>
#include <vector>
__global__ void transpose(const float* in, float* out, int rows, int columns) {
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (c < columns && r < rows)
#ifdef RIGHT
    out[c * rows + r] = in[r * columns + c];
#else
    out[c * columns + r] = in[r * columns + c];  //~ out-of-bounds
#endif
}
int main() {
  const int rows = 20, columns = 50;
  std::vector<float> h(rows * columns, 1.5f);
  float *a, *b;
  cudaMalloc(&a, h.size() * 4);
  cudaMalloc(&b, h.size() * 4);
  cudaMemcpy(a, h.data(), h.size() * 4, cudaMemcpyHostToDevice);
  transpose<<<dim3(4, 2), dim3(16, 16)>>>(a, b, rows, columns);
  cudaMemcpy(h.data(), b, h.size() * 4, cudaMemcpyDeviceToHost);
  printf("%f\n", h[3]);
  cudaFree(a);
  cudaFree(b);
}
