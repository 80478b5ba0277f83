#include <cstdio>
__global__ void clear(float* v, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) v[i] = 0;
}
int main() {
  float* d = nullptr;
#ifdef RIGHT
  int width = 64, height = 8;
#else
  int width = 60000, height = 40000;
#endif
  cudaMalloc(&d, width * height * sizeof(float));  //~ api-misuse
  clear<<<2, 256>>>(d, 512);
  cudaDeviceSynchronize();
  float first = 1;
  cudaMemcpy(&first, d, sizeof first, cudaMemcpyDeviceToHost);
  printf("%g\n", first);
  cudaFree(d);
}
