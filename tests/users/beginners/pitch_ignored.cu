#include <cstdio>
__global__ void fill(float* p, size_t pitch, int width, int height) {
  int x = threadIdx.x, y = blockIdx.x;
  if (x >= width || y >= height) return;
#ifdef RIGHT
  float* row = (float*)((char*)p + y * pitch);
#else
  float* row = p + y * pitch;
#endif
  row[x] = y;  //~ out-of-bounds
}
int main() {
  const int width = 50, height = 40;
  float* p;
  size_t pitch;
  static float h[height][width];
  cudaMallocPitch(&p, &pitch, width * sizeof(float), height);
  fill<<<height, 64>>>(p, pitch, width, height);
  cudaMemcpy2D(h, width * sizeof(float), p, pitch, width * sizeof(float), height, cudaMemcpyDeviceToHost);
  printf("%f\n", h[3][4]);
  cudaFree(p);
}
