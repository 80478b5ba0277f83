#include <cstdio>
__global__ void sum(const int* v, int* out) { atomicAdd(out, v[threadIdx.x]); }
int main() {
  int *h, *d, *out, result;
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMallocHost(&h, 64 * sizeof(int));
  cudaMalloc(&d, 64 * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemsetAsync(out, 0, sizeof(int), s);
  for (int batch = 0; batch < 2; ++batch) {
    for (int i = 0; i < 64; ++i) h[i] = batch + i;  //~ data-race
    cudaMemcpyAsync(d, h, 64 * sizeof(int), cudaMemcpyHostToDevice, s);
    sum<<<1, 64, 0, s>>>(d, out);
#ifdef RIGHT
    cudaStreamSynchronize(s);
#endif
  }
  cudaStreamSynchronize(s);
  cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", result);
  cudaStreamDestroy(s);
  cudaFreeHost(h);
  cudaFree(d);
  cudaFree(out);
}
