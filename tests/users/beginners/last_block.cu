#include <cstdio>
__device__ int done;
__global__ void sum(const int* in, int* part, int* out) {
  __shared__ bool last;
  part[blockIdx.x] = in[blockIdx.x];
#ifdef RIGHT
  __threadfence();
#endif
  last = atomicAdd(&done, 1) == gridDim.x - 1;  //~ lint
#ifdef RIGHT
  __threadfence();
#endif
  if (last) {
    int s = 0;
    for (int i = 0; i < gridDim.x; ++i) s += part[i];  //~ data-race
    *out = s;
  }
}
int main() {
  int h[4] = {1, 2, 3, 4}, *a, *b, *c;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&b, sizeof h);
  cudaMalloc(&c, 4);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  sum<<<4, 1>>>(a, b, c);
  cudaMemcpy(h, c, 4, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
