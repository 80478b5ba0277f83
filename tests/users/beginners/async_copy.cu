#include <cstdio>
__global__ void fill(int* v) { v[threadIdx.x] = 7; }
int main() {
  int *d, *h;
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMalloc(&d, 256);
  cudaMallocHost(&h, 256);
  fill<<<1, 64, 0, s>>>(d);
  cudaMemcpyAsync(h, d, 256, cudaMemcpyDeviceToHost, s);
#ifdef RIGHT
  cudaStreamSynchronize(s);
#endif
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += h[i];  //~ data-race
  printf("%d\n", sum);
  cudaStreamSynchronize(s);
  cudaFree(d);
  cudaFreeHost(h);
  cudaStreamDestroy(s);
}
