#include <cstdio>
__global__ void work(int* out) {
#ifdef RIGHT
  int* scratch = (int*)malloc(64 * sizeof(int));
#else
  int* scratch = (int*)malloc(8u << 20);
#endif
  for (int i = 0; i < 64; ++i) scratch[i] = i;  //~ null
  out[threadIdx.x] = scratch[63];
  free(scratch);
}
int main() {
  int h[4], *d;
  cudaMalloc(&d, sizeof h);
  work<<<1, 4>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[3]);
  cudaFree(d);
}
