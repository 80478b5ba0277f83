#include <cstdio>
#include <vector>
// The staging buffer is cleared while its copy is under way.
__global__ void scale(float* v) { v[threadIdx.x] *= 2; }
static void upload(float* d, cudaStream_t s) {
  float* staging;
  cudaMallocHost(&staging, 64 * sizeof(float));
  for (int i = 0; i < 64; ++i) staging[i] = i;
  cudaMemcpyAsync(d, staging, 64 * sizeof(float), cudaMemcpyHostToDevice, s);
#ifdef RIGHT
  cudaStreamSynchronize(s);
#endif
  for (int i = 0; i < 64; ++i) staging[i] = 0;  //~ data-race
  cudaStreamSynchronize(s);
  cudaFreeHost(staging);
}
int main() {
  float *d, h[64];
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMalloc(&d, sizeof h);
  upload(d, s);
  scale<<<1, 64, 0, s>>>(d);
  cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, s);
  cudaStreamSynchronize(s);
  printf("%g\n", h[3]);
  cudaStreamDestroy(s);
  cudaFree(d);
}
