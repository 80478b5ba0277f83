#include <cstdio>
__global__ void fill(float* p, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) p[y * w + x] = 1;
}
int main() {
  const int w = 64, h = 64;
  float *d, sum = 0;
  static float host[w * h];
  cudaMalloc(&d, sizeof host);
#ifdef RIGHT
  fill<<<dim3(2, 2), dim3(32, 32)>>>(d, w, h);
#else
  fill<<<dim3(32, 32), dim3(64, 64)>>>(d, w, h);  //~ api-misuse
#endif
  cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
  for (float v : host) sum += v;
  printf("%f\n", sum);
  cudaFree(d);
}
